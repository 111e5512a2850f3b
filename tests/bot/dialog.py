"""A conversation with the quiz for tests: members type and press, and read the replies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count

from bot.console.chat import FormSession
from bot.console.render import card_text, form_text
from bot.core.cards import Button, Card, Form, Options, PickField, Reply
from bot.core.events import Command, Event, Press, Submit
from bot.core.quiz import Quiz
from service.wire import Where, Who

_events = count(1)


@dataclass
class Dialog:
    """A channel with the quiz. Keeps each member's latest reply, so that its buttons can be pressed."""

    quiz: Quiz
    clock: Callable[[], datetime]
    where: Where
    told: dict[str, Card | Form] = field(default_factory=dict)

    async def types(self, who: Who, line: str) -> str:
        """Types a line such as `/quiz today`; returns the reply as text."""
        name, _, text = line.removeprefix("/").partition(" ")
        return await self.does(Command(self.event_id(), self.clock(), who, self.where, name, text))

    async def presses(self, who: Who, label: str) -> str:
        """Press the button of that label on what one was told last."""
        return await self.does(Press(self.event_id(), self.clock(), who, self.where, self.button(who, label).action))

    async def chooses(self, who: Who, text: str) -> str:
        """Press the option of that text, wherever it was shuffled to."""
        said = self.told[who.member]
        rows = [row for block in said.blocks if isinstance(block, Options) for row in block.rows]
        letter = next(row.letter for row in rows if row.markdown == text)
        label = next(one.label for one in self.buttons(who) if one.label.partition(" ")[0] == letter)
        return await self.presses(who, label)

    async def picks(self, who: Who, *texts: str) -> str:
        """Submits the current form with the options of these texts."""
        form = self.told[who.member]
        assert isinstance(form, Form)
        field = next(one for one in form.fields if isinstance(one, PickField))
        picked = tuple(value for value, label in field.options if label.partition(" ")[2] in texts)
        return await self.fills(who, options=picked)

    async def fills(self, who: Who, *, extra: str = "", **values: str | tuple[str, ...]) -> str:
        """Submits the current form; with `extra`, by its further button of that label."""
        form = self.told[who.member]
        assert isinstance(form, Form), f"{who.name} was given no form but {form.title!r}"
        action = next(b.action for b in form.extras if b.label == extra) if extra else form.action
        given = {name: (value,) if isinstance(value, str) else value for name, value in values.items()}
        return await self.does(Submit(self.event_id(), self.clock(), who, self.where, action, given))

    async def does(self, event: Event) -> str:
        """Handles any event; returns the reply as text."""
        reply = await self.quiz.handle(event)
        self.told[event.who.member] = reply.content
        return text_of(reply)

    def sees(self, who: Who, card: Card) -> None:
        """Shows a channel card, whose buttons can then be pressed."""
        self.told[who.member] = card

    def button(self, who: Who, label: str) -> Button:
        """Returns the button with that label on the latest card."""
        found = [button for button in self.buttons(who) if button.label == label]
        assert found, f"no button {label!r} among {[one.label for one in self.buttons(who)]}"
        return found[0]

    def buttons(self, who: Who) -> tuple[Button, ...]:
        """Returns the labels of the latest card's buttons."""
        said = self.told[who.member]
        return said.all_buttons if isinstance(said, Card) else said.extras

    def event_id(self) -> str:
        """Returns a new event id."""
        return f"event-{next(_events)}"


def text_of(reply: Reply) -> str:
    """Returns a reply as text, as in the console."""
    if isinstance(reply.content, Card):
        return card_text(reply.content)
    return f"{form_text(reply.content)}\n\n{FormSession(reply.content).question(80)}"
