"""Matches typed values with a question's key by meaning. Values are parsed without evaluating them."""

from __future__ import annotations

import ast
import cmath
import re
import warnings
from collections.abc import Callable
from typing import Any, Final

from service.wire import AnswerUnreadable, describe

Value = tuple[str, Any]
"""A tag and hashable content. Two values are the same answer if they are equal."""
MAX_LENGTH: Final = 2000
"""Longest value that is parsed, characters."""
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
_CONSTANTS: dict[str, Any] = {
    "true": True,
    "false": False,
    "none": None,
    "null": None,
    "nan": float("nan"),
    "inf": float("inf"),
    "infinity": float("inf"),
}
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")
_FENCED = re.compile(r"\A(?:```\w*\n(.*)\n?```|`([^`]*)`)\Z", re.DOTALL)


class UnreadableValue(ValueError):
    """A text is not a value."""

    def __init__(self, refusal: AnswerUnreadable) -> None:
        super().__init__(describe(refusal))
        self.refusal = refusal


def parse_value(text: str) -> Value:
    """Parses `text` into a comparable value. Raises UnreadableValue.

    Lists and tuples are equal at every depth; numbers are equal by value, so 1 equals 1.0; a bool is not a number; nan
    equals nan. Understands `torch.Size([1, 4])`, `tensor([1.])`, `torch.float32`, `float32` and `true`.
    """
    typed = _strip_markup(text)
    if not typed:
        raise UnreadableValue(AnswerUnreadable(problem="no value"))
    if len(typed) > MAX_LENGTH:
        raise UnreadableValue(AnswerUnreadable(problem="too long", length=len(typed), limit=MAX_LENGTH))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _parse_node(ast.parse(typed, mode="eval").body)
    except UnreadableValue:
        raise
    except (SyntaxError, ValueError, TypeError, OverflowError, RecursionError, MemoryError):
        raise UnreadableValue(AnswerUnreadable(problem="not a value", text=_shorten(typed))) from None


def matches_value(key: Value, text: str) -> bool:
    """Returns whether `text` states the value `key`. Raises UnreadableValue if `text` is not a value.

    The type of `key` helps to parse `text`: text may lack its quotes, and a number may have commas between thousands.
    """
    typed = _strip_markup(text)
    if key[0] == "text" and typed:
        return key == _text_value(typed) or key == _parse_or_text(typed)
    if key[0] == "number" and _THOUSANDS.fullmatch(typed):
        typed = typed.replace(",", "")
    return parse_value(typed) == key


def _parse_or_text(typed: str) -> Value:
    try:
        return parse_value(typed)
    except UnreadableValue:
        return _text_value(typed)


def _strip_markup(text: str) -> str:
    """Removes the code markup that chats put around `text`."""
    typed = undo_smart_text(text).strip()
    if fenced := _FENCED.match(typed):
        typed = (fenced[1] if fenced[1] is not None else fenced[2]).strip()
    return typed


def _shorten(text: str) -> str:
    line = " ".join(text.replace("`", "'").split())
    return line if len(line) <= 60 else line[:59] + "…"


def _parse_node(node: ast.expr) -> Value:
    match node:
        case ast.Constant():
            return _constant_value(node.value)
        case ast.Tuple() | ast.List():
            return "sequence", tuple(_parse_node(item) for item in node.elts)
        case ast.Set():
            return "set", frozenset(_parse_node(item) for item in node.elts)
        case ast.Dict() if None not in node.keys:
            pairs = zip(filter(None, node.keys), node.values, strict=True)
            return "dict", frozenset({_parse_node(key): _parse_node(value) for key, value in pairs}.items())
        case ast.UnaryOp() | ast.BinOp():
            return _constant_value(_parse_number(node))
        case ast.Name() | ast.Attribute():
            return _name_value(ast.unparse(node))
        case ast.Call(args=[only], keywords=[]) if wrapper := _WRAPPERS.get(ast.unparse(node.func)):
            return wrapper(_parse_node(only))
        case ast.Call(args=[], keywords=[]) if ast.unparse(node.func) == "set":
            return "set", frozenset()
    raise UnreadableValue(AnswerUnreadable(problem="not computed", text=_shorten(ast.unparse(node))))


