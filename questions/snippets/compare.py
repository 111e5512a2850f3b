"""Compares claims with actual results: strict about values, shapes and dtypes, lenient about number formats."""

from __future__ import annotations

import cmath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from questions.snippets.claims import (
    Gap,
    Items,
    Mapping,
    Number,
    ParsedClaim,
    PrintedArray,
    PrintedName,
    Quoted,
    Shown,
    read_shown,
)
from questions.snippets.plan import Execution
from questions.snippets.statements import Probe

# Values and texts

Agreement = Literal["same", "form", "differs", "undecided"]
"""`form`: the same number in another type, such as `tensor(6.)` for `6.0`. `undecided`: not comparable."""

_TOKEN = re.compile(r"-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|-?\.\d+|\w+|[^\w\s]")
_LOOSE = frozenset(",'\"`")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]+")
_NOISE = 1e-10
"""Absolute value below which a number counts as a rounding error of zero."""
_ULP = 2e-7
"""Relative tolerance: the last digit of a float32, which depends on the order of rounding."""
_DEFAULTS = ("", "float32", "int64", "bool")


def agrees(claimed: Shown, real: Shown, *, rough: bool = False) -> bool:
    """Returns whether two shown values are equal."""
    match claimed, real:
        case Number(), Number():
            return _close(claimed, real, rough)
        case PrintedName(), PrintedName():
            return claimed.name == real.name
        case Quoted(), Quoted():
            return claimed.text == real.text
        case (PrintedName(name=text), Quoted(text=other)) | (Quoted(text=text), PrintedName(name=other)):
            return text == other
        case Items(), Items():
            return _rows(claimed.items, real.items, rough)
        case Mapping(), Mapping():
            return len(claimed.pairs) == len(real.pairs) and all(
                agrees(key, other, rough=rough) and agrees(value, found, rough=rough)
                for (key, value), (other, found) in zip(claimed.pairs, real.pairs, strict=True)
            )
        case PrintedArray(), PrintedArray():
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
    # With three digits or more, the rest may be cut off instead of rounded.
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


def _arrays(claimed: PrintedArray, real: PrintedArray, rough: bool) -> bool:
    if claimed.dtype != real.dtype and not (claimed.dtype in _DEFAULTS and real.dtype in _DEFAULTS):
        return False
    kinds = {_kind(claimed.data), _kind(real.data)} - {""}
    return len(kinds) < 2 and agrees(claimed.data, real.data, rough=rough)


def _kind(data: Shown) -> str:
    """Returns whether an array contains ints, floats or bools: what remains of the dtype if it is not printed."""
    if isinstance(data, Number):
        return "int" if data.whole else "float"
    if isinstance(data, Items):
        kinds = {_kind(item) for item in data.items} - {""}
        return "float" if "float" in kinds else next(iter(kinds), "")
    return "word" if isinstance(data, PrintedName) else ""


def same_number(claimed: Shown, real: Shown, *, rough: bool = False) -> bool:
    """Returns whether one is a plain number and the other a zero-dimensional tensor of the same value."""
    if isinstance(real, PrintedArray) and not isinstance(real.data, Items):
        return agrees(claimed, real.data, rough=rough)
    return isinstance(claimed, PrintedArray) and not isinstance(claimed.data, Items) and agrees(claimed.data, real)


def printed_values(printed: str) -> Iterator[Shown]:
    """Yields the values in a printed text: the whole text, the text after its labels, and each line."""
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
    # If the line does not end with a value, one may come before its last words.
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
    """Returns whether two texts have equal tokens, with lenient numbers and ignoring quotes and commas."""
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


def same_line(claimed: str, printed: str) -> bool:
    """Returns whether two texts are about the same line: at least half of the claim's words were printed."""
    words = re.findall(r"[^\W\d]\w+", claimed.lower())
    found = set(re.findall(r"[^\W\d]\w+", printed.lower()))
    return not words or sum(word in found for word in words) * 2 >= len(words)


# Claims against the sandbox's report about their statement


