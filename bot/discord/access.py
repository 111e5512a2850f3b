"""Whether the bot may post in a Discord channel, from the permissions that the gateway reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import discord

from bot.core.channel_access import ChannelProblem, RoleProblem
from service.wire import Who

# Permission bits. Docs: topics/permissions.
NEEDED: Final[Mapping[str, int]] = {
    "View Channels": 1 << 10,
    "Send Messages": 1 << 11,
    "Embed Links": 1 << 14,
    "Attach Files": 1 << 15,
    "Read Message History": 1 << 16,
    "Create Public Threads": 1 << 35,
    "Send Messages in Threads": 1 << 38,
}
"""Permissions the bot needs in a channel: to post, to show pictures, to check for a post, to reveal in a thread."""
_NOT_IN_THREADS: Final = ("Send Messages", "Create Public Threads")
"""Permissions that do not matter in a thread."""
MODERATORS_RIGHTS: Final = discord.Permissions.elevated().value
"""Permissions of moderators. The bot gives no role that has one: an admin of the quiz need not have them."""


class DiscordChannelAccess:
    """Checks permissions. A bot cannot grant itself any, so it never joins."""

    def __init__(self, client: discord.Client) -> None:
        self._client = client

    async def find_problem(self, who: Who, channel: str) -> ChannelProblem | None:
        """Returns the missing permissions; None if there are none, or if the gateway has not reported the channel."""
        guild = self._client.get_guild(int(who.workspace)) if who.workspace.isdecimal() else None
        found = guild.get_channel_or_thread(int(channel)) if guild and channel.isdecimal() else None
        if guild is None or found is None:
            return None
        held = found.permissions_for(guild.me).value
        unneeded = _NOT_IN_THREADS if isinstance(found, discord.Thread) else ()
        missing = tuple(name for name, bit in NEEDED.items() if not held & bit and name not in unneeded)
        return ChannelProblem("no permission", missing) if missing else None

    async def find_role_problem(self, who: Who, role: str) -> RoleProblem | None:
        """Returns why the bot cannot give a role, as far as the gateway has reported."""
        guild = self._client.get_guild(int(who.workspace)) if who.workspace.isdecimal() else None
        if guild is None:
            return None
        found = guild.get_role(int(role)) if role.isdecimal() else None
        if found is None:
            return "unknown"
        if found.is_default() or found.managed:
            return "not to be given"
        if found.permissions.value & MODERATORS_RIGHTS:
            return "a moderator's"
        if not guild.me.guild_permissions.manage_roles:
            return "no permission"
        return "too high" if guild.me.top_role <= found else None

    async def join(self, who: Who, channel: str) -> bool:
        """Returns False: only a person with rights can let the bot in."""
        return False

    async def find_zone(self, who: Who) -> str:
        """Returns nothing: Discord knows no time zones."""
        return ""

    async def find_member(self, who: Who, named: str) -> tuple[str, str] | None:
        """Returns nobody: a member option names members itself, and the bot is not told who else there is."""
        return None

    async def find_name(self, who: Who, channel: str) -> str:
        """Returns the channel's name, if the gateway has reported the channel."""
        guild = self._client.get_guild(int(who.workspace)) if who.workspace.isdecimal() else None
        found = guild.get_channel_or_thread(int(channel)) if guild and channel.isdecimal() else None
        return f"#{found.name}" if found else ""