def _constant_value(value: Any) -> Value:
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, (int, float, complex)):
        # nan differs from itself but is one answer. An int too large for a float is not nan.
        return ("nan", None) if not isinstance(value, int) and cmath.isnan(value) else ("number", value)
    if isinstance(value, str):
        return _text_value(value)
    if value is None or isinstance(value, bytes):
        return type(value).__name__, value
    raise UnreadableValue(AnswerUnreadable(problem="ellipsis"))


def _parse_number(node: ast.expr) -> Any:
    """Parses a signed number, or a complex one written as real and imaginary part. Does not evaluate other sums."""
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() | complex()):
            return node.value
        case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
            number = _parse_number(node.operand)
            return -number if isinstance(node.op, ast.USub) else number
        case ast.BinOp(op=ast.Add() | ast.Sub(), right=ast.Constant(value=complex() as right)):
            left = _parse_number(node.left)
            return left + right if isinstance(node.op, ast.Add) else left - right
        case ast.Name() | ast.Attribute() if _name_value(ast.unparse(node)) == ("number", float("inf")):
            return float("inf")
    raise UnreadableValue(AnswerUnreadable(problem="not computed", text=_shorten(ast.unparse(node))))


def _name_value(name: str) -> Value:
    """Interprets a name without quotes: a constant, or the dtype, device or word it spells."""
    ending = name.removeprefix("torch.").removeprefix("math.")
    if ending.lower() in _CONSTANTS:
        return _constant_value(_CONSTANTS[ending.lower()])
    return _text_value(name)


def _text_value(text: str) -> Value:
    """Returns a text value, with aliases of dtypes resolved: torch.float is torch.float32."""
    if (name := text.removeprefix("torch.")) != text and name.isidentifier():
        return "text", _ALIASES.get(name, name)
    return "text", text


def _size_value(value: Value) -> Value:
    if value[0] != "sequence":
        raise UnreadableValue(AnswerUnreadable(problem="size"))
    return value


def _float_value(value: Value) -> Value:
    return _name_value(value[1].strip().lower()) if value[0] == "text" else value


def _unwrap(value: Value) -> Value:
    return value


_WRAPPERS: dict[str, Callable[[Value], Value]] = {
    **dict.fromkeys(("Size", "torch.Size"), _size_value),
    **dict.fromkeys(("tensor", "torch.tensor", "array", "np.array", "device", "torch.device"), _unwrap),
    "float": _float_value,
}

_ENTITIES = {
    "lt": "<",
    "gt": ">",
    "amp": "&",
    "quot": '"',
    "apos": "'",
    "nbsp": " ",
    "#39": "'",
    "#x27": "'",
    "#34": '"',
}
_ENTITY = re.compile(f"&({'|'.join(_ENTITIES)});", re.IGNORECASE)

_SPACES = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff"
_ANY_SPACE = re.compile(f"[{_SPACES}]")
_ANY_INVISIBLE = re.compile(f"[{_INVISIBLE}]")
_ANY_LINE_END = re.compile("\r\n?|[\u2028\u2029]")

# No em dash: some clients replace two hyphens with it, people replace one, and the two are different programs.
_TYPOGRAPHY = str.maketrans(
    {**dict.fromkeys("“”„‟″", '"'), **dict.fromkeys("‘’‚‛′", "'"), **dict.fromkeys("−–‐‑", "-"), "…": "..."}
)


def undo_smart_text(text: str) -> str:
    """Returns `text` as it was typed, before a chat client prettified it.

    Decodes entities once, turns other spaces into spaces and line ends into newlines, and removes invisible
    characters. Reverts smart quotes, dashes and ellipses unless the text is a valid Python program: there they can
    only be inside a string or a comment, and `'it’s'` must not become `'it's'`.
    """
    plain = _ENTITY.sub(lambda entity: _ENTITIES[entity[1].lower()], text)
    plain = _ANY_INVISIBLE.sub("", _ANY_SPACE.sub(" ", _ANY_LINE_END.sub("\n", plain)))
    typed = plain.translate(_TYPOGRAPHY)
    return plain if typed == plain or _is_program(plain) else typed


def _is_program(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
