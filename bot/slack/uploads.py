"""Uploads a card's pictures, once for each workspace and content, and sends messages that show them.

A picture that cannot be shown is replaced by its alt text.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from aiohttp import ClientError
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.cards import Card
from bot.slack.charts import has_charts, without_charts
from bot.slack.render import bodies, picture_numbers, with_uploads
from bot.slack.web_api import SlackWeb, error_code, retry_after

_LOG = logging.getLogger(__name__)
Body = dict[str, Any]
Sent = TypeVar("Sent")
_KEPT = 300
"""Number of pictures that are kept, to upload them again if Slack has lost them."""
_PROCESSING_PAUSES_S = (0.5, 1.0, 2.0)
"""Pauses, seconds: Slack processes an upload before a message may show it (java-slack-sdk#1349, python-sdk#1658)."""
_REFUSALS = ("invalid_blocks", "invalid_blocks_format", "file_not_found")
"""Errors of a message whose file is still being processed, or was deleted."""
_UPLOAD_ERRORS = (SlackApiError, ClientError, TimeoutError)


@dataclass(slots=True)
class _File:
    """A picture that Slack has, under this id."""

    id: str
    png: bytes
    alt: str
    shown: bool = False
    """Whether a message has shown it. If Slack refuses it after that, somebody has deleted it."""


class Uploads:
    """The pictures that Slack has. Create one per process."""

    def __init__(self, web: SlackWeb, pauses: Sequence[float] = _PROCESSING_PAUSES_S) -> None:
        self._web = web
        self._pauses = pauses
        self._files: OrderedDict[tuple[str, bytes], _File] = OrderedDict()
        """By workspace and digest."""

    async def bodies(self, client: AsyncWebClient, workspace: str, card: Card) -> list[Body]:
        """Returns the bodies of a card with its pictures uploaded."""
        made = bodies(card)
        pngs = card.pictures
        if not pngs:
            return made
        alts = _alts(made)
        files: dict[int, str] = {}
        for number, png in enumerate(pngs):
            try:
                files[number] = await self._upload_once(client, workspace, png, alts.get(number, ""))
            except _UPLOAD_ERRORS as error:
                if isinstance(error, SlackApiError) and retry_after(error) is not None:
                    raise
                _LOG.warning("cannot upload a picture, using its alt text: %s", error)
        return [
            with_uploads(body, files)
            if all(number in files for number in picture_numbers(body))
            else with_alt_texts(body)
            for body in made
        ]

    async def send(
        self, client: AsyncWebClient, workspace: str, send: Callable[[Body], Awaitable[Sent]], body: Body
    ) -> Sent:
        """Sends a body, without its charts if Slack refuses them: it has them in some workspaces only."""
        try:
            return await self._send(client, workspace, send, body)
        except SlackApiError as error:
            if error_code(error) not in _REFUSALS or not has_charts(body):
                raise
            _LOG.info("Slack refused a message with a chart, sending it without")
        return await self._send(client, workspace, send, without_charts(body))

    async def _send(
        self, client: AsyncWebClient, workspace: str, send: Callable[[Body], Awaitable[Sent]], body: Body
    ) -> Sent:
        """Sends a body, waiting for pictures that Slack is still processing and uploading again those it has lost.

        In the end their alt texts are sent instead.
        """
        for pause in self._pauses if has_pictures(body) else ():
            try:
                sent = await send(body)
            except SlackApiError as error:
                if error_code(error) not in _REFUSALS:
                    raise
                renewed = await self._renew(client, workspace, body)
                if renewed is None:
                    await asyncio.sleep(pause)
                else:
                    body = renewed
            else:
                self.mark_shown(workspace, body)
                return sent
        return await send(with_alt_texts(body) if has_pictures(body) else body)

    def mark_shown(self, workspace: str, body: Body) -> None:
        """Records that Slack has shown the pictures of a body."""
        for file in self._files_in(workspace, body).values():
            file.shown = True

    async def _upload_once(self, client: AsyncWebClient, workspace: str, png: bytes, alt: str) -> str:
        key = (workspace, hashlib.sha256(png).digest())
        known = self._files.get(key)
        if known is None:
            known = self._files[key] = _File(await self._upload(client, png, alt), png, alt)
        self._files.move_to_end(key)
        if len(self._files) > _KEPT:
            self._files.popitem(last=False)
        return known.id

    async def _upload(self, client: AsyncWebClient, png: bytes, alt: str) -> str:
        """Uploads a PNG and returns the file's id. Only the app sees it until a message shows it."""
        given = await client.files_getUploadURLExternal(filename="picture.png", length=len(png), alt_txt=alt[:1000])
        await self._web.upload(str(given["upload_url"]), png)
        file = str(given["file_id"])
        await client.files_completeUploadExternal(files=[{"id": file, "title": "picture.png"}])
        return file

    async def _renew(self, client: AsyncWebClient, workspace: str, body: Body) -> Body | None:
        """Returns the body with files that were deleted uploaded again; None if none was."""
        ids: dict[str, str] = {}
        for id_, file in self._files_in(workspace, body).items():
            if file.shown:
                try:
                    file.id, file.shown = await self._upload(client, file.png, file.alt), False
                except _UPLOAD_ERRORS as error:
                    _LOG.warning("cannot upload a picture again: %s", error)
                else:
                    ids[id_] = file.id
        return _with_ids(body, ids) if ids else None

    def _files_in(self, workspace: str, body: Body) -> dict[str, _File]:
        shown = _ids(body)
        return {file.id: file for (team, _), file in self._files.items() if team == workspace and file.id in shown}


def has_pictures(body: Body) -> bool:
    """Returns whether a body contains a picture."""
    return any(block["type"] == "image" for block in body["blocks"])


def with_alt_texts(body: Body) -> Body:
    """Returns the body with alt texts in place of its pictures."""
    return {
        **body,
        "blocks": [_alt_text_block(block) if block["type"] == "image" else block for block in body["blocks"]],
    }


def _alt_text_block(block: Body) -> Body:
    text = {"type": "text", "text": block["alt_text"]}
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [text]}]}


def _alts(made: Sequence[Body]) -> dict[int, str]:
    images = [block for body in made for block in body["blocks"] if block["type"] == "image"]
    return {number: str(block["alt_text"]) for number, block in enumerate(images)}


def _ids(body: Body) -> set[str]:
    return {str(block["slack_file"]["id"]) for block in body["blocks"] if block["type"] == "image"}


def _with_ids(body: Body, ids: Mapping[str, str]) -> Body:
    """Returns the body with other files in its pictures."""
    blocks = [
        {**block, "slack_file": {"id": ids[block["slack_file"]["id"]]}}
        if block["type"] == "image" and block["slack_file"]["id"] in ids
        else block
        for block in body["blocks"]
    ]
    return {**body, "blocks": blocks}
