"""Python texts judged without being run."""

from __future__ import annotations

import pytest

from questions.model import bound, defined, is_literal, parse_python


def test_what_a_program_defines_at_its_top() -> None:
    tree = parse_python(
        "import torch\n\ndef f():\n    def g(): ...\n\nclass A:\n    def m(self): ...\n\nasync def h(): ...\n"
    )
    assert not isinstance(tree, SyntaxError)
    assert defined(tree) == ("f", "A", "h")


def test_a_name_may_be_bound_by_assignment_or_import() -> None:
    tree = parse_python(
        "import torch.nn as nn\nimport math.x\nfrom torch import relu as f, nn as m\ng = h = lambda x: x\n"
        "(a, *b), c = [1, 2], 3\nd: int = 4\ne: int\nk[i] = j.l = 5\ndef n(): o = 6\n"
    )
    assert not isinstance(tree, SyntaxError)
    assert bound(tree) == {"nn", "math", "f", "m", "g", "h", "a", "b", "c", "d", "n"}


@pytest.mark.parametrize("text", ["def f(", "x = (" + "(" * 500, "a\0b", "  x", "-" * 100_000 + "1"])
def test_invalid_python_is_returned_as_an_error_not_raised(text: str) -> None:
    assert isinstance(parse_python(text), SyntaxError)


def test_a_doubtful_escape_is_not_an_error() -> None:
    assert not isinstance(parse_python("x = '\\d'"), SyntaxError)
    assert is_literal("'\\d'")


@pytest.mark.parametrize("text", ["(3,)", "-1.5", "True", "None", "[1, {'a': b'c'}]", "2+1j", "{1, 2}"])
def test_literals(text: str) -> None:
    assert is_literal(text)


@pytest.mark.parametrize("text", ["", "x", "f()", "1 +", "torch.Size([1])", "{[]: 1}", "1 2", "()()"])
def test_no_literals(text: str) -> None:
    assert not is_literal(text)
