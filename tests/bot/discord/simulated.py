"""A server on an offline Discord with the real bot, service and database in it: the only user of simcord.

What simcord does not model is not tested on it: nonces, rate limits, 5xx, resuming, two processes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import time
from pathlib import Path
from typing import Any

import discord
import simcord
from simcord.actors import MemberActor
from simcord.builders import ChannelHandle, GuildHandle, UserHandle
from simcord.results import InteractionResult, ResponseMessage

from bot.core.dispatcher import Dispatcher
from bot.core.journal import Journal
from bot.discord.client import DiscordApp
from bot.discord.commands import register_commands
from service.app import Service
from service.client import ServiceClient
from service.wire import ScheduleSpec, Where, Who
from tests.bot.conftest import BANK, QUESTIONS
from tests.conftest import MONDAY, Clock

TEXT, CONTAINER = 10, 17
Shown = InteractionResult | discord.Message


@dataclass
class Simulated:
    """A server with a channel, an admin and a member, and the bot in it."""

    env: simcord.Env
    app: DiscordApp
    journal: Journal
    service: Service
    client: ServiceClient
    moving: Clock
    guild: GuildHandle
    channel: ChannelHandle
    boss: MemberActor
    ada: MemberActor
    told: list[str] = field(default_factory=list)

    @property
    def workspace(self) -> str:
        return str(self.guild.id)

    @property
    def where(self) -> Where:
        return Where(channel=str(self.channel.id), name="#daily")

    @property
    def operator(self) -> Who:
        return Who(platform="discord", workspace=self.workspace, member="1", name="Operator", admin=True)

    def steady(self) -> float:
        """Seconds, as Discord's own clock counts them here."""
        return self.env.now().timestamp()

    def joins(self, name: str, **permissions: bool) -> MemberActor:
        """One more member, with a role of those permissions."""
        return joined(self.env, self.guild, name, **permissions)

    async def imports(self) -> None:
        """Bring in the bank of one question of every kind."""
        text = BANK.read_text(encoding="utf-8")
        view = await self.client.bank_import(self.operator, "import", BANK.name, text, True)
        assert view.applied, view.findings

    async def opens(self, question: str) -> discord.Message:
        """Post that question at ten in Berlin, open until five; returns the post."""
        await self.starts(question)
        return self.last("Question for ")

    async def starts(self, question: str) -> None:
        """Let that question be due, and carry what comes of it."""
        for other in QUESTIONS:
            await self.client.bank_retire(self.operator, f"retire-{question}-{other}", other, other != question)
        spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60)
        await self.client.schedule_add(self.operator, f"schedule-{question}", self.where, spec)
        self.moving.now = MONDAY.replace(hour=9)
        await self.service.tick()
        await self.carries()

    def last(self, title: str, channel: ChannelHandle | None = None) -> discord.Message:
        """The newest message of a channel with a title that begins so."""
        found = [one for one in (channel or self.channel).history() if said(one).startswith(f"## {title}")]
        assert found, [said(one).partition("\n")[0] for one in (channel or self.channel).history()]
        return found[-1]

    async def closes(self) -> None:
        """Let the round close and its reveal be posted."""
        self.moving.advance(hours=7)
        await self.service.tick()
        await self.carries()

    async def carries(self) -> int:
        """Do the jobs, then carry all that waits to Discord; returns how many messages those were."""
        await self.service.jobs.work_off()
        courier, carried = Dispatcher(self.client, self.app.platform), 0
        with self.env.time_context():
            while count := await courier.once():
                carried += count
        return carried

    def line(self, shown: InteractionResult) -> dict[str, str]:
        """What the journal keeps to answer an interaction by."""
        record, application = shown._interaction, str(self.env.backend.application_id)
        return {"id": str(record.id), "application": application, "token": record.token}

    def notes_addition(self, by: UserHandle) -> None:
        """Put into the server's audit log who added the bot."""
        kind, bot = discord.AuditLogAction.bot_add.value, self.env.backend.bot_user.id
        self.env.backend.record_audit_log(self.guild.id, kind, target_id=bot, user_id=by.id)

    async def restarts(self) -> None:
        """Put a new bot, which knows nothing, in the place of the one there is."""
        old = self.app
        self.app = DiscordApp(self.client, self.journal, self.moving, self.steady, shard_count=1)
        await self.env.restart_bot(self.app.bot)
        await old.replies.close()

    async def click(self, who: MemberActor, shown: Shown, label: str) -> InteractionResult:
        """Press a button of a message, or of the last message of an answer."""
        return await who.click(shown if isinstance(shown, discord.Message) else messages_of(shown)[-1], label=label)

    def grown(self) -> list[str]:
        """The stores of discord.py and ours that could grow with what people do, where anything is in them."""
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
    """The server, its commands synced."""
    journal = Journal(folder / "discord.sqlite")
    envs: list[simcord.Env] = []
    app = DiscordApp(client, journal, clock, lambda: envs[0].now().timestamp(), shard_count=1)
    envs.append(env := simcord.Env(app.bot))
    await env.start()
    try:
        guild = env.create_guild("Team")
        channel = guild.create_text_channel("daily")
        await env.settle()
        await register_commands(app.bot.http, str(env.backend.application_id))
        boss = joined(env, guild, "Boss", manage_guild=True)
        ada = joined(env, guild, "Ada")
        await env.settle()
        sim = Simulated(env, app, journal, service, client, clock, guild, channel, boss, ada)
        yield sim
        await sim.app.replies.close()
    finally:
        await env.shutdown()
        journal.close()
    # What failed in the bot fails the test.
    assert not env.errors, env.errors


