"""A team on two chats with every process of a deployment: services, workers, sandbox, bots and database."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from bot.discord.commands import application_commands
from bot.slack.manifest import app_manifest
from sandbox.client import SandboxClient
from service.app import build
from service.banks.documents import DOCUMENTS
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.config import Settings
from service.wire import ScheduleSpec, Where, Who
from tests.chaos import bank
from tests.chaos.database import Database, database_running
from tests.chaos.diary import Diary, Slot
from tests.chaos.discord_member import DiscordMember
from tests.chaos.members import Member
from tests.chaos.oracle import Facts, Message
from tests.chaos.processes import READY_S, Part, says, surroundings, until
from tests.chaos.relay import Relay, relaying
from tests.chaos.slack_member import SlackMember
from tests.doubles.discord import Discord
from tests.doubles.discord.world import Channel as DiscordChannel
from tests.doubles.discord.world import Guild
from tests.doubles.slack import oracle as slack_oracle
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.world import Channel as SlackChannel
from tests.doubles.slack.world import Team
from tests.faults.backend import TOKEN, TOKEN_KEY, RunningClock, boss_of
from tests.machine import free_port

EVERY_DAY: Final = tuple(range(7))
NAMES: Final = ("Ann", "Bob", "Cem", "Dia", "Eva", "Fay", "Gil", "Hua")
_SLACK_PACE: Final = 10.0
"""Speed of Slack's limits: a test cannot wait a minute for another socket."""
# Violations caused by delays alone, on a busy machine.
_OF_TIME: Final = frozenset({"expired_trigger_id", "unknown_envelope"})


@dataclass
class Chats:
    """Both doubles with their channels and members."""

    discord: Discord
    slack: SlackDouble
    guild: Guild
    team: Team
    on_discord: dict[str, DiscordChannel]
    on_slack: dict[str, SlackChannel]
    bosses: dict[str, Who]

    @property
    def channels(self) -> list[tuple[str, str]]:
        """The chat and id of every channel."""
        return [("discord", id_) for id_ in self.on_discord] + [("slack", id_) for id_ in self.on_slack]

    def where(self, chat: str, channel: str) -> Where:
        """Returns a channel as the service knows it."""
        found = self.on_discord[channel] if chat == "discord" else self.on_slack[channel]
        return Where(channel=channel, name=found.name)

    def messages(self) -> list[Message]:
        """Returns all lasting messages of the bots; ephemeral ones are not among them."""
        guild = self.guild.channels.values()
        rooms = [*guild, *self.discord.world.channels.values()]
        found = [
            Message("discord", str(room.id), one.ref, one.nonce or "", one.text, "Question for" in one.text)
            for room in rooms
            for one in room.messages.values()
            if one.author.get("bot") and one.viewer is None
        ]
        return found + [
            Message("slack", one.channel, one.ref, one.key, one.words, "Question for" in one.words)
            for one in self.slack.world.messages()
            if one.bot_id
        ]

    def complaints(self) -> list[str]:
        """Returns violations of the chats' rules."""
        wrong = [entry for entry in slack_oracle.violations(self.slack.log) if entry["error"] not in _OF_TIME]
        return [f"Discord: {what}" for what in self.discord.violations] + [
            f"Slack: {entry['what']}: {entry['error']} {entry['reasons']}" for entry in wrong
        ]

    def private(self) -> list[tuple[str, str]]:
        """Returns the private messages at the end."""
        rooms = [*self.guild.channels.values(), *self.discord.world.channels.values()]
        shown = [(str(one.viewer), one.text) for room in rooms for one in room.messages.values() if one.viewer]
        return shown + [(one.user, one.words) for one in self.slack.world.ephemerals]


@dataclass
class Admin:
    """Sets up the day through a service in this process, which is never killed."""

    client: ServiceClient
    caller: ServiceClient
    """A client over the network that is cut, to the services that are killed."""
    clock: RunningClock
    chats: Chats

    async def set_up(self, slots: list[Slot]) -> None:
        """Adds the channels and imports the bank on both chats."""
        for chat, channel in self.chats.channels:
            await self.client.join(self.chats.bosses[chat], self.chats.where(chat, channel))
        for boss in self.chats.bosses.values():
            view = await self.client.bank_import(boss, "import", "chaos.md", bank.document(slots), True)
            assert view.applied, view.findings
        # It is a child of this process, which would be taken for something that a killed one left behind.
        DOCUMENTS.close()

    async def add(self, slot: Slot) -> None:
        """Adds a schedule whose slot is due now."""
        # Created by an admin just before it was due.
        self.clock.ahead = -timedelta(seconds=2)
        where, boss = self.chats.where(slot.chat, slot.channel), self.chats.bosses[slot.chat]
        # The slot is computed on each attempt: after waiting for the database, the first one would be too late.
        await _patiently(lambda: self.client.schedule_add(boss, f"add:{slot.mark}", where, _due_now(slot)))

    async def close_one(self, slot: Slot) -> None:
        """Closes a round as an admin through the network; repeating it has no effect."""
        where, boss = self.chats.where(slot.chat, slot.channel), self.chats.bosses[slot.chat]
        with contextlib.suppress(ServiceRefused):  # the round has been closed by the clock meanwhile
            await _patiently(lambda: self.caller.close_now(boss, f"close:{slot.mark}", where))

    async def boards(self) -> dict[tuple[str, str], int]:
        """Returns the boards by chat and name."""
        found: dict[tuple[str, str], int] = {}
        for chat, boss in self.chats.bosses.items():
            board = await self.client.board(boss, None, "all", limit=50)
            found |= {(chat, row.name): row.points for row in board.rows}
        return found


