"""Parses the comments that claim a result, and printed values. A comment in prose claims nothing."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

# Printed values as a comparable tree: numbers, shapes, tensors, dtypes; nothing is evaluated

Form = Literal["list", "tuple", "set", "size"]


@dataclass(frozen=True, slots=True)
class Number:
    """A number as written."""

    value: complex
    digits: int = 0
    """Digits after the decimal point, less those an exponent moves."""
    whole: bool = False
    """An int: no decimal point and no exponent."""
    cut: bool = False
    """Ends in an ellipsis: `0.693…`."""


@dataclass(frozen=True, slots=True)
class PrintedName:
    """A name: True, None, a dtype, a device, a class."""

    name: str


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quoted string."""

    text: str


@dataclass(frozen=True, slots=True)
class Gap:
    """An ellipsis in a sequence: any number of items."""


@dataclass(frozen=True, slots=True)
class Items:
    """A list, tuple, set or torch.Size."""

    items: tuple[Shown, ...]
    form: Form = "list"


@dataclass(frozen=True, slots=True)
class Mapping:
    """A dict."""

    pairs: tuple[tuple[Shown, Shown], ...]


@dataclass(frozen=True, slots=True)
class PrintedArray:
    """A tensor or array as printed."""

    data: Shown
    dtype: str = ""
    """As printed, without `torch.`; empty if it is omitted."""


Shown = Number | PrintedName | Quoted | Gap | Items | Mapping | PrintedArray

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
_ANGLE_BRACKETS = re.compile(r"<[^<>\n]*>")
_EXPONENT = re.compile(r"[eE](?P<power>[+-]?\d+)")
_DEVICE = re.compile(rf"(?:{'|'.join(DEVICES)}):\d+")
_MOST = 20_000
"""Longest text that is read as a value, characters."""


