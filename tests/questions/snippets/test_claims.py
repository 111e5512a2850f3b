"""Which comments claim a result, and which are prose."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.snippets.claims import mentions_failure, read_claim
from questions.snippets.statements import comments_of, probes_of

VALUES = {
    "4.0": "4.0",
    "4.0 (dy/dx = 2x)": "4.0",
    "Output: 6.0": "6.0",
    "output → 6.0": "6.0",
    "prints 6.0": "6.0",
    "prints: 6.0": "6.0",
    "returns False": "False",
    "=> 6.0": "6.0",
    "-> (2, 3)": "(2, 3)",
    "→ 4.0": "4.0",
    "✅ True": "True",
    "float32 (always)": "float32",
    "torch.int64": "torch.int64",
    "cpu": "cpu",
    "cuda:0": "cuda:0",
    "torch.Size([2, 3])": "torch.Size([2, 3])",
    "tensor([1, 2])": "tensor([1, 2])",
    "tensor([1, 2]) shares memory with x": "tensor([1, 2])",
    "tensor(6., grad_fn=<SumBackward0>)": "tensor(6., grad_fn=<SumBackward0>)",
    "tensor([0.1, ..., 0.9])": "tensor([0.1, ..., 0.9])",
    "array([1., 2.])": "array([1., 2.])",
    "(6,) -> (2, 3)": "(2, 3)",
    "(3, 4) + (3, 4) -> (6, 4)": "(6, 4)",
    "[32, 2]": "[32, 2]",
    "[0, 2, 4, 6, 8]": "[0, 2, 4, 6, 8]",
    "{'a': 1}": "{'a': 1}",
    "'abc'": "'abc'",
    "True, shares memory": "True",
    "True because they share storage": "True",
    "False: they are copies": "False",
    "None": "None",
    "nan": "nan",
    "1e-5": "1e-5",
    "0.6931...": "0.6931...",
    "1, 2, 3": "1, 2, 3",
    "2 * 3 = 6": "6",
    "3": "3",
    "`tensor(3)`": "tensor(3)",
    "<class 'torch.Tensor'>": "<class 'torch.Tensor'>",
}

PROSE = """\
cpu tensor
Compute dy/dx
y = x^2
Uniform [0, 1)
Normal distribution
2D convolution
2 times faster
10 classes
1. First step
3 (batch), 4 (features)
Batch of 32, 10 classes
4.0 MB
0.5 or 2.0
True if contiguous
False when it was transposed
(B, C, H, W)
(batch) 3
[1] says why
(optional)
[batch, seq, features]
x is now on the GPU
prints the shape
Output: the gradient of x
returns a tensor
returns None if nothing is found
raises RuntimeError if x is not contiguous
may raise an error
avoids the error
error term
Error handling
would fail on a GPU
no error here
type: ignore
noqa: E501
TODO: 3
Use float16 where safe
Disable gradient tracking
In training loop
x.view(2, 3)
lr = alpha * beta
16 features -> 32 features
-----
""".splitlines()

RAISES = {
    "Error!": "",
    "RuntimeError": "RuntimeError",
    "raises RuntimeError": "RuntimeError",
    "Raises a ValueError": "ValueError",
    "RuntimeError: view size is not compatible": "RuntimeError",
    "→ TypeError": "TypeError",
    "❌ IndexError": "IndexError",
    "fails": "",
    "this will fail!": "",
    "this fails because y is a leaf": "",
    "throws an exception": "",
    "torch.OutOfMemoryError": "OutOfMemoryError",
}


@pytest.mark.parametrize(("comment", "claimed"), VALUES.items())
def test_a_comment_that_claims_a_value(comment: str, claimed: str) -> None:
    for text in (comment, f"# {comment}", f"#{comment}"):
        said = read_claim(text)
        assert said is not None
        assert (said.kind, said.text) == ("value", claimed)
        assert text[said.start :].startswith(claimed)


@pytest.mark.parametrize("comment", PROSE)
def test_a_comment_that_is_prose(comment: str) -> None:
    assert read_claim(f"# {comment}") is None


@pytest.mark.parametrize(("comment", "error"), RAISES.items())
def test_a_comment_that_claims_an_exception(comment: str, error: str) -> None:
    said = read_claim(f"# {comment}")
    assert said is not None
    assert (said.kind, said.error) == ("raises", error)


@pytest.mark.parametrize("comment", ["~3.2", "≈ 3.2", "about 3.2", "approx. 3.2", "roughly 3.2", "approximately 3.2"])
def test_an_approximate_number(comment: str) -> None:
    said = read_claim(comment)
    assert said is not None and said.rough and said.text == "3.2"


@pytest.mark.parametrize(
    ("comment", "label", "name"),
    [
        ("shape: (32, 10)", "shape", ""),
        ("Shape (32, 10)", "shape", ""),
        ("output shape: [32, 10]", "shape", ""),
        ("dtype: torch.float32", "dtype", ""),
        ("device is cpu", "device", ""),
        ("x.grad = 4.0", "", "x.grad"),
        ("x.shape == (3, 4)", "", "x.shape"),
        ("y[0].is_contiguous(): False", "", "y[0].is_contiguous()"),
    ],
)
def test_what_a_claim_speaks_of(comment: str, label: str, name: str) -> None:
    said = read_claim(comment)
    assert said is not None and (said.label, said.name) == (label, name)


def test_words_are_claimed_behind_a_strict_mark_alone() -> None:
    said = read_claim("# Output: Sum: 7")
    assert said is not None and (said.kind, said.text) == ("words", "Sum: 7")
    assert read_claim("# Sum is seven") is None


def test_a_rank() -> None:
    said = read_claim("# 2D")
    assert said is not None and (said.kind, said.text) == ("rank", "2")


@pytest.mark.parametrize("comment", ["may raise an error", "RuntimeError if x is a view", "this can't work", "❌ bad"])
def test_failing_is_spoken_of(comment: str) -> None:
    assert mentions_failure(comment)


@given(st.text(max_size=60))
def test_any_comment_can_be_read(comment: str) -> None:
    said = read_claim(comment)
    assert said is None or 0 <= said.start <= len(comment)


def claims(program: str) -> list[tuple[str, str]]:
    """Returns the statements of a program with their claims."""
    return [(probe.shown, one.parsed.text) for probe in probes_of(ast.parse(program), program) for one in probe.claims]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("print(x)  # 4.0", [("print(x)", "4.0")]),
        ("x.shape  # (2, 3)", [("x.shape", "(2, 3)")]),
        ("y = f(x)  # [0, 1]", []),  # may be the range of its values
        ("y = f(x)  # [0, 2]", [("y = f(x)", "[0, 2]")]),
        ("print(x)\n# tensor([1, 2])", [("print(x)", "tensor([1, 2])")]),
        ("print(x)\n# tensor([[1, 2],\n#         [3, 4]])", [("print(x)", "tensor([[1, 2],\n         [3, 4]])")]),
        ("print(x)\n# Output:\n# 4.0", [("print(x)", "4.0")]),
        ("y = f(x)\n# (3, 4)\nz = y", []),  # may be about the next line
        ("f(\n    1,  # 2.0\n)", []),  # stands inside a call
        ("with f():  # 2.0\n    pass", []),
        ("def f():  # (2, 3)\n    return 1", []),
        ("print(a)  # 1\nprint(b)  # 2\nprint(c)  # 3", []),  # counts the steps
        ("print(a)  # 1\nprint(b)  # 3", [("print(a)", "1"), ("print(b)", "3")]),
        ("# This fails\nx.view(7)", [("x.view(7)", "This fails")]),
        ("# 4.0\nprint(x)", []),
        ("if a:\n    print(x)  # 4.0", [("print(x)", "4.0")]),
        ("print(x, file=sys.stderr)  # 4.0", [("print(x, file=sys.stderr)", "4.0")]),
    ],
)
def test_which_statement_is_claimed_of(program: str, expected: list[tuple[str, str]]) -> None:
    assert claims(program) == expected


def test_comments_below_one_another_are_one() -> None:
    found = comments_of("x = 1  # a\n# b\n# c\n\n# d\n")
    assert [(one.text, one.line, one.end_line, one.alone) for one in found] == [
        ("# a", 1, 1, False),
        ("# b\n# c", 2, 3, True),
        ("# d", 5, 5, True),
    ]
