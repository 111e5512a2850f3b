"""Finds lists and mappings in programs in Python, which are parsed and never run."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

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
