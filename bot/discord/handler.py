"""Answers Discord interactions: journal, first response, quiz, reply.

The first response needs neither the service nor the database. Only if the reply may be a modal, which Discord accepts
as the first response alone, the service gets a second and a half; after that, a private message links to the modal.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Final

import discord

from bot.core import actions
from bot.core.actions import BadAction
from bot.core.cards import Card, Form, Reply
from bot.core.command_order import CommandOrder
from bot.core.command_spec import may_open_form
from bot.core.dispatcher import Answer, DeliveryDelayed, DeliveryRefused, Target
from bot.core.events import Command, Event, Press
from bot.core.journal import Journal, JournalEntry
from bot.core.metrics import ACKNOWLEDGED, LATE
from bot.core.text.discord import (
    file_not_text_card,
    file_too_large_card,
    file_unavailable_card,
    form_card,
    not_admin_card,
    note_card,
    server_only_card,
    stranger_card,
)
from bot.core.text.members import fault_card
from bot.discord.commands import Autocompleter
from bot.discord.interactions import (
    AUTOCOMPLETE,
    COMMAND,
    RawInteraction,
    WantedFile,
    dump_files,
    load_files,
    member_of,
    parse_interaction,
    path_of,
    spec_of,
    with_files,
)
from bot.discord.modals import fits_modal, modal
from bot.discord.platform import DiscordPlatform
from bot.discord.render import (
    EPHEMERAL,
    body_in_server,
    created_ms,
    opening_id,
)
from bot.discord.replies import (
    CHOICES,
    MODAL,
    THINKING,
    UNCERTAIN_ERRORS,
    WORKING,
    AlreadyAnswered,
    InteractionToken,
    Replies,
    TokenExpired,
    UnknownInteraction,
    choices,
)
from service.client import ServiceRefused, ServiceUnavailable
from service.process import Clock
from service.tracing import correlate
from service.wire import Who

_LOG = logging.getLogger(__name__)
Fetch = Callable[[str], Awaitable[bytes]]
"""Downloads a URL of Discord's CDN."""
FetchMember = Callable[[Who], Awaitable[Who | None]]
"""Fetches a member's current name and rights; None if they have left the server."""
FindHome = Callable[[str], Awaitable[str]]
"""Returns the server where a member plays, for commands outside of servers; empty without one."""
_HOME_TIMEOUT_S: Final = 1.0
"""Longest wait for the service to name a member's home, seconds."""
TOO_LATE_S: Final = 2.5
"""Delay after which a first response is not attempted, seconds. Discord allows three, including the way there."""
_SAMPLES: Final = 64
"""Latest interactions whose age the clock skew is estimated from."""
MODAL_WAIT_S: Final = 1.5
"""Time a reply that may open a modal may take before it is acknowledged without one, seconds."""
# For replies that open no modal: a card that is ready this soon needs no "thinking…" first.
_CARD_TIMEOUT_S: Final = 0.2
# If Discord no longer knows an interaction younger than this, another process has answered it.
_ALWAYS_KNOWN_S: Final = 2.0
_MODAL_ACTIONS = (
    actions.Open,
    actions.Fill,
    actions.Try,
    actions.Mark,
    actions.Next,
    actions.NextOf,
    actions.Report,
    actions.Snippet,
    actions.Import,
    actions.Settle,
    actions.Suggest,
    actions.EditSuggestion,
    actions.DeclineSuggestion,
    actions.SetupAt,
    actions.SetupForm,
    actions.EditSchedule,
    actions.Challenge,
)
_CARD_COMMANDS = ("setup", "run ")
"""Beginnings of commands that are answered with a card here. A program that was typed is run at once."""


