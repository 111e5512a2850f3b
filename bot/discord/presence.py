"""Tells the service where the bot is and where it may post again, so that what was refused there is posted at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

import discord
from discord.abc import GuildChannel

from bot.discord.platform import can_post
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable

_LOG = logging.getLogger(__name__)
_DISCORD: Final = "discord"


class Presence:
    """Follows the bot's servers and its permissions. A report that fails is only logged: posts are retried anyway."""

    def __init__(self, bot: discord.AutoShardedClient, client: ServiceClient) -> None:
        self._bot = bot
        self._client = client
        self._one_at_a_time = asyncio.Lock()

    async def report(self, guild_id: int) -> None:
        """Reports whether the bot is in a server, after it was added or removed."""
        await self._report(lambda: self._client.chat_presence(_DISCORD, str(guild_id), self._is_in(guild_id)))

    def _is_in(self, guild_id: int) -> bool:
        return self._bot.get_guild(guild_id) is not None

    async def compare(self, shard_id: int) -> None:
        """Reports the servers with schedules that the bot joined or left while it was away."""
        try:
            places = await self._client.outbox_places(_DISCORD)
        except (ServiceUnavailable, ServiceRefused) as error:
            _LOG.warning("cannot tell which servers the bot left: %s", error)
            return
        ids = {place.workspace for place in places if place.workspace.isdecimal()}
        for id in sorted(ids, key=int):
            if (int(id) >> 22) % (self._bot.shard_count or 1) == shard_id:
                await self.report(int(id))

    async def channel_changed(self, before: GuildChannel, after: GuildChannel) -> None:
        """Reports a channel's new name, and a channel that the bot may post to now and might not before."""
        kinds = (discord.TextChannel, discord.ForumChannel)
        if not isinstance(before, kinds) or not isinstance(after, kinds):
            return
        guild = after.guild
        if before.name != after.name:
            channel, name = str(after.id), f"#{after.name}"
            await self._report(lambda: self._client.channel_renamed(_DISCORD, str(guild.id), channel, name))
        if can_post(after, guild) and not can_post(before, guild):
            await self._report(lambda: self._client.outbox_retry(_DISCORD, str(guild.id), str(after.id)))

    async def role_changed(self, before: discord.Role, after: discord.Role) -> None:
        """Reports a server in which a role of the bot got more permissions, or a higher place."""
        guild = after.guild
        more = after.permissions.value & ~before.permissions.value or after.position > before.position
        if guild.me is not None and after in guild.me.roles and more:
            await self._report(lambda: self._client.outbox_retry(_DISCORD, str(guild.id)))

    async def _report(self, call: Callable[[], Awaitable[None]]) -> None:
        # What arrives last is what the service believes: a report must not overtake an earlier one.
        async with self._one_at_a_time:
            try:
                await call()
            except (ServiceUnavailable, ServiceRefused) as error:
                _LOG.warning("cannot report where the bot is: %s", error)
