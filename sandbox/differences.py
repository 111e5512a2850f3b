"""How a result differs from the expected one, as facts: where, what kind, both sides. Plain data without sentences.

Only visible cases say more than the kind of difference: values, names and texts of the program are in these facts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, assert_never

Aspect = Literal["type", "shape", "dtype", "length", "keys", "value", "exception", "draws", "raised"]
"""Kind of difference, which may be told even of a hidden case."""
Statistic = Literal["finite", "mean", "spread", "quantile"]
"""What is compared of random numbers: the share of finite ones, the mean, the mean squared distance from it, or the
share at or below a quantile of all."""


@dataclass(frozen=True, slots=True)
class ValueType:
    """The type of a value."""

    name: str
    """Such as `int`, `tensor` or `numpy array`."""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    """Empty if it is not an array."""


@dataclass(frozen=True, slots=True)
class TypeDiffers:
    """The result, or a part of it, has another type."""

    kind: Literal["type"] = field(default="type", kw_only=True)
    where: str
    """Path in the result, such as `['w'][1]`; empty for all of it."""
    expected: ValueType
    got: ValueType


@dataclass(frozen=True, slots=True)
class ShapeDiffers:
    """An array has another shape."""

    kind: Literal["shape"] = field(default="shape", kw_only=True)
    where: str
    expected: tuple[int, ...]
    got: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DtypeDiffers:
    """An array has another dtype."""

    kind: Literal["dtype"] = field(default="dtype", kw_only=True)
    where: str
    expected: str
    got: str


@dataclass(frozen=True, slots=True)
class LengthDiffers:
    """A sequence has another number of items."""

    kind: Literal["length"] = field(default="length", kw_only=True)
    where: str
    expected: int
    got: int


@dataclass(frozen=True, slots=True)
class KeysDiffer:
    """A mapping has other keys; at most five of each are named."""

    kind: Literal["keys"] = field(default="keys", kw_only=True)
    where: str
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ValueDiffers:
    """A value, or an element of an array, is another one; both as Python-like text."""

    kind: Literal["value"] = field(default="value", kw_only=True)
    where: str
    expected: str
    got: str
    differing: int = 0
    """Number of elements that differ; 0 for anything but an array with several elements."""
    elements: int = 0
    nans: int = 0
    """Number of elements that are NaN instead of a number."""
    largest: str = ""
    """The largest difference; empty if only one element differs, or none is finite."""
    largest_at: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawsDiffer:
    """Random numbers follow another distribution: the first place where a statistic differs beyond chance."""

    kind: Literal["draws"] = field(default="draws", kw_only=True)
    place: tuple[int, ...]
    draws: int
    statistic: Statistic
    expected: str
    got: str
    chance: str
    """Largest difference that chance explains."""
    quantile: str = ""


@dataclass(frozen=True, slots=True)
class DrawNotFinite:
    """One of the random numbers is NaN or infinite, where all should be finite."""

    kind: Literal["draw"] = field(default="draw", kw_only=True)
    place: tuple[int, ...]
    draw: int
    draws: int
    got: str


@dataclass(frozen=True, slots=True)
class NotRaised:
    """An exception was expected: another was raised, or a value returned."""

    kind: Literal["exception"] = field(default="exception", kw_only=True)
    expected: str
    raised: str = ""
    """Name of the exception that was raised; empty for a value."""


@dataclass(frozen=True, slots=True)
class Raised:
    """An exception was raised where a value was expected."""

    kind: Literal["raised"] = field(default="raised", kw_only=True)
    name: str
    message: str


@dataclass(frozen=True, slots=True)
class NotComparable:
    """What was returned cannot be compared; the sandbox says why."""

    kind: Literal["unsupported"] = field(default="unsupported", kw_only=True)
    why: str


@dataclass(frozen=True, slots=True)
class HiddenDiffers:
    """The kind of difference in a hidden case, and nothing else about it."""

    kind: Literal["hidden"] = field(default="hidden", kw_only=True)
    aspect: Aspect


Difference = (
    TypeDiffers
    | ShapeDiffers
    | DtypeDiffers
    | LengthDiffers
    | KeysDiffer
    | ValueDiffers
    | DrawsDiffer
    | DrawNotFinite
    | NotRaised
    | Raised
    | NotComparable
    | HiddenDiffers
)


def aspect_of(difference: Difference) -> Aspect:
    """Returns the kind of a difference, which may be told of a hidden case."""
    match difference:
        case HiddenDiffers(aspect=aspect):
            return aspect
        case DrawNotFinite():
            return "draws"
        case NotComparable():
            return "type"
        case _:
            return difference.kind


def in_symbols(difference: Difference) -> str:
    """Returns a difference in symbols, for diagnostics that authors read: `[0]: 1 ≠ 2`, `ValueError ≠ TypeError`."""
    match difference:
        case TypeDiffers(where, expected, got):
            return _at(where, f"{_type(expected)} ≠ {_type(got)}")
        case ShapeDiffers(where, expected, got) | DtypeDiffers(where, expected, got):
            return _at(where, f"{difference.kind} {expected} ≠ {got}")
        case LengthDiffers(where, expected, got):
            return _at(where, f"len {expected} ≠ {got}")
        case KeysDiffer(where, missing, unexpected):
            keys = [*(f"-{key!r}" for key in missing), *(f"+{key!r}" for key in unexpected)]
            return _at(where, f"keys {', '.join(keys)}")
        case ValueDiffers(where, expected, got):
            return _at(where, f"{expected} ≠ {got}")
        case DrawsDiffer():
            name = f"{difference.statistic} {difference.quantile}".strip()
            where = str(list(difference.place)) if difference.place else ""
            return _at(where, f"{name} {difference.expected} ≠ {difference.got} (± {difference.chance})")
        case DrawNotFinite():
            return _at(str([difference.draw, *difference.place]), difference.got)
        case NotRaised(expected, raised):
            return f"{expected} ≠ {raised or '-'}"
        case Raised(name, message):
            return f"{name}: {message}" if message else name
        case NotComparable(why):
            return why
        case HiddenDiffers(aspect):
            return aspect
        case _ as never:
            assert_never(never)


def _at(where: str, what: str) -> str:
    return f"{where}: {what}" if where else what


def _type(one: ValueType) -> str:
    return f"{one.name} {one.shape} {one.dtype}" if one.dtype else one.name
