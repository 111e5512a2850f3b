"""A server on the double of Discord with the real bot, service and database in it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.core.dispatcher import Dispatcher
from bot.core.journal import Journal
from bot.discord.client import DiscordApp
from bot.discord.commands import register_commands
from service.app import Service
from service.client import ServiceClient
from service.wire import ScheduleSpec, Where, Who
from tests.bot.conftest import BANK, QUESTIONS
from tests.conftest import MONDAY, Clock
from tests.doubles.discord import Discord
from tests.doubles.discord.world import TEXT, Channel, Guild, Interaction, Json, Member, Message, nested

JOINED = datetime(2026, 1, 1, tzinfo=UTC)
"""When the bot was added to the server: long before the tests begin."""
FASTER = 10_000.0
"""How much faster the clock of Discord's rate limits runs here: they are tested elsewhere."""
Shown = Interaction | Message


@dataclass
class Person:
    """A member at their client. Every method returns once the bot has answered."""

    sim: Simulated
    member: Member

    @property
    def id(self) -> int:
        return self.member.id

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def alone(self) -> list[Message]:
        """The direct messages with the bot, oldest first."""
        return self.sim.double.world.direct(self.member).seen(self.member)

    async def click(self, shown: Shown | None, label: str) -> Interaction:
        """Clicks a button of a message, or of the last message of a reply."""
        assert shown is not None
        message = shown if isinstance(shown, Message) else messages_of(shown)[-1]
        assert label in message.buttons, f"no {label!r} among {sorted(message.buttons)}"
        return await self.sim.settled(await self.sim.double.press(self.member, message, message.buttons[label]))

    async def slash(self, channel: Channel, command: str, /, **options: Any) -> Interaction:
        """Uses a command: `slash(daily, "quiz board", period="week")`; a file is its name and content."""
        return await self.sim.settled(await self.sim.double.slash(self.member, channel, *command.split(), **options))

    async def autocomplete(self, channel: Channel, command: str, name: str, typed: str) -> list[Json]:
        """Types into an option of a command; returns the suggestions."""
        typing = await self.sim.double.autocomplete(
            self.member, channel, *command.split(), typing=name, **{name: typed}
        )
        return (await self.sim.settled(typing)).choices or []

    async def submit_modal(self, window: Interaction, values: Mapping[str, Any]) -> Interaction:
        """Submits the modal of an interaction."""
        return await self.sim.settled(await self.sim.double.submit_modal(window, values))

    async def pick(self, message: Message, command: str) -> Interaction:
        """Uses a command of a message's menu."""
        return await self.sim.settled(await self.sim.double.pick_command(self.member, message, command))

    async def writes(self, channel: Channel, content: str) -> Message:
        return await self.sim.double.says(self.member, channel, content)

    def commands(self, channel: Channel) -> list[str]:
        """Returns the commands of the member's client, grouped."""
        return [
            " ".join(words) for command in self.sim.double.offered(self.member, channel) for words in _leaves(command)
        ]


def _leaves(command: Json) -> list[list[str]]:
    inner = [option for option in command.get("options") or () if option["type"] in (1, 2)]
    if not inner:
        return [[command["name"]]]
    return [[command["name"], *words] for option in inner for words in _leaves(option)]