def joined(env: simcord.Env, guild: GuildHandle, name: str, **permissions: bool) -> MemberActor:
    """A member with a role of those permissions."""
    roles = [guild.create_role(name, permissions=discord.Permissions(**permissions))] if permissions else []
    return guild.add_member(env.create_user(name), roles=roles)


def messages_of(shown: InteractionResult) -> list[ResponseMessage]:
    """The messages of an answer, in order."""
    return [each for each in (shown.response, *shown.followups) if each is not None]


def id_of(shown: InteractionResult) -> int:
    """The first message of an answer."""
    return messages_of(shown)[0].id


def alone(shown: InteractionResult) -> bool:
    """Whether nobody else sees any message of an answer."""
    return all(each.ephemeral for each in messages_of(shown))


def _components(shown: Shown) -> list[Any]:
    if isinstance(shown, discord.Message):
        return [part.to_dict() for part in shown.components]
    return [part for each in messages_of(shown) for part in each.components]


def said(shown: Shown | None) -> str:
    """All that a member reads of an answer, or of a message."""
    if shown is None:
        return ""
    if isinstance(shown, InteractionResult) and shown.modal is not None:
        return "\n".join([shown.modal["title"], *_texts(shown.modal["components"])])
    return "\n".join(_texts(_components(shown)))


def labels(shown: Shown) -> list[str]:
    """The labels of the buttons under an answer or a message."""
    return [str(part["label"]) for part in _walk(_components(shown)) if part.get("type") == 2]


def fields(shown: InteractionResult) -> dict[str, dict[str, Any]]:
    """The fields of a modal by their name."""
    assert shown.modal is not None, said(shown)
    return {part["custom_id"]: part for part in _walk(shown.modal["components"]) if "custom_id" in part}


def _texts(components: list[Any]) -> list[str]:
    found = []
    for part in _walk(components):
        found += [str(part[key]) for key in ("content", "label") if part.get("type") != 2 and part.get(key)]
        found += [f"[{part['label']}]"] if part.get("type") == 2 else []
    return found


def _walk(components: list[Any]) -> list[dict[str, Any]]:
    found = []
    for part in components:
        found.append(part)
        found += _walk([*(part.get("components") or ()), *([part["component"]] if part.get("component") else ())])
    return found