def read_shown(text: str) -> Shown | None:
    """Returns the value that a whole text shows, or None if it is not a known form."""
    text = text.strip().removeprefix("Parameter containing:").strip()
    if not text or len(text) > _MOST:
        return None
    if _DEVICE.fullmatch(text):
        return PrintedName(text)
    text = _CUT.sub(r"cut(\1)", text.replace("…", "..."))
    text = "(" + _ANGLE_BRACKETS.sub(lambda found: f"angle({found[0]!r})", text) + "\n)"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text, mode="eval").body
        return _shown(body, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def dtype_name(name: str) -> str:
    """Returns the canonical name of a dtype: `torch.long`, `long` and `int64` are the same."""
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
            return (
                PrintedName(dtype_name(name)) if name in DTYPES else PrintedName(name) if name[:1].isupper() else None
            )
        case ast.Call():
            return _call(node, text)
    return None


_FORMS: dict[type[ast.expr], Form] = {ast.Tuple: "tuple", ast.List: "list", ast.Set: "set"}


def _constant(node: ast.Constant, text: str) -> Shown | None:
    value = node.value
    if value is Ellipsis:
        return Gap()
    if value is None or isinstance(value, bool):
        return PrintedName(str(value))
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
        return PrintedName(dtype_name(name))
    return PrintedName(name) if name in (*_CONSTANTS, *DEVICES) else None


def _call(node: ast.Call, text: str) -> Shown | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") not in _LIBRARIES:
        return None
    words = {keyword.arg: keyword.value for keyword in node.keywords}
    first = _shown(node.args[0], text) if node.args else None
    if name in _ARRAYS and first is not None:
        dtype = ast.unparse(words["dtype"]) if "dtype" in words else ""
        return PrintedArray(first, dtype_name(dtype))
    if name == "Size" and isinstance(first, Items):
        return Items(first.items, "size")
    if name == "device":
        kind = first if first is not None else _shown(words.get("type", ast.Constant(None)), text)
        return PrintedName(kind.text) if isinstance(kind, Quoted) else None
    if name == "cut" and isinstance(first, Number):
        return Number(first.value, first.digits, cut=True)
    if name == "angle" and isinstance(first, Quoted):
        return PrintedName(_class_name(first.text))
    return first if name in DTYPES and isinstance(first, Number) else None


def _class_name(angle: str) -> str:
    """Returns `Tensor` for `<class 'torch.Tensor'>`; other things in angle brackets without their address."""
    found = re.fullmatch(r"<class '(?:[\w.]*\.)?(\w+)'>", angle)
    return found[1] if found else re.sub(r"0x[0-9a-fA-F]+", "0x", angle)


# Claims in comments

ClaimKind = Literal["value", "words", "raises", "rank"]


@dataclass(frozen=True, slots=True)
class ParsedClaim:
    """The claim of a comment."""

    kind: ClaimKind
    """`words`: free text after a mark such as `Output:`. `rank`: `2D`."""
    text: str
    """The claim as written."""
    start: int
    """Its start in the comment."""
    shown: Shown | None = None
    """For `value`."""
    rough: bool = False
    """For `~3.2`."""
    marked: bool = False
    """Whether a mark announces output: `Output:`, `→`, `prints`."""
    label: str = ""
    """`shape`, `dtype`, … if the comment says what it is about."""
    name: str = ""
    """`x.grad` in `x.grad = 4.0`: what the claim is about, if given."""
    error: str = ""
    """For `raises`: the exception's name; empty for any."""


_NOT_OURS = re.compile(r"\s*(?:type:|noqa|pylint|mypy|pragma|fmt:|isort|todo|fixme|!|%)", re.IGNORECASE)
_LEAD = re.compile(r"[\s#]*(?:[✅✓✔☑👉⚠️]\s*)*")
_MARK = re.compile(
    r"(?:(?:expected\s+)?output|out(?:\s*\[\d*\])?|prints?|printed|returns?|results?|gives?|yields?|"
    r"evaluates to|value)\b\s*(?P<strict>is\b|:|=+>|-+>|→|=)?\s*",
    re.IGNORECASE,
)
_ARROW = re.compile(r"(?:-+>|=+>|→|⇒|➜|⟶|⟹|==?)\s*")
_ROUGH = re.compile(r"(?:~|≈|≃|≅|about\b|approx(?:imately\b|\.)?|around\b|roughly\b|ca\.)\s*", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:(?:new|final|resulting|the|tensor|result)\s+)*"
    r"(?P<label>shape|size|dtype|device|ndim|numel|strides?)\b\s*(?:is\b|:|=|->|→)?\s*",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[-?\d+\])*"
    r"(?:\.(?:size|stride|numel|dim|item|tolist|is_contiguous|element_size)\(\))?)"
    r"\s*(?:==?|:|\bis\b|→|->)\s*(?=\S)"
)
_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])"
_CUT_NUMBER = re.compile(r"-?\d+\.\d+(?:\.\.\.|…)|" + _NUMBER + r"j?")
_SERIES = re.compile(rf"{_NUMBER}(?:\s*,\s*{_NUMBER}|\s+{_NUMBER})+$")
_OPENING = re.compile(
    r"(?:Parameter containing:\s*)?(?:(?:torch|np|numpy)\.)?(?P<call>tensor|array|Size|device|Tensor)?\(|[\[{]"
)
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_ANGLE = re.compile(r"<class '[^']*'>")
_WORD = re.compile(r"-inf\b|[A-Za-z][\w.]*(?::\d+)?")
_RANK = re.compile(r"(?P<rank>\d)-?[dD](?:\s+tensor)?\.?$")
_EQUATION = re.compile(rf"[^=<>!]*[\d+*/^²][^=<>!]*=\s*(?P<right>{_NUMBER})$")
_REASON = re.compile(r"(?:because|since|as|now|too|again|instead|i\.e\.|not)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\W*(?:if|when|unless|or|for|on|with|until|in|while|before|only|by default)\b", re.IGNORECASE)


