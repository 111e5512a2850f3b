"""Random numbers against random numbers: are two sets of draws of the same distribution? Pure, numpy only.

Draw k of the one is paired with draw k of the other. Where both follow the same distribution, swapping the two of a
pair changes nothing, so every difference g(x) - g(y) is as likely negative as positive, for any function g that no
swap changes. By Hoeffding |sum of differences| > z * sqrt(sum of their squares) then has a chance of at most
2 exp(-z**2 / 2), whatever the distribution: heavy tails, atoms and few draws included. The functions are the number
itself (the mean), its squared distance from the mean of all (the spread), and whether it is at most some quantile of
all. What they do not see, such as a correlation between places, a driver must return as a number of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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
