"""Expected against got: pure, trusted, numpy only. Knows values, no runs and no verdicts.

Type, shape and dtype must be exactly the expected ones: True is no 1, 3 is no 3.0, a tuple is no list. Floats may
differ by the tolerance, NaN only matches NaN, an infinity only itself. Whether a gradient is required is not compared.

Where the expected value is a dict with the one key `draws`, its numbers are random ones: their distributions are
compared (`sandbox.judging.comparing`). It is the expected value that says so: an answer cannot ask for it.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from sandbox.values import Array, Tensor, Value, shortened

# Random numbers against random numbers: are two sets of draws of the same distribution? Pure, numpy only.
#
# Draw k of the one is paired with draw k of the other. Where both follow the same distribution, swapping the two of a
# pair changes nothing, so every difference g(x) - g(y) is as likely negative as positive, for any function g that no
# swap changes. By Hoeffding |sum of differences| > z * sqrt(sum of their squares) then has a chance of at most
# 2 exp(-z**2 / 2), whatever the distribution: heavy tails, atoms and few draws included. The functions are the number
# itself (the mean), its squared distance from the mean of all (the spread), and whether it is at most some quantile of
# all. What they do not see, such as a correlation between places, a driver must return as a number of its own.


KEY = "draws"
FEWEST = 400
"""Draws below which not even opposite numbers would be told apart with certainty."""
CHANCE = 1e-10
"""Of rejecting a right answer in one comparison. A judgement makes at most some thousands."""
_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Measure:
    """One function of a draw, for every place at once."""

    name: str
    ours: Numbers
    theirs: Numbers
    """Of each draw (rows) and place (columns)."""
    slack: Numbers
    """Differences of the means up to this are rounding, however many draws there are."""


def fault(value: Any) -> str:
    """Why what a driver returned under `draws` cannot be compared so; empty where it can. `value` is an array."""
    if value.dtype.kind not in "bifu" or value.ndim == 0:
        return "the draws must be a tensor or an array of real numbers, its first side counting them"
    return "" if len(value) >= FEWEST else f"{len(value)} draws decide nothing: at least {FEWEST} are needed"


def first_difference(
    expected: npt.NDArray[Any], got: npt.NDArray[Any], rtol: float, atol: float, chance: float = CHANCE
) -> str:
    """In what the draws differ beyond chance, at the first place where they do; empty where they do not.

    Both are of one shape; the first side counts the draws, each other place is compared for itself. `chance` is the
    most there may be of a difference found between draws of one distribution.
    """
    count, places = len(expected), expected.shape[1:]
    ours, theirs = (np.asarray(drawn, np.float64).reshape(count, -1) for drawn in (expected, got))
    strange = ~np.isfinite(theirs) & np.isfinite(ours).all(axis=0)
    if strange.any():
        draw, place = np.argwhere(strange)[0]
        return f"{_at(place, places)}draw {draw} of {count:,} is {theirs[draw, place]}"
    with np.errstate(all="ignore"):
        measures = list(_measures(ours, theirs, rtol, atol))
        z = math.sqrt(2 * math.log(2 * len(measures) * max(ours.shape[1], 1) / chance))
        found = [(*worst, measure) for measure in measures if (worst := _beyond(measure, z)) is not None]
    if not found:
        return ""
    place, by_chance, measure = min(found, key=lambda one: one[0])
    mine, other = measure.ours[:, place].mean(), measure.theirs[:, place].mean()
    what = f"{measure.name} {_said(measure, other)}, expected {_said(measure, mine)}"
    return f"{_at(place, places)}over {count:,} draws {what}; chance explains no difference above {by_chance:.2g}"


def _measures(ours: Numbers, theirs: Numbers, rtol: float, atol: float) -> Iterator[_Measure]:
    if not np.isfinite(ours).all():
        both = np.isfinite(ours), np.isfinite(theirs)
        one, other = (finite.astype(np.float64) for finite in both)
        yield _Measure("the share of finite numbers is", one, other, np.zeros(1))
        ours, theirs = (np.where(finite, drawn, 0.0) for finite, drawn in zip(both, (ours, theirs), strict=True))
    pooled = np.concatenate((ours, theirs))
    middle = pooled.mean(axis=0)
    yield _Measure("the mean is", ours, theirs, atol + rtol * np.abs(ours).mean(axis=0))
    one, other = (ours - middle) ** 2, (theirs - middle) ** 2
    rounding = 2 * (np.abs(ours - middle) * (atol + rtol * np.abs(ours))).mean(axis=0)
    yield _Measure("the mean squared deviation is", one, other, rounding)
    for share in _QUANTILES:
        # Within the tolerance of the quantile is at it: rounding must not part the two sides of an atom.
        quantile = np.quantile(pooled, share, axis=0, method="lower")
        border = quantile + atol + rtol * np.abs(quantile)
        one, other = ((drawn <= border).astype(np.float64) for drawn in (ours, theirs))
        yield _Measure(f"at or below the {share:.0%} quantile of all lie", one, other, np.zeros(1))


def _beyond(measure: _Measure, z: float) -> tuple[int, float] | None:
    """The first place where the difference is more than chance, and what chance explains there."""
    differences = measure.ours - measure.theirs
    total = np.abs(differences.sum(axis=0))
    largest = np.maximum(np.abs(differences).max(axis=0, initial=0.0), np.finfo(np.float64).tiny)
    by_chance = z * largest * np.sqrt(((differences / largest) ** 2).sum(axis=0))
    # Squares beyond what a float holds are no number: then the mean and the quantiles tell.
    far = total > np.maximum(by_chance, measure.slack * len(differences))
    if not far.any():
        return None
    place = int(np.argmax(far))
    return place, float(by_chance[place]) / len(differences)


def _said(measure: _Measure, mean: Any) -> str:
    return f"{mean:.2%}" if measure.name.startswith(("at or", "the share")) else f"{mean:.4g}"


def _at(place: int, places: tuple[int, ...]) -> str:
    return f"at {[int(side) for side in np.unravel_index(place, places)]}: " if places else ""


Difference = Literal["", "type", "shape", "dtype", "length", "keys", "value", "exception", "draws"]


@dataclass(frozen=True, slots=True)
class NumberTolerance:
    """How far a number may lie from the expected one: |got - expected| <= atol + rtol * |expected|."""

    rtol: float = 1e-5
    atol: float = 1e-7


@dataclass(frozen=True, slots=True)
class Comparison:
    """What came of comparing; the message quotes values, so it is for visible cases only."""

    equal: bool
    message: str = ""
    difference: Difference = ""
    """In one word, and safe to tell of a hidden case."""


_EQUAL = Comparison(True)


def compare(expected: Value, got: Value, tolerance: NumberTolerance) -> Comparison:
    """Whether `got` is what was expected, and if not, where it first differs in words a learner can use."""
    return _compare(expected, got, tolerance, "")


def _differs(where: str, what: str, difference: Difference) -> Comparison:
    return Comparison(False, shortened(f"at {where}: {what}" if where else what, 500), difference)


def _compare(expected: Value, got: Value, tolerance: NumberTolerance, where: str) -> Comparison:
    if type(expected) is not type(got):
        hint = "; is a `return` missing?" if got is None and not where else ""
        return _differs(where, f"expected {kind_of(expected)}, got {kind_of(got)}{hint}", "type")
    if isinstance(expected, (Tensor, Array)) and isinstance(got, (Tensor, Array)):
        return _blocks(expected, got, tolerance, where)
    if isinstance(expected, (tuple, list)) and isinstance(got, (tuple, list)):
        return _sequences(expected, got, tolerance, where)
    if isinstance(expected, dict) and isinstance(got, dict):
        return _mappings(expected, got, tolerance, where)
    if isinstance(expected, (float, complex)) and isinstance(got, (float, complex)):
        equal = bool(_near(np.asarray(expected), np.asarray(got), tolerance))
    else:
        equal = expected == got
    return _EQUAL if equal else _differs(where, f"expected {brief(expected)}, got {brief(got)}", "value")


def _sequences(
    expected: tuple[Value, ...] | list[Value],
    got: tuple[Value, ...] | list[Value],
    tolerance: NumberTolerance,
    where: str,
) -> Comparison:
    if len(expected) != len(got):
        return _differs(where, f"expected {len(expected)} items, got {len(got)}", "length")
    for at, (one, other) in enumerate(zip(expected, got, strict=True)):
        found = _compare(one, other, tolerance, f"{where}[{at}]")
        if not found.equal:
            return found
    return _EQUAL


def _mappings(expected: dict[str, Value], got: dict[str, Value], tolerance: NumberTolerance, where: str) -> Comparison:
    if expected.keys() != got.keys():
        missing, extra = sorted(expected.keys() - got.keys()), sorted(got.keys() - expected.keys())
        told = (("missing", missing), ("unexpected", extra))
        return _differs(where, ", ".join(f"{what} keys {keys[:5]}" for what, keys in told if keys), "keys")
    random = _draws_of(expected)
    for key, one in expected.items():
        place = f"{where}[{key!r}]"
        found = (
            _compare(one, got[key], tolerance, place) if random is None else _drawn(random, got[key], tolerance, place)
        )
        if not found.equal:
            return found
    return _EQUAL


def _draws_of(expected: Value) -> Tensor | Array | None:
    block = expected[KEY] if isinstance(expected, dict) and expected.keys() == {KEY} else None
    return block if isinstance(block, (Tensor, Array)) else None


def _drawn(expected: Tensor | Array, got: Value, tolerance: NumberTolerance, where: str) -> Comparison:
    if not isinstance(got, (Tensor, Array)) or type(got) is not type(expected):
        return _compare(expected, got, tolerance, where)
    if expected.shape != got.shape or expected.dtype != got.dtype:
        return _blocks(expected, got, tolerance, where)
    found = first_difference(as_numpy(expected), as_numpy(got), tolerance.rtol, tolerance.atol)
    return _differs("", found, "draws") if found else _EQUAL


def draws_fault(expected: Value) -> str:
    """Why random numbers in an expected value cannot be compared; empty where they can, or where there are none."""
    if isinstance(expected, (tuple, list)):
        return next((why for why in map(draws_fault, expected) if why), "")
    if not isinstance(expected, dict):
        return ""
    block = _draws_of(expected)
    if block is None:
        return next((why for why in map(draws_fault, expected.values()) if why), "")
    return fault(as_numpy(block))


def _blocks(expected: Tensor | Array, got: Tensor | Array, tolerance: NumberTolerance, where: str) -> Comparison:
    if expected.shape != got.shape:
        return _differs(where, f"expected shape {expected.shape}, got shape {got.shape}", "shape")
    if expected.dtype != got.dtype:
        return _differs(where, f"expected dtype {expected.dtype}, got dtype {got.dtype}", "dtype")
    wanted, given = as_numpy(expected), as_numpy(got)
    wrong = ~_near(wanted, given, tolerance)
    count = int(np.count_nonzero(wrong))
    if not count:
        return _EQUAL
    index = _index(wrong)
    place = f"{where}{list(index)}" if index else where
    what = _two_numbers(wanted[index].item(), given[index].item())
    if wrong.size > 1:
        what += f" ({count} of {wrong.size} elements differ{_most_wrong(wanted, given, wrong)})"
    return _differs(place, what, "value")


def _index(flags: npt.NDArray[Any]) -> tuple[int, ...]:
    """Where the largest is, or the first that is true."""
    return tuple(int(side) for side in np.unravel_index(int(np.argmax(flags)), flags.shape))


def _most_wrong(wanted: npt.NDArray[Any], given: npt.NDArray[Any], wrong: npt.NDArray[np.bool_]) -> str:
    """How many are NaN in place of a number, and the largest difference where several differ."""
    if wanted.dtype.kind not in "fciu" or np.count_nonzero(wrong) < 2:
        return ""
    nans = int(np.count_nonzero(wrong & np.isnan(given) & ~np.isnan(wanted)))
    said = f", {nans} of them nan" if nans else ""
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        apart = np.where(wrong, np.abs(given.astype(wide) - wanted.astype(wide)), 0.0)
    apart[~np.isfinite(apart)] = 0.0
    index = _index(apart)
    return f"{said}, most by {apart[index]:.4g} at {list(index)}" if apart[index] else said


def _near(expected: npt.NDArray[Any], got: npt.NDArray[Any], tolerance: NumberTolerance) -> npt.NDArray[np.bool_]:
    """Per element; never `not (difference > tolerance)`, which NaN would pass."""
    if expected.dtype.kind not in "fc":
        return np.asarray(expected == got)
    with np.errstate(all="ignore"):
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        one, other = expected.astype(wide), got.astype(wide)
        near = np.abs(other - one) <= tolerance.atol + tolerance.rtol * np.abs(one)
        finite = np.isfinite(one) & np.isfinite(other)
        return np.asarray(np.where(finite, near, _same_infinities(one, other)))


def _same_infinities(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if one.dtype.kind == "c":
        return _same_infinities(one.real, other.real) & _same_infinities(one.imag, other.imag)
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def as_numpy(block: Tensor | Array) -> npt.NDArray[Any]:
    """A block's elements; bfloat16 widened to float32, which holds each of them exactly."""
    if block.dtype == "bfloat16":
        raw = np.frombuffer(block.data, dtype="<u2").astype("<u4") << 16
        return np.asarray(raw.view("<f4").reshape(block.shape))
    if block.dtype == "bool":
        return np.asarray((np.frombuffer(block.data, dtype=np.uint8) != 0).reshape(block.shape))
    kind = np.dtype(block.dtype).newbyteorder("<")
    return np.asarray(np.frombuffer(block.data, dtype=kind).reshape(block.shape))


