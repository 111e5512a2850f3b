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
    within_s: float
    """Thinking time, seconds."""
    quick: tuple[QuickAnswers, ...] = ()
