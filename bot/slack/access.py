"""Whether the bot is a member of a Slack channel, and joining a public one."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.channel_access import ChannelProblem, RoleProblem
from bot.slack.auth import InstallationTokens
from bot.slack.people import MemberDirectory
from bot.slack.web_api import CALL_ERRORS, SlackWeb, error_code
from service.wire import Who

_LOG = logging.getLogger(__name__)
_TIMEOUT_S = 2.0
"""Longest wait for Slack's answer, seconds."""
_ABSENT = frozenset({"channel_not_found", "not_in_channel"})
"""What `conversations.info` says of a private channel without the bot."""


class SlackChannelAccess:
    """Asks Slack about channels. A check that Slack does not answer within two seconds finds nothing."""

    def __init__(self, web: SlackWeb, tokens: InstallationTokens, people: MemberDirectory) -> None:
        self._web = web
        self._tokens = tokens
        self._people = people

    async def find_problem(self, who: Who, channel: str) -> ChannelProblem | None:
        """Returns whether the channel is archived or lacks the bot; None if neither, or if Slack does not say."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                client = await self._tokens.client_of(self._web, who.workspace)
                found: dict[str, Any] = (await client.conversations_info(channel=channel))["channel"]
        except CALL_ERRORS as error:
            if isinstance(error, SlackApiError) and error_code(error) in _ABSENT:
                return ChannelProblem("not a member")
            _LOG.warning("cannot check the channel %s: %s", channel, error)
            return None
        if found.get("is_archived"):
            return ChannelProblem("archived")
        if found.get("is_im") or found.get("is_mpim") or found.get("is_member"):
            return None
        return ChannelProblem("not a member", can_join=not found.get("is_private"))

    async def find_role_problem(self, who: Who, role: str) -> RoleProblem | None:
        """Returns nothing: Slack has no roles."""
        return None

    async def join(self, who: Who, channel: str) -> bool:
        """Joins a public channel. Returns False if Slack refuses or does not answer."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                client = await self._tokens.client_of(self._web, who.workspace)
                await client.conversations_join(channel=channel)
        except CALL_ERRORS as error:
            _LOG.warning("cannot join the channel %s: %s", channel, error)
            return False
        return True

    async def find_zone(self, who: Who) -> str:
        """Returns the member's time zone; empty if Slack does not say."""
        return await self._people.find_zone(who)

    async def find_member(self, who: Who, named: str) -> tuple[str, str] | None:
        """Returns the id and the name of a person in the workspace; None if Slack does not say."""
        return await self._people.find_member(who, named)

    async def find_name(self, who: Who, channel: str) -> str:
        """Returns the channel's name with its `#`; empty if Slack does not say."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                client = await self._tokens.client_of(self._web, who.workspace)
                found: dict[str, Any] = (await client.conversations_info(channel=channel))["channel"]
        except CALL_ERRORS as error:
            _LOG.warning("cannot look up the name of the channel %s: %s", channel, error)
            return ""
        return f"#{found['name']}" if found.get("name") else ""
