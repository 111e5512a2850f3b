"""What people did and what they saw come of it, and what was promised to them: the driver writes, the oracle reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["choice", "value", "code"]
Outcome = Literal["acknowledged", "late", "refused", "unknown"]
"""`unknown`: they saw nothing, or a friendly "try again". Such an answer may be in the log once, or not at all."""

BASE = {"mid": 10, "senior": 15, "principal": 20}
"""What `/quiz rules` says a question of a level is worth where nobody answered it before."""


@dataclass(frozen=True)
class Slot:
    """One question promised to one channel. Its question is asked nowhere else, so its mark tells the slot."""

    mark: str
    """Stands in the question's prompt and is its id."""
    kind: Kind
    level: str
    chat: str
    channel: str
    wave: int = 0
    """Slots of one wave are due at once."""


@dataclass
class Act:
    """An answer that somebody gave, as the chat knows it."""

    chat: str
    member: str
    mark: str
    event: str
    """The id under which the chat told of it."""
    given: str
    """What was chosen, typed or written."""
    right: bool
    made: float
    """When, by the chat's clock."""
    outcome: Outcome = "unknown"


@dataclass
class Diary:
    """All of it. `progress` counts what was seen to happen; faults go by it, and never by a clock."""

    slots: list[Slot] = field(default_factory=list)
    acts: list[Act] = field(default_factory=list)
    shown: list[tuple[str, str]] = field(default_factory=list)
    """Every text a member was shown, and by whom it was seen."""
    unanswerable: list[str] = field(default_factory=list)
    """Who could not get any answer through, and to what."""
    progress: int = 0

    def slot(self, mark: str) -> Slot:
        """The slot whose question bears the mark."""
        return next(slot for slot in self.slots if slot.mark == mark)