def read_claim(comment: str) -> ParsedClaim | None:
    """Returns the claim of a comment, or None for prose. `comment` may include its `#` and have several lines."""
    if _NOT_OURS.match(comment.lstrip("# ")):
        return None
    start = _LEAD.match(comment)
    at = start.end() if start else 0
    raised = _raised(comment[at:], at)
    if raised is not None:
        return raised
    marked, strict, at = _marks(comment, at)
    claim = _value(comment, at, marked, strict)
    if claim is None and strict and comment[at:].strip():
        return _words(comment, at)
    return claim


def _marks(comment: str, at: int) -> tuple[bool, bool, int]:
    """Returns whether there is a mark, whether only output can follow it, and the position after it."""
    marked = strict = False
    if found := _MARK.match(comment, at):
        marked, strict, at = True, bool(found["strict"]), found.end()
    if found := _ARROW.match(comment, at):
        marked, at = True, found.end()
    return marked, strict, at


def _words(comment: str, at: int) -> ParsedClaim | None:
    text = comment[at:].strip().strip("`")
    prose = re.match(r"(?:an?|the|this|some|same|no|as|it|one|each|all|only|from|of|to|with)\b", text, re.IGNORECASE)
    return None if prose or not text else ParsedClaim("words", text, at, marked=True)


def _value(comment: str, at: int, marked: bool, strict: bool) -> ParsedClaim | None:
    label = name = ""
    rough = False
    if found := _LABEL.match(comment, at):
        label, at = found["label"].lower(), found.end()
    elif not strict and (found := _NAMED.match(comment, at)) and found["name"] not in _VALUE_WORDS:
        name, at = found["name"], found.end()
    if found := _ROUGH.match(comment, at):
        rough, at = True, found.end()
    tick = comment[at : at + 1] == "`"
    text = comment[at + tick :]
    claim = _head(text, marked or bool(label) or bool(name) or rough, tick)
    if claim is None:
        return _equation(comment, at) if not label and not rough else None
    known = replace(claim, start=claim.start + at + tick, rough=rough, marked=marked, label=label, name=name)
    return None if name and known.kind != "value" else known


_VALUE_WORDS = frozenset((*DTYPES, *DEVICES, "True", "False", "None", "Note", "NOTE", "Step", "step"))


def _equation(comment: str, at: int) -> ParsedClaim | None:
    """Returns the claim after the equals sign in `2 * 3 = 6`."""
    found = _EQUATION.match(comment.rstrip(), at)
    if found is None:
        return None
    return ParsedClaim("value", found["right"], found.start("right"), read_shown(found["right"]))


def _head(text: str, sure: bool, tick: bool) -> ParsedClaim | None:
    """Returns the value at the start of a text, if it ends there or a remark follows."""
    if found := _RANK.match(text):
        return ParsedClaim("rank", found["rank"], 0)
    if found := _SERIES.match(text.rstrip(" .!")):
        return ParsedClaim("value", found[0], 0, read_shown(re.sub(r"(?<=[\d.])\s+(?=[-.\d])", ", ", found[0])))
    for read, follows in _HEADS:
        length = read(text)
        if not length:
            continue
        tail = text[length:].removeprefix("`") if tick else text[length:]
        onward = (
            re.match(r"\s*[-+*/@×x]?[^-=→⇒]*(?:-+>|=+>|→|⇒)\s*", tail) if not tail.lstrip().startswith("<-") else None
        )
        if onward and follows is not _after_number:
            further = _head(tail[onward.end() :], sure, False)
            return further and replace(further, start=further.start + len(text) - len(tail) + onward.end())
        shown = read_shown(text[:length])
        if shown is not None and follows(tail, shown, sure):
            return ParsedClaim("value", text[:length], 0, shown)
        return None
    return None


def _bracket(text: str) -> int:
    """Returns the length of the call or bracket at the start of the text."""
    found = _OPENING.match(text)
    if found is None:
        return 0
    depth, quote = 0, ""
    for index, mark in enumerate(text):
        if quote or mark in "'\"":
            quote = "" if mark == quote else quote or mark
            continue
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0 and mark in ")]}":
            return index + 1
    return 0


