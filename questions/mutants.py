"""Deliberate mistakes in a question's key or reference, with which `bank prove` tests its proof. Runs nothing."""

from __future__ import annotations

import ast
import copy
import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from questions.facts import match_fragments
from questions.model import parse_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from questions.facts import Facts
    from questions.model import Option, Question


MAX_REFERENCE_MUTANTS = 16
"""Maximum number of mutants of one reference, spread evenly over it."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class KeyMutant:
    """A question with a mistake in its key."""

    name: str
    """The mistake, in a few words."""
    question: Question


def key_mutants(question: Question, facts: Facts | None = None) -> list[KeyMutant]:
    """Returns the question with each of the mistakes that its proof has to notice.

    With the facts of its proof, only mistakes about what the proof says something: not in key points it leaves out,
    nor in the text of an option that it evaluates, as the changed text may be as true.
    """
    match question.kind:
        case "choice":
            texts = _text_mutants(question.options, numbers=facts is None or not facts.held)
            changed = [*_mark_mutants(question.options), *texts]
            return [KeyMutant(name, dataclasses.replace(question, options=options)) for name, options in changed]
        case "value" | "output" if question.answer:
            make = _literal_mutants if question.kind == "value" else _output_mutants
            return [KeyMutant(name, dataclasses.replace(question, answer=text)) for name, text in make(question.answer)]
        case "open":
            return list(_point_mutants(question, question.key_points if facts is None else [*facts.named]))
    return []


# Choice

_Options = tuple["Option", ...]


def _mark_mutants(options: _Options) -> Iterator[tuple[str, _Options]]:
    right = [at for at, option in enumerate(options) if option.right]
    for at, option in enumerate(options):
        flipped = _with(options, at, right=not option.right)
        if len(right) == 1 and not option.right:
            yield f"the mark moved to {option.id}", _with(flipped, right[0], right=False)
        if len(right) > 1 or not option.right:
            yield f"the mark of {option.id} {'removed' if option.right else 'added'}", flipped


def _text_mutants(options: _Options, *, numbers: bool) -> Iterator[tuple[str, _Options]]:
    for at, one in enumerate(options):
        if not one.right:
            continue
        for number, other in enumerate(options):
            if not other.right:
                swapped = _with(_with(options, at, text=other.text), number, text=one.text)
                yield f"the texts of {one.id} and {other.id} swapped", swapped
        for text in changed_numbers(one.text) if numbers else ():
            if all(text != option.text for option in options):
                yield f"{one.id} changed to {text}", _with(options, at, text=text)


def _with(options: _Options, at: int, **changes: object) -> _Options:
    changed = dataclasses.replace(options[at], **changes)  # type: ignore[arg-type]
    return (*options[:at], changed, *options[at + 1 :])


def changed_numbers(text: str) -> Iterator[str]:
    """Yields the text with each of its first three numbers changed."""
    for found in list(_NUMBER.finditer(text))[:3]:
        number = found[0]
        changed = str(int(number) + 1) if number.isdecimal() else f"{number}1"
        yield text[: found.start()] + changed + text[found.end() :]


# Value


def _literal_mutants(literal: str) -> Iterator[tuple[str, str]]:
    try:
        tree = ast.parse(literal.strip(), mode="eval")
    except SyntaxError:
        return
    seen = {ast.unparse(tree)}
    for changed in _changed_literals(tree.body):
        text = ast.unparse(changed)
        if text not in seen and ast.literal_eval(text) != ast.literal_eval(literal.strip()):
            seen.add(text)
            yield f"{ast.unparse(tree)} changed to {text}", text


def _changed_literals(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield from (ast.Constant(value + 1), ast.Constant(2 * value))
        case ast.Constant(value=float(value)):
            yield from (ast.Constant(value * 1.1), ast.Constant(value + 1.0))
        case ast.Constant(value=str(value)):
            yield ast.Constant(f"{value}x")
        case ast.Constant():
            yield ast.Constant(0)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield operand
        case ast.List(elts=items) | ast.Tuple(elts=items):
            make = type(node)
            yield make([*items, ast.Constant(1)], ast.Load())
            if items:
                yield make(items[:-1], ast.Load())
                yield make(items[::-1], ast.Load())
            for at, item in enumerate(items[:6]):
                yield from (make([*items[:at], one, *items[at + 1 :]], ast.Load()) for one in _changed_literals(item))


# Output


def _output_mutants(output: str) -> Iterator[tuple[str, str]]:
    lines = output.split("\n")
    for at, line in enumerate(lines[:8]):
        changed = next(changed_numbers(line), f"{line}.")
        yield f"line {at + 1} changed to {changed}", "\n".join([*lines[:at], changed, *lines[at + 1 :]])
        if at and lines[at - 1] != line:
            swapped = [*lines[: at - 1], line, lines[at - 1], *lines[at + 1 :]]
            yield f"lines {at} and {at + 1} swapped", "\n".join(swapped)
    if len(lines) > 1:
        yield "the last line removed", "\n".join(lines[:-1])


# Open


def _point_mutants(question: Question, listed: Sequence[str]) -> Iterator[KeyMutant]:
    points = question.key_points
    for at in sorted(match_fragments(listed, points)[0]):
        others = (*points[:at], *points[at + 1 :])
        yield KeyMutant(f"key point {at + 1} removed", dataclasses.replace(question, key_points=others))
        for text in changed_numbers(points[at]):
            changed = (*points[:at], text, *points[at + 1 :])
            yield KeyMutant(f"key point {at + 1} changed to {text}", dataclasses.replace(question, key_points=changed))


# Code


@dataclass(frozen=True, slots=True)
class ReferenceMutant:
    """A reference with one mistake."""

    name: str
    """The changed line and the change."""
    program: str


def reference_mutants(reference: str, most: int = MAX_REFERENCE_MUTANTS) -> list[ReferenceMutant]:
    """Returns references with one operator, constant or statement changed."""
    tree = parse_python(reference)
    if isinstance(tree, SyntaxError):
        return []
    found: list[ReferenceMutant] = []
    seen = {ast.unparse(tree)}
    for line, name, program in sorted(_changed_programs(tree)):
        if program not in seen:
            seen.add(program)
            found.append(ReferenceMutant(f"line {line}: {name}", program))
    step = len(found) / most
    return found if len(found) <= most else [found[int(at * step)] for at in range(most)]


_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


def _changed_programs(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yields the changed line, the name of the change, and the changed program."""
    for at, node in enumerate(ast.walk(tree)):
        for name, change in _changes(node):
            changed = copy.deepcopy(tree)
            change(next(one for number, one in enumerate(ast.walk(changed)) if number == at))
            yield getattr(node, "lineno", 0), name, ast.unparse(ast.fix_missing_locations(changed))


