"""Slack as the courier sees it: make a message once, and find it again by the key it bears in its metadata."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.cards import Card
from bot.core.dispatcher import DeliveryDelayed, Target
from bot.slack.auth import InstallationTokens
from bot.slack.rate_limit import Pacer
from bot.slack.render import bodies, filed, pictured, pictures
from bot.slack.web_api import DEAD_TOKEN, SlackWeb, code_of, retry_after, verdict_on
from service.wire import Platform as PlatformName

# Pictures on Slack: uploaded in three steps, then shown by the id of the file; in words where that does not work.


# Slack looks at an uploaded file for a moment before a message may show it (java-slack-sdk#1349, python-sdk#1658).
_LOOKS_S = (0.5, 1.0, 2.0)

Body = dict[str, Any]
Send = Callable[[Body], Awaitable[Any]]
Sent = TypeVar("Sent")


async def ready_bodies(web: SlackWeb, token: str, card: Card) -> list[Body]:
    """The bodies of a card with its pictures uploaded; one that could not be is said in words."""
    made = bodies(card)
    pngs = pictures(card)
    if not pngs:
        return made
    alts = _alts(made)
    client = web.client(token)
    files: dict[int, str] = {}
    for number, png in enumerate(pngs):
        try:
            files[number] = await _uploaded(web, client, png, alts.get(number, ""))
        except (SlackApiError, ClientError, TimeoutError) as error:
            if isinstance(error, SlackApiError) and retry_after(error) is not None:
                raise
            _LOG.warning("a picture could not be uploaded, so it is said in words: %s", error)
    return [
        filed(body, files) if all(number in files for number in pictured(body)) else in_words(body) for body in made
    ]


async def shown(send: Callable[[Body], Awaitable[Sent]], body: Body, pauses: Sequence[float] = _LOOKS_S) -> Sent:
    """Send a body; a picture Slack is still looking at is given a moment, and said in words at last."""
    for pause in pauses if pictured_at_all(body) else ():
        try:
            return await send(body)
        except SlackApiError as error:
            if code_of(error) not in ("invalid_blocks", "invalid_blocks_format", "file_not_found"):
                raise
            await asyncio.sleep(pause)
    return await send(in_words(body) if pictured_at_all(body) else body)


def pictured_at_all(body: Body) -> bool:
    """Whether a body shows a picture, uploaded or not."""
    return any(block["type"] == "image" for block in body["blocks"])


def in_words(body: Body) -> Body:
    """The body with what its pictures show said in words."""
    return {**body, "blocks": [_said(block) if block["type"] == "image" else block for block in body["blocks"]]}


def _said(block: Body) -> Body:
    text = {"type": "text", "text": block["alt_text"]}
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [text]}]}


def _alts(made: Sequence[Body]) -> dict[int, str]:
    images = [block for body in made for block in body["blocks"] if block["type"] == "image"]
    return {number: str(block["alt_text"]) for number, block in enumerate(images)}


async def _uploaded(web: SlackWeb, client: AsyncWebClient, png: bytes, alt: str) -> str:
    """Upload a PNG for the app alone and return the file's id; a message that shows it shares it."""
    given = await client.files_getUploadURLExternal(filename="picture.png", length=len(png), alt_txt=alt[:1000])
    await web.upload(str(given["upload_url"]), png)
    file = str(given["file_id"])
    await client.files_completeUploadExternal(files=[{"id": file, "title": "picture.png"}])
    return file


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
        tokens: InstallationTokens,
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
            if there and isinstance(judged, DeliveryDelayed):
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
            raise DeliveryDelayed(wait)
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
                raise DeliveryDelayed(wait)
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
                return DeliveryDelayed(0)
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