def _length(pattern: re.Pattern[str]) -> Callable[[str], int]:
    def length(text: str) -> int:
        found = pattern.match(text)
        return found.end() if found else 0

    return length


def _after_bracket(tail: str, shown: Shown, sure: bool) -> bool:
    if isinstance(shown, Items) and shown.form != "size":
        # `[1] says so` is a citation, `[0, 1) uniform` an interval, `(optional)` not a value.
        return _glossed(tail) and (sure or len(shown.items) > 1 or not tail.strip())
    if isinstance(shown, Number | PrintedName):
        return _after_number(tail, shown, sure) if isinstance(shown, Number) else _glossed(tail)
    return not _CONDITION.match(tail)


def _after_number(tail: str, shown: Shown, sure: bool) -> bool:
    tail = tail.strip()
    if not tail or re.fullmatch(r"[.!✅✓✔]+|\([^()]*(?:\([^()]*\)[^()]*)*\)\.?", tail):
        return True
    whole = isinstance(shown, Number) and shown.whole
    return (sure or not whole) and bool(re.match(r"(?:[,;—–]|-\s|<-)\s*[^\d\s]", tail)) and not _CONDITION.match(tail)


def _after_word(tail: str, shown: Shown, sure: bool) -> bool:
    return _glossed(tail)


def _glossed(tail: str) -> bool:
    """Returns whether the text after a value is only a remark about it."""
    tail = tail.strip()
    if not tail:
        return True
    if _CONDITION.match(tail):
        return False
    return bool(re.match(r"[(,;.!#✅✓✔❌:—–]|-\s|<-|\W*" + _REASON.pattern, tail, re.IGNORECASE))


_HEADS = (
    (_bracket, _after_bracket),
    (_length(_QUOTED), _after_word),
    (_length(_ANGLE), _after_word),
    (_length(_CUT_NUMBER), _after_number),
    (_length(_WORD), _after_word),
)

_RAISES = re.compile(
    r"(?:[❌✗✘🚫💥!]\s*|-+>\s*|→\s*|=+>\s*|this\s+|it\s+|will\s+|always\s+)*"
    r"(?:"
    r"(?:(?:raises?|throws?|gives?|causes?|triggers?)\s*:?\s+(?:an?\s+)?)?`?(?:[a-z]\w*\.)*(?P<name>[A-Z]\w*(?:Error|Exception))\b`?"
    r"|(?:raises?|throws?|gives?|causes?)\s+an?\s+(?:error|exception)\b"
    r"|(?:runtime\s+)?error\b(?=\s*(?:$|[!:.,;(—–]|-\s))"
    r"|(?:fails|crashes|errors|will fail|errors out)\b(?=\s*(?:$|[!:.,;(—–]|-\s|because|since|as))"
    r")",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:if|when|unless|would|may|might|can|could|avoids?|prevents?|no|without|never|until|otherwise|"
    r"handles?|handling|fix(?:es|ed)?|catch(?:es)?|on (?:gpu|cuda)|older?|before|except|some)\b",
    re.IGNORECASE,
)
_MENTIONS = re.compile(
    r"\w+Error\b|\berror|\bfail|\bcrash|\brais|\bthrow|\bexception|\bnot allowed|\billegal|"
    r"won't|can't|doesn't work|❌|✗|💥|🚫",
    re.IGNORECASE,
)


def _raised(text: str, at: int) -> ParsedClaim | None:
    found = _RAISES.match(text)
    if found is None:
        return None
    name = found["name"] or ""
    tail = text[found.end() :]
    if _HEDGE.search(found[0]) or (not tail.lstrip().startswith(":") and _HEDGE.search(tail[:80])):
        return None
    return ParsedClaim("raises", text.strip(), at, marked=True, error=name)


def mentions_failure(comment: str) -> bool:
    """Returns whether a comment suggests that its statement may fail."""
    return bool(_MENTIONS.search(comment))