_Change = tuple[str, "Callable[[ast.AST], None]"]


def _changes(node: ast.AST) -> Iterator[_Change]:
    match node:
        case ast.Compare(ops=[operator]) if other := _COMPARISONS.get(type(operator)):
            yield f"{type(operator).__name__} to {other.__name__}", _setting("ops", [other()])
        case ast.BinOp(op=operator) | ast.AugAssign(op=operator) if new := _OPERATORS.get(type(operator)):
            yield f"{type(operator).__name__} to {new.__name__}", _setting("op", new())
        case ast.BoolOp(op=ast.And()):
            yield "And to Or", _setting("op", ast.Or())
        case ast.BoolOp(op=ast.Or()):
            yield "Or to And", _setting("op", ast.And())
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield "minus removed", _setting("op", ast.UAdd())
        case ast.If(test=test) | ast.IfExp(test=test):
            yield "condition negated", _setting("test", ast.UnaryOp(ast.Not(), test))
        case ast.Constant(value=bool(value)):
            yield f"{value} to {not value}", _setting("value", not value)
        case ast.Constant(value=int() | float() as value):
            yield f"{value} to {value + 1}", _setting("value", value + 1)
        case ast.Call(func=function, args=[one, other], keywords=[]) if not _ignores_order(function, one, other):
            yield "arguments swapped", _setting("args", [other, one])
        case ast.FunctionDef(body=body) | ast.For(body=body) | ast.If(body=body) if len(body) > 1:
            for at, statement in enumerate(body):
                if isinstance(statement, ast.Expr | ast.AugAssign) and not _is_docstring(statement):
                    yield f"`{ast.unparse(statement)[:40]}` removed", _removing(at)


def _ignores_order(function: ast.expr, one: ast.expr, other: ast.expr) -> bool:
    return ast.unparse(function) in ("max", "min") or ast.dump(one) == ast.dump(other)


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _setting(name: str, value: object) -> Callable[[ast.AST], None]:
    return lambda node: setattr(node, name, value)


def _removing(at: int) -> Callable[[ast.AST], None]:
    def change(node: ast.AST) -> None:
        del node.body[at]  # type: ignore[attr-defined]

    return change
