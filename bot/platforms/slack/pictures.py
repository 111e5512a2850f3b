"""Pictures on Slack: uploaded in three steps, then shown by the id of the file; in words where that does not work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.cards import Card
from bot.platforms.slack.errors import code_of, retry_after
from bot.platforms.slack.render import bodies, filed, pictured, pictures
from bot.platforms.slack.web import SlackWeb

_LOG = logging.getLogger(__name__)

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
