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
    if len(program) > _LONGEST:
        return
    try:
        with warnings.catch_warnings():
            # Invalid escapes in the strings of a stranger are not ours to report.
            warnings.simplefilter("ignore")
            tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for value in _values(tree):
        if isinstance(value, ast.List | ast.Dict | ast.Tuple):
            try:
                yield _plain(ast.literal_eval(value))
            except (ValueError, TypeError, RecursionError, MemoryError):
                continue


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
