"""What a text shows of a value: numbers, shapes, tensors, dtypes, as a tree that can be compared. Evaluates nothing."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from typing import Literal

Form = Literal["list", "tuple", "set", "size"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number as it is written."""

    value: complex
    digits: int = 0
    """Behind the point; less those an exponent moves."""
    whole: bool = False
    """An int: neither point nor exponent."""
    cut: bool = False
    """Written with an ellipsis: `0.693…`."""


@dataclass(frozen=True, slots=True)
class Word:
    """A name that stands for itself: True, None, a dtype, a device, a class."""

    name: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """A string in quotes."""

    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """An ellipsis among the items of a sequence: any number of them."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list, a tuple, a set or a torch.Size."""

    items: tuple[Shown, ...]
    form: Form = "list"


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict."""

    pairs: tuple[tuple[Shown, Shown], ...]


@dataclass(frozen=True, slots=True)
class Array:
    """A tensor or an array as it is printed."""

    data: Shown
    dtype: str = ""
    """As it is named, without `torch.`; empty where it is left out."""


Shown = Number | Word | Quoted | Gap | Items | Mapping | Array

DTYPES = frozenset(
    (
        *("float16", "float32", "float64", "bfloat16", "half", "float", "double", "bool", "long", "short"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "complex64", "complex128"),
        *("float8_e4m3fn", "float8_e5m2"),
    )
)
DEVICES = ("cpu", "cuda", "mps", "xpu", "meta")
_CONSTANTS = ("True", "False", "None")
_LIBRARIES = ("torch", "np", "numpy", "jnp")
_ARRAYS = ("tensor", "array", "Tensor")
_CUT = re.compile(r"(?<![\w.])(\d+\.\d+)\.\.\.")
_ANGLE = re.compile(r"<[^<>\n]*>")
_EXPONENT = re.compile(r"[eE](?P<power>[+-]?\d+)")
_DEVICE = re.compile(rf"(?:{'|'.join(DEVICES)}):\d+")
_MOST = 20_000


def read_shown(text: str) -> Shown | None:
    """The value a whole text shows; None where it shows none that we know."""
    text = text.strip().removeprefix("Parameter containing:").strip()
    if not text or len(text) > _MOST:
        return None
    if _DEVICE.fullmatch(text):
        return Word(text)
    text = _CUT.sub(r"cut(\1)", text.replace("…", "..."))
    text = "(" + _ANGLE.sub(lambda found: f"angle({found[0]!r})", text) + "\n)"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text, mode="eval").body
        return _shown(body, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def dtype_name(name: str) -> str:
    """A dtype's one name: `torch.long`, `long` and `int64` are one."""
    name = name.rpartition(".")[2]
    return {"float": "float32", "double": "float64", "half": "float16", "long": "int64", "short": "int16"}.get(
        name, name
    )


def _shown(node: ast.expr, text: str) -> Shown | None:
    match node:
        case ast.Constant():
            return _constant(node, text)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _shown(operand, text)
            return Number(-inner.value, inner.digits, inner.whole, inner.cut) if isinstance(inner, Number) else None
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
            return _complex(_shown(left, text), _shown(right, text), -1 if isinstance(op, ast.Sub) else 1)
        case ast.Tuple() | ast.List() | ast.Set():
            return _items(node.elts, _FORMS[type(node)], text)
        case ast.Dict():
            return _mapping(node, text)
        case ast.Name(id=name):
            return _name(name)
        case ast.Attribute(value=ast.Name(id=library), attr=name) if library in _LIBRARIES:
            return Word(dtype_name(name)) if name in DTYPES else Word(name) if name[:1].isupper() else None
        case ast.Call():
            return _call(node, text)
    return None


_FORMS: dict[type[ast.expr], Form] = {ast.Tuple: "tuple", ast.List: "list", ast.Set: "set"}


def _constant(node: ast.Constant, text: str) -> Shown | None:
    value = node.value
    if value is Ellipsis:
        return Gap()
    if value is None or isinstance(value, bool):
        return Word(str(value))
    if isinstance(value, str):
        return Quoted(value)
    if not isinstance(value, int | float | complex):
        return None
    written = ast.get_source_segment(text, node) or ""
    power = _EXPONENT.search(written)
    digits = len(written.partition(".")[2].partition("e")[0].rstrip("jJ")) if "." in written else 0
    digits -= int(power["power"]) if power and len(power["power"]) < 6 else 0
    return Number(complex(value), digits, isinstance(value, int))


def _complex(left: Shown | None, right: Shown | None, sign: int) -> Number | None:
    if isinstance(left, Number) and isinstance(right, Number) and right.value.imag and not right.value.real:
        return Number(left.value + sign * right.value, max(left.digits, right.digits))
    return None


def _items(nodes: list[ast.expr], form: Form, text: str) -> Items | None:
    items = [_shown(node, text) for node in nodes]
    known = tuple(item for item in items if item is not None)
    return Items(known, form) if len(known) == len(items) else None


def _mapping(node: ast.Dict, text: str) -> Mapping | None:
    keys = [_shown(key, text) if key else None for key in node.keys]
    values = [_shown(value, text) for value in node.values]
    known = tuple((k, v) for k, v in zip(keys, values, strict=True) if k is not None and v is not None)
    return Mapping(known) if len(known) == len(values) else None


def _name(name: str) -> Shown | None:
    if name in ("nan", "inf"):
        return Number(complex(float(name)))
    if name in DTYPES:
        return Word(dtype_name(name))
    return Word(name) if name in (*_CONSTANTS, *DEVICES) else None


def _call(node: ast.Call, text: str) -> Shown | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in _LIBRARIES:
        return None
    words = {keyword.arg: keyword.value for keyword in node.keywords}
    first = _shown(node.args[0], text) if node.args else None
    if name in _ARRAYS and first is not None:
        dtype = ast.unparse(words["dtype"]) if "dtype" in words else ""
        return Array(first, dtype_name(dtype))
    if name == "Size" and isinstance(first, Items):
        return Items(first.items, "size")
    if name == "device":
        kind = first if first is not None else _shown(words.get("type", ast.Constant(None)), text)
        return Word(kind.text) if isinstance(kind, Quoted) else None
    if name == "cut" and isinstance(first, Number):
        return Number(first.value, first.digits, cut=True)
    if name == "angle" and isinstance(first, Quoted):
        return Word(_class_name(first.text))
    return first if name in DTYPES and isinstance(first, Number) else None


def _class_name(angle: str) -> str:
    """`<class 'torch.Tensor'>` names `Tensor`; any other thing in angles is itself, without its address."""
    found = re.fullmatch(r"<class '(?:[\w.]*\.)?(\w+)'>", angle)
    return found[1] if found else re.sub(r"0x[0-9a-fA-F]+", "0x", angle)