@dataclass(frozen=True, slots=True)
class ClaimResult:
    """The result of checking a claim."""

    agreement: Agreement
    real: str = ""
    """The actual value on one line, or what was compared, for telling two runs apart."""


UNDECIDED = ClaimResult("undecided")
_ORDER: tuple[Agreement, ...] = ("same", "form", "differs", "undecided")


def check_claim(claim: ParsedClaim, probe: Probe, seen: tuple[Execution, ...]) -> ClaimResult:
    """Checks a claim against all executions of its statement; one that agrees is enough."""
    truths = [_once(claim, probe, one) for one in seen]
    if probe.prints and len(seen) > 1 and claim.kind in ("value", "words"):
        # In a loop the claim may be the output of all iterations.
        truths.append(_printed(claim, "".join(one.printed for one in seen)))
    return min(truths, key=lambda truth: _ORDER.index(truth.agreement), default=UNDECIDED)


def _once(claim: ParsedClaim, probe: Probe, seen: Execution) -> ClaimResult:
    if claim.kind == "raises":
        return _raises(claim, seen)
    if seen.raised is not None:
        return UNDECIDED
    if claim.name:
        return _valued(claim, seen.values[claim.name], strict=True) if claim.name in seen.values else UNDECIDED
    if probe.prints:
        return _printed(claim, seen.printed)
    own = seen.values.get("")
    if claim.kind == "words":
        return _words(claim, seen.printed) if seen.printed else UNDECIDED
    if seen.printed.strip() and (own is None or own["type"] == "NoneType"):
        return _printed(claim, seen.printed)
    # For a call that returns nothing, the claim is about what it changed.
    looked = [(name, value) for name, value in seen.values.items() if value["type"] != "NoneType" or not name]
    truths = [_valued(claim, value, strict=probe.bare and not name) for name, value in looked]
    return min(truths, key=lambda truth: _ORDER.index(truth.agreement), default=UNDECIDED)


def _raises(claim: ParsedClaim, seen: Execution) -> ClaimResult:
    if seen.raised is None:
        return ClaimResult("differs", "no exception")
    if not claim.error or claim.error in seen.raised.kinds:
        return ClaimResult("same", seen.raised.kind)
    return ClaimResult("differs", f"raises {seen.raised.kind}")


def _printed(claim: ParsedClaim, printed: str) -> ClaimResult:
    real = one_line(printed)
    if claim.kind == "words" or claim.shown is None:
        return _words(claim, printed) if claim.kind != "rank" else UNDECIDED
    if same_words(claim.text, printed):
        return ClaimResult("same", real)
    values = list(printed_values(printed))
    if any(agrees(claim.shown, value, rough=claim.rough) for value in values):
        return ClaimResult("same", real)
    if any(same_number(claim.shown, value, rough=claim.rough) for value in values):
        return ClaimResult("same" if claim.rough else "form", real)
    if not values or not printed.strip():
        plain = isinstance(claim.shown, Number | PrintedName | Quoted)
        return UNDECIDED if plain and printed.strip() else ClaimResult("differs", real)
    return ClaimResult("differs", real) if any(_comparable(claim.shown, value) for value in values) else UNDECIDED


def _comparable(claimed: Shown, real: Shown) -> bool:
    """Returns whether two different values could have been meant to be the same."""
    if isinstance(claimed, Number) and claimed.whole and isinstance(real, Items | Mapping | PrintedName):
        return False  # a whole number next to it counts or numbers something
    return not (isinstance(claimed, Quoted) and not isinstance(real, Quoted | PrintedName))


def _words(claim: ParsedClaim, printed: str) -> ClaimResult:
    real = one_line(printed)
    if same_words(claim.text, printed) or any(same_words(claim.text, line) for line in printed.splitlines()):
        return ClaimResult("same", real)
    lines = printed.strip().splitlines() or [""]
    return ClaimResult("differs", real) if any(same_line(claim.text, line) for line in lines) else UNDECIDED


