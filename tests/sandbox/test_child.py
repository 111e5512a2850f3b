"""What a run in a real child comes back with: statuses, output, tracebacks, results."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest

from sandbox.client import SandboxClient
from sandbox.values import ITEM_BYTES, Array, Tensor, Value, decode, encode, split
from sandbox.wire import Limits, Outcome, Run

pytestmark = pytest.mark.sandbox


async def run(client: SandboxClient, code: str, **changes: Any) -> Outcome:
    return await client.run(replace(Run("run", code), **changes))


async def called(client: SandboxClient, code: str, *cases: tuple[Value, ...], **changes: Any) -> list[Value]:
    """What `f` of `code` gave for each case."""
    outcome = await run(client, code, entry="f", cases=encode(list(cases)), **changes)
    assert outcome.status == "ok", outcome
    return [decode(entry) for entry in split(outcome.results)]


async def test_output_comes_back_with_its_streams_apart(client: SandboxClient) -> None:
    outcome = await run(client, "import os, sys\nprint('a')\nprint('b', file=sys.stderr)\nos.write(1, b'c')")
    assert (outcome.status, outcome.stdout, outcome.stderr) == ("ok", "ca\n", "b\n")
    assert (outcome.reached, outcome.exit_code, outcome.signal, outcome.truncated) == ("done", None, None, False)
    assert outcome.wall_ms > 0
    assert outcome.cpu_ms >= 0
    assert outcome.detail == ""


async def test_autograd_training_and_saving_work(client: SandboxClient) -> None:
    code = """
import io, torch
x = torch.tensor(3.0, requires_grad=True)
(x ** 2).backward()
print(x.grad)
model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Flatten(), torch.nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters())
for batch in torch.utils.data.DataLoader(torch.randn(8, 1, 4, 4), batch_size=4):
    model(batch).mean().backward()
    optimizer.step()
torch.save(model.state_dict(), "model.pt")
print(sorted(torch.load("model.pt")))
torch.set_num_threads(2)
print((torch.ones(400, 400) @ torch.ones(400, 400)).sum().item())
"""
    outcome = await run(client, code)
    assert outcome.status == "ok", outcome
    assert outcome.stdout == "tensor(6.)\n['0.bias', '0.weight', '2.bias', '2.weight']\n64000000.0\n"


async def test_a_traceback_names_the_member_s_lines_only(client: SandboxClient) -> None:
    code = "import torch\n\ndef g(x):\n    return torch.nn.functional.softmax(x, dim=5)\n\ng(torch.ones(2))\n"
    outcome = await run(client, code)
    assert (outcome.status, outcome.reached) == ("error", "load")
    assert [line for line in outcome.stderr.splitlines() if "File" in line] == [
        '  File "<answer>", line 6, in <module>',
        '  File "<answer>", line 4, in g',
    ]
    assert "    return torch.nn.functional.softmax(x, dim=5)" in outcome.stderr
    assert outcome.stderr.splitlines()[-1].startswith("IndexError: Dimension out of range")


@pytest.mark.parametrize(
    ("code", "status", "reached", "exit_code"),
    [
        ("def f(:", "error", "parse", None),
        ("x = '\0'", "error", "parse", None),
        ("1 / 0", "error", "load", None),
        ("import sys; sys.exit()", "ok", "done", None),
        ("exit(0)", "ok", "done", 0),
        ("import sys; sys.exit(3)", "error", "load", 3),
        ("import sys; sys.exit('no')", "error", "load", 1),
        ("import os; os._exit(0)", "crash", "load", 0),
        ("class E(BaseException): pass\nraise E", "error", "load", None),
        ("class E(Exception):\n  def __str__(self): return 1 / 0\nraise E", "error", "load", None),
    ],
)
async def test_how_a_program_ends_is_told(
    client: SandboxClient, code: str, status: str, reached: str, exit_code: int | None
) -> None:
    outcome = await run(client, code)
    assert (outcome.status, outcome.reached) == (status, reached), outcome
    assert outcome.exit_code in (exit_code, 0 if exit_code is None else exit_code)


@pytest.mark.parametrize("code", ["import ctypes; ctypes.string_at(0)", "import os; os.abort()"])
async def test_a_crash_is_told_with_its_signal(client: SandboxClient, code: str) -> None:
    outcome = await run(client, code)
    # Process 1 of a namespace cannot be aborted: libc ends it with SIGSEGV instead.
    assert (outcome.status, outcome.signal) == ("crash", 11)


async def test_a_program_is_main_and_has_nothing_to_read(client: SandboxClient) -> None:
    code = """
import pickle, sys
from dataclasses import dataclass

@dataclass
class Point:
    x: int = 1

