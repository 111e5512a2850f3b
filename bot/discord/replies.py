"""Answers interactions: the first response, then edits and follow-ups by the interaction's token. It decides nothing.

These endpoints are outside the bot's global limit, and are called past the lock that a global 429 sets on all else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import discord
from discord.http import MultipartParameters
from discord.webhook.async_ import async_context

from bot.core.cards import Card
from bot.core.metrics import count_responses
from bot.discord.platform import EXPIRED
from bot.discord.render import EPHEMERAL, V2, Body, attached, multipart, parts_of_card, renumbered

MESSAGE, THINKING, WORKING, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9
"""The kinds of first response: docs, interactions/receiving-and-responding."""
_ACKNOWLEDGED, _UNKNOWN = 40060, 10062
# The library tries a failed first response again after a second: then it may have been heard the first time.
_FIRST_RETRY_S: Final = 0.9


TROUBLE: Final = (discord.DiscordServerError, aiohttp.ClientError, TimeoutError, OSError)
"""On the road to Discord or there: nobody knows what arrived."""


class NotHeard(Exception):
    """Discord knows the interaction no more: three seconds are over, or another of us let it pass."""


class HeardByAnother(Exception):
    """Somebody answered before: another process of ours, and its answer is as good."""


class Expired(Exception):
    """The token is too old, or the message is gone; the bot's own token is not."""


@dataclass(frozen=True, slots=True)
class InteractionToken:
    """What an interaction is answered by, for fifteen minutes."""

    id: int
    application: int
    token: str

    @classmethod
    def of(cls, route: Mapping[str, str]) -> InteractionToken:
        """From what the journal kept."""
        return cls(int(route["id"]), int(route["application"]), route["token"])


class Replies:
    """Speaks to Discord's interaction endpoints. `close` it."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        """Of the running loop."""
        if self._session is None or self._session.closed:
            counted = count_responses(aiohttp.TraceConfig(), "discord")
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20), trace_configs=[counted])
        return self._session

    async def first(
        self, line: InteractionToken, kind: int, data: Body | None = None, card: Card | None = None
    ) -> None:
        """Make the first response; `card` is whose pictures the data shows. Raises NotHeard, HeardByAnother."""
        begun = asyncio.get_running_loop().time()
        files = attached(card, data) if card is not None and data is not None else []
        body: Body = {"type": kind, **({"data": renumbered(data)} if data is not None else {})}
        params = MultipartParameters(body, multipart(body, files) if files else None, files or None)
        try:
            await async_context.get().create_interaction_response(
                line.id, line.token, session=self.session, params=params
            )
        except discord.HTTPException as error:
            if error.code == _UNKNOWN:
                raise NotHeard from error
            if error.code != _ACKNOWLEDGED:
                raise
            if asyncio.get_running_loop().time() - begun < _FIRST_RETRY_S:
                raise HeardByAnother from error

    async def edit(self, line: InteractionToken, card: Card, body: Body) -> None:
        """Put a body in the place of the first response, or of the message that was pressed. Raises Expired."""
        files = attached(card, body)
        shown = renumbered(_in_place(body))
        try:
            await async_context.get().edit_original_interaction_response(
                line.application,
                line.token,
                session=self.session,
                payload=None if files else shown,
                multipart=multipart(shown, files) if files else None,
                files=files or None,
            )
        except discord.HTTPException as error:
            if _is_expired(error):
                raise Expired(str(error)) from error
            raise

    async def follow(self, line: InteractionToken, card: Card, body: Body) -> None:
        """Say one more thing privately. Raises Expired."""
        files = attached(card, body)
        shown = renumbered({**body, "flags": V2 | EPHEMERAL})
        try:
            await async_context.get().execute_webhook(
                line.application,
                line.token,
                session=self.session,
                payload=None if files else shown,
                multipart=multipart(shown, files) if files else None,
                files=files or None,
                wait=True,
                with_components=True,
            )
        except discord.HTTPException as error:
            if _is_expired(error):
                raise Expired(str(error)) from error
            raise

    async def respond(self, line: InteractionToken, card: Card, *, replaces: bool, guild: str, channel: str) -> None:
        """Say a card as the first response, in several messages where it takes them."""
        head, *rest = parts_of_card(card, private=True, guild=guild, channel=channel)
        await self.first(line, *((UPDATE, _in_place(head)) if replaces else (MESSAGE, head)), card)
        for body in rest:
            await self.follow(line, card, body)

    async def say(self, line: InteractionToken, card: Card, *, edits: bool, guild: str, channel: str) -> None:
        """Say a card after the first response; with `edits` it takes the place of what stands there."""
        for number, body in enumerate(parts_of_card(card, private=True, guild=guild, channel=channel)):
            try:
                if edits and number == 0:
                    await self.edit(line, card, body)
                    continue
            except Expired:
                # The member has put the message away; the token may still be good.
                pass
            await self.follow(line, card, body)


def _is_expired(error: discord.HTTPException) -> bool:
    return error.code in EXPIRED or error.status in (401, 404)


def _in_place(body: Body) -> Body:
    """A body that takes the place of another: who sees it cannot change, and what was shown before is gone."""
    return {**body, "flags": V2, "attachments": body.get("attachments", [])}


def choices(offers: list[tuple[str, str]]) -> dict[str, Any]:
    """What autocompletion is answered with."""
    return {"choices": [{"name": shown, "value": value} for shown, value in offers]}
