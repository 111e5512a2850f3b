"""Python texts judged without being run."""

from __future__ import annotations

import pytest

from questions.model import defined, is_literal, names_bound, parse_python


def test_what_a_program_defines_at_its_top() -> None:
    tree = parse_python(
        "import torch\n\ndef f():\n    def g(): ...\n\nclass A:\n    def m(self): ...\n\nasync def h(): ...\n"
    )
    assert not isinstance(tree, SyntaxError)
    assert defined(tree) == ("f", "A", "h")


def test_a_name_may_be_bound_by_definition_assignment_or_import() -> None:
    found = names_bound(
        "import torch.nn as nn\nimport math.x\nfrom torch import relu as f, nn as m\ng = h = lambda x: x\n"
        "(a, *b), c = [1, 2], 3\nd: int = 4\nk[i] = j.l = 5\ndef n(): o = 6\nclass P: q = 7\nasync def r(): pass\n"
        "if True:\n    def s(): pass\nprint(t)\n"
    )
    assert found == frozenset({"nn", "math", "f", "m", "g", "h", "a", "b", "c", "d", "n", "P", "r", "s"})


@pytest.mark.parametrize("text", ["def f(", "x = (" + "(" * 500, "a\0b", "  x", "-" * 100_000 + "1"])
def test_invalid_python_is_returned_as_an_error_not_raised(text: str) -> None:
    assert isinstance(parse_python(text), SyntaxError)
    assert isinstance(names_bound(text), SyntaxError)


def test_what_only_the_compiler_refuses_is_an_error() -> None:
    for text in ("def f(x, x): pass", "def f():\n    x = 1\n    global x", "def f():\n    nonlocal y"):
        assert not isinstance(parse_python(text), SyntaxError)
        assert isinstance(names_bound(text), SyntaxError), text


def test_a_doubtful_escape_is_not_an_error() -> None:
    assert not isinstance(parse_python("x = '\\d'"), SyntaxError)
    assert names_bound("x = '\\d'") == frozenset("x")
    assert is_literal("'\\d'")


@pytest.mark.parametrize("text", ["(3,)", "-1.5", "True", "None", "[1, {'a': b'c'}]", "2+1j", "{1, 2}"])
def test_literals(text: str) -> None:
    assert is_literal(text)


@pytest.mark.parametrize("text", ["", "x", "f()", "1 +", "torch.Size([1])", "{[]: 1}", "1 2", "()()"])
def test_no_literals(text: str) -> None:
    assert not is_literal(text)
