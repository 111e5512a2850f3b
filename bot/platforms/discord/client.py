"""The connection to Discord's gateway: what it brings is handed on, and nothing is kept. It answers nothing itself."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import Route

from bot.core.metrics import CONNECTIONS, count_responses
from bot.platforms.discord.reading import Heard
from bot.platforms.discord.registration import MANAGE_SERVER
from bot.platforms.discord.render import EPHEMERAL
from bot.platforms.discord.settings import API
from service.wire import Who

_LOG = logging.getLogger(__name__)

Hear = Callable[[Heard], Awaitable[None]]
Welcome = Callable[[discord.Guild, bool], Awaitable[None]]
"""Called with a server the bot is in; the flag says that it was added at this moment."""

_UNKNOWN_MEMBER: Final = frozenset({10004, 10007, 10013, 50001})


class DiscordBot(discord.AutoShardedClient):
    """Hears interactions and servers joined. The one intent is `guilds`, and neither members nor messages are kept."""

    def __init__(self, *, shard_count: int | None = None, trace: aiohttp.TraceConfig | None = None) -> None:
        super().__init__(
            intents=discord.Intents(guilds=True),
            max_messages=None,
            member_cache_flags=discord.MemberCacheFlags.none(),
            chunk_guilds_at_startup=False,
            allowed_mentions=discord.AllowedMentions.none(),
            shard_count=shard_count,
            http_trace=count_responses(trace or aiohttp.TraceConfig(), "discord"),
        )
        self.hear: Hear | None = None
        self.welcome: Welcome | None = None
        self.under_way: set[asyncio.Task[Any]] = set()
        """Everything that is being answered now."""

    async def on_interaction(self, interaction: discord.Interaction) -> None:
        if self.hear is not None:
            self._hold()
            await self.hear(heard(interaction))

    async def on_guild_join(self, guild: discord.Guild) -> None:
        await self._meet(guild, True)

    async def on_guild_available(self, guild: discord.Guild) -> None:
        await self._meet(guild, False)

    async def on_shard_connect(self, shard_id: int) -> None:
        CONNECTIONS.labels("discord", "made").inc()

    async def on_shard_resumed(self, shard_id: int) -> None:
        CONNECTIONS.labels("discord", "resumed").inc()

    async def on_shard_disconnect(self, shard_id: int) -> None:
        CONNECTIONS.labels("discord", "lost").inc()

    async def on_shard_ready(self, shard_id: int) -> None:
        # Said at every start and after every lost session: all that is heard of servers joined while we were away.
        for guild in [guild for guild in self.guilds if guild.shard_id == shard_id and not guild.unavailable]:
            await self._meet(guild, False)

    async def on_error(self, event_method: str, /, *args: Any, **kwargs: Any) -> None:
        _LOG.exception("%s failed", event_method)

    async def who_is(self, who: Who) -> Who | None:
        """A member as the server knows them now; None when they are in it no more."""
        try:
            found = await self.http.get_member(int(who.workspace), int(who.member))
        except discord.HTTPException as error:
            if error.code in _UNKNOWN_MEMBER:
                return None
            _LOG.warning("%s is taken for no admin, for Discord will not say: %s", who.member, error)
            return who
        guild = self.get_guild(int(who.workspace))
        admin = guild is not None and _manages(guild, who.member, found["roles"])
        user = found["user"]
        name = found.get("nick") or user.get("global_name") or user["username"]
        return who.model_copy(update={"admin": admin, "name": name[:80]})

    async def finish(self, within_s: float) -> None:
        """Wait until what is under way now is answered."""
        left = {task for task in self.under_way if task is not asyncio.current_task()}
        if left:
            await asyncio.wait(left, timeout=within_s)

    async def _meet(self, guild: discord.Guild, added: bool) -> None:
        if self.welcome is not None:
            self._hold()
            await self.welcome(guild, added)

    def _hold(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self.under_way.add(task)
            task.add_done_callback(self.under_way.discard)


def heard(interaction: discord.Interaction) -> Heard:
    """An interaction without the library."""
    channel, user, message = interaction.channel, interaction.user, interaction.message
    if isinstance(channel, discord.Thread):
        # A round's thread belongs to its channel.
        channel_id, channel_name = channel.parent_id, channel.parent.name if channel.parent else ""
    else:
        channel_id, channel_name = interaction.channel_id or 0, getattr(channel, "name", None) or ""
    return Heard(
        id=str(interaction.id),
        token=interaction.token,
        application=str(interaction.application_id),
        kind=interaction.type.value,
        data=dict(interaction.data or {}),
        guild=str(interaction.guild_id or ""),
        channel=str(channel_id) if interaction.guild_id and channel_id else "",
        channel_name=f"#{channel_name}" if channel_name else "",
        member=str(user.id),
        name=user.display_name,
        admin=interaction.permissions.manage_guild or interaction.permissions.administrator,
        private=message is not None and bool(message.flags.value & EPHEMERAL),
    )


def _manages(guild: discord.Guild, member: str, roles: list[Any]) -> bool:
    if str(guild.owner_id) == member:
        return True
    held = [guild.default_role, *(role for each in roles if (role := guild.get_role(int(each))))]
    return any(role.permissions.value & MANAGE_SERVER or role.permissions.administrator for role in held)


def point_at(api_url: str) -> None:
    """Have the library speak to that REST API; for the whole process."""
    Route.BASE = api_url


async def learn_gateway(bot: discord.Client, api_url: str) -> None:
    """Have reconnections go where that API's gateway is, too: the library asks only at the first."""
    if api_url != API:
        _, url, _ = await bot.http.get_bot_gateway()
        DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(url)
