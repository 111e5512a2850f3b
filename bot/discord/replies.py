"""Sends replies to interactions: the first response, then edits and follow-ups with the interaction token.

These endpoints do not count toward the bot's global rate limit, so they bypass the library's lock for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import aiohttp
import discord

from bot.core.cards import Card
from bot.core.metrics import count_responses
from bot.discord.library import MultipartParameters, async_context
from bot.discord.mentions import CommandMentions
from bot.discord.platform import UNKNOWN_MESSAGE, attached, multipart_form, renumber_attachments
from bot.discord.render import EPHEMERAL, V2, Body, parts_of_card

MESSAGE, THINKING, WORKING, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9
"""Types of a first response. Docs: interactions/receiving-and-responding."""
_ACKNOWLEDGED, _UNKNOWN = 40060, 10062
"""Error codes: the interaction was acknowledged before, and it is unknown."""
_EXPIRED: Final = frozenset({10015, 50027})
# The library retries a failed first response after a second, so the first attempt may have arrived.
_FIRST_RETRY_S: Final = 0.9
UNCERTAIN_ERRORS: Final = (discord.DiscordServerError, aiohttp.ClientError, TimeoutError, OSError)
"""Failures after which it is unknown whether a request took effect."""


class UnknownInteraction(Exception):
    """Discord no longer knows the interaction: its three seconds are over."""


class AlreadyAnswered(Exception):
    """Another process has already answered the interaction."""


class TokenExpired(Exception):
    """The interaction token has expired. The bot token still works."""


class MessageGone(Exception):
    """The member has dismissed the message. The interaction token still works."""


@dataclass(frozen=True, slots=True)
class InteractionToken:
    """Credentials for answering an interaction, valid for fifteen minutes."""

    id: int
    application: int
    token: str

    @classmethod
    def of(cls, route: Mapping[str, str]) -> InteractionToken:
        """Restores it from the journal."""
        return cls(int(route["id"]), int(route["application"]), route["token"])


class Replies:
    """A client of Discord's interaction endpoints. Call `close` when done. Cards mention commands by `mentions`."""

    def __init__(self, mentions: CommandMentions | None = None) -> None:
        self._mentions = mentions or CommandMentions()
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        """The HTTP session of the running event loop."""
        if self._session is None or self._session.closed:
            counted = count_responses(aiohttp.TraceConfig(), "discord")
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=20), trace_configs=[counted])
        return self._session

    async def first_response(
        self, interaction: InteractionToken, kind: int, data: Body | None = None, card: Card | None = None
    ) -> None:
        """Sends the first response; `card` has its pictures. Raises UnknownInteraction or AlreadyAnswered."""
        begun = asyncio.get_running_loop().time()
        files = attached(card, data) if card is not None and data is not None else []
        body: Body = {"type": kind, **({"data": renumber_attachments(data)} if data is not None else {})}
        params = MultipartParameters(body, multipart_form(body, files) if files else None, files or None)
        try:
            await async_context.get().create_interaction_response(
                interaction.id, interaction.token, session=self.session, params=params
            )
        except discord.HTTPException as error:
            if error.code == _UNKNOWN:
                raise UnknownInteraction from error
            if error.code != _ACKNOWLEDGED:
                raise
            if asyncio.get_running_loop().time() - begun < _FIRST_RETRY_S:
                raise AlreadyAnswered from error

    async def edit(self, interaction: InteractionToken, card: Card, body: Body) -> None:
        """Replaces the first response, or the message whose button was clicked. Raises MessageGone or TokenExpired."""
        files = attached(card, body)
        shown = renumber_attachments(_as_edit(body))
        try:
            await async_context.get().edit_original_interaction_response(
                interaction.application,
                interaction.token,
                session=self.session,
                payload=None if files else shown,
                multipart=multipart_form(shown, files) if files else None,
                files=files or None,
            )
        except discord.HTTPException as error:
            if error.code == UNKNOWN_MESSAGE:
                raise MessageGone(str(error)) from error
            if _is_expired(error):
                raise TokenExpired(str(error)) from error
            raise

    async def follow_up(self, interaction: InteractionToken, card: Card, body: Body) -> None:
        """Sends another private message. Raises TokenExpired."""
        files = attached(card, body)
        shown = renumber_attachments({**body, "flags": V2 | EPHEMERAL})
        try:
            await async_context.get().execute_webhook(
                interaction.application,
                interaction.token,
                session=self.session,
                payload=None if files else shown,
                multipart=multipart_form(shown, files) if files else None,
                files=files or None,
                wait=True,
                with_components=True,
            )
        except discord.HTTPException as error:
            if _is_expired(error):
                raise TokenExpired(str(error)) from error
            raise

    def _bodies(self, card: Card, guild: str, channel: str) -> list[Body]:
        return parts_of_card(card, private=True, guild=guild, channel=channel, rewrite=self._mentions.apply)

    async def respond(
        self, interaction: InteractionToken, card: Card, *, replaces: bool, guild: str, channel: str
    ) -> None:
        """Sends a card as the first response, with follow-ups if it needs several messages."""
        head, *rest = self._bodies(card, guild, channel)
        await self.first_response(interaction, *((UPDATE, _as_edit(head)) if replaces else (MESSAGE, head)), card)
        for body in rest:
            await self.follow_up(interaction, card, body)

    async def send(self, interaction: InteractionToken, card: Card, *, edits: bool, guild: str, channel: str) -> None:
        """Sends a card after the first response; with `edits` it replaces what is shown. Raises TokenExpired."""
        for number, body in enumerate(self._bodies(card, guild, channel)):
            try:
                if edits and number == 0:
                    await self.edit(interaction, card, body)
                    continue
            except MessageGone:
                pass  # shown below as a new message
            await self.follow_up(interaction, card, body)


def _is_expired(error: discord.HTTPException) -> bool:
    return error.code in _EXPIRED or error.status in (401, 404)


def _as_edit(body: Body) -> Body:
    """Returns a body for an edit: its visibility cannot change, and earlier attachments are dropped."""
    return {**body, "flags": V2, "attachments": body.get("attachments", [])}


def choices(offers: list[tuple[str, str]]) -> dict[str, Any]:
    """Returns the response to an autocomplete interaction."""
    return {"choices": [{"name": shown, "value": value} for shown, value in offers]}