@dataclass
class Simulated:
    """A server with a channel, its owner, an admin and a member, and the bot in it."""

    double: Discord
    journal: Journal
    service: Service
    client: ServiceClient
    moving: Clock
    guild: Guild
    channel: Channel
    app: DiscordApp = field(init=False)
    connecting: asyncio.Task[None] = field(init=False)

    def __post_init__(self) -> None:
        self.boss, self.ada = self.joins("Boss", admin=True), self.joins("Ada")
        self.owner = self.joins("Owner")
        self.guild.owner = self.owner.member

    @property
    def workspace(self) -> str:
        return str(self.guild.id)

    @property
    def where(self) -> Where:
        return Where(channel=str(self.channel.id), name="#daily")

    @property
    def operator(self) -> Who:
        return Who(platform="discord", workspace=self.workspace, member="1", name="Operator", admin=True)

    def joins(self, name: str, *, admin: bool = False) -> Person:
        """Adds a member."""
        return Person(self, self.guild.member(name, admin=admin))

    async def opened_channel(self, name: str, allows: int, kind: int = TEXT) -> Channel:
        """Adds a channel with these permissions for the bot, and tells it."""
        channel = self.guild.channel(name, allows)
        channel.type = kind
        heard = self.app.bot.wait_for("guild_channel_create", timeout=60)
        await self.double.opens(channel)
        await heard
        return channel

    async def settled(self, interaction: Interaction) -> Interaction:
        """Waits until the bot has sent all replies to an interaction."""
        await self.double.settled(interaction)
        await self.app.bot.finish(10)
        return interaction

    async def imports(self) -> None:
        """Imports the bank with one question of every kind."""
        text = BANK.read_text(encoding="utf-8")
        view = await self.client.bank_import(self.operator, "import", BANK.name, text, True)
        assert view.applied, view.findings

    async def opens(self, question: str) -> Message:
        """Posts a question at 10:00 in Berlin, open until 17:00; returns the post."""
        await self.starts(question)
        return self.last("Question for ")

    async def starts(self, question: str) -> None:
        """Makes a question due and delivers what follows."""
        for other in QUESTIONS:
            await self.client.bank_retire(self.operator, f"retire-{question}-{other}", other, other != question)
        spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60)
        await self.client.schedule_add(self.operator, f"schedule-{question}", self.where, spec)
        self.moving.now = MONDAY.replace(hour=9)
        await self.service.tick()
        await self.carries()

    @property
    def threads(self) -> list[Channel]:
        """The threads of the channel."""
        return self.double.world.threads(self.channel)

    def last(self, title: str, channel: Channel | None = None) -> Message:
        """Returns the newest message whose title starts like this."""
        found = [one for one in (channel or self.channel).seen() if said(one).startswith(f"## {title}")]
        assert found, [said(one).partition("\n")[0] for one in (channel or self.channel).seen()]
        return found[-1]

    async def closes(self) -> None:
        """Closes the round and delivers its reveal."""
        self.moving.advance(hours=7)
        await self.service.tick()
        await self.carries()

    async def carries(self) -> int:
        """Runs the jobs, then delivers the outbox; returns the number of messages."""
        await self.service.jobs.run_pending()
        dispatcher, carried = Dispatcher(self.client, self.app.platform), 0
        while count := await dispatcher.once():
            carried += count
        return carried

    def line(self, shown: Interaction) -> dict[str, str]:
        """Returns the journal's route of an interaction."""
        return {"id": str(shown.id), "application": str(self.double.world.application), "token": shown.token}

    async def starts_bot(self) -> None:
        """Starts a bot without a journal."""
        ready = len(self.double.log.of("ready"))
        # More than Discord's three seconds, so that a slow machine does not change what members see.
        self.app = DiscordApp(self.client, self.journal, self.moving, monotonic, shard_count=1, modal_wait_s=60)
        # discord.py waits so long for further servers before it is ready.
        self.app.bot._connection.guild_ready_timeout = 0.01
        await self.app.bot.login(self.double.world.token)
        self.connecting = asyncio.create_task(self.app.bot.connect())
        await self.double.until(lambda: len(self.double.log.of("ready")) > ready, "ready")
        await self.app.bot.wait_until_ready()
        await self.app.bot.finish(10)

    async def stops_bot(self) -> None:
        await self.app.close()
        await self.connecting

    async def restarts(self) -> None:
        """Replaces the bot by a new one without memory."""
        await self.stops_bot()
        await self.starts_bot()

    def grown(self) -> list[str]:
        """Returns the non-empty caches of discord.py and the bot that could grow with use."""
        state: Any = self.app.bot._connection
        views = state._view_store
        kept = {
            "views": views._views,
            "synced": views._synced_message_views,
            "modals": views._modals,
            "dynamic": views._dynamic_items,
            "messages": state._messages or (),
            "under way": self.app.bot.running,
            "partial": self.app.platform._partial,
        }
        return [f"{name}: {len(store)}" for name, store in kept.items() if len(store)]


