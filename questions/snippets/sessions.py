"""A `>>>` session taken apart: what is typed, and what is answered."""

from __future__ import annotations

import ast
import doctest
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from questions.programs import parse_python

_RAISED = re.compile(r"(?:Traceback|(?:[\w.]*\.)?\w+(?:Error|Exception)\b)")
_NO_ANSWER = re.compile(r"\s*(?:#|<BLANKLINE>\s*$)")
_KIND = re.compile(r"^(?:[\w.]*\.)?(\w+(?:Error|Exception))\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Example:
    """One prompt of a session."""

    source: str
    want: str
    line: int
    """In the snippet, from 1."""
    fails: bool = False
    """Whether the document shows that it raises."""
    error: str = ""
    """The exception's name, where it shows one."""

    @property
    def assigns(self) -> bool:
        """Whether it only binds names, so that it can answer nothing."""
        tree = parse_python(self.source)
        return isinstance(tree, ast.Module) and all(isinstance(node, ast.Assign | ast.AnnAssign) for node in tree.body)


def examples_of(text: str) -> tuple[tuple[Example, ...], SyntaxError | None]:
    """The prompts of a session, or why it cannot be read."""
    try:
        found = doctest.DocTestParser().get_examples(text)
    except ValueError as problem:
        return (), SyntaxError(str(problem))
    lines = text.split("\n")
    starts = [one.lineno for one in found] + [len(lines)]
    examples: list[Example] = []
    for one, following in zip(found, starts[1:], strict=True):
        first = one.lineno + one.source.rstrip("\n").count("\n") + 1
        want = _want(lines[first:following], one.want)
        example = Example(one.source, want, one.lineno + 1, bool(_RAISED.match(want.lstrip())), _error(want))
        if examples and isinstance(parse_python(examples[-1].source), SyntaxError):
            # A block whose further lines begin with `>>>` again, as nobody's interpreter shows it.
            last = examples.pop()
            gap = "\n" * (example.line - last.line - last.source.count("\n"))
            example = replace(example, source=last.source + gap + example.source, line=last.line)
        examples.append(example)
    return tuple(examples), None


def _want(rest: Sequence[str], want: str) -> str:
    """The answer; one that a blank line interrupts, such as a tensor of three dimensions, to its end."""
    if want.count("(") + want.count("[") > want.count(")") + want.count("]"):
        indent = len(rest[0]) - len(rest[0].lstrip()) if rest else 0
        taken: list[str] = []
        for line in rest:
            taken.append(line[indent:])
            whole = "\n".join(taken)
            if whole.count("(") + whole.count("[") <= whole.count(")") + whole.count("]"):
                break
        want = "\n".join(taken) + "\n"
    return "".join(f"{line}\n" for line in want.splitlines() if not _NO_ANSWER.match(line))


def _error(want: str) -> str:
    names = _KIND.findall(want) if _RAISED.match(want.lstrip()) else []
    return names[-1] if names else ""