def _due_now(slot: Slot) -> ScheduleSpec:
    """Returns a due slot. Its zone has noon, so that the date does not change during the test."""
    due = datetime.now(UTC)
    hours = 12 - due.hour
    return ScheduleSpec(
        at=(due + timedelta(hours=hours)).time(),
        zone=f"Etc/GMT{-hours:+d}" if hours else "UTC",
        weekdays=EVERY_DAY,
        topics=(bank.topic(slot),),
    )


async def _patiently(call: Callable[[], Awaitable[object]]) -> None:
    """Retries a call until it succeeds. Calls that change something carry an event id."""
    async with asyncio.timeout(READY_S):
        while True:
            with contextlib.suppress(ServiceUnavailable):
                await call()
                return
            await asyncio.sleep(0.1)


@dataclass
class Scene:
    """The complete scene with its diary."""

    folder: Path
    seed: int
    diary: Diary
    database: Database
    chats: Chats
    relay: Relay
    admin: Admin
    parts: dict[str, Part]
    slots: list[Slot]

    @property
    def sandbox(self) -> SandboxClient:
        return SandboxClient(self.folder / "sandbox.sock")

    async def asks(self, slot: Slot) -> None:
        """Makes a slot due now."""
        self.diary.slots.append(slot)
        await self.admin.add(slot)

    async def closes(self, slots: list[Slot]) -> None:
        """Ends these rounds, half by the clock and half by an admin."""
        await self.database.time_is_up(*(slot.mark for slot in slots[::2]))
        for slot in slots[1::2]:
            await self.admin.close_one(slot)

    def is_posted(self, slots: list[Slot]) -> bool:
        """Returns whether these questions are posted in their channels."""
        asked = "\n".join(one.text for one in self.chats.messages() if one.asks)
        return all(slot.mark in asked for slot in slots)

    async def all_up(self) -> list[str]:
        """Waits until every process is ready; returns those that are not."""
        await until(lambda: all(part.up.is_set() for part in self.parts.values()), READY_S)
        return [name for name, part in self.parts.items() if not part.up.is_set()]

    def members(self, count: int) -> list[Member]:
        """Creates this many members on each chat."""
        chats, made = self.chats, []
        for name in NAMES[:count]:
            person = chats.guild.member(f"{name} D")
            mine = [slot for slot in self.slots if slot.chat == "discord"]
            made.append(
                DiscordMember(
                    "discord", str(person.id), self.diary, self.seed, mine, chats.discord, person, chats.on_discord
                )
            )
        return made + [self._on_slack(name) for name in NAMES[: max(1, count - 1)]]

    def _on_slack(self, name: str) -> Member:
        chats = self.chats
        user = chats.slack.user(chats.team, f"{name} S")
        for channel in chats.on_slack.values():
            channel.members.add(user.id)
        mine = [slot for slot in self.slots if slot.chat == "slack"]
        return SlackMember("slack", user.id, self.diary, self.seed, mine, chats.slack, user, chats.on_slack)

    async def facts(self) -> Facts:
        """Returns the final facts, except for leftovers of the processes."""
        facts = Facts(messages=self.chats.messages(), untold=self.untold(), complaints=self.chats.complaints())
        await self.database.read(facts)
        ids = {("discord", person.name): str(id_) for id_, person in self.chats.guild.members.items()}
        ids |= {("slack", user.name.lower()): id_ for id_, user in self.chats.team.users.items()}
        ids |= {("slack", user.name): id_ for id_, user in self.chats.team.users.items()}
        boards = await self.admin.boards()
        facts.boards = {(chat, ids.get((chat, name), name)): points for (chat, name), points in boards.items()}
        self.diary.shown += self.chats.private()
        return facts

    def untold(self) -> list[str]:
        """Returns the events that a bot has received and not answered."""
        found = []
        for path in [*self.folder.glob("discord/*.sqlite"), *self.folder.glob("slack/*.sqlite")]:
            with contextlib.closing(sqlite3.connect(path, timeout=5)) as journal:
                found += [row[0] for row in journal.execute("select event from events where not done")]
        return found