@dataclass(frozen=True, slots=True)
class PendingReply:
    """An event together with what its reply needs."""

    event: Event
    interaction: InteractionToken
    edits: bool = False
    """Whether it came from a private card, which the reply may replace."""
    opens: bool = False
    direct: bool = False
    """Whether it came from a direct message, whose buttons must name their server."""
    files: tuple[WantedFile, ...] = ()

    @property
    def route(self) -> dict[str, str]:
        """Returns what the journal keeps."""
        flags = {"edits": self.edits, "opens": self.opens, "direct": self.direct}
        marks = " ".join(name for name, flag in flags.items() if flag)
        interaction = {
            "id": str(self.interaction.id),
            "application": str(self.interaction.application),
            "token": self.interaction.token,
        }
        return {**interaction, "marks": marks, "files": dump_files(self.files)}

    @classmethod
    def of(cls, taken: JournalEntry) -> PendingReply:
        """Restores it from the journal."""
        marks = taken.route["marks"].split()
        flags = {name: name in marks for name in ("edits", "opens", "direct")}
        return cls(taken.event, InteractionToken.of(taken.route), files=load_files(taken.route["files"]), **flags)

    @property
    def place(self) -> Mapping[str, str]:
        """Returns the server and channel for the buttons of a direct message; empty within a server."""
        where = (self.event.who.workspace, self.event.where.channel) if self.direct else ("", "")
        return {"guild": where[0], "channel": where[1]}


