"""How a result differs from the right one, in one line: for a failed example of a verdict, and for hidden cases."""

from __future__ import annotations

from typing import assert_never

from bot.core.text.words import plural
from service.wire import (
    Aspect,
    CaseView,
    Difference,
    DrawNotFinite,
    DrawsDiffer,
    DtypeDiffers,
    HiddenDiffers,
    KeysDiffer,
    LengthDiffers,
    NotComparable,
    NotRaised,
    Raised,
    ShapeDiffers,
    TypeDiffers,
    ValueDiffers,
    ValueType,
    Verdict,
)


def case_words(case: CaseView) -> str:
    """Explains why a case failed; empty for one that passed. Plain text."""
    said = difference_words(case.difference) if case.difference else _WITHOUT_RESULT[case.verdict]
    return f"on the GPU: {said}" if said and case.on_gpu else said


def difference_words(difference: Difference) -> str:
    """Explains how a result differs. Plain text."""
    match difference:
        case TypeDiffers(where, expected, got):
            hint = "; is a `return` missing?" if got.name == "None" and not where else ""
            return _at(where, f"expected {_type_words(expected)}, got {_type_words(got)}{hint}")
        case ShapeDiffers(where, expected, got):
            return _at(where, f"expected shape {_tuple(expected)}, got shape {_tuple(got)}")
        case DtypeDiffers(where, expected, got):
            return _at(where, f"expected dtype {expected}, got dtype {got}")
        case LengthDiffers(where, expected, got):
            return _at(where, f"expected {plural(expected, 'item')}, got {got}")
        case KeysDiffer(where, missing, unexpected):
            parts = (("missing", missing), ("unexpected", unexpected))
            return _at(where, ", ".join(f"{what} keys {list(keys)}" for what, keys in parts if keys))
        case ValueDiffers() as fact:
            return _at(fact.where, f"expected {fact.expected}, got {fact.got}{_counts(fact)}")
        case DrawsDiffer() as fact:
            return _draws_words(fact)
        case DrawNotFinite(place, draw, draws, got):
            return _at(_place(place), f"draw {draw} of {draws:,} is {got}")
        case NotRaised(expected, raised):
            return f"expected {expected} to be raised, but it {f'raised {raised}' if raised else 'returned a value'}"
        case Raised(name, message):
            return f"raised {name}: {message}"
        case NotComparable(why):
            return f"returned something else: {why}"
        case HiddenDiffers(aspect):
            return _HIDDEN[aspect]
        case _ as never:
            assert_never(never)


_WITHOUT_RESULT: dict[Verdict, str] = {
    "accepted": "",
    "wrong": "a wrong result",
    "runtime error": "the program ended before this case was finished",
    "time limit": "the time ran out before this case was finished",
    "memory limit": "the memory ran out before this case was finished",
    "output limit": "too much output before this case was finished",
    "invalid": "the program could not be called",
    "system error": "our sandbox failed; this costs nothing",
    "awaits marking": "",
}
_HIDDEN: dict[Aspect, str] = {
    "type": "a result of the wrong type",
    "shape": "a result of the wrong shape",
    "dtype": "a result of the wrong dtype",
    "length": "a result with too few or too many items",
    "keys": "a result with the wrong keys",
    "value": "a wrong value",
    "exception": "an exception was expected",
    "draws": "random numbers of another distribution",
    "raised": "raised an exception",
}


def _at(where: str, what: str) -> str:
    return f"at {where}: {what}" if where else what


def _place(place: tuple[int, ...]) -> str:
    return str(list(place)) if place else ""


def _tuple(shape: tuple[int, ...]) -> str:
    return str(tuple(shape))


def _type_words(one: ValueType) -> str:
    if one.dtype:
        return f"a {one.name} of shape {_tuple(one.shape)} and dtype {one.dtype}"
    if one.name == "None":
        return one.name
    return f"an {one.name}" if one.name == "int" else f"a {one.name}"


def _counts(fact: ValueDiffers) -> str:
    if not fact.elements:
        return ""
    parts = [f"{fact.differing} of {fact.elements} elements differ"]
    if fact.nans:
        parts.append(f"{fact.nans} of them nan")
    if fact.largest:
        parts.append(f"most by {fact.largest} at {list(fact.largest_at)}")
    return f" ({', '.join(parts)})"


def _draws_words(fact: DrawsDiffer) -> str:
    match fact.statistic:
        case "finite":
            what = "the share of finite numbers is"
        case "mean":
            what = "the mean is"
        case "spread":
            what = "the mean squared deviation is"
        case "quantile":
            what = f"at or below the {fact.quantile} quantile of all lie"
        case _ as never:
            assert_never(never)
    said = f"over {fact.draws:,} draws {what} {fact.got}, expected {fact.expected}"
    return _at(_place(fact.place), f"{said}; chance explains no difference above {fact.chance}")
