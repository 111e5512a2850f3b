"""How long someone's streak is: a pure count over the rounds of one schedule, with freezes. No dates, no rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Attendance = Literal["answered", "missed", "excused"]


@dataclass(frozen=True, slots=True)
class FreezePolicy:
    """How freezes are earned: one for every `earn_every` rounds answered, never holding more than `cap`."""

    cap: int = 2
    earn_every: int = 7

    def __post_init__(self) -> None:
        if self.cap < 0 or self.earn_every < 1:
            raise ValueError(
                f"freezes (cap {self.cap}, one every {self.earn_every}): the cap must be 0 or more and "
                "the number of rounds 1 or more; a cap of 0 turns freezes off"
            )


@dataclass(frozen=True, slots=True)
class Streak:
    """Where someone stands after the rounds counted."""

    current: int
    """Rounds answered since the last unfrozen miss."""
    best: int
    freezes_left: int
    used: int
    """Freezes used up so far, in all streaks."""


def streak(history: Sequence[Attendance], freezes: FreezePolicy = FreezePolicy()) -> Streak:
    """The streak after `history`, the schedule's rounds oldest first.

    `excused` rounds (skipped, before joining, restored by an admin) neither add nor break. A miss uses up a
    freeze by itself, if there is a streak to save and a freeze left; a saved round adds nothing.
    """
    current = best = left = used = toward = 0
    for round_ in history:
        if round_ == "answered":
            current, toward = current + 1, toward + 1
            best = max(best, current)
            if toward == freezes.earn_every:
                left, toward = min(freezes.cap, left + 1), 0
        elif round_ == "missed" and current and left:
            left, used = left - 1, used + 1
        elif round_ == "missed":
            current = toward = 0
    return Streak(current, best, left, used)
