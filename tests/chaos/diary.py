"""The diary: what members did, what they saw, and what they were promised. Members write it, and the oracle reads
it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["choice", "value", "code"]
Outcome = Literal["acknowledged", "late", "refused", "unknown"]
"""Outcome of an answer. `unknown`: the member saw no reply or only "try again", so it may be logged once or not at
all."""

BASE = {"mid": 10, "senior": 15, "principal": 20}
"""Points per level for an answered question, according to `/quiz rules`."""


@dataclass(frozen=True)
class Slot:
    """A question promised to a channel. No other slot asks it, so its mark identifies the slot."""

    mark: str
    """The question's id, which is also in its prompt."""
    kind: Kind
    level: str
    chat: str
    channel: str
    wave: int = 0
    """Slots of a wave are due at the same time."""


@dataclass
class Act:
    """A member's answer, as the chat knows it."""

    chat: str
    member: str
    mark: str
    event: str
    """The event id under which the chat delivered it."""
    given: str
    """The answer: chosen, typed or written."""
    right: bool
    made: float
    """When it was given, by the chat's clock."""
    outcome: Outcome = "unknown"


@dataclass
class Diary:
    """The diary. `progress` counts observed actions; faults are timed by it, not by a clock."""

    slots: list[Slot] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    shown: list[tuple[str, str]] = field(default_factory=list)
    """Every text shown to a member, with the member."""
    unanswerable: list[str] = field(default_factory=list)
    """Members who could not submit an answer, and to which question."""
    progress: int = 0

    def slot(self, mark: str) -> Slot:
        """Returns the slot of a question's mark."""
        return next(slot for slot in self.slots if slot.mark == mark)