def kind_of(value: Value) -> str:
    """What a value is, in a few words."""
    if isinstance(value, (Tensor, Array)):
        name = "tensor" if isinstance(value, Tensor) else "numpy array"
        return f"a {name} of shape {value.shape} and dtype {value.dtype}"
    if value is None:
        return "None"
    name = type(value).__name__
    return f"an {name}" if name == "int" else f"a {name}"


def _two_numbers(expected: Any, got: Any) -> str:
    one, other = _number(expected), _number(got)
    if one == other:  # they differ behind the digits that are usually worth showing
        one, other = repr(expected), repr(got)
    return f"expected {one}, got {other}"


def _number(plain: Any) -> str:
    return f"{plain:.7g}" if isinstance(plain, (float, complex)) else str(plain)


def brief(value: Value, most: int = 200) -> str:
    """A value as short Python-like text: `tensor([[1., 2.]])`, `(3, 'a')`."""
    return shortened(_literal(value), most)


def _literal(value: Value) -> str:
    if isinstance(value, (Tensor, Array)):
        return _block_literal(value)
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_literal(item)}" for key, item in value.items()) + "}"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    if isinstance(value, complex) and not cmath.isfinite(value):
        return f"complex('{str(value).strip('()')}')"
    if isinstance(value, int) and value.bit_length() > 200:
        return f"an int of {value.bit_length()} bits"
    return repr(value)


_DEFAULT_TYPES = {"bool", "int64", "float32", "complex64"}


def _block_literal(value: Tensor | Array) -> str:
    name = "tensor" if isinstance(value, Tensor) else "array"
    dtype = "" if value.dtype in _DEFAULT_TYPES and isinstance(value, Tensor) else f", dtype={value.dtype}"
    grad = ", requires_grad=True" if isinstance(value, Tensor) and value.requires_grad else ""
    size = math.prod(value.shape)
    if size > 64:
        return f"{name}(… of shape {value.shape}{dtype}{grad})"
    return f"{name}({_rows(as_numpy(value))}{dtype}{grad})"


def _rows(elements: npt.NDArray[Any]) -> str:
    if elements.ndim == 0:
        return _element(elements.item())
    return f"[{', '.join(_rows(row) for row in elements)}]"


def _element(plain: Any) -> str:
    if not isinstance(plain, float):
        return f"{plain:.4g}" if isinstance(plain, complex) else str(plain)
    text = f"{plain:.4g}"
    return f"{text}." if text.lstrip("-").isdigit() else text
