"""Values as members type them, read without evaluating anything, in a form that compares by meaning. No scoring."""

from __future__ import annotations

import ast
import cmath
import re
import warnings
from collections.abc import Callable
from typing import Any, Final

from service.smart_text import undo_smart_text

Value = tuple[str, Any]
"""A tag and a hashable content: two values are the same answer when these are equal."""

LONGEST: Final = 2000
"""Characters of a value that are still read."""

_ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "long": "int64",
    "short": "int16",
    "cfloat": "complex64",
    "cdouble": "complex128",
    "chalf": "complex32",
}
_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "none": None,
    "null": None,
    "nan": float("nan"),
    "inf": float("inf"),
    "infinity": float("inf"),
}
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_NESTED_IN_FENCE = re.compile(r"\A(?:```\w*\n(.*)\n?```|`([^`]*)`)\Z", re.DOTALL)


def read_value(text: str) -> Value:
    """`text` as a comparable value. Raises ValueError that says what is wrong with it and what to write.

    Lists and tuples are one, at every depth; numbers are equal by value, 1 and 1.0 alike; a bool is no number;
    nan is nan. `torch.Size([1, 4])`, `tensor([1.])`, `torch.float32`, `float32` and `true` are understood.
    """
    typed = _bare(text)
    if not typed:
        raise ValueError("nothing was written; write a value such as 3, 0.5, (1, 4), True or float32")
    if len(typed) > LONGEST:
        raise ValueError(f"{len(typed)} characters are too long for a value; write at most {LONGEST}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _read(ast.parse(typed, mode="eval").body)
    except _NotAValue as error:
        raise ValueError(str(error)) from None
    except (SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        raise ValueError(
            f"“{_short(typed)}” is not a Python value; write it as Python would, such as 3, (1, 4), True or float32"
        ) from None


def same_value(key: Value, text: str) -> bool:
    """Whether `text` says the value `key`. Raises ValueError where `text` is no value at all.

    What is known of `key` helps to read `text`: a text may come without its quotes, so that anything written is
    one, and a number with commas between its thousands.
    """
    typed = _bare(text)
    if key[0] == "text" and typed:
        return key == _text(typed) or key == _read_or_text(typed)
    if key[0] == "number" and _THOUSANDS.fullmatch(typed):
        typed = typed.replace(",", "")
    return read_value(typed) == key


def _read_or_text(typed: str) -> Value:
    try:
        return read_value(typed)
    except ValueError:
        return _text(typed)


class _NotAValue(Exception):
    """A message that already says what is wrong and what to write."""


def _bare(text: str) -> str:
    """`text` without what chat puts around it."""
    typed = undo_smart_text(text).strip()
    if fenced := _NESTED_IN_FENCE.match(typed):
        typed = (fenced[1] if fenced[1] is not None else fenced[2]).strip()
    return typed


def _short(text: str) -> str:
    line = " ".join(text.replace("`", "'").split())
    return line if len(line) <= 60 else line[:59] + "…"


def _read(node: ast.expr) -> Value:
    match node:
        case ast.Constant():
            return _plain(node.value)
        case ast.Tuple() | ast.List():
            return "sequence", tuple(_read(item) for item in node.elts)
        case ast.Set():
            return "set", frozenset(_read(item) for item in node.elts)
        case ast.Dict() if None not in node.keys:
            pairs = zip(filter(None, node.keys), node.values, strict=True)
            return "dict", frozenset({_read(key): _read(value) for key, value in pairs}.items())
        case ast.UnaryOp() | ast.BinOp():
            return _plain(_number(node))
        case ast.Name() | ast.Attribute():
            return _name(ast.unparse(node))
        case ast.Call(args=[only], keywords=[]) if wrapper := _WRAPPERS.get(ast.unparse(node.func)):
            return wrapper(_read(only))
        case ast.Call(args=[], keywords=[]) if ast.unparse(node.func) == "set":
            return "set", frozenset()
    raise _NotAValue(f"“{_short(ast.unparse(node))}” is not yet a value; work it out and write what it comes to")


def _plain(value: Any) -> Value:
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, (int, float, complex)):
        # nan differs from itself; as an answer it is nan. An int too large for a float is not nan either.
        return ("nan", None) if not isinstance(value, int) and cmath.isnan(value) else ("number", value)
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bytes):
        return type(value).__name__, value
    raise _NotAValue("`...` is not a value; write all of it out")


def _number(node: ast.expr) -> Any:
    """A signed number, or a complex one written as real and imaginary part; not sums in general."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() | complex()):
            return node.value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            number = _number(node.operand)
            return -number if isinstance(node.op, ast.USub) else number
        case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Constant(value=complex() as right)):
            left = _number(node.left)
            return left + right if isinstance(node.op, ast.Add) else left - right
        case ast.Name() | ast.Attribute() if _name(ast.unparse(node)) == ("number", float("inf")):
            return float("inf")
    raise _NotAValue(f"“{_short(ast.unparse(node))}” is not yet a value; work it out and write what it comes to")


def _name(name: str) -> Value:
    """A name without quotes: a constant, or the dtype, device or word it spells."""
    ending = name.removeprefix("torch.").removeprefix("math.")
    if ending.lower() in _WORDS:
        return _plain(_WORDS[ending.lower()])
    return _text(name)


def _text(text: str) -> Value:
    """A text; a dtype's under its one name, for torch.float is torch.float32."""
    if (name := text.removeprefix("torch.")) != text and name.isidentifier():
        return "text", _ALIASES.get(name, name)
    return "text", text


def _size(value: Value) -> Value:
    if value[0] != "sequence":
        raise _NotAValue("a Size takes a list; write torch.Size([1, 4]) or (1, 4)")
    return value


def _float(value: Value) -> Value:
    return _name(value[1].strip().lower()) if value[0] == "text" else value


def _same(value: Value) -> Value:
    return value


_WRAPPERS: dict[str, Callable[[Value], Value]] = {
    **dict.fromkeys(("Size", "torch.Size"), _size),
    **dict.fromkeys(("tensor", "torch.tensor", "array", "np.array", "device", "torch.device"), _same),
    "float": _float,
}
