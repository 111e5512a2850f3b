"""What a driver declares about the facts it returns, read from its text. Runs nothing.

`FACTS` is a dict of literals in the driver, with a kind for every key of the dict that `drive` returns. A `value` is
data from the answer's process, an `effect` is measured outside it, and what is `unprotected` can be forged, so the
question scores no points.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, get_args

from questions.model import parse_python

FactKind = Literal["value", "effect", "unprotected"]
_NAME = "FACTS"
_MEASURING = ("run",)
"""Methods of `answer` whose result is a statement of the answer's process."""


@dataclass(frozen=True, slots=True)
class DriverFacts:
    """The facts that a driver declares."""

    kinds: dict[str, FactKind] = field(default_factory=dict)
    problem: str = ""
    """Why the declaration cannot be read, or what contradicts it; empty if nothing does."""
    at: str = ""
    """The part of the driver's text that the problem is about."""

    @property
    def unprotected(self) -> tuple[str, ...]:
        """The facts that can be forged."""
        return tuple(name for name, kind in self.kinds.items() if kind == "unprotected")

    @property
    def protected(self) -> bool:
        """Whether any fact is protected. The driver then has a process of its own."""
        return len(self.unprotected) < len(self.kinds)


def read_facts(driver: str) -> DriverFacts:
    """Returns the facts that a driver declares. A declaration that cannot be read protects nothing."""
    tree = parse_python(driver)
    if isinstance(tree, SyntaxError):
        return DriverFacts(problem="the driver is not Python")
    found = next((node.value for node in tree.body if isinstance(node, ast.Assign) and _declares(node)), None)
    if found is None:
        return DriverFacts(problem=f"the driver declares no {_NAME}", at="def drive")
    try:
        kinds = ast.literal_eval(found)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        kinds = None
    if not isinstance(kinds, dict) or not kinds or not all(type(name) is str for name in kinds):
        return DriverFacts(problem=f"{_NAME} is not a dict from names to kinds", at=_NAME)
    for name, kind in kinds.items():
        if kind not in get_args(FactKind):
            return DriverFacts(problem=f"`{name}` is {kind!r}, not one of {', '.join(get_args(FactKind))}", at=_NAME)
    return DriverFacts(kinds)


def scores_points(driver: str) -> bool:
    """Returns whether a question with this driver, or without one, may score points: nothing in it can be forged."""
    facts = read_facts(driver)
    return not driver or not (facts.problem or facts.unprotected)


def _declares(node: ast.Assign) -> bool:
    return [ast.unparse(target) for target in node.targets] == [_NAME]


def wrong_facts(driver: str) -> Iterator[tuple[str, str]]:
    """Yields what `drive` returns otherwise than declared, and effects that it measures in the answer's process.

    Each is a message and the text of the driver that it is about.
    """
    tree, facts = parse_python(driver), read_facts(driver)
    if isinstance(tree, SyntaxError) or not facts.protected:
        return
    drive = next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "drive"), None)
    if drive is None or not drive.args.args:
        return
    sources = _sources(drive)
    for returned in _returns(drive):
        if not isinstance(returned, ast.Dict) or {_text(key) for key in returned.keys} != set(facts.kinds):
            yield f"`drive` must return a dict with the keys of {_NAME}", "return"
            continue
        for key, value in zip(map(_text, returned.keys), returned.values, strict=True):
            if facts.kinds[key] == "effect" and _is_stated(value, sources, drive.args.args[0].arg):
                yield f"the effect `{key}` is measured in the process of the answer", f'"{key}"'


def _text(key: ast.expr | None) -> str:
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def _returns(drive: ast.FunctionDef) -> Iterator[ast.expr | None]:
    """Yields what `drive` itself returns, but not the functions in it."""
    pending: list[ast.AST] = list(drive.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Return):
            yield node.value
        elif not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            pending += ast.iter_child_nodes(node)


def _sources(drive: ast.FunctionDef) -> dict[str, list[ast.expr]]:
    """Returns the expressions that each name in `drive` may hold, or parts of them."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(drive):
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
            targets, value = [node.target], node.value
        elif isinstance(node, ast.For | ast.comprehension):
            targets, value = [node.target], node.iter
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            targets, value = [node.func.value], ast.Tuple(node.args, ast.Load())
        for target in targets:
            for name, source in _pairs(target, value):
                found.setdefault(name, []).append(source)
    return found


def _pairs(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, ast.expr]]:
    """Yields each name in a target with the part of the value that it gets."""
    if value is None:
        return
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, part in zip(target.elts, value.elts, strict=True):
            yield from _pairs(one, part)
    else:
        yield from ((one.id, value) for one in ast.walk(target) if isinstance(one, ast.Name))


def _is_stated(value: ast.expr, sources: dict[str, list[ast.expr]], answer: str) -> bool:
    """Returns whether an expression may depend on what the answer's process returned."""
    pending, seen = [value], {answer}
    while pending:
        for node in ast.walk(pending.pop()):
            if isinstance(node, ast.Call) and _asks(node.func, answer):
                return True
            if isinstance(node, ast.Name) and node.id not in seen:
                seen.add(node.id)
                pending += sources.get(node.id, [])
    return False


def _asks(called: ast.expr, answer: str) -> bool:
    if isinstance(called, ast.Attribute) and called.attr in _MEASURING:
        called = called.value
    return isinstance(called, ast.Name) and called.id == answer