def _valued(claim: ParsedClaim, value: dict[str, Any], *, strict: bool) -> ClaimResult:
    """Checks a claim about a value that is not printed: its repr, shape or dtype."""
    real = str(value["repr"])
    shape: list[int] | None = value.get("shape")
    if claim.kind == "rank":
        if shape is None:
            return UNDECIDED
        return ClaimResult(
            "same" if len(shape) == int(claim.text) else "differs", f"{len(shape)}D, shape {tuple(shape)}"
        )
    claimed = claim.shown
    if claimed is None:
        return UNDECIDED
    if claim.label in ("shape", "size") or (
        isinstance(claimed, Items) and claimed.form == "size" and shape is not None
    ):
        return _about(
            claimed,
            _sizes(shape) if shape is not None else read_shown(real),
            str(tuple(shape or ())) if shape is not None else real,
        )
    if shape is not None and claim.label in ("dtype", "device"):
        text = str(value[claim.label])
        return _about(claimed, read_shown(text), text)
    texts = [real, str(value["str"]), str(value.get("list", ""))]
    shown = [one for one in map(read_shown, texts) if one is not None]
    if any(agrees(claimed, one, rough=claim.rough) or same_number(claimed, one, rough=claim.rough) for one in shown):
        return ClaimResult("same", one_line(real))
    if shape is not None and _speaks_of(claimed, value, shape):
        return ClaimResult("same", one_line(real))
    if same_words(claim.text, str(value["str"])):
        return ClaimResult("same", one_line(real))
    if shape is not None and _may_be_shape(claimed, shape):
        real = str(tuple(shape))
    return ClaimResult("differs", _in_brief(real, shape)) if _of_kind(claimed, value, shape, strict) else UNDECIDED


def _about(claimed: Shown, real: Shown | None, text: str) -> ClaimResult:
    if real is None:
        return UNDECIDED
    return ClaimResult("same" if agrees(claimed, real) else "differs", one_line(text))


def _sizes(shape: list[int]) -> Items:
    return Items(tuple(Number(complex(size), whole=True) for size in shape), "size")


def _speaks_of(claimed: Shown, value: dict[str, Any], shape: list[int]) -> bool:
    """Returns whether a claim next to a tensor is its shape, dtype or device."""
    if isinstance(claimed, Items):
        return agrees(claimed, _sizes(shape))
    if isinstance(claimed, PrintedName):
        dtype = read_shown(str(value["dtype"]))
        device = read_shown(str(value["device"]))
        return any(real is not None and agrees(claimed, real) for real in (dtype, device))
    return False


def _of_kind(claimed: Shown, value: dict[str, Any], shape: list[int] | None, strict: bool) -> bool:
    """Returns whether a claim can only be about the value next to it, and is therefore wrong if it differs."""
    kinds = set(value["kinds"])
    match claimed:
        case PrintedArray():
            return shape is not None
        case Items():
            return shape is not None or bool(kinds & {"list", "tuple", "set"})
        case Mapping():
            return "dict" in kinds
        case Number(whole=True) if not strict:
            return bool(kinds & {"int", "float"}) or shape == []
        case Number():
            return bool(kinds & {"int", "float", "complex"}) or (shape is not None and (strict or shape == []))
        case Quoted():
            return "str" in kinds
        case PrintedName(name="True" | "False"):
            return "bool" in kinds or shape == []
        case PrintedName():
            return bool(kinds & {"dtype", "device"}) or (shape is not None and claimed.name != "None")
    return False


def _may_be_shape(claimed: Shown, shape: list[int]) -> bool:
    """Returns whether a claim next to a tensor is about its shape rather than its values."""
    whole = isinstance(claimed, Items) and all(isinstance(one, Number) and one.whole for one in claimed.items)
    return whole and isinstance(claimed, Items) and (claimed.form == "tuple" or len(shape) > 1)


def _in_brief(real: str, shape: list[int] | None) -> str:
    text = one_line(real)
    return text if shape is None or len(text) <= 60 else f"{text[:40]} …, shape {tuple(shape)}"


def one_line(text: str) -> str:
    """Returns a text on one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"
