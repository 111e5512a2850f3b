"""Whether what is claimed is what came: strict in values, shapes and dtypes, lenient in how a number is written."""

from __future__ import annotations

import cmath
import re
from collections.abc import Iterator
from typing import Literal

from questions.snippets.shown import Array, Gap, Items, Mapping, Number, Quoted, Shown, Word, read_shown

Agreement = Literal["same", "form", "differs", "undecided"]
"""`form`: the same number in another coat, such as `tensor(6.)` for `6.0`. `undecided`: the two cannot be compared."""

_TOKEN = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|-?\.\d+|\w+|[^\w\s]")
_LOOSE = frozenset(",'\"`")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")
_NOISE = 1e-10
"""Below this a number is what rounding leaves of zero."""
_ULP = 2e-7
"""Of a number: the last place of a float32, which machines may round in other orders."""
_DEFAULTS = ("", "float32", "int64", "bool")


def agrees(claimed: Shown, real: Shown, *, rough: bool = False) -> bool:
    """Whether two shown values are the same value."""
    match claimed, real:
        case Number(), Number():
            return _close(claimed, real, rough)
        case Word(), Word():
            return claimed.name == real.name
        case Quoted(), Quoted():
            return claimed.text == real.text
        case (Word(name=text), Quoted(text=other)) | (Quoted(text=text), Word(name=other)):
            return text == other
        case Items(), Items():
            return _rows(claimed.items, real.items, rough)
        case Mapping(), Mapping():
            return len(claimed.pairs) == len(real.pairs) and all(
                agrees(key, other, rough=rough) and agrees(value, found, rough=rough)
                for (key, value), (other, found) in zip(claimed.pairs, real.pairs, strict=True)
            )
        case Array(), Array():
            return _arrays(claimed, real, rough)
    return False


def _close(claimed: Number, real: Number, rough: bool) -> bool:
    one, other = claimed.value, real.value
    if one == other or (cmath.isnan(one) and cmath.isnan(other)):
        return True
    if not (cmath.isfinite(one) and cmath.isfinite(other)):
        return False
    if abs(one) < _NOISE and abs(other) < _NOISE:
        return True
    gap = abs(one - other)
    if not claimed.whole and not real.whole and gap <= _ULP * abs(other):
        return True
    if rough:
        return gap <= max(0.1 * abs(other), 10.0**-claimed.digits)
    if claimed.whole or real.whole or not claimed.digits or not real.digits:
        return gap <= 1e-6 * abs(other) and not (claimed.whole and real.whole)
    # Whoever shows three digits or more may have cut the rest off instead of rounding.
    share = 1.0 if claimed.cut or claimed.digits >= 3 else 0.5
    return gap <= 1.000001 * max(share * 10.0**-claimed.digits, 0.5 * 10.0**-real.digits)


def _rows(claimed: tuple[Shown, ...], real: tuple[Shown, ...], rough: bool) -> bool:
    gaps = [index for index, item in enumerate(claimed) if isinstance(item, Gap)]
    if gaps:
        first, last = gaps[0], len(claimed) - gaps[-1] - 1
        if len(real) < first + last:
            return False
        ends = (real[:first], real[len(real) - last :])
        return _rows(claimed[:first], ends[0], rough) and _rows(claimed[gaps[-1] + 1 :], ends[1], rough)
    if any(isinstance(item, Gap) for item in real):
        return _rows(real, claimed, rough)
    return len(claimed) == len(real) and all(agrees(a, b, rough=rough) for a, b in zip(claimed, real, strict=True))


def _arrays(claimed: Array, real: Array, rough: bool) -> bool:
    if claimed.dtype != real.dtype and not (claimed.dtype in _DEFAULTS and real.dtype in _DEFAULTS):
        return False
    kinds = {_kind(claimed.data), _kind(real.data)} - {""}
    return len(kinds) < 2 and agrees(claimed.data, real.data, rough=rough)


def _kind(data: Shown) -> str:
    """Whether the leaves of an array are ints, floats or truths: what is left of the dtype when it is not printed."""
    if isinstance(data, Number):
        return "int" if data.whole else "float"
    if isinstance(data, Items):
        kinds = {_kind(item) for item in data.items} - {""}
        return "float" if "float" in kinds else next(iter(kinds), "")
    return "word" if isinstance(data, Word) else ""


def without_coat(claimed: Shown, real: Shown, *, rough: bool = False) -> bool:
    """Whether a bare number stands for a tensor of no dimensions, or the other way round."""
    if isinstance(real, Array) and not isinstance(real.data, Items):
        return agrees(claimed, real.data, rough=rough)
    return isinstance(claimed, Array) and not isinstance(claimed.data, Items) and agrees(claimed.data, real)


def printed_values(printed: str) -> Iterator[Shown]:
    """The values a printed text shows: the whole, what stands behind its labels, and each of its lines."""
    text = printed.strip()
    whole = read_shown(text)
    if whole is not None:
        yield whole
        return
    for line in text.splitlines()[:50] if "\n" in text and "tensor(" not in text else [text]:
        yield from _behind_labels(line[:2000])


def _behind_labels(line: str) -> Iterator[Shown]:
    for start in _starts(line):
        shown = read_shown(line[start:])
        if shown is not None:
            yield shown
            return
    # No value ends the line; one may stand before its last words.
    for start in _starts(line):
        for stop in re.finditer(r"[\s,;]+", line[start:]):
            shown = read_shown(line[start : start + stop.start()])
            if shown is not None:
                yield shown
                break


def _starts(line: str) -> Iterator[int]:
    depth = 0
    yield 0
    for index, mark in enumerate(line):
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0 and mark in " :=>|\t" and index + 1 < len(line) and line[index + 1] not in " =>":
            yield index + 1


def same_words(claimed: str, printed: str) -> bool:
    """Whether two texts are token by token the same, numbers as leniently as elsewhere, quotes and commas aside."""
    first, second = read_shown(claimed), read_shown(printed)
    if first is not None and second is not None:
        return agrees(first, second)
    one, other = _tokens(claimed), _tokens(printed)
    return len(one) == len(other) and all(map(_same_token, one, other))


def _tokens(text: str) -> list[str]:
    return [token for token in _TOKEN.findall(_ADDRESS.sub("0x", text)) if token not in _LOOSE]


def _same_token(claimed: str, real: str) -> bool:
    if claimed == real:
        return True
    one, other = read_shown(claimed), read_shown(real)
    return isinstance(one, Number) and isinstance(other, Number) and _close(one, other, rough=False)


def alike(claimed: str, printed: str) -> bool:
    """Whether two texts are evidently about the same line: at least half of the claim's words are printed."""
    words = re.findall(r"[^\W\d]\w+", claimed.lower())
    found = set(re.findall(r"[^\W\d]\w+", printed.lower()))
    return not words or sum(word in found for word in words) * 2 >= len(words)
