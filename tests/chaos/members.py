"""A member on any chat: waits for questions, answers, changes the answer, and tries again."""

from __future__ import annotations

import asyncio
import random
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from tests.chaos import bank
from tests.chaos.diary import Act, Diary, Outcome, Slot

PATIENCE_S: Final = 300.0
"""How long a member waits for a question and retries an answer, seconds."""
SEEN_S: Final = 6.0
"""How long a member looks at a reply before clicking again, seconds."""
UNREADABLE: Final = "(1, 2"
_READ: Final[tuple[tuple[str, Outcome], ...]] = (
    ("Too late for this round", "late"),
    *(
        (title, "refused")
        for title in ("Not possible", "Answer not readable", "Wrong kind of answer", "Check what you typed")
    ),
    ("Please try again", "unknown"),
    ("Something went wrong", "unknown"),
    ("is recorded", "acknowledged"),
    ("Your answer is changed", "acknowledged"),
    ("Your code is being judged", "acknowledged"),
)


def read(text: str) -> Outcome | None:
    """Returns the outcome that a text reports; None if it is about something else."""
    return next((outcome for words, outcome in _READ if words in text), None)


def letter_of(text: str, option: str) -> str | None:
    """Returns the letter of an option."""
    found = re.search(rf"\b([A-Z])\b[^A-Za-z0-9]{{1,12}}{re.escape(option)}", text)
    return found[1] if found else None


class Gone(Exception):
    """The question no longer accepts answers: it has no button."""


@dataclass
class Member(ABC):
    """A member. Subclasses implement `_attempt` for their chat."""

    chat: str
    id: str
    diary: Diary
    seed: int
    slots: list[Slot] = field(default_factory=list)

    @abstractmethod
    async def _asked(self, slot: Slot) -> bool:
        """Returns whether the question is in its channel."""

    @abstractmethod
    async def _attempt(self, slot: Slot, given: str, right: bool, chance: random.Random) -> Outcome:
        """Answers once and records it. Raises Gone."""

    async def day(self) -> None:
        """Answers every question that appears, in random order."""
        chance = random.Random(f"order {self.seed} {self.id}")
        for slot in sorted(self.slots, key=lambda slot: (slot.wave, chance.random())):
            await self._answer(slot)

    async def _answer(self, slot: Slot) -> None:
        chance = random.Random(f"answers {self.seed} {self.id} {slot.mark}")
        end = monotonic() + PATIENCE_S
        while not await self._asked(slot):
            if monotonic() > end:
                self.diary.unanswerable.append(f"{self.id} never saw the question of slot {slot.mark}")
                return
            await asyncio.sleep(0.1)
        try:
            if slot.kind == "value" and chance.random() < 0.4:
                await self._attempt(slot, UNREADABLE, False, chance)
            for _ in range(chance.choice((1, 1, 2, 3))):
                await asyncio.sleep(chance.uniform(0.1, 0.9))
                right = chance.random() < 0.6
                given = bank.given(slot, right=right, chance=chance)
                if await self._until_answered(slot, given, right, chance) == "late":
                    return
        except Gone:
            return

    async def _until_answered(self, slot: Slot, given: str, right: bool, chance: random.Random) -> Outcome:
        end = monotonic() + PATIENCE_S
        while monotonic() < end:
            outcome = await self._attempt(slot, given, right, chance)
            self.diary.progress += 1
            if outcome in ("acknowledged", "late"):
                return outcome
            await asyncio.sleep(chance.uniform(0.2, 0.6))
        self.diary.unanswerable.append(f"{self.id} could get no answer to slot {slot.mark} through")
        return "unknown"

    def _write(self, slot: Slot, event: str, given: str, right: bool, made: float) -> Act:
        act = Act(self.chat, self.id, slot.mark, event, given, right, made)
        self.diary.acts.append(act)
        return act

    def _settle(self, act: Act, text: str, outcome: Outcome | None = None) -> Outcome:
        """Records the outcome and the text that was read."""
        act.outcome = outcome or read(text) or "unknown"
        if text:
            self.diary.shown.append((self.id, text))
        return act.outcome
