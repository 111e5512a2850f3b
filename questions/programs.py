"""What can be said of a Python text without running it."""

from __future__ import annotations

import ast
import warnings


def parse_python(text: str) -> ast.Module | SyntaxError:
    """The program's tree, or why there is none. Nothing is run and nothing is warned about."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error) or "the program is nested too deeply")


def defined(tree: ast.Module) -> tuple[str, ...]:
    """The functions and classes a program defines at its top, in order."""
    return tuple(
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    )


def is_literal(text: str) -> bool:
    """Whether a text is a Python literal: a number, a string, True, None, or containers of such."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False
    return True