@contextlib.asynccontextmanager
async def scene_ready(folder: Path, seed: int, slots: int, channels: int, at_once: int) -> AsyncIterator[Scene]:
    """Yields a scene with everything started; kills what still runs at the end."""
    async with contextlib.AsyncExitStack() as stack:
        data = await stack.enter_async_context(database_running(folder))
        chats = await stack.enter_async_context(_chats(channels))
        ports = (free_port(), free_port())
        relay = await stack.enter_async_context(relaying(*ports))
        parts = _parts(folder, data, chats, relay, ports)
        for part in parts.values():
            stack.callback(part.discard)
        for part in parts.values():
            part.begin()
        watching = asyncio.create_task(_watch_sandbox(parts["the sandbox"], SandboxClient(folder / "sandbox.sock")))
        stack.callback(watching.cancel)
        planned = bank.planned(seed, chats.channels, slots, at_once)
        admin = await stack.enter_async_context(_admin(data, chats, relay))
        await admin.set_up(planned)
        made = Scene(folder, seed, Diary(), data, chats, relay, admin, parts, planned)
        yield made


@contextlib.asynccontextmanager
async def _chats(channels: int) -> AsyncIterator[Chats]:
    async with Discord(check_every=10) as discord, slack_double(factor=_SLACK_PACE, manifest=app_manifest()) as slack:
        discord.register(application_commands())
        slack.world.check_every = 10
        guild, team = discord.world.guild("Team"), slack.team()
        boss, chief = guild.member("Boss", admin=True), slack.user(team, "Boss", admin=True)
        on_discord = [guild.channel(f"daily-{number}") for number in range(channels)]
        on_slack = slack.channel(team, "daily", chief)
        bosses = {
            "discord": boss_of("discord", str(guild.id), str(boss.id)),
            "slack": boss_of("slack", team.id, chief.id),
        }
        by_id = {str(channel.id): channel for channel in on_discord}
        yield Chats(discord, slack, guild, team, by_id, {on_slack.id: on_slack}, bosses)


@contextlib.asynccontextmanager
async def _admin(data: Database, chats: Chats, relay: Relay) -> AsyncIterator[Admin]:
    clock = RunningClock()
    settings = Settings(database_url=data.url, service_token=TOKEN, token_key=TOKEN_KEY)
    async with (
        build(settings, clock).running() as service,
        ServiceClient.inside(service.api, TOKEN) as client,
        ServiceClient.over_http(relay.url, TOKEN) as caller,
    ):
        yield Admin(client, caller, clock, chats)


def _parts(folder: Path, data: Database, chats: Chats, relay: Relay, ports: tuple[int, int]) -> dict[str, Part]:
    socket_ = folder / "sandbox.sock"
    token = {"DAILYGRAD_SERVICE_TOKEN": TOKEN}
    ours = token | {
        "DATABASE_URL": data.url,
        "DAILYGRAD_TOKEN_KEY": TOKEN_KEY,
        "DAILYGRAD_SANDBOX_SOCKET": str(socket_),
    }
    bot = token | {"DAILYGRAD_SERVICE_URL": relay.url}
    discord = {"DISCORD_TOKEN": chats.discord.world.token, "DISCORD_API_URL": chats.discord.url}
    slack = chats.slack.environment(chats.team) | {"DAILYGRAD_SLACK_PING_S": "1"}
    for name in ("discord", "slack"):
        (folder / name).mkdir()
    sessions = {"seen": 0}

    def on_discord(_: str) -> bool:
        ready = len(chats.discord.log.of("ready"))
        if ready > sessions["seen"] and chats.discord.gateway.listening:
            sessions["seen"] = ready
            return True
        return False

    wanted = [
        ("the sandbox", ("sandbox", "serve", "--socket", str(socket_), "--concurrency", "1"), {}, lambda _: False),
        *(
            (f"service {n}", ("serve",), ours | {"DAILYGRAD_PORT": str(port)}, says("listens on"))
            for n, port in _numbered(ports)
        ),
        *((f"worker {n}", ("work",), ours | {"PGAPPNAME": f"worker {n}"}, says("The worker is ready")) for n in (1, 2)),
        (
            "the Discord bot",
            ("bot", "discord"),
            bot | discord | {"DAILYGRAD_DATA": str(folder / "discord")},
            on_discord,
        ),
        (
            "the Slack bot",
            ("bot", "slack"),
            bot | slack | {"DAILYGRAD_DATA": str(folder / "slack")},
            lambda _: chats.slack.sockets.open,
        ),
    ]
    return {
        name: Part(name, words, surroundings(**settings), folder / f"{name.replace(' ', '-')}.log", ready)
        for name, words, settings, ready in wanted
    }


def _numbered(ports: tuple[int, int]) -> list[tuple[int, int]]:
    return list(enumerate(ports, 1))


async def _watch_sandbox(part: Part, client: SandboxClient) -> None:
    """It is ready once a child is parked, which its client can tell."""
    while True:
        pid = part.pids[-1] if part.pids else 0
        if not part.up.is_set():
            with contextlib.suppress(OSError):
                health = await client.health()
                if health.ready and pid == part.pids[-1]:
                    part.ready = lambda _: True
                    await until(part.up.is_set, 5)
                    part.ready = lambda _: False
        await asyncio.sleep(0.1)
