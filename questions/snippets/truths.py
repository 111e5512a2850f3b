"""A claim against what the sandbox told of its statement. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from questions.snippets.claims import Said
from questions.snippets.comparing import (
    Agreement,
    agrees,
    alike,
    printed_values,
    same_words,
    without_coat,
)
from questions.snippets.planning import Seen
from questions.snippets.shown import Array, Items, Mapping, Number, Quoted, Shown, Word, read_shown
from questions.snippets.statements import Probe


@dataclass(frozen=True, slots=True)
class Truth:
    """How a claim fares."""

    agreement: Agreement
    real: str = ""
    """What is so instead, in one line; what was compared, for telling two runs apart."""


UNDECIDED = Truth("undecided")
_ORDER: tuple[Agreement, ...] = ("same", "form", "differs", "undecided")


def weigh(said: Said, probe: Probe, seen: tuple[Seen, ...]) -> Truth:
    """How a claim fares over all executions of its statement: one that bears it out suffices."""
    truths = [_once(said, probe, one) for one in seen]
    if probe.prints and len(seen) > 1 and said.kind in ("value", "words"):
        # In a loop the claim may be what all its turns print.
        truths.append(_printed(said, "".join(one.printed for one in seen)))
    return min(truths, key=lambda truth: _ORDER.index(truth.agreement), default=UNDECIDED)


def _once(said: Said, probe: Probe, seen: Seen) -> Truth:
    if said.kind == "raises":
        return _raises(said, seen)
    if seen.raised is not None:
        return UNDECIDED
    if said.name:
        return _valued(said, seen.values[said.name], strict=True) if said.name in seen.values else UNDECIDED
    if probe.prints:
        return _printed(said, seen.printed)
    own = seen.values.get("")
    if said.kind == "words":
        return _words(said, seen.printed) if seen.printed else UNDECIDED
    if seen.printed.strip() and (own is None or own["type"] == "NoneType"):
        return _printed(said, seen.printed)
    # A call that returns nothing speaks of what it changed alone.
    looked = [(name, value) for name, value in seen.values.items() if value["type"] != "NoneType" or not name]
    truths = [_valued(said, value, strict=probe.bare and not name) for name, value in looked]
    return min(truths, key=lambda truth: _ORDER.index(truth.agreement), default=UNDECIDED)


def _raises(said: Said, seen: Seen) -> Truth:
    if seen.raised is None:
        return Truth("differs", "it raises nothing")
    if not said.error or said.error in seen.raised.kinds:
        return Truth("same", seen.raised.kind)
    return Truth("differs", f"it raises {seen.raised.kind}")


def _printed(said: Said, printed: str) -> Truth:
    real = one_line(printed)
    if said.kind == "words" or said.shown is None:
        return _words(said, printed) if said.kind != "rank" else UNDECIDED
    if same_words(said.text, printed):
        return Truth("same", real)
    values = list(printed_values(printed))
    if any(agrees(said.shown, value, rough=said.rough) for value in values):
        return Truth("same", real)
    if any(without_coat(said.shown, value, rough=said.rough) for value in values):
        return Truth("same" if said.rough else "form", real)
    if not values or not printed.strip():
        plain = isinstance(said.shown, Number | Word | Quoted)
        return UNDECIDED if plain and printed.strip() else Truth("differs", real)
    return Truth("differs", real) if any(_comparable(said.shown, value) for value in values) else UNDECIDED


def _comparable(claimed: Shown, real: Shown) -> bool:
    """Whether two values that are not the same could have been meant as the same."""
    if isinstance(claimed, Number) and claimed.whole and isinstance(real, Items | Mapping | Word):
        return False  # a whole number beside it counts or numbers something
    return not (isinstance(claimed, Quoted) and not isinstance(real, Quoted | Word))


def _words(said: Said, printed: str) -> Truth:
    real = one_line(printed)
    if same_words(said.text, printed) or any(same_words(said.text, line) for line in printed.splitlines()):
        return Truth("same", real)
    lines = printed.strip().splitlines() or [""]
    return Truth("differs", real) if any(alike(said.text, line) for line in lines) else UNDECIDED


def _valued(said: Said, value: dict[str, Any], *, strict: bool) -> Truth:
    """A claim about a value that is not printed: its repr, its shape, its dtype, whatever the claim speaks of."""
    real = str(value["repr"])
    shape: list[int] | None = value.get("shape")
    if said.kind == "rank":
        if shape is None:
            return UNDECIDED
        return Truth("same" if len(shape) == int(said.text) else "differs", f"{len(shape)}D, shape {tuple(shape)}")
    claimed = said.shown
    if claimed is None:
        return UNDECIDED
    if said.label in ("shape", "size") or (isinstance(claimed, Items) and claimed.form == "size" and shape is not None):
        return _about(
            claimed,
            _sizes(shape) if shape is not None else read_shown(real),
            str(tuple(shape or ())) if shape is not None else real,
        )
    if shape is not None and said.label in ("dtype", "device"):
        told = str(value[said.label])
        return _about(claimed, read_shown(told), told)
    texts = [real, str(value["str"]), str(value.get("list", ""))]
    shown = [one for one in map(read_shown, texts) if one is not None]
    if any(agrees(claimed, one, rough=said.rough) or without_coat(claimed, one, rough=said.rough) for one in shown):
        return Truth("same", one_line(real))
    if shape is not None and _speaks_of(claimed, value, shape):
        return Truth("same", one_line(real))
    if same_words(said.text, str(value["str"])):
        return Truth("same", one_line(real))
    if shape is not None and _may_be_shape(claimed, shape):
        real = str(tuple(shape))
    return Truth("differs", _told(real, shape)) if _of_kind(claimed, value, shape, strict) else UNDECIDED


def _about(claimed: Shown, real: Shown | None, told: str) -> Truth:
    if real is None:
        return UNDECIDED
    return Truth("same" if agrees(claimed, real) else "differs", one_line(told))


def _sizes(shape: list[int]) -> Items:
    return Items(tuple(Number(complex(size), whole=True) for size in shape), "size")


def _speaks_of(claimed: Shown, value: dict[str, Any], shape: list[int]) -> bool:
    """Whether a claim beside a tensor tells its shape, its dtype or its device."""
    if isinstance(claimed, Items):
        return agrees(claimed, _sizes(shape))
    if isinstance(claimed, Word):
        dtype = read_shown(str(value["dtype"]))
        device = read_shown(str(value["device"]))
        return any(real is not None and agrees(claimed, real) for real in (dtype, device))
    return False


def _of_kind(claimed: Shown, value: dict[str, Any], shape: list[int] | None, strict: bool) -> bool:
    """Whether a claim can only have meant the value it stands beside, so that it is wrong where it differs."""
    kinds = set(value["kinds"])
    match claimed:
        case Array():
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
        case Word(name="True" | "False"):
            return "bool" in kinds or shape == []
        case Word():
            return bool(kinds & {"dtype", "device"}) or (shape is not None and claimed.name != "None")
    return False


def _may_be_shape(claimed: Shown, shape: list[int]) -> bool:
    """Whether a claim beside a tensor is rather one of its shape than of its values."""
    whole = isinstance(claimed, Items) and all(isinstance(one, Number) and one.whole for one in claimed.items)
    return whole and isinstance(claimed, Items) and (claimed.form == "tuple" or len(shape) > 1)


def _told(real: str, shape: list[int] | None) -> str:
    told = one_line(real)
    return told if shape is None or len(told) <= 60 else f"{told[:40]} …, shape {tuple(shape)}"


def one_line(text: str) -> str:
    """A text in one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else line[:199] + "…"
