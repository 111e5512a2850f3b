"""Matches typed answers with a question's key: values by meaning, prose by the key points it mentions.

Values are parsed without evaluating them. A key point counts as mentioned if all of its marked terms (**bold** or
`code`) are. Without marked terms, all its identifiers and numbers and 60 % of its significant words must occur; the
same goes for the text after a label if only the label is marked (`**View**: shares the storage`). Identifiers and
numbers match whole: `float16` is not `bfloat16`, and numbers compare by value. Words of prose match by stem. Negations
are not understood, so a match of prose is always provisional.
"""

from __future__ import annotations

import ast
import cmath
import math
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from service.domain.smart_text import undo_smart_text
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
REQUIRED_SHARE = 0.6
"""Share of an unmarked key point's significant words that must occur."""
_MARKED = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)|\*\*(?P<bold>.+?)\*\*", re.DOTALL)
_LABEL = re.compile(r"(?:\*\*[^*]+\*\*|`[^`]+`)[^:]{0,40}:(?:\*\*)?\s+(?=\S)|\*\*[^*]+:\*\*\s+(?=\S)")
_TOKEN = re.compile(
    r"""(?P<number>(?:(?<![\w)\].-])-)?(?<![\w.])(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,6})?(?![\w]|\.\d))
      | (?P<name>\w+(?:\.\w+)*)""",
    re.VERBOSE,
)
_SENTENCE_END = re.compile(r"[.!?:\n]")
_LATIN = frozenset({"e.g", "i.e", "a.k.a", "w.r.t"})
_STOP_WORDS = """a about after all also am an and any are as at be because been before being but by can cannot could
did do does each for from had has have he her his how i if in into is it its just like may me more most much must my
no not of on only onto or other our out over own same shall she should so some such than that the their them then
there these they this those through to too under until up upon us very was we were what when where which while who
whose why will with would you your"""
_STOP = frozenset(_STOP_WORDS.split())
# Longest first. British and American spellings lose the same ending.
_ENDINGS = """izations isations ization isation ations ating ation izing ising ators ates ated ator ized ised izes ises
ings edly ions ate ize ise ing ion ies ied ers ed er es ly s e y"""
_SUFFIXES = tuple(_ENDINGS.split())


@dataclass(frozen=True, slots=True)
class _MatchTokens:
    """The parts of a text that matching compares."""

    names: set[str] = field(default_factory=set)
    """Every word and dotted name as written."""
    numbers: set[Decimal] = field(default_factory=set)
    stems: set[str] = field(default_factory=set)
    """Stems of all words of prose, including short and common ones."""
    significant: set[str] = field(default_factory=set)
    """Stems of the words that carry the meaning."""
    identifiers: set[str] = field(default_factory=set)
    """Names that prose does not contain: `no_grad`, `float16`, `x.grad`, `DataLoader`."""


def match_key_points(key_points: Sequence[str], text: str) -> list[bool]:
    """Returns for each of `key_points` (Markdown) whether `text` mentions it."""
    plain = undo_smart_text(text)
    tokens = _tokens(plain)
    return [_mentions(undo_smart_text(point), tokens, plain) for point in key_points]


def _mentions(point: str, tokens: _MatchTokens, text: str) -> bool:
    terms = list(_MARKED.finditer(point))
    if not terms:
        return _has_prose(_tokens(point), tokens)
    label = _LABEL.match(point)
    if label and terms[-1].end() <= label.end() and not _has_prose(_tokens(point[label.end() :]), tokens):
        return False
    return all(
        _has_term(term["code"], tokens, text) if term["code"] else _has_bold(term["bold"], tokens, text)
        for term in terms
    )


def _has_term(code: str, tokens: _MatchTokens, text: str) -> bool:
    """Tests for a term in backticks: each of its names and numbers exactly, or its symbols as written."""
    wanted = _tokens(code)
    if not wanted.names and not wanted.numbers:
        return code.strip() in text
    return wanted.numbers <= tokens.numbers and all(_has_name(name, tokens.names) for name in wanted.names)


def _has_bold(bold: str, tokens: _MatchTokens, text: str) -> bool:
    """Tests for a bold term: up to three words all by stem, and code within it exactly."""
    terms = [term["code"] for term in _MARKED.finditer(bold) if term["code"]]
    if not all(_has_term(term, tokens, text) for term in terms):
        return False
    words = _tokens(_MARKED.sub(" ", bold))
    if not words.names and not words.numbers:
        return bool(terms)
    few = len(words.significant) <= 3
    return _has_prose(words, tokens) and (not few or words.significant <= tokens.stems)


def _has_prose(wanted: _MatchTokens, tokens: _MatchTokens) -> bool:
    if not _has_exact(wanted, tokens):
        return False
    words = wanted.significant
    if not words:
        # A point of common words must occur in full.
        return wanted.stems <= tokens.stems and bool(wanted.names or wanted.numbers)
    return len(words & tokens.stems) >= math.ceil(REQUIRED_SHARE * len(words))


def _has_exact(wanted: _MatchTokens, tokens: _MatchTokens) -> bool:
    return wanted.numbers <= tokens.numbers and all(_has_name(name, tokens.names) for name in wanted.identifiers)


def _has_name(wanted: str, names: set[str]) -> bool:
    """Tests for a name with or without its qualifier: `no_grad` matches `torch.no_grad`."""
    return any(name == wanted or name.endswith("." + wanted) or wanted.endswith("." + name) for name in names)


def _tokens(text: str) -> _MatchTokens:
    found = _MatchTokens()
    end = 0
    for token in _TOKEN.finditer(text):
        if token["number"]:
            found.numbers.add(Decimal(token["number"]))
        else:
            opens_sentence = not end or bool(_SENTENCE_END.search(text, end, token.start()))
            _add_name(found, token["name"], opens_sentence)
        end = token.end()
    return found


def _add_name(found: _MatchTokens, name: str, opens_sentence: bool) -> None:
    if name.casefold() in _LATIN:
        return
    found.names.add(name)
    if opens_sentence and name.istitle() and name.isalpha():
        # Phones capitalize the first word: "View returns ..." names `view`.
        found.names.add(name.lower())
    if any(c.isdigit() or c in "_." for c in name):
        found.identifiers.add(name)
    if any(c.isdigit() or c == "_" for c in name):
        return
    found.stems.update(map(_stem, name.split(".")))
    if "." not in name and name.casefold() not in _STOP:
        found.significant.add(_stem(name))


def _stem(word: str) -> str:
    """Returns `word` in lower case without its ending: allocate, allocates and allocation have one stem."""
    folded = word.casefold()
    for suffix in _SUFFIXES:
        if folded.endswith(suffix) and len(folded) - len(suffix) >= 3:
            return _undouble(folded.removesuffix(suffix))
    return _undouble(folded)


def _undouble(stem: str) -> str:
    """Turns `stopp`, the stem of stopped, into `stop`."""
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
