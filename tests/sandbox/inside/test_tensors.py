"""Arguments and results with torch and numpy objects, passed to a real child and back."""

from __future__ import annotations

import math

import pytest

from sandbox.client import SandboxClient
from sandbox.values import ITEM_BYTES, Array, Tensor, Value, decode, encode, split
from sandbox.wire import Run

pytestmark = pytest.mark.sandbox


async def called(client: SandboxClient, code: str, *cases: tuple[Value, ...]) -> list[Value]:
    """Returns the results of calling `f` of `code` for each case."""
    outcome = await client.run(Run("run", code, entry="f", cases=encode(list(cases))))
    assert outcome.status == "ok", outcome
    return [decode(entry) for entry in split(outcome.results)]


async def test_every_element_type_and_shape_crosses_both_ways(client: SandboxClient) -> None:
    def filled(dtype: str, shape: tuple[int, ...], grad: bool = False) -> Tensor:
        size = math.prod(shape) * ITEM_BYTES[dtype]
        return Tensor(dtype, shape, bytes(at % 2 for at in range(size)), grad)

    cases: list[tuple[Value, ...]] = [
        (filled(dtype, shape),) for dtype in ITEM_BYTES for shape in ((), (0,), (2, 0, 3), (2, 3))
    ]
    cases += [(filled("float32", (2,), True),), (filled("complex64", (), True),), (Array("int64", (1,), b"12345678"),)]
    plain: list[Value] = [None, True, 3, 2**70, -0.5, 1j, "ä", b"x", (1, (2,)), [[]], {"a": {"b": 1}}]
    cases += [(value,) for value in plain]
    assert await called(client, "def f(x): return x", *cases) == [("ok", case[0]) for case in cases]


async def test_arguments_are_writable_and_each_case_has_its_own(client: SandboxClient) -> None:
    ones = Tensor("float32", (2,), b"\0\0\x80\x3f" * 2)
    code = "def f(x, y):\n    x.add_(1); y.append(1)\n    return x, y"
    shared: list[Value] = []
    twos = Tensor("float32", (2,), b"\0\0\0\x40" * 2)
    assert await called(client, code, (ones, shared), (ones, shared)) == [("ok", (twos, [1]))] * 2


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("torch.ones(2, 3).shape", (2, 3)),
        ("torch.float32", "torch.float32"),
        ("torch.device('cpu')", "cpu"),
        ("np.float64(1.5)", 1.5),
        ("np.int32(3)", 3),
        ("np.bool_(True)", True),
        ("np.arange(2, dtype='>i4')", Array("int32", (2,), b"\0\0\0\0\x01\0\0\0")),
        ("torch.tensor([[1, 2], [3, 4]], dtype=torch.uint8).T", Tensor("uint8", (2, 2), b"\1\3\2\4")),
        ("torch.tensor([7], dtype=torch.uint8).expand(3)", Tensor("uint8", (3,), b"\7\7\7")),
        ("torch.full((1,), 1j, dtype=torch.complex64).conj().imag", Tensor("float32", (1,), b"\0\0\x80\xbf")),
        ("torch.nn.Parameter(torch.zeros(1))", Tensor("float32", (1,), b"\0\0\0\0", True)),
        ("torch.max(torch.tensor([[5]]), 1).indices", Tensor("int64", (1,), b"\0" * 8)),
        ("tuple(torch.max(torch.tensor([[5]]), 1))[1]", Tensor("int64", (1,), b"\0" * 8)),
        ("collections.OrderedDict(a=1)", {"a": 1}),
        ("signal.SIGTERM", 15),
    ],
)
async def test_a_result_with_a_plain_form_is_returned_in_it(
    client: SandboxClient, expression: str, value: Value
) -> None:
    code = f"import collections, signal, torch, numpy as np\ndef f(): return {expression}"
    assert await called(client, code, ()) == [("ok", value)]


@pytest.mark.parametrize(
    "expression",
    [
        "object()",
        "{1, 2}",
        "{1: 2}",
        "(x for x in [1])",
        "torch.nn.Linear(1, 1)",
        "torch.ones(2).to_sparse()",
        "torch.ones(2, device='meta')",
        "torch.ones(2).as_subclass(Sub)",
        "torch.nested.nested_tensor([torch.ones(1)])",
        "torch.quantize_per_tensor(torch.ones(1), 1.0, 0, torch.qint8)",
        "np.array(['a'])",
        "np.array([object()])",
        "type('S', (str,), {})('x')",
        "loop()",
    ],
)
async def test_a_result_without_a_plain_form_is_marked_as_unsupported(client: SandboxClient, expression: str) -> None:
    code = f"""
import torch, numpy as np
class Sub(torch.Tensor): pass
def loop():
    x = []
    x.append(x)
    return x
def f(): return {expression}
"""
    (entry,) = await called(client, code, ())
    assert isinstance(entry, tuple)
    assert entry[:2] == ("unsupported", "TypeError")


async def test_an_unsupported_result_is_named_by_its_type(client: SandboxClient) -> None:
    (entry,) = await called(client, "def f(): return object()", ())
    assert entry == ("unsupported", "TypeError", "a value of type object cannot be returned")


async def test_a_view_with_10_to_the_12_elements_is_refused_before_it_is_copied(client: SandboxClient) -> None:
    code = "import torch\ndef f(n): return torch.ones(1).expand(n)"
    outcome = await client.run(Run("run", code, entry="f", cases=encode([(10**12,)])))
    assert (outcome.status, outcome.results) == ("output", b"")
    assert outcome.cpu_ms < 1000