@asynccontextmanager
async def simulation(service: Service, client: ServiceClient, clock: Clock, folder: Path) -> AsyncIterator[Simulated]:
    """Yields a simulated server with registered commands. The test fails if the bot breaks a rule of Discord."""
    journal = Journal(folder / "discord.sqlite")
    with pytest.MonkeyPatch.context() as patch:
        async with Discord(pace=FASTER) as double:
            patch.setattr(Route, "BASE", double.url)
            patch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(double.gateway.url))
            guild = double.world.guild("Team")
            guild.joined = JOINED.isoformat()
            sim = Simulated(double, journal, service, client, clock, guild, guild.channel("daily"))
            await sim.starts_bot()
            try:
                await register_commands(sim.app.bot.http, str(double.world.application))
                yield sim
            finally:
                await sim.stops_bot()
                journal.close()
    assert double.violations == []


def messages_of(shown: Interaction) -> list[Message]:
    """Returns the messages of a reply in order: the edited original and the follow-ups."""
    changed = [shown.original] if shown.original is not None and shown.original not in shown.messages else []
    return [*changed, *shown.messages]


def id_of(shown: Interaction) -> int:
    """Returns the id of a reply's first message."""
    return messages_of(shown)[0].id


def alone(shown: Interaction) -> bool:
    """Returns whether all messages of a reply are ephemeral."""
    return all(each.viewer is not None for each in messages_of(shown))


def _components(shown: Shown) -> list[Json]:
    if isinstance(shown, Message):
        return list(shown.body.get("components") or ())
    return [part for each in messages_of(shown) for part in _components(each)]


def said(shown: Shown | None) -> str:
    """Returns the text a member sees in a reply or message."""
    if shown is None:
        return ""
    if isinstance(shown, Interaction) and shown.modal is not None:
        return "\n".join([shown.modal["title"], *_texts(shown.modal["components"])])
    return _with_names("\n".join(_texts(_components(shown))), shown.channel)


def raw_text(message: Message) -> str:
    """Returns the text of a message as the bot wrote it."""
    return "\n".join(_texts(_components(message)))


def _with_names(text: str, channel: Channel) -> str:
    """Shows the channels and members that a text names as the client does: by their names."""
    known = {channel.id: channel, **(channel.guild.channels if channel.guild else {})}
    text = re.sub(r"<#(\d+)>", lambda found: f"#{known[int(found[1])].name}", text)
    return with_member_names(text, channel)


def with_member_names(text: str, channel: Channel) -> str:
    """Shows the members that a text mentions as the client does: by their names."""
    people = channel.guild.members if channel.guild else {}
    return re.sub(
        r"<@(\d+)>", lambda found: f"@{people[int(found[1])].name}" if int(found[1]) in people else found[0], text
    )


def labels(shown: Shown) -> list[str]:
    """Returns the labels of the buttons of a reply or message."""
    return [str(part["label"]) for part in _walk(_components(shown)) if part.get("type") == 2]


def fields(shown: Interaction) -> dict[str, Json]:
    """Returns the fields of a modal by name."""
    assert shown.modal is not None, said(shown)
    return {part["custom_id"]: part for part in _walk(shown.modal["components"]) if "custom_id" in part}


def _texts(components: list[Json]) -> list[str]:
    found = []
    for part in _walk(components):
        found += [str(part[key]) for key in ("content", "label") if part.get("type") != 2 and part.get(key)]
        found += [f"[{part['label']}]"] if part.get("type") == 2 else []
    return found


def _walk(components: list[Json]) -> list[Json]:
    return [part for component in components for part in nested(component)]