assert pickle.loads(pickle.dumps(Point())) == Point()
print(__name__, sys.argv, repr(sys.stdin.read()))
"""
    assert (await run(client, code)).stdout == "__main__ ['<answer>'] ''\n"


async def test_control_characters_do_no_harm(client: SandboxClient) -> None:
    outcome = await run(client, r"print('\x1b[31mred\x07\u202eback\r\nnext\x00', end='\x9b')")
    assert outcome.stdout == "\ufffd[31mred\ufffd\ufffdback\nnext\ufffd\ufffd"


async def test_the_seed_decides_every_generator(client: SandboxClient) -> None:
    code = "import random, numpy, torch; print(random.random(), numpy.random.rand(), torch.rand(1))"
    first, same, other = [(await run(client, code, seed=seed)).stdout for seed in (2**127 + 1, 2**127 + 1, 2)]
    assert first == same != other


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
async def test_what_has_a_plain_form_leaves_in_it(client: SandboxClient, expression: str, value: Value) -> None:
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
async def test_what_has_none_is_marked_and_does_not_leave(client: SandboxClient, expression: str) -> None:
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


async def test_a_view_that_claims_a_tera_element_is_stopped_before_it_is_made(client: SandboxClient) -> None:
    code = "import torch\ndef f(n): return torch.ones(1).expand(n)"
    outcome = await run(client, code, entry="f", cases=encode([(10**12,)]))
    assert (outcome.status, outcome.results) == ("output", b"")
    assert outcome.wall_ms < 1000


async def test_results_beyond_their_limit_end_the_run_and_keep_what_was_whole(client: SandboxClient) -> None:
    limits = Limits(result_bytes=3000)
    outcome = await run(client, "def f(n): return 'x' * n", entry="f", cases=encode([(1000,)] * 5), limits=limits)
    assert outcome.status == "output"
    assert len(split(outcome.results)) == 2


async def test_exceptions_are_results_and_name_the_line(client: SandboxClient) -> None:
    code = "def f(x):\n    return 1 / x"
    assert await called(client, code, (2,), (0,)) == [
        ("ok", 0.5),
        ("raised", "ZeroDivisionError", "division by zero (line 2)"),
    ]
    assert await called(client, "import sys\ndef f(): sys.exit(0)", ()) == [("raised", "SystemExit", "0 (line 2)")]


async def test_a_program_without_its_entry_says_so(client: SandboxClient) -> None:
    for code in ("def g(): pass", "f = 3"):
        outcome = await run(client, code, entry="f", cases=encode([()]))
        assert (outcome.status, outcome.reached) == ("error", "entry")
        assert outcome.stderr == "The program defines no function f.\n"


async def test_bytes_after_the_end_spoil_all_results(client: SandboxClient) -> None:
    code = """
import json, os, struct
def f():
    end = json.dumps({"status": "ok", "reached": "done", "exit_code": None}).encode()
    os.write(3, struct.pack("<IB", len(end), ord("E")) + end + b"more")
    os._exit(0)
"""
    outcome = await run(client, code, entry="f", cases=encode([()]))
    assert (outcome.status, outcome.results) == ("error", b"")


@pytest.mark.parametrize("junk", ["b'hello'", "b'\\xff' * 9", "b'\\x02\\0\\0\\0E{}'", "b'\\0\\0\\0\\0Z'"])
async def test_junk_on_the_results_pipe_is_no_result(client: SandboxClient, junk: str) -> None:
    outcome = await run(
        client, f"import os\ndef f():\n  os.write(3, {junk})\n  os._exit(0)", entry="f", cases=encode([()])
    )
    assert outcome.status in ("error", "output")
    assert outcome.results == b""


async def test_cpu_time_is_limited_apart_from_wall_time(client: SandboxClient) -> None:
    outcome = await run(client, "while True: pass", limits=Limits(wall_ms=20_000, cpu_ms=100))
    assert outcome.status == "time"
    assert outcome.wall_ms < 10_000


async def test_a_larger_scratch_is_had_by_asking(client: SandboxClient) -> None:
    code = "for n in range(20): open(str(n), 'wb').write(b'x' * (1 << 20))\nprint('fits')"
    assert (await run(client, code, limits=Limits(disk_mb=32))).stdout == "fits\n"


async def test_runs_at_the_same_time_stay_apart(client: SandboxClient) -> None:
    runs = [client.run(Run(str(n), f"open('x', 'w').write('{n}')\nprint(open('x').read())")) for n in range(8)]
    outcomes = await asyncio.gather(*runs)
    assert [(outcome.id, outcome.stdout) for outcome in outcomes] == [(str(n), f"{n}\n") for n in range(8)]


async def test_threads_are_counted_for_the_run_alone(client: SandboxClient) -> None:
    code = """
import threading
gate = threading.Event()
try:
    for started in range(99):
        threading.Thread(target=gate.wait).start()
except RuntimeError as problem:
    print(started, problem)
gate.set()
"""
    runs = [client.run(Run(str(n), code, limits=Limits(processes=4, memory_mb=4096))) for n in range(3)]
    # The main thread is one of them, and neither another run's nor a parked child's count.
    assert {outcome.stdout for outcome in await asyncio.gather(*runs)} == {"3 can't start new thread\n"}
