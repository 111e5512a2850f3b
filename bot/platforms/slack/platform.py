"""Slack as the courier sees it: make a message once, and find it again by the key it bears in its metadata."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.cards import Card
from bot.core.platform import Later, Target
from bot.platforms.slack.errors import DEAD_TOKEN, code_of, retry_after, verdict_on
from bot.platforms.slack.pacing import Pacer
from bot.platforms.slack.pictures import ready_bodies, shown
from bot.platforms.slack.tokens import Tokens
from bot.platforms.slack.web import SlackWeb
from service.wire import Platform as PlatformName

_LOG = logging.getLogger(__name__)

EVENT_TYPE = "dailygrad_post"
# A turn that is nearer than this is waited for; a later one goes back into the outbox.
_WAIT_S = 6.0
_BACK = timedelta(hours=48)
_PAGES, _PAGE = 10, 100
_MANY = 10_000


class PartlyPosted(Exception):
    """Some of a card's messages were made; the rest is to follow."""


class SlackPlatform:
    """Fills `core.platform.Platform`."""

    name: PlatformName = "slack"

    def __init__(
        self,
        web: SlackWeb,
        tokens: Tokens,
        clock: Callable[[], datetime],
        pacer: Pacer,
    ) -> None:
        self._web = web
        self._tokens = tokens
        self._clock = clock
        self._pacer = pacer
        self._direct: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._parts: OrderedDict[str, dict[str, str]] = OrderedDict()

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Make the card's messages, those of them that `find` has not seen; returns the first one's reference."""
        there = self._parts.pop(key, {})
        try:
            client = await self._client(target)
            channel = await self._channel(client, target)
            made = await ready_bodies(self._web, str(client.token), card)
            keys = part_keys(key, len(made))
            for part, body in zip(keys, made, strict=True):
                if part not in there:
                    sent = await self._send(client, target, channel, {**body, "metadata": _metadata(part, len(made))})
                    there[part] = sent
                    self._remember(key, there, len(made))
            return f"{channel}/{there[keys[0]]}"
        except Exception as error:
            judged = await self._judged(target, error)
            if there and isinstance(judged, Later):
                # "Nothing was posted" would be untrue: the next try is to look first.
                raise PartlyPosted(f"{len(there)} messages of {key} are there; {judged}") from error
            raise judged from error

    async def find(self, target: Target, key: str) -> str | None:
        """The first message's reference where all parts are there. Raises as `post` does."""
        try:
            client = await self._client(target)
            channel = await self._channel(client, target)
            there: dict[str, str] = {}
            parts = 1
            async for message in self._history(client, channel, _thread(target, channel)):
                payload = (message.get("metadata") or {}).get("event_payload") or {}
                part = str(payload.get("key", ""))
                if part == key or part.startswith(f"{key}/"):
                    there[part] = str(message["ts"])
                    parts = int(payload.get("of", 1))
                if there and len(there) == parts:
                    return f"{channel}/{there[part_keys(key, parts)[0]]}"
            self._remember(key, there, parts)
            return None
        except Exception as error:
            raise await self._judged(target, error) from error

    async def _send(self, client: AsyncWebClient, target: Target, channel: str, body: dict[str, Any]) -> str:
        team, thread = target.workspace, _thread(target, channel)
        wait = self._pacer.book(team, channel, _WAIT_S)
        if wait > _WAIT_S:
            raise Later(wait)
        if wait:
            await asyncio.sleep(wait)
        call = {"channel": channel, **body, **({"thread_ts": thread} if thread else {})}
        said = await shown(lambda shown_body: self._paced(client, team, shown_body), call)
        return str(said["ts"])

    async def _paced(self, client: AsyncWebClient, team: str, call: dict[str, Any]) -> Any:
        """Make a call whose turn has come, as soon as Slack has room for it."""
        channel = str(call["channel"])
        while wait := self._pacer.start(team, channel):
            if wait > _WAIT_S:
                raise Later(wait)
            await asyncio.sleep(wait)
        try:
            return await client.chat_postMessage(**call)
        except SlackApiError as error:
            if (seconds := retry_after(error)) is not None:
                # Docs: a limit is a method's in a workspace; nothing more until it has passed.
                self._pacer.rest(team, seconds)
            raise
        finally:
            self._pacer.end(team, channel)

    async def _history(self, client: AsyncWebClient, channel: str, thread: str) -> Any:
        oldest = str((self._clock() - _BACK).timestamp())
        cursor = ""
        for _ in range(_PAGES):
            asked: dict[str, Any] = {"channel": channel, "limit": _PAGE, "include_all_metadata": True}
            if thread:
                said = await client.conversations_replies(ts=thread, cursor=cursor or None, **asked)
            else:
                said = await client.conversations_history(oldest=oldest, cursor=cursor or None, **asked)
            for message in said.get("messages") or ():
                yield message
            cursor = str((said.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return

    async def _client(self, target: Target) -> AsyncWebClient:
        installation = await self._tokens.of(target.workspace)
        return self._web.client(installation.token.get_secret_value())

    async def _channel(self, client: AsyncWebClient, target: Target) -> str:
        """The channel itself, or the member's conversation with the bot."""
        if target.member is None:
            return target.channel
        known = self._direct.get((target.workspace, target.member))
        if known is None:
            known = str((await client.conversations_open(users=target.member))["channel"]["id"])
            self._direct[target.workspace, target.member] = known
            if len(self._direct) > _MANY:
                self._direct.popitem(last=False)
        return known

    async def _judged(self, target: Target, error: Exception) -> Exception:
        if isinstance(error, SlackApiError) and code_of(error) in DEAD_TOKEN:
            # It may have been refreshed meanwhile by another process.
            before = self._tokens.known(target.workspace)
            self._tokens.drop(target.workspace)
            after = await self._again(target)
            if before is not None and after is not None and after.token != before.token:
                return Later(0)
        return verdict_on(error)

    async def _again(self, target: Target) -> Any:
        try:
            return await self._tokens.of(target.workspace)
        except Exception:  # whatever it is, the first error says more
            return None

    def _remember(self, key: str, there: dict[str, str], parts: int) -> None:
        """Keep which parts of a card are there, until all are: a second try makes the missing ones only."""
        self._parts.pop(key, None)
        if 0 < len(there) < parts:
            self._parts[key] = there
            if len(self._parts) > _MANY:
                self._parts.popitem(last=False)


def part_keys(key: str, parts: int) -> list[str]:
    """The keys of a card's messages: its own, or numbered where it takes several."""
    return [key] if parts == 1 else [f"{key}/{number}" for number in range(1, parts + 1)]


def _metadata(key: str, parts: int) -> dict[str, Any]:
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key, "of": parts}}


def _thread(target: Target, channel: str) -> str:
    """The `ts` to reply to; a reference of another channel starts no thread here."""
    there, _, ts = (target.reply_to or "").partition("/")
    return ts if there == channel else ""
