"""How a member is told something: by the payload's own address while that is fresh, else by the bot's token."""

from __future__ import annotations

import logging
from typing import Any

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.cards import Card
from bot.platforms.slack.errors import NotInstalled, code_of
from bot.platforms.slack.pictures import ready_bodies, shown
from bot.platforms.slack.render import bodies, pictures
from bot.platforms.slack.route import Route
from bot.platforms.slack.tokens import Tokens
from bot.platforms.slack.web import RespondFailed, SlackWeb
from bot.platforms.slack.windows import home_view
from service.client import ServiceRefused, ServiceUnavailable

_LOG = logging.getLogger(__name__)

# Docs: a response_url takes five replies.
_RESPONSES = 5
# Where the bot cannot show a private message in a channel, it can still write to the member.
_NOT_THERE = frozenset({"channel_not_found", "not_in_channel", "user_not_in_channel", "is_archived"})

Body = dict[str, Any]
CANNOT = (SlackApiError, ClientError, TimeoutError, NotInstalled, ServiceUnavailable, ServiceRefused)
"""What any of these calls may raise."""


class Replies:
    """Cards to one member, and views."""

    def __init__(self, web: SlackWeb, tokens: Tokens) -> None:
        self._web = web
        self._tokens = tokens

    async def show(self, route: Route, card: Card, *, replaces: bool = False) -> None:
        """Show a card to the member alone; with `replaces` in place of the private card they pressed on."""
        made = bodies(card)
        if pictures(card):
            client = await self._client(route)
            made = await ready_bodies(self._web, str(client.token), card)
        replaces = replaces and bool(route.own)
        for number, body in enumerate(made):
            # An answer by URL beneath a thread would stand in the channel.
            by_url = bool(route.response_url) and number < _RESPONSES and (replaces or not route.thread)
            if not (by_url and await self._responded(route, body, replaces and number == 0)):
                await self._whisper(route, body)

    async def open(self, route: Route, body: Body) -> str | None:
        """Open a view, on top of the one it came from; its id, or None where that cannot be."""
        if not route.trigger:
            return None
        try:
            # A trigger expires before a rate limit does, so these calls are not repeated.
            client = await self._client(route, retries=False)
            call = client.views_push if route.view and route.window != "home" else client.views_open
            said = await call(trigger_id=route.trigger, view=body)
        except CANNOT as error:
            # Too late, used, a fourth view, or Slack away: there are other ways to say it.
            _LOG.info("a view could not be opened: %s", _cause(error))
            return None
        return str(said["view"]["id"])

    async def update(self, route: Route, view_id: str, body: Body) -> bool:
        """Let another body take a view's place; False where that cannot be, such as when it was closed meanwhile."""
        try:
            client = await self._client(route)
            await client.views_update(view_id=view_id, view=body)
        except CANNOT as error:
            _LOG.info("a view could not be filled: %s", _cause(error))
            return False
        return True

    async def publish(self, route: Route, card: Card) -> None:
        """Show a card as the bot's own page."""
        client = await self._client(route)
        await client.views_publish(user_id=route.user, view=home_view(card))

    async def _responded(self, route: Route, body: Body, replaces: bool) -> bool:
        call = {**body, "response_type": "ephemeral", "replace_original": replaces}
        try:
            await self._web.respond(route.response_url, call)
        except RespondFailed as error:
            _LOG.info("a reply goes by the bot's token, for its address took none: %s", error)
            return False
        return True

    async def _whisper(self, route: Route, body: Body) -> None:
        client = await self._client(route)
        if route.channel and not route.direct:
            call: Body = {"channel": route.channel, "user": route.user, **body}
            if route.thread:
                call["thread_ts"] = route.thread
            try:
                await shown(lambda ready: client.chat_postEphemeral(**ready), call)
                return
            except SlackApiError as error:
                if code_of(error) not in _NOT_THERE:
                    raise
        await self._write(client, route, body)

    async def _write(self, client: AsyncWebClient, route: Route, body: Body) -> None:
        channel = route.channel if route.direct else ""
        if not channel:
            opened = await client.conversations_open(users=route.user)
            channel = str(opened["channel"]["id"])
        call: Body = {"channel": channel, **body}
        if route.direct and route.thread:
            call["thread_ts"] = route.thread
        await shown(lambda ready: client.chat_postMessage(**ready), call)

    async def _client(self, route: Route, *, retries: bool = True) -> AsyncWebClient:
        installation = await self._tokens.of(route.team, route.enterprise)
        return self._web.client(installation.token.get_secret_value(), retries=retries)


def _cause(error: Exception) -> str:
    return code_of(error) if isinstance(error, SlackApiError) else str(error) or type(error).__name__
