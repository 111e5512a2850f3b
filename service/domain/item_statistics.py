"""What the answers to a question say about the question: intervals, discrimination, and what may be wrong with it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from service.wire import ItemFinding

MIN_ANSWERS = 10
"""Judged answers that a question needs before anything is said about it."""
MIN_DISCRIMINATION_ANSWERS = 15
"""Answers by members with enough other answers that a discrimination needs."""
MIN_OTHER_ANSWERS = 3
"""Answers to other questions that a member needs to be compared by."""
EASY, SURELY_EASY = 0.9, 0.75
"""Share right from which a question is too easy, and the least lower bound of its interval."""
HARD, SURELY_HARD = 0.25, 0.45
"""Share right up to which a question is too hard, and the greatest upper bound of its interval."""
RIVAL_SHARE, RIVALS_SHARE = 0.25, 0.65
"""Share of answers that each of two rival options has, and that both have together."""
RIVAL_CONTRAST = 0.2
"""How well the right option must separate strong members from weak ones against a rival, as a correlation."""
MIN_RATINGS = 5
"""Members who must have said whether they found a question good before it can be called disliked."""
Z_95 = 1.959964
"""Standard errors to either side of a 95% interval."""
_Z_90 = 1.644854


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Picks:
    """The answers that chose one option, with what their members scored on other questions."""

    count: int
    compared: int = 0
    """Answers by members with enough other answers."""
    total: float = 0.0
    """Sum of those members' mean credits on other questions."""
    squares: float = 0.0
    """Sum of the squares of those means."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The share right to expect of all members, including those who were absent, with its 95% interval."""

    share: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Item:
    """The judged answers to one question."""

    answers: int
    right: float
    """Mean credit."""
    discrimination: float | None = None
    """Correlation of credit with the member's mean credit on other questions; None without spread."""
    compared: int = 0
    """Answers that the correlation is over."""
    best_right: Picks | None = None
    """The right option chosen most often."""
    top_wrong: Picks | None = None
    """The wrong option chosen most often."""
    rest: Picks | None = None
    """All options but that one."""
    expected: Expected | None = None
    """What all members would get right, by the calibration; None before one."""
    rated: int = 0
    """Members who said whether they found the question good."""
    liked: int = 0
    """Those of them who did."""


def wilson_interval(share: float, count: int) -> Interval:
    """Returns the 95% Wilson interval of a share of `count` answers. Partial credit makes it wider than needed."""
    if not count:
        return Interval(0.0, 1.0)
    scale = 1 + Z_95 * Z_95 / count
    middle = (share + Z_95 * Z_95 / (2 * count)) / scale
    half = Z_95 / scale * math.sqrt(share * (1 - share) / count + Z_95 * Z_95 / (4 * count * count))
    return Interval(max(0.0, middle - half), min(1.0, middle + half))


def known_discrimination(item: Item) -> float | None:
    """Returns the discrimination, or None if there are too few answers for one."""
    return item.discrimination if item.compared >= MIN_DISCRIMINATION_ANSWERS else None


def find_problem(item: Item) -> ItemFinding | None:
    """Returns the most serious thing that may be wrong with a question, or None. Few answers say nothing."""
    enough = item.answers >= MIN_ANSWERS
    if enough and _is_broken(item):
        return "broken"
    if enough and _is_ambiguous(item):
        return "ambiguous"
    if _is_disliked(item):
        return "disliked"
    return _find_extreme(item) if enough else None


def _find_extreme(item: Item) -> ItemFinding | None:
    # Who was absent distorts the share right; the calibration takes that into account.
    known = item.expected or Expected(item.right, wilson_interval(item.right, item.answers))
    if known.share <= HARD and known.interval.high <= SURELY_HARD:
        return "hard"
    if known.share >= EASY and known.interval.low >= SURELY_EASY:
        return "easy"
    return None


def sum_picks(picks: Iterable[Picks]) -> Picks:
    """Returns all these answers together."""
    each = list(picks)
    return Picks(
        sum(one.count for one in each),
        sum(one.compared for one in each),
        sum(one.total for one in each),
        sum(one.squares for one in each),
    )


def compute_contrast(first: Picks, second: Picks) -> float | None:
    """Returns the point-biserial correlation of choosing the first option, rather than the second, with the mean credit
    on other questions. None where too few answers can be compared, or all of them are the same."""
    count = first.compared + second.compared
    if count < MIN_DISCRIMINATION_ANSWERS or not first.compared or not second.compared:
        return None
    mean = (first.total + second.total) / count
    variance = (first.squares + second.squares) / count - mean * mean
    if variance <= 1e-12:
        return None
    apart = first.total / first.compared - second.total / second.compared
    return apart / math.sqrt(variance) * math.sqrt(first.compared * second.compared) / count


def _is_broken(item: Item) -> bool:
    """Tests whether strong members do worse than weak ones, or prefer a wrong option, beyond chance."""
    known = known_discrimination(item)
    if known is not None and _bound(known, item.compared, _Z_90) < 0:
        return True
    right, wrong, rest = item.best_right, item.top_wrong, item.rest
    if right is None or wrong is None or rest is None or wrong.count <= right.count:
        return False
    # A misconception beats the right answer in a hard question too, but weak members hold it.
    contrast = compute_contrast(wrong, rest)
    if contrast is not None:
        return _bound(contrast, wrong.compared + rest.compared, -_Z_90) > 0
    return wilson_interval(min(1.0, wrong.count / item.answers), item.answers).low > 0.5


def _is_ambiguous(item: Item) -> bool:
    """Tests whether two options share the answers, and knowing more does not help to choose between them."""
    if item.best_right is None or item.top_wrong is None:
        return False
    right, wrong = (picks.count / item.answers for picks in (item.best_right, item.top_wrong))
    if min(right, wrong) < RIVAL_SHARE or right + wrong < RIVALS_SHARE:
        return False
    contrast = compute_contrast(item.best_right, item.top_wrong)
    return contrast is not None and contrast < RIVAL_CONTRAST


def _is_disliked(item: Item) -> bool:
    """Tests whether most members find the question poor, beyond chance."""
    enough = item.rated >= MIN_RATINGS
    return enough and wilson_interval(item.liked / item.rated, item.rated).high < 0.5


def _bound(correlation: float, count: int, z: float) -> float:
    """Returns the end of a correlation's interval that lies `z` standard errors up, by Fisher's transformation."""
    inner = min(max(correlation, -0.999999), 0.999999)
    return math.tanh(math.atanh(inner) + z / math.sqrt(count - 3))
