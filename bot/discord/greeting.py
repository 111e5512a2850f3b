"""Greets the person who adds the bot to a server, once, however often Discord reports the server."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any, Final

import discord

from bot.core.cards import Card
from bot.core.dispatcher import Answer, DeliveryDelayed, DeliveryRefused, Target
from bot.core.events import Added
from bot.core.journal import Journal
from bot.discord.handler import as_card
from bot.discord.library import Route
from bot.discord.platform import DiscordPlatform, can_post
from service.process import Clock
from service.wire import Where, Who

_LOG = logging.getLogger(__name__)
LATEST: Final = timedelta(hours=24)
"""Longest time since a server was joined in which the bot still says hello; the journal remembers longer."""
_BOT_ADDED: Final = 28
"""Audit log event type. Docs: resources/audit-log."""


class Greeter:
    """Greets the person who adds the bot to a server, once per addition."""

    def __init__(
        self,
        client: discord.Client,
        answer: Answer,
        journal: Journal,
        platform: DiscordPlatform,
        clock: Clock,
    ) -> None:
        self._client = client
        self._answer = answer
        self._journal = journal
        self._platform = platform
        self._clock = clock

    async def greet_server(self, guild: discord.Guild, added: bool) -> None:
        """Greets the person who added the bot, unless they were greeted before."""
        joined = guild.me.joined_at if guild.me else None
        if joined is None or not (added or self._clock() - joined < LATEST):
            return
        id = f"discord:added:{guild.id}:{int(joined.timestamp())}"
        who = Who(platform="discord", workspace=str(guild.id), member=str(guild.owner_id), name=guild.name[:80])
        event = Added(id, self._clock(), who, _first_channel(guild))
        if self._journal.record(event, {"guild": str(guild.id)}):
            await self._greet(event, guild)

    async def replay(self) -> None:
        """Sends the greetings that a crash interrupted."""
        for taken in self._journal.unanswered():
            if isinstance(taken.event, Added) and (guild := self._client.get_guild(int(taken.route["guild"]))):
                await self._greet(taken.event, guild)

    async def _greet(self, event: Added, guild: discord.Guild) -> None:
        who = await self._adder(event.who, guild)
        reply = await self._answer(Added(event.id, event.at, who, event.where))
        if reply.droppable:
            self._journal.mark_answered(event.id)
            return
        card = as_card(reply.content)
        alone = Target(who.workspace, event.where.channel, member=who.member)
        try:
            await self._post(alone, card, event.id)
        except (DeliveryRefused, DeliveryDelayed) as error:
            _LOG.info("cannot greet %s by direct message: %s", who.name, error)
            await self._greet_all(event, card)
        self._journal.mark_answered(event.id)

    async def _greet_all(self, event: Added, card: Card) -> None:
        if not event.where.channel:
            return
        try:
            await self._post(Target(event.who.workspace, event.where.channel), card, event.id)
        except (DeliveryRefused, DeliveryDelayed) as error:
            _LOG.warning("cannot greet anyone in %s: %s", event.who.workspace, error)

    async def _post(self, target: Target, card: Card, key: str) -> None:
        # The journal may be lost, and another process may have its own.
        if await self._platform.find(target, key) is None:
            await self._platform.post(target, card, key)

    async def _adder(self, owner: Who, guild: discord.Guild) -> Who:
        """Returns the person who added the bot if the audit log is readable, else the server's owner."""
        member = await self._from_audit_log(guild) or owner.member
        name = owner.name
        try:
            user: dict[str, Any] = dict(await self._client.http.get_user(int(member)))
            name = user.get("global_name") or user["username"]
        except discord.HTTPException as error:
            _LOG.info("cannot fetch the name of %s: %s", member, error)
        return owner.model_copy(update={"member": member, "name": name[:80], "admin": True})

    async def _from_audit_log(self, guild: discord.Guild) -> str | None:
        if not guild.me.guild_permissions.view_audit_log or self._client.user is None:
            return None
        route = Route("GET", "/guilds/{guild_id}/audit-logs", guild_id=guild.id)
        try:
            log = await self._client.http.request(route, params={"action_type": _BOT_ADDED, "limit": 10})
        except discord.HTTPException as error:
            _LOG.info("cannot read the audit log of %s: %s", guild.id, error)
            return None
        ours = (one for one in log["audit_log_entries"] if one.get("target_id") == str(self._client.user.id))
        return next((str(one["user_id"]) for one in ours if one.get("user_id")), None)


def _first_channel(guild: discord.Guild) -> Where:
    """Suggests a channel for the quiz: the server's system channel, else the first the bot may post in."""
    system = [guild.system_channel] if guild.system_channel else []
    for channel in (*system, *sorted(guild.text_channels, key=lambda each: each.position)):
        if can_post(channel, guild):
            return Where(channel=str(channel.id), name=f"#{channel.name}"[:200])
    return Where(channel="")