@dataclass(frozen=True, slots=True)
class InteractionHandler:
    """Answers each interaction once. All it keeps is the journal, so any process can answer any click."""

    answer: Answer
    journal: Journal
    replies: Replies
    platform: DiscordPlatform
    autocompleter: Autocompleter
    fetch: Fetch
    fetch_member: FetchMember
    find_home: FindHome
    clock: Clock
    clock_skew: ClockSkew
    modal_wait_s: float = MODAL_WAIT_S
    order: CommandOrder = field(default_factory=CommandOrder)

    async def handle(self, raw: RawInteraction) -> None:
        """Answers an interaction. Never raises; if cancelled, the interaction stays in the journal."""
        delay = self.clock_skew.of(raw.id)
        interaction = InteractionToken(int(raw.id), int(raw.application), raw.token)
        if raw.kind == AUTOCOMPLETE:
            await self._autocomplete(raw, interaction)
            return
        # A command outside of servers is about the one in which its author plays; a button names its server.
        home = await self._find_home(raw.member) if raw.kind == COMMAND and not raw.guild else ""
        read = parse_interaction(replace(raw, guild=raw.guild or home), self.clock() - timedelta(seconds=delay))
        if read is None:
            _LOG.warning("interaction %s of unknown kind %s", raw.id, raw.kind)
        elif not read.event.who.workspace:
            await self._answer_direct_message(interaction)
        else:
            case = PendingReply(read.event, interaction, raw.private, read.opens, not raw.guild, read.files)
            if self._record(case):
                await self._finish(case, self._answer(case, delay))

    async def replay(self) -> None:
        """Answers the interactions that a crash left unanswered."""
        for taken in self.journal.unanswered():
            if "token" not in taken.route:
                continue
            try:
                case = PendingReply.of(taken)
            except (KeyError, ValueError, TypeError) as error:
                # Written by another version; the others must still be answered.
                _LOG.error("%s was left unanswered and cannot be read: %r", taken.event.id, error)
                self.journal.mark_answered(taken.event.id)
                continue
            _LOG.info("answering %s, left unanswered by an earlier process", case.event.id)
            await self._finish(case, self._answer_left(case))

    async def _find_home(self, member: str) -> str:
        try:
            async with asyncio.timeout(_HOME_TIMEOUT_S):
                return await self.find_home(member)
        except (TimeoutError, ServiceUnavailable, ServiceRefused) as error:
            _LOG.warning("cannot tell in which server %s plays: %s", member, error)
            return ""

    # Once

    def _record(self, case: PendingReply) -> bool:
        try:
            return self.journal.record(case.event, case.route)
        except sqlite3.Error as error:
            # Answer without a record rather than not at all.
            _LOG.error("cannot write the journal: %s", error)
            return True

    async def _finish(self, case: PendingReply, answering: Awaitable[None]) -> None:
        try:
            with correlate(case.event.id):
                await answering
        except AlreadyAnswered:
            _LOG.info("%s was answered by another process", case.event.id)
        except Exception:  # one failure must not stop the next interaction
            _LOG.exception("%s could not be answered", case.event.id)
        try:
            self.journal.mark_answered(case.event.id)
        except sqlite3.Error as error:
            _LOG.error("cannot write the journal: %s", error)

    # Answering

    async def _answer(self, case: PendingReply, delay: float) -> None:
        begun = asyncio.get_running_loop().time()
        handling: asyncio.Task[Reply] | None = None
        try:
            if delay >= TOO_LATE_S:
                _LOG.warning("%s arrived %.1f s late", case.event.id, delay)
                LATE.labels("discord").inc()
                raise UnknownInteraction
            patience = _reply_timeout(case.event, self.modal_wait_s)
            if patience or isinstance(case.event, Command):
                # A command takes its turn now: acknowledgements may overtake one another.
                handling = asyncio.create_task(self._reply_to(case))
            if handling is not None and patience:
                await asyncio.wait({handling}, timeout=max(0.0, patience - delay))
                if handling.done() and await self._respond(case, handling.result()):
                    _record_delay(delay, begun)
                    return
            if await self._acknowledge(case):
                _record_delay(delay, begun)
            await self._deliver(case, await (handling or self._reply_to(case)))
        except UnknownInteraction:
            waited = asyncio.get_running_loop().time() - begun
            if max(delay, age_s(str(case.interaction.id), self.clock())) + waited < _ALWAYS_KNOWN_S:
                raise AlreadyAnswered from None
            await self._deliver_elsewhere(case, await (handling or self._reply_to(case)))
        finally:
            if handling is not None:
                handling.cancel()

    async def _answer_left(self, case: PendingReply) -> None:
        if age_s(str(case.interaction.id), self.clock()) < TOO_LATE_S:
            try:
                await self._acknowledge(case)
            except (AlreadyAnswered, UnknownInteraction):
                _LOG.debug("%s was already acknowledged", case.event.id)
        await self._deliver(case, await self._reply_to(case))

    async def _acknowledge(self, case: PendingReply) -> bool:
        """Acknowledges the interaction; False if it is unknown whether that arrived."""
        kind, data = (WORKING, None) if case.edits else (THINKING, {"flags": EPHEMERAL})
        try:
            await self.replies.first_response(case.interaction, kind, data)
        except UNCERTAIN_ERRORS as error:
            # The event is handled all the same; the reply may still get through.
            _LOG.warning("%s could not be acknowledged: %r", case.event.id, error)
            return False
        return True

    async def _reply_to(self, case: PendingReply) -> Reply:
        """Looks up the member of a direct message, reads the files, and asks the quiz for the reply."""
        event = case.event
        async with self.order.turn(event):
            if case.direct:
                who = await self.fetch_member(event.who)
                if who is None:
                    return Reply(stranger_card())
                event = replace(event, who=who)
            if not event.who.admin and any(one.for_admins for one in case.files):
                return Reply(not_admin_card())
            try:
                event = with_files(event, [(one.name, await read_file(one, self.fetch)) for one in case.files])
            except FileRejected as rejected:
                return Reply(rejected.card)
            return await self.answer(event)

    async def _respond(self, case: PendingReply, reply: Reply) -> bool:
        """Sends the reply as the first response; False if Discord rejects its modal."""
        content = reply.content
        if isinstance(content, Card):
            await self.replies.respond(case.interaction, content, replaces=case.edits and reply.replaces, **case.place)
            return True
        if not (case.opens or fits_modal(content)):
            await self.replies.respond(case.interaction, as_card(content), replaces=False, **case.place)
            return True
        try:
            await self.replies.first_response(case.interaction, MODAL, body_in_server(modal(content), **case.place))
        except discord.HTTPException as error:
            if error.status != 400:
                raise
            _LOG.error("Discord rejects the modal %r: %s", content.title, error)
            return False
        return True

    async def _deliver(self, case: PendingReply, reply: Reply) -> None:
        """Sends the reply after the first response."""
        card = as_card(reply.content)
        edits = not case.edits or (reply.replaces and isinstance(reply.content, Card))
        try:
            await self.replies.send(case.interaction, card, edits=edits, **case.place)
        except (TokenExpired, *UNCERTAIN_ERRORS) as error:
            _LOG.info("%s: the reply takes another way: %r", case.event.id, error)
            await self._deliver_elsewhere(case, reply)
        except discord.HTTPException as error:
            _LOG.error("Discord rejects the reply %r: %s", card.title, error)
            await self.replies.send(case.interaction, fault_card(), edits=not case.edits, **case.place)

    async def _deliver_elsewhere(self, case: PendingReply, reply: Reply) -> None:
        """Replies with the bot token: by direct message, or with a note in the channel that gives nothing away."""
        event = case.event
        where = Target(event.who.workspace, event.where.channel, event.who.member)
        try:
            await self.platform.post(where, as_card(reply.content), event.id)
        except (DeliveryRefused, DeliveryDelayed) as error:
            _LOG.info("%s accepts no direct messages: %s", event.who.member, error)
            channel = Target(event.who.workspace, event.where.channel)
            await self.platform.post(channel, note_card(event.who.name), f"{event.id}/note")

    # Small answers

    async def _answer_direct_message(self, interaction: InteractionToken) -> None:
        try:
            await self.replies.respond(interaction, server_only_card(), replaces=False, guild="", channel="")
        except (UnknownInteraction, AlreadyAnswered, TokenExpired, discord.HTTPException) as error:
            _LOG.info("could not answer a direct message: %r", error)

    async def _autocomplete(self, raw: RawInteraction, interaction: InteractionToken) -> None:
        path, options = path_of(raw.data)
        spec = spec_of(str(raw.data.get("name", "")), path)
        typing = next((one for one in options if one.get("focused")), {})
        argument = next((one for one in spec.arguments if one.name == typing.get("name")), None) if spec else None
        try:
            suggestions = []
            if spec and argument:
                suggestions = await self.autocompleter.suggest(
                    member_of(raw), spec, argument, str(typing.get("value") or "")
                )
            await self.replies.first_response(interaction, CHOICES, choices(suggestions))
        except (UnknownInteraction, AlreadyAnswered, discord.HTTPException) as error:
            _LOG.info("no suggestions were sent: %r", error)


