"""Posts messages from the outbox to Slack, once each, and finds them again by the key in their metadata."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from datetime import timedelta
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.cards import Card
from bot.core.dispatcher import DeliveryDelayed, Target, part_keys
from bot.slack.auth import InstallationTokens
from bot.slack.rate_limit import RateLimiter
from bot.slack.uploads import Uploads
from bot.slack.web_api import DEAD_TOKEN_CODES, SlackWeb, classify_error, error_code, retry_after
from service.process import Clock
from service.wire import Platform as PlatformName

EVENT_TYPE = "dailygrad_post"
_MAX_WAIT_S = 6.0
"""Longest wait for a turn, seconds; a message with a later turn returns to the outbox."""
_LOOK_BACK = timedelta(hours=48)
"""Age up to which messages are searched for one that may have been posted."""
_PAGES, _PAGE = 10, 100
"""Pages that are searched, and messages on each."""
_MAX_ENTRIES = 10_000
"""Cached conversations, and messages whose posted parts are remembered."""
_NOT_EDITED = ("mrkdwn", "unfurl_links", "unfurl_media")
"""Arguments of `chat.postMessage` that `chat.update` does not have."""


class PartlyPosted(Exception):
    """Only some of a card's messages were posted; the rest must follow."""


class SlackPlatform:
    """Implements `core.dispatcher.Platform`."""

    name: PlatformName = "slack"

    def __init__(
        self,
        web: SlackWeb,
        tokens: InstallationTokens,
        clock: Clock,
        limiter: RateLimiter,
        uploads: Uploads,
    ) -> None:
        self._web = web
        self._uploads = uploads
        self._tokens = tokens
        self._clock = clock
        self._limiter = limiter
        self._direct: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._parts: OrderedDict[str, dict[str, str]] = OrderedDict()

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Posts the messages of a card that `find` has not found; returns the first one's reference."""
        posted = self._parts.pop(key, {})
        client = None
        try:
            client = await self._tokens.client_of(self._web, target.workspace)
            channel = await self._channel(client, target)
            made = await self._uploads.bodies(client, target.workspace, card)
            keys = part_keys(key, len(made))
            for part, body in zip(keys, made, strict=True):
                if part not in posted:
                    sent = await self._send(client, target, channel, {**body, "metadata": _metadata(part, len(made))})
                    posted[part] = sent
                    self._remember(key, posted, len(made))
            return f"{channel}/{posted[keys[0]]}"
        except Exception as error:
            judged = await self._classify(target, client, error)
            if posted and isinstance(judged, DeliveryDelayed):
                # Not DeliveryDelayed, which means that nothing was posted: the next attempt must search first.
                raise PartlyPosted(f"{len(posted)} messages of {key} were posted; {judged}") from error
            raise judged from error

    async def edit(self, target: Target, card: Card, ref: str, key: str) -> None:
        """Replaces a posted message. Raises as `post` does.

        A card of several messages is left as it is: their references are not stored, and its buttons still answer.
        """
        client = None
        try:
            client = await self._tokens.client_of(self._web, target.workspace)
            made = await self._uploads.bodies(client, target.workspace, card)
            if len(made) > 1:
                return
            channel, _, ts = ref.partition("/")
            # Metadata are what `find` recognizes the message by.
            call = {"channel": channel, "ts": ts, **made[0], "metadata": _metadata(key, 1)}
            call = {name: value for name, value in call.items() if name not in _NOT_EDITED}
            await self._uploads.send(client, target.workspace, lambda body: client.chat_update(**body), call)
        except Exception as error:
            raise await self._classify(target, client, error) from error

    async def find(self, target: Target, key: str) -> str | None:
        """Returns the first message's reference if all parts exist. Raises as `post` does."""
        client = None
        try:
            client = await self._tokens.client_of(self._web, target.workspace)
            channel = await self._channel(client, target)
            posted: dict[str, str] = {}
            parts = 1
            async for message in self._history(client, channel, _thread(target, channel)):
                payload = (message.get("metadata") or {}).get("event_payload") or {}
                part = str(payload.get("key", ""))
                if part == key or part.startswith(f"{key}/"):
                    posted[part] = str(message["ts"])
                    parts = int(payload.get("of", 1))
                if posted and len(posted) == parts:
                    return f"{channel}/{posted[part_keys(key, parts)[0]]}"
            self._remember(key, posted, parts)
            return None
        except Exception as error:
            raise await self._classify(target, client, error) from error

    async def _send(self, client: AsyncWebClient, target: Target, channel: str, body: dict[str, Any]) -> str:
        team, thread = target.workspace, _thread(target, channel)
        wait = self._limiter.reserve(team, channel, _MAX_WAIT_S)
        if wait > _MAX_WAIT_S:
            raise DeliveryDelayed(wait)
        if wait:
            await asyncio.sleep(wait)
        reply = {"thread_ts": thread, "reply_broadcast": target.broadcast} if thread else {}
        call = {"channel": channel, **body, **reply}
        response = await self._uploads.send(client, team, lambda shown: self._post_in_turn(client, team, shown), call)
        return str(response["ts"])

    async def _post_in_turn(self, client: AsyncWebClient, team: str, call: dict[str, Any]) -> Any:
        """Posts a message whose turn has come, as soon as Slack has room for it."""
        channel = str(call["channel"])
        while wait := self._limiter.start(team, channel):
            if wait > _MAX_WAIT_S:
                raise DeliveryDelayed(wait)
            await asyncio.sleep(wait)
        try:
            return await client.chat_postMessage(**call)
        except SlackApiError as error:
            if (seconds := retry_after(error)) is not None:
                # Limits apply per method and workspace, so pause the workspace. Docs: rate limits.
                self._limiter.pause(team, seconds)
            raise
        finally:
            self._limiter.finish(team, channel)

    async def _history(self, client: AsyncWebClient, channel: str, thread: str) -> Any:
        oldest = str((self._clock() - _LOOK_BACK).timestamp())
        cursor = ""
        for _ in range(_PAGES):
            parameters: dict[str, Any] = {"channel": channel, "limit": _PAGE, "include_all_metadata": True}
            if thread:
                response = await client.conversations_replies(ts=thread, cursor=cursor or None, **parameters)
            else:
                response = await client.conversations_history(oldest=oldest, cursor=cursor or None, **parameters)
            for message in response.get("messages") or ():
                yield message
            cursor = str((response.get("response_metadata") or {}).get("next_cursor") or "")
            if not cursor:
                return

    async def _channel(self, client: AsyncWebClient, target: Target) -> str:
        """Returns the channel, or the id of the member's direct messages with the bot."""
        if target.member is None:
            return target.channel
        known = self._direct.get((target.workspace, target.member))
        if known is None:
            known = str((await client.conversations_open(users=target.member))["channel"]["id"])
            self._direct[target.workspace, target.member] = known
            if len(self._direct) > _MAX_ENTRIES:
                self._direct.popitem(last=False)
        return known

    async def _classify(self, target: Target, client: AsyncWebClient | None, error: Exception) -> Exception:
        if client is not None and isinstance(error, SlackApiError) and error_code(error) in DEAD_TOKEN_CODES:
            # Another process may have replaced the token, and another message may have noticed that first.
            cached = self._tokens.cached(target.workspace)
            if cached is not None and cached.token.get_secret_value() == client.token:
                self._tokens.invalidate(target.workspace)
            now = await self._again(target)
            if now is not None and now.token.get_secret_value() != client.token:
                return DeliveryDelayed(0)
        return classify_error(error)

    async def _again(self, target: Target) -> Any:
        try:
            return await self._tokens.find(target.workspace)
        except Exception:  # the first error says more
            return None

    def _remember(self, key: str, posted: dict[str, str], parts: int) -> None:
        """Remembers the posted parts of a card until it is complete, so that a retry posts only the missing ones."""
        self._parts.pop(key, None)
        if 0 < len(posted) < parts:
            self._parts[key] = posted
            if len(self._parts) > _MAX_ENTRIES:
                self._parts.popitem(last=False)


def _metadata(key: str, parts: int) -> dict[str, Any]:
    return {"event_type": EVENT_TYPE, "event_payload": {"key": key, "of": parts}}


def _thread(target: Target, channel: str) -> str:
    """Returns the `ts` of the thread to reply in; empty for a reference to another channel."""
    posted, _, ts = (target.reply_to or "").partition("/")
    return ts if posted == channel else ""
