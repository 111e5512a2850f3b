"""Finds lists, mappings and objects of classes in programs in Python, which are parsed and never run."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

from questions.formats.constructor_data import MOST_OPTIONS, Call
from questions.formats.script_objects import MadeRecords

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.formats.script_objects import Signatures

_LONGEST = 400_000
"""Length of a program that is parsed, characters."""


def python_literals(program: str) -> Iterator[Any]:
    """Yields the lists and dictionaries that a program assigns or passes to a call, anywhere in it; tuples and sets in
    them are lists. A program that is too long or invalid has none."""
    tree = _parse(program)
    for value in _values(tree) if tree else ():
        if (data := _literal(value)) is not None:
            yield data


def python_columns(program: str) -> dict[str, list[Any]]:
    """Returns the lists that variables of a program hold, by their names."""
    tree = _parse(program)
    columns: dict[str, list[Any]] = {}
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.value, ast.List | ast.Tuple):
            target, data = node.targets[0], _literal(node.value)
            name = target.id if isinstance(target, ast.Name) else getattr(target, "attr", "")
            if name and isinstance(data, list):
                columns[name] = data
    return columns


def python_objects(program: str) -> Iterator[Any]:
    """Yields the records of a program that makes objects of a class, such as `Question("…", ["…", "…"], 1)`: those of
    one class are a list. A place of a list that a variable holds is what is there."""
    tree = _parse(program)
    if tree is None:
        return iter(())
    values = _Values(python_columns(program), _signatures(tree))
    made = MadeRecords(values.signatures)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if not (isinstance(node, ast.Call) and _class_of(node) and made.add(values.call(node))):
            waiting += reversed(list(ast.iter_child_nodes(node)))
    return made.lists()


def _class_of(node: ast.Call) -> str:
    """Returns the name of the class that a call makes an object of; empty for any other call."""
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    return name if name[:1].isupper() else ""


class _Values:
    """The values of arguments, by the lists that variables hold. Each call is read once, however deep in others."""

    def __init__(self, columns: dict[str, list[Any]], signatures: Signatures) -> None:
        self.signatures = signatures
        self._columns = columns
        self._calls: dict[ast.Call, Call] = {}

    def call(self, node: ast.Call) -> Call:
        """Returns the call that makes an object."""
        if node not in self._calls:
            self._calls[node] = self._read(node)
        return self._calls[node]

    def _read(self, node: ast.Call) -> Call:
        values = [self._value(one) for one in node.args]
        named = {one.arg: self._value(one.value) for one in node.keywords if one.arg}
        if not named:
            return Call(_class_of(node), values)
        named |= dict(zip(self.signatures.get(_class_of(node), ()), values, strict=False))
        return Call(_class_of(node), [{name: value for name, value in named.items() if value is not None}])

    def _value(self, node: ast.expr) -> Any:
        """Returns the value of an argument; None for what only the program knows, and for a list with it."""
        match node:
            case ast.Name(name):
                held = self._columns.get(name, [])
                return held if 0 < len(held) <= MOST_OPTIONS else None
            case ast.Subscript(ast.Name(name), ast.Constant(int(at))):
                held = self._columns.get(name, [])
                return held[at] if -len(held) <= at < len(held) else None
            case ast.Call() if _class_of(node):
                return self.call(node)
            case ast.List(entries) | ast.Tuple(entries):
                values = [self._value(one) for one in entries]
                return None if None in values else values
        try:
            return _plain(ast.literal_eval(node))
        except (ValueError, TypeError, RecursionError, MemoryError):
            return None


def _signatures(tree: ast.Module) -> Signatures:
    """Returns the names of the places of each class: those of its `__init__`, or its fields."""
    found: Signatures = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            made = next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
            fields = [
                one.target.id
                for one in node.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            ]
            found[node.name] = [one.arg for one in made.args.args[1:]] if made else fields
    return found


def _parse(program: str) -> ast.Module | None:
    if len(program) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            # Invalid escapes in the strings of a stranger are not ours to report.
            warnings.simplefilter("ignore")
            return ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _literal(value: ast.expr | None) -> Any:
    """Returns a list or a dictionary as data; None for another expression, and for one with variables."""
    if not isinstance(value, ast.List | ast.Dict | ast.Tuple):
        return None
    try:
        return _plain(ast.literal_eval(value))
    except (ValueError, TypeError, RecursionError, MemoryError):
        return None


def _values(tree: ast.Module) -> Iterator[ast.expr | None]:
    """Yields what is assigned, and the arguments of calls that are a statement or are assigned."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr):
            yield node.value
            if isinstance(node.value, ast.Call):
                yield from node.value.args


def _plain(data: Any) -> Any:
    """Returns data with lists for tuples and sets, as in other formats."""
    if isinstance(data, dict):
        return {str(name): _plain(value) for name, value in data.items()}
    if isinstance(data, list | tuple | set):
        return [_plain(one) for one in data]
    return data