def _record_delay(delay: float, begun: float) -> None:
    ACKNOWLEDGED.labels("discord").observe(delay + asyncio.get_running_loop().time() - begun)


def as_card(content: Card | Form) -> Card:
    """Returns a card, or a form as a card with a button that opens it."""
    return content if isinstance(content, Card) else form_card(content, opening_id(content.action))


def _reply_timeout(event: Event, modal_wait_s: float) -> float:
    """Returns how long to wait for a reply before acknowledging: a modal is only accepted as the first response."""
    if isinstance(event, Command):
        opens = may_open_form(event.text) and not event.text.startswith(_CARD_COMMANDS)
        return modal_wait_s if opens else 0.0
    if isinstance(event, Press):
        try:
            action = actions.decode(event.action)
        except BadAction:
            return 0.0
        if isinstance(action, actions.OpenCard):
            return _CARD_TIMEOUT_S
        return modal_wait_s if isinstance(action, _MODAL_ACTIONS) else 0.0
    return 0.0


# Delays


class ClockSkew:
    """Estimates the offset between Discord's clock and ours from the fastest of the latest interactions.

    `steady` is a monotonic clock, seconds.
    """

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._ages: deque[float] = deque(maxlen=_SAMPLES)

    def of(self, interaction: str) -> float:
        """Returns by how many seconds this interaction is slower than the fastest one; 0 for the first."""
        age = self._steady() - created_ms(interaction) / 1000
        self._ages.append(age)
        return age - min(self._ages)


def age_s(interaction: str, now: datetime) -> float:
    """Returns seconds since the interaction was created, assuming that the clocks agree."""
    return now.timestamp() - created_ms(interaction) / 1000


# Files


class FileRejected(Exception):
    """A file cannot be used; the card says why and what to do."""

    def __init__(self, card: Card) -> None:
        super().__init__(card.summary)
        self.card = card


async def read_file(file: WantedFile, fetch: Fetch) -> str:
    """Downloads a file and returns its text. Raises FileRejected."""
    if file.size > file.most:
        raise FileRejected(file_too_large_card(file.name, file.size, file.most))
    try:
        content = await fetch(file.url)
    except (discord.HTTPException, OSError) as error:
        raise FileRejected(file_unavailable_card(file.name)) from error
    if len(content) > file.most:
        raise FileRejected(file_too_large_card(file.name, len(content), file.most))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileRejected(file_not_text_card(file.name)) from error
    if "\x00" in text:
        raise FileRejected(file_not_text_card(file.name))
    return text
