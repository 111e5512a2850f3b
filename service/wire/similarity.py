"""Statistics for moderators of answers that agree, and of answers that come very fast."""

from __future__ import annotations

from service.wire.base import Model


class SimilarPair(Model):
    """Two members whose wrong answers agree more often than chance explains."""

    first: str
    second: str
    shared: int
    """Choice questions that both answered."""
    wrong: int
    """Those that both answered wrongly and that can be compared."""
    same: int
    """Those of them with the same wrong option."""
    expected: float
    """How many would be the same by chance."""
    chance: float
    """Probability of so many or more by chance, corrected for the number of pairs."""


class FittingAnswers(Model):
    """A member whose wrong answers are right for the variants of another more often than chance explains."""

    member: str
    other: str
    wrong: int
    """Wrong answers of the member in rounds in which both had a variant of their own."""
    fitting: int
    """How many of them are right for the other's variant."""
    expected: float
    """How many would be by chance."""
    chance: float
    """Probability of so many or more by chance, corrected for the number of pairs."""


class QuickAnswers(Model):
    """A member with right answers within the thinking time."""

    name: str
    right: int
    quick: int


class SimilarAnswers(Model):
    """What the rounds of the last days say. It is computed for the reader and not stored."""

    days: int
    compared: int
    """Number of pairs that were compared."""
    level: float
    """Chance that any pair is listed if all members answer on their own."""
    least_shared: int
    least_wrong: int
    found: int = 0
    """Number of pairs that stand out; `pairs` has the most striking ones."""
    pairs: tuple[SimilarPair, ...] = ()
    fits_compared: int = 0
    """Number of pairs that were compared by their variants."""
    fits_found: int = 0
    fits: tuple[FittingAnswers, ...] = ()
    """The most striking of them."""
    within_s: float
    """Thinking time, seconds."""
    quick: tuple[QuickAnswers, ...] = ()
