"""A member in the Slack double.

A reply to a click replaces the private card. The result of a form appears next to it, so it counts as acknowledged only
if no other action of the member can explain it.
"""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass, field
from time import time

from tests.chaos.diary import Act, Outcome, Slot
from tests.chaos.members import SEEN_S, Gone, Member, letter_of, read
from tests.chaos.processes import until
from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.double import SlackDouble
from tests.doubles.slack.surfaces import Ephemeral, Message, View
from tests.doubles.slack.world import Channel, User


@dataclass
class SlackMember(Member):
    """Clicks Answer, then an option or a form."""

    slack: SlackDouble | None = None
    user: User | None = None
    channels: dict[str, Channel] | None = None
    in_doubt: set[str] = field(default_factory=set)
    """Slots with a submitted form that was never answered."""

    @property
    def _all(self) -> tuple[SlackDouble, User, dict[str, Channel]]:
        assert self.slack
        assert self.user
        assert self.channels
        return self.slack, self.user, self.channels

    def _question(self, slot: Slot) -> Message | None:
        slack, _, channels = self._all
        stands = slack.world.messages(channels[slot.channel])
        return next((one for one in stands if "Question for" in one.words and slot.mark in one.words), None)

    async def _asked(self, slot: Slot) -> bool:
        return self._question(slot) is not None

    async def _attempt(self, slot: Slot, given: str, right: bool, chance: random.Random) -> Outcome:
        slack, user, _ = self._all
        question = self._question(slot)
        if question is None or "Answer" not in question.labels:
            raise Gone
        for view in slack.world.stack(user):
            view.open = False
        before = len(slack.world.ephemerals)
        if not (await slack.click(user, question, "Answer")).acked:
            return "unknown"
        if slot.kind == "choice":
            return await self._choose(slot, before, given, right, chance)
        return await self._fill(slot, given, right, chance)

    async def _choose(self, slot: Slot, before: int, given: str, right: bool, chance: random.Random) -> Outcome:
        slack, user, _ = self._all
        card = await until(lambda: self._card(slot, before), SEEN_S)
        if card is None or (letter := letter_of(card.words, given)) is None:
            return "unknown"
        label = next(label for label in card.labels if label.split(" ")[0] == letter)
        option = str(card.control(label).element["value"]).rpartition(":")[2]
        made = time()
        sent = await slack.click(user, card, label)
        act = self._write(slot, _event(sent), option, right, made)
        if chance.random() < 0.3:
            await self._again(sent)
        text = await until(
            lambda: next((one for one in (card.words, *self._beside(before)) if read(one)), None), SEEN_S
        )
        # A reply in the card's place belongs to this click.
        return self._settle(act, text) if text and read(card.words) else self._heard(slot, act, text or "")

    def _card(self, slot: Slot, before: int) -> Ephemeral | None:
        """Returns the private card of the question."""
        slack, user, _ = self._all
        new = [one for one in slack.world.ephemerals[before:] if one.user == user.id]
        return next((one for one in new if letter_of(one.words, f"right {slot.mark}") and not read(one.words)), None)

    async def _fill(self, slot: Slot, given: str, right: bool, chance: random.Random) -> Outcome:
        slack, user, _ = self._all
        view = await until(self._form, SEEN_S)
        if view is None:
            return "unknown"
        name, *_ = view.fields  # a form for code takes a file too
        before, made = len(slack.world.ephemerals), time()
        sent = await slack.submit_view(user, {name: given})
        act = self._write(slot, _event(sent), given, right, made)
        if sent.reply.get("response_action") == "errors":
            return self._settle(act, " ".join(sent.reply["errors"].values()), "refused")
        if sent.outcome == "dispatch_failed":
            return self._settle(act, "")
        if chance.random() < 0.3:
            await self._again(sent)
        text = await until(
            lambda: next((one for one in (view.words, *self._beside(before)) if read(one)), None), SEEN_S
        )
        return self._heard(slot, act, text or "")

    def _heard(self, slot: Slot, act: Act, text: str) -> Outcome:
        """Records a text, which settles nothing if it may be about an earlier, unanswered form."""
        if not text:
            self.in_doubt.add(slot.mark)
        outcome = self._settle(act, text, "unknown" if slot.mark in self.in_doubt else None)
        return read(text) or outcome

    def _form(self) -> View | None:
        slack, user, _ = self._all
        stack = slack.world.stack(user)
        return stack[-1] if stack and stack[-1].fields else None

    def _beside(self, before: int) -> list[str]:
        """Returns the private messages since then."""
        slack, user, _ = self._all
        new = [one.words for one in slack.world.ephemerals[before:] if one.user == user.id]
        return [words for words in new if read(words)]

    async def _again(self, sent: Delivery) -> None:
        """Delivers the same event again."""
        slack, _, _ = self._all
        await slack.post.deliver(Delivery(secrets.token_hex(6), sent.kind, sent.payload, sent.user))


def _event(sent: Delivery) -> str:
    return f"slack:{sent.payload['trigger_id']}"
