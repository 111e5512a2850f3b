"""A team's days on Discord, on the double: the transcript is committed, so that people can read it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sandbox.client import SandboxClient
from service.app import Service, build
from service.client import ServiceClient
from service.config import Settings
from service.wire import Who
from tests.bot import day
from tests.bot.day import Transcript, Values
from tests.bot.discord.simulated import Person, Simulated, messages_of, said, simulation, with_member_names
from tests.conftest import Clock
from tests.doubles.discord.world import Channel, Interaction, Json, Message, nested

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
COMMITTED = Path(__file__).parent / "day.md"


@pytest.fixture
async def service(settings: Settings, clock: Clock, sandbox: SandboxClient) -> AsyncIterator[Service]:
    async with build(settings, clock, sandbox).running() as running:
        yield running


@dataclass
class DiscordDay:
    """The day's chat on the double of Discord."""

    sim: Simulated
    transcript: Transcript
    people: dict[str, Person]
    seen: dict[int, str] = field(default_factory=dict)
    latest: dict[str, Interaction] = field(default_factory=dict)

    @property
    def service(self) -> Service:
        return self.sim.service

    @property
    def client(self) -> ServiceClient:
        return self.sim.client

    @property
    def operator(self) -> Who:
        return self.sim.operator

    async def types(self, name: str, command: str, **options: str | int | bool) -> None:
        self.transcript.types(name, command, options)
        await self._replied(name, await self.people[name].slash(self.sim.channel, command, **options))

    async def presses(self, name: str, label: str, *, card: str = "") -> None:
        message = self._card(name, label, card)
        self.transcript.does(name, f"presses **{label}** on “{_title(message)}”")
        await self._replied(name, await self.people[name].click(message, label))

    async def chooses(self, name: str, *options: str) -> None:
        message = messages_of(self.latest[name])[-1]
        lines = [line for line in said(message).splitlines() if line.startswith("**")]
        letter = next(line[2] for line in lines for option in options if option in line)
        label = next(one for one in message.buttons if one.partition(" ")[0] == letter)
        await self.presses(name, label)

    async def fills(self, name: str, values: Values, *, submit: str = "") -> None:
        window = self.latest[name]
        assert window.modal is not None
        parts = {one["custom_id"]: one for one in _inner(window.modal["components"]) if "custom_id" in one}
        filled = {key: _value(parts[key], given) for key, given in values.items()}
        if submit:
            filled["action"] = _value(parts["action"], submit)
        self.transcript.fills(name, values)
        await self._replied(name, await self.people[name].submit_modal(window, filled))

    async def comes(self) -> None:
        await self.sim.carries()
        world, team = self.sim.double.world, list(self.people.values())
        places: list[tuple[str, Channel]] = [("#daily", self.sim.channel)]
        places += [(f"#daily, thread “{one.name}”", one) for one in self.sim.threads]
        places += [(f"direct message to {one.name}", world.direct(one.member)) for one in team]
        shown = [(one, place) for place, channel in places for one in channel.seen(channel.recipient) if said(one)]
        for message, place in sorted(shown, key=lambda pair: pair[0].id):
            before, after = self.seen.get(message.id), _drawn(message)
            self.seen[message.id] = after
            if before is None:
                self.transcript.shows(place, after)
            elif before != after:
                self.transcript.edits(f"{place}: “{_title(message)}”", before, after)

    async def _replied(self, name: str, shown: Interaction) -> None:
        if shown.modal is None and any(label in ("Write the answer", "Choose") for label in _labels(shown)):
            # The service was too slow for a modal, so a button opens it.
            await self._replied(name, await self.people[name].click(shown, _labels(shown)[0]))
            return
        self.latest[name] = shown
        if shown.modal is not None:
            self.transcript.shows(f"a form opens for {name}", _form(shown.modal))
        for message in messages_of(shown):
            self.seen[message.id] = _drawn(message)
            self.transcript.shows(
                f"only {name} sees this" if message.viewer else f"direct message to {name}", _drawn(message)
            )

    def _card(self, name: str, label: str, title: str) -> Message:
        member = self.people[name].member
        last = self.latest.get(name)
        if not title and last is not None:
            return messages_of(last)[-1]
        channels = [self.sim.channel, *self.sim.threads, self.sim.double.world.direct(member)]
        found = [
            one
            for channel in channels
            for one in channel.seen(member)
            if label in one.buttons and _title(one).startswith(title)
        ]
        assert found, f"no {label!r} on {title!r}"
        return max(found, key=lambda one: one.id)


def _title(message: Message) -> str:
    return said(message).partition("\n")[0].lstrip("# ")


def _labels(shown: Interaction) -> list[str]:
    return [label for message in messages_of(shown) for label in message.buttons]


def _inner(components: list[Json]) -> list[Json]:
    return [part for component in components for part in nested(component)]


def _drawn(message: Message) -> str:
    """Returns the texts of a message, and its buttons in one line."""
    texts = [with_member_names(part["content"], message.channel) for part in message.parts if part["type"] == 10]
    buttons = [f"[{part['label']}]" for part in message.parts if part["type"] == 2]
    pictures = [f"(picture: {item['description']})" for part in message.parts for item in part.get("items") or ()]
    return "\n\n".join([*texts, *pictures, *(["  ".join(buttons)] if buttons else [])])


def _form(modal: Json) -> str:
    lines = [f"## {modal['title']}"]
    for part in _inner(modal["components"]):
        if part["type"] == 10:
            lines.append(part["content"])
        elif part.get("label"):
            lines.append(f"**{part['label']}**")
        if part.get("options"):
            labels = [one["label"] for one in part["options"]]
            lines.append(
                "\n".join([*(f"- {label}" for label in labels[: day.MOST]), *(["- …"] if labels[day.MOST :] else [])])
            )
        if part.get("value"):
            lines.append(f"```python\n{part['value'].rstrip()}\n```")
    return "\n\n".join(lines)


def _value(part: Json, given: str | tuple[str, ...]) -> object:
    """Returns what the form sends: a text, or the values of the options whose label has the text."""
    if not part.get("options"):
        return given
    wanted = (given,) if isinstance(given, str) else given
    picked = [one["value"] for text in wanted for one in part["options"] if text in (one["value"], *_cut(one, text))]
    assert len(picked) == len(wanted), (given, part["options"])
    return picked if part["type"] in (3, 22) else picked[0]


def _cut(option: Json, text: str) -> list[str]:
    return [text] if text in option["label"] else []


async def test_a_few_days_read_as_they_should(
    service: Service, client: ServiceClient, clock: Clock, tmp_path: Path
) -> None:
    async with simulation(service, client, clock, tmp_path) as sim:
        people = {"Boss": sim.boss, "Ada": sim.ada, "Bob": sim.joins("Bob"), "Cleo": sim.joins("Cleo")}
        chat = DiscordDay(sim, Transcript("A few days on Discord", clock), people)
        for name, person in people.items():
            # The order of options depends on the number of the member, so each gets it in turn.
            who = Who(platform="discord", workspace=sim.workspace, member=str(person.id), name=name)
            await client.join(who, sim.where)
        await day.imports(chat)
        await day.play(chat)
    chat.transcript.compare(COMMITTED, tmp_path)
