"""A member in the Discord double. Each reply belongs to an interaction, so its outcome is known exactly."""

from __future__ import annotations

import random
from dataclasses import dataclass
from time import time

from bot.discord.render import nonce_of
from tests.chaos.diary import Act, Outcome, Slot
from tests.chaos.members import SEEN_S, Gone, Member, letter_of, read
from tests.chaos.processes import until
from tests.doubles.discord import Discord
from tests.doubles.discord.people import Impossible
from tests.doubles.discord.world import Channel, Interaction, Message
from tests.doubles.discord.world import Member as Person

_OLDER_S = 0.4
"""Of two simultaneous clicks, the older one is delivered last."""


@dataclass
class DiscordMember(Member):
    """Clicks Answer, then an option or a form; sometimes twice out of order, and Discord may deliver a click twice."""

    double: Discord | None = None
    person: Person | None = None
    channels: dict[str, Channel] | None = None

    @property
    def _all(self) -> tuple[Discord, Person, dict[str, Channel]]:
        assert self.double
        assert self.person
        assert self.channels
        return self.double, self.person, self.channels

    def _question(self, slot: Slot) -> Message | None:
        _, _, channels = self._all
        stands = channels[slot.channel].seen()
        return next((one for one in stands if "Question for" in one.text and slot.mark in one.text), None)

    async def _asked(self, slot: Slot) -> bool:
        return self._question(slot) is not None

    async def _attempt(self, slot: Slot, given: str, right: bool, chance: random.Random) -> Outcome:
        double, person, _ = self._all
        question = self._question(slot)
        if question is None or "Answer" not in question.buttons:
            raise Gone
        opened = await double.press(person, question, question.buttons["Answer"])
        if await until(lambda: opened.settled, SEEN_S) is None:
            return "unknown"
        try:
            if slot.kind == "choice":
                return await self._choose(slot, opened, given, right, chance)
            return await self._fill(slot, opened, given, right, chance)
        except Impossible:
            return "unknown"  # it was deleted meanwhile

    async def _choose(self, slot: Slot, opened: Interaction, given: str, right: bool, chance: random.Random) -> Outcome:
        card = opened.original
        if card is None or (letter := letter_of(card.text, given)) is None:
            return "unknown"
        buttons = dict(card.buttons)
        wanted = next(id_ for label, id_ in buttons.items() if label.split(" ")[0] == letter)
        if chance.random() < 0.3:
            other = chance.choice(sorted(buttons.values()))
            return await self._choose_twice(slot, card, (wanted, other), given, right)
        act, pressed = await self._press(slot, card, wanted, right, 0.0)
        if chance.random() < 0.3:
            await self._all[0].again(pressed)
        return await self._seen(act, pressed)

    async def _choose_twice(
        self, slot: Slot, card: Message, wanted: tuple[str, str], given: str, right: bool
    ) -> Outcome:
        """Delivers the later of two clicks first."""
        of_right = letter_of(card.text, f"right {slot.mark}")
        rights = [id_ for label, id_ in card.buttons.items() if label.split(" ")[0] == of_right]
        newer, pressed = await self._press(slot, card, wanted[0], right, 0.0)
        try:
            older, before = await self._press(slot, card, wanted[1], wanted[1] in rights, _OLDER_S)
        except Impossible:
            return await self._seen(newer, pressed)
        outcome = await self._seen(newer, pressed)
        await self._seen(older, before)
        return outcome

    async def _press(
        self, slot: Slot, card: Message, wanted: str, right: bool, age_s: float
    ) -> tuple[Act, Interaction]:
        double, person, _ = self._all
        made = time() - age_s
        pressed = await double.press(person, card, wanted, age_s=age_s)
        return self._write(slot, f"discord:{pressed.id}", wanted.rpartition(":")[2], right, made), pressed

    async def _fill(self, slot: Slot, opened: Interaction, given: str, right: bool, chance: random.Random) -> Outcome:
        double, _, _ = self._all
        if opened.modal is None:
            return "unknown"
        made = time()
        sent = await double.submit_modal(opened, {"code" if slot.kind == "code" else "text": given})
        act = self._write(slot, f"discord:{sent.id}", given, right, made)
        if chance.random() < 0.3:
            await double.again(sent)
        return await self._seen(act, sent)

    async def _seen(self, act: Act, pressed: Interaction) -> Outcome:
        text = await until(lambda: self._told(act, pressed), SEEN_S) or ""
        return self._settle(act, text)

    def _told(self, act: Act, pressed: Interaction) -> str | None:
        double, person, _ = self._all
        said = [*reversed(pressed.shown)]
        # A late click is answered by direct message, under the key of the event.
        direct = double.world.direct(person).messages.values()
        said += [one.text for one in direct if one.nonce == nonce_of(act.event)]
        return next((text for text in said if read(text)), None)
