"""Compares an expected value with a returned one. Pure; knows nothing of runs and verdicts.

Type, shape and dtype must match exactly: True is not 1, 3 is not 3.0, a tuple is not a list. Floats may differ by the
tolerance, NaN equals only NaN, and an infinity only itself. Whether a gradient is required is not compared.

If the expected value is a dict with the single key `draws`, its numbers are random and their distributions are
compared. Only the expected value decides this, so an answer cannot ask for it.

This module needs numpy, 9 MB, so the judge imports it where it compares.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sandbox.differences import (
    Difference,
    DrawNotFinite,
    DrawsDiffer,
    DtypeDiffers,
    KeysDiffer,
    LengthDiffers,
    ShapeDiffers,
    Statistic,
    TypeDiffers,
    ValueDiffers,
    ValueType,
)
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Array, Tensor, Value, shortened

_MAX_WHERE = 200
"""Longest text for the place of a difference, characters."""
_MAX_KEY = 60
"""Longest key of a mapping that is named, characters."""
_MOST_KEYS = 5
"""Keys of a mapping that are named."""


def compare(expected: Value, got: Value, tolerance: NumberTolerance) -> Difference | None:
    """Returns the first difference of `got` from `expected`; None if they match.

    It quotes values, so it is for visible cases only.
    """
    return _compare(expected, got, tolerance, "")


def _path(where: str) -> str:
    return shortened(where, _MAX_WHERE)


def _compare(expected: Value, got: Value, tolerance: NumberTolerance, where: str) -> Difference | None:
    if type(expected) is not type(got):
        return TypeDiffers(_path(where), type_of(expected), type_of(got))
    if isinstance(expected, (Tensor, Array)) and isinstance(got, (Tensor, Array)):
        return _compare_arrays(expected, got, tolerance, where)
    if isinstance(expected, (tuple, list)) and isinstance(got, (tuple, list)):
        return _compare_sequences(expected, got, tolerance, where)
    if isinstance(expected, dict) and isinstance(got, dict):
        return _compare_dicts(expected, got, tolerance, where)
    if isinstance(expected, (float, complex)) and isinstance(got, (float, complex)):
        equal = bool(_close(np.asarray(expected), np.asarray(got), tolerance))
    else:
        equal = expected == got
    return None if equal else ValueDiffers(_path(where), brief(expected), brief(got))


def _compare_sequences(
    expected: tuple[Value, ...] | list[Value],
    got: tuple[Value, ...] | list[Value],
    tolerance: NumberTolerance,
    where: str,
) -> Difference | None:
    if len(expected) != len(got):
        return LengthDiffers(_path(where), len(expected), len(got))
    for at, (one, other) in enumerate(zip(expected, got, strict=True)):
        found = _compare(one, other, tolerance, f"{where}[{at}]")
        if found is not None:
            return found
    return None


def _compare_dicts(
    expected: dict[str, Value], got: dict[str, Value], tolerance: NumberTolerance, where: str
) -> Difference | None:
    if expected.keys() != got.keys():
        missing, extra = sorted(expected.keys() - got.keys()), sorted(got.keys() - expected.keys())
        return KeysDiffer(_path(where), _some(missing), _some(extra))
    draws = _draws_in(expected)
    if draws is not None:
        return _compare_draws(draws, got[DRAWS_KEY], tolerance, f"{where}[{DRAWS_KEY!r}]")
    for key, one in expected.items():
        found = _compare(one, got[key], tolerance, f"{where}[{key!r}]")
        if found is not None:
            return found
    return None


def _some(keys: list[str]) -> tuple[str, ...]:
    return tuple(shortened(key, _MAX_KEY) for key in keys[:_MOST_KEYS])


def _compare_arrays(
    expected: Tensor | Array, got: Tensor | Array, tolerance: NumberTolerance, where: str
) -> Difference | None:
    if expected.shape != got.shape:
        return ShapeDiffers(_path(where), expected.shape, got.shape)
    if expected.dtype != got.dtype:
        return DtypeDiffers(_path(where), expected.dtype, got.dtype)
    expected_elements, got_elements = as_numpy(expected), as_numpy(got)
    wrong = ~_close(expected_elements, got_elements, tolerance)
    count = int(np.count_nonzero(wrong))
    if not count:
        return None
    index = _first_index(wrong)
    found = ValueDiffers(
        _path(f"{where}{list(index)}" if index else where),
        *_two_numbers(expected_elements[index].item(), got_elements[index].item()),
    )
    return found if wrong.size == 1 else _counted(found, expected_elements, got_elements, wrong)


def _first_index(elements: npt.NDArray[Any]) -> tuple[int, ...]:
    """Returns the index of the largest element, or of the first that is true."""
    return tuple(int(at) for at in np.unravel_index(int(np.argmax(elements)), elements.shape))


def _counted(
    first: ValueDiffers, expected: npt.NDArray[Any], got: npt.NDArray[Any], wrong: npt.NDArray[np.bool_]
) -> ValueDiffers:
    """Returns the first difference with the number of elements that differ and, if there are several, how many are NaN
    instead of a number, and the largest difference."""
    first = replace(first, differing=int(np.count_nonzero(wrong)), elements=wrong.size)
    if expected.dtype.kind not in "fciu" or first.differing < 2:
        return first
    nans = int(np.count_nonzero(wrong & np.isnan(got) & ~np.isnan(expected)))
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        distance = np.where(wrong, np.abs(got.astype(wide) - expected.astype(wide)), 0.0)
    distance[~np.isfinite(distance)] = 0.0
    index = _first_index(distance)
    if not distance[index]:
        return replace(first, nans=nans)
    return replace(first, nans=nans, largest=f"{distance[index]:.4g}", largest_at=index)


def _close(expected: npt.NDArray[Any], got: npt.NDArray[Any], tolerance: NumberTolerance) -> npt.NDArray[np.bool_]:
    """Compares element by element. Never as `not (difference > tolerance)`, which NaN would pass."""
    if expected.dtype.kind not in "fc":
        return np.asarray(expected == got)
    with np.errstate(all="ignore"):
        wide = np.complex128 if expected.dtype.kind == "c" else np.float64
        one, other = expected.astype(wide), got.astype(wide)
        allowed = tolerance.atol + tolerance.rtol * np.abs(one)
        if tolerance.scale:
            allowed = allowed + tolerance.scale * np.max(np.abs(one), where=np.isfinite(one), initial=0.0)
        close = np.abs(other - one) <= allowed
        finite = np.isfinite(one) & np.isfinite(other)
        return np.asarray(np.where(finite, close, _equal_nonfinite(one, other)))


def _equal_nonfinite(one: npt.NDArray[Any], other: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    if one.dtype.kind == "c":
        return _equal_nonfinite(one.real, other.real) & _equal_nonfinite(one.imag, other.imag)
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def as_numpy(array: Tensor | Array) -> npt.NDArray[Any]:
    """Returns the elements; bfloat16 is widened to float32, which represents each of them exactly."""
    if array.dtype == "bfloat16":
        raw = np.frombuffer(array.data, dtype="<u2").astype("<u4") << 16
        return np.asarray(raw.view("<f4").reshape(array.shape))
    if array.dtype == "bool":
        return np.asarray((np.frombuffer(array.data, dtype=np.uint8) != 0).reshape(array.shape))
    dtype = np.dtype(array.dtype).newbyteorder("<")
    return np.asarray(np.frombuffer(array.data, dtype=dtype).reshape(array.shape))


# Random numbers. Draw k of one side is paired with draw k of the other. If both follow the same distribution, swapping
# the two of a pair changes nothing, so every difference g(x) - g(y) is as likely negative as positive, for any function
# g that no swap changes. By Hoeffding, |sum of differences| > z * sqrt(sum of their squares) then has a probability of
# at most 2 exp(-z**2 / 2), whatever the distribution, including heavy tails, atoms and few draws. The functions are
# the number itself (the mean), its squared distance from the mean of all (the spread), and whether it is at most some
# quantile of all. What they do not show, such as a correlation between places, a driver must return as a number.

DRAWS_KEY = "draws"
MIN_DRAWS = 400
"""Number of draws below which not even opposite numbers could be told apart with certainty."""
REJECTION_CHANCE = 1e-10
"""Probability of rejecting a right answer in one comparison. A judgement makes at most some thousands."""
_QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
"""Quantiles at which two samples are compared."""

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Statistic:
    """One function of a draw, with a row per draw and a column per place."""

    name: Statistic
    expected: Numbers
    got: Numbers
    slack: Numbers
    """Differences of the means up to this are rounding, however many draws there are."""
    share: float = 0.0
    """The share of the quantile."""


def draws_fault(expected: Value) -> str:
    """Returns why random numbers in an expected value cannot be compared, or ""."""
    if isinstance(expected, (tuple, list)):
        return next((why for why in map(draws_fault, expected) if why), "")
    if not isinstance(expected, dict):
        return ""
    draws = _draws_in(expected)
    if draws is None:
        return next((why for why in map(draws_fault, expected.values()) if why), "")
    return _array_fault(as_numpy(draws))


def _draws_in(expected: dict[str, Value]) -> Tensor | Array | None:
    draws = expected[DRAWS_KEY] if expected.keys() == {DRAWS_KEY} else None
    return draws if isinstance(draws, (Tensor, Array)) else None


def _array_fault(draws: npt.NDArray[Any]) -> str:
    if draws.dtype.kind not in "bifu" or draws.ndim == 0:
        return "the draws must be a tensor or an array of real numbers with one draw per row"
    return "" if len(draws) >= MIN_DRAWS else f"{len(draws)} draws decide nothing: at least {MIN_DRAWS} are needed"


def _compare_draws(expected: Tensor | Array, got: Value, tolerance: NumberTolerance, where: str) -> Difference | None:
    if not isinstance(got, (Tensor, Array)) or type(got) is not type(expected):
        return _compare(expected, got, tolerance, where)
    if expected.shape != got.shape or expected.dtype != got.dtype:
        return _compare_arrays(expected, got, tolerance, where)
    return first_difference(as_numpy(expected), as_numpy(got), tolerance)


def first_difference(
    expected: npt.NDArray[Any],
    got: npt.NDArray[Any],
    tolerance: NumberTolerance,
    chance: float = REJECTION_CHANCE,
) -> DrawsDiffer | DrawNotFinite | None:
    """Returns how the draws differ beyond chance, at the first place where they do; None if they do not.

    Both have the same shape. The first dimension counts the draws, and every other place is compared separately.
    `chance` is the maximum probability of finding a difference between draws from one distribution.
    """
    count, places = len(expected), expected.shape[1:]
    ours, theirs = (np.asarray(drawn, np.float64).reshape(count, -1) for drawn in (expected, got))
    unexpected = ~np.isfinite(theirs) & np.isfinite(ours).all(axis=0)
    if unexpected.any():
        draw, place = np.argwhere(unexpected)[0]
        return DrawNotFinite(_at(int(place), places), int(draw), count, str(theirs[draw, place]))
    with np.errstate(all="ignore"):
        statistics = list(_statistics(ours, theirs, tolerance))
        z = math.sqrt(2 * math.log(2 * len(statistics) * max(ours.shape[1], 1) / chance))
        found = [(*first, one) for one in statistics if (first := _first_beyond_chance(one, z)) is not None]
    if not found:
        return None
    place, by_chance, statistic = min(found, key=lambda one: one[0])
    return DrawsDiffer(
        _at(place, places),
        count,
        statistic.name,
        expected=_mean_text(statistic, statistic.expected[:, place].mean()),
        got=_mean_text(statistic, statistic.got[:, place].mean()),
        chance=f"{by_chance:.2g}",
        quantile=f"{statistic.share:.0%}" if statistic.share else "",
    )


def _statistics(ours: Numbers, theirs: Numbers, tolerance: NumberTolerance) -> Iterator[_Statistic]:
    rtol, atol = tolerance.rtol, tolerance.atol
    if not np.isfinite(ours).all():
        both = np.isfinite(ours), np.isfinite(theirs)
        one, other = (finite.astype(np.float64) for finite in both)
        yield _Statistic("finite", one, other, np.zeros(1))
        ours, theirs = (np.where(finite, drawn, 0.0) for finite, drawn in zip(both, (ours, theirs), strict=True))
    pooled = np.concatenate((ours, theirs))
    center = pooled.mean(axis=0)
    yield _Statistic("mean", ours, theirs, atol + rtol * np.abs(ours).mean(axis=0))
    one, other = (ours - center) ** 2, (theirs - center) ** 2
    rounding = 2 * (np.abs(ours - center) * (atol + rtol * np.abs(ours))).mean(axis=0)
    yield _Statistic("spread", one, other, rounding)
    for share in _QUANTILES:
        # Numbers within the tolerance of the quantile count as equal to it: rounding must not split an atom.
        quantile = np.quantile(pooled, share, axis=0, method="lower")
        threshold = quantile + atol + rtol * np.abs(quantile)
        one, other = ((drawn <= threshold).astype(np.float64) for drawn in (ours, theirs))
        yield _Statistic("quantile", one, other, np.zeros(1), share)


def _first_beyond_chance(statistic: _Statistic, z: float) -> tuple[int, float] | None:
    """Returns the first place whose difference exceeds chance, and the difference chance explains there."""
    differences = statistic.expected - statistic.got
    total = np.abs(differences.sum(axis=0))
    largest = np.maximum(np.abs(differences).max(axis=0, initial=0.0), np.finfo(np.float64).tiny)
    by_chance = z * largest * np.sqrt(((differences / largest) ** 2).sum(axis=0))
    # Squares too large for a float are not finite and never exceed; the mean and the quantiles then decide.
    beyond = total > np.maximum(by_chance, statistic.slack * len(differences))
    if not beyond.any():
        return None
    place = int(np.argmax(beyond))
    return place, float(by_chance[place]) / len(differences)


def _mean_text(statistic: _Statistic, mean: Any) -> str:
    return f"{mean:.2%}" if statistic.name in ("finite", "quantile") else f"{mean:.4g}"


def _at(place: int, places: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(at) for at in np.unravel_index(place, places)) if places else ()


# Values as text


def type_of(value: Value) -> ValueType:
    """Returns the type of a value, with shape and dtype if it is an array."""
    if isinstance(value, (Tensor, Array)):
        return ValueType("tensor" if isinstance(value, Tensor) else "numpy array", value.shape, value.dtype)
    return ValueType("None" if value is None else type(value).__name__)


def _two_numbers(expected: Any, got: Any) -> tuple[str, str]:
    one, other = _number(expected), _number(got)
    if one == other:  # they differ only in digits that are not shown
        return repr(expected), repr(got)
    return one, other


def _number(number: Any) -> str:
    return f"{number:.7g}" if isinstance(number, (float, complex)) else str(number)


def brief(value: Value, max_length: int = 200) -> str:
    """Returns a value as short Python-like text: `tensor([[1., 2.]])`, `(3, 'a')`."""
    return shortened(_literal(value), max_length)


def _literal(value: Value) -> str:
    if isinstance(value, (Tensor, Array)):
        return _array_literal(value)
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


_DEFAULT_DTYPES = {"bool", "int64", "float32", "complex64"}
_MAX_ELEMENTS_SHOWN = 64


def _array_literal(value: Tensor | Array) -> str:
    name = "tensor" if isinstance(value, Tensor) else "array"
    dtype = "" if value.dtype in _DEFAULT_DTYPES and isinstance(value, Tensor) else f", dtype={value.dtype}"
    grad = ", requires_grad=True" if isinstance(value, Tensor) and value.requires_grad else ""
    if math.prod(value.shape) > _MAX_ELEMENTS_SHOWN:
        return f"{name}(… of shape {value.shape}{dtype}{grad})"
    return f"{name}({_nested(as_numpy(value))}{dtype}{grad})"


def _nested(elements: npt.NDArray[Any]) -> str:
    if elements.ndim == 0:
        return _element(elements.item())
    return f"[{', '.join(_nested(row) for row in elements)}]"


def _element(number: Any) -> str:
    if not isinstance(number, float):
        return f"{number:.4g}" if isinstance(number, complex) else str(number)
    text = f"{number:.4g}"
    return f"{text}." if text.lstrip("-").isdigit() else text
