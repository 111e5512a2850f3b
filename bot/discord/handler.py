"""Answers what people do on Discord: journal, first response, quiz, reply. No gateway, no rendering, no wording.

The first response needs no service and no database. Only where a window may have to open, which Discord takes as a
first response alone, the service is given a second and a half; past that a private message brings the way to it.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

import discord

from bot.core import actions
from bot.core.actions import BadAction
from bot.core.cards import Card, Form, Reply
from bot.core.dispatcher import Answer, DeliveryDelayed, DeliveryRefused, Target
from bot.core.events import Command, Event, Press
from bot.core.journal import Journal, Taken
from bot.core.metrics import ACKNOWLEDGED, LATE
from bot.core.text.members import fault_card
from bot.discord.commands import Suggester
from bot.discord.interactions import (
    COMPLETING,
    RawInteraction,
    WantedFile,
    dumped,
    loaded,
    member_of,
    path_of,
    read_interaction,
    spec_of,
    with_files,
)
from bot.discord.modals import fits_modal, modal
from bot.discord.platform import DiscordPlatform
from bot.discord.render import (
    EPHEMERAL,
    file_card,
    form_card,
    home_card,
    instant_ms,
    note_card,
    placed_body,
    stranger_card,
)
from bot.discord.replies import (
    CHOICES,
    MODAL,
    THINKING,
    TROUBLE,
    WORKING,
    Expired,
    HeardByAnother,
    InteractionToken,
    NotHeard,
    Replies,
    choices,
)
from service.tracing import following
from service.wire import Who

# How late an interaction reaches us, whatever the difference between Discord's clock and ours.


TOO_LATE_S: Final = 2.5
"""Discord waits three seconds for a first response; on the road there some of them are lost."""
_REMEMBERED: Final = 64


class ClockSkew:
    """The promptest of the last interactions stands for the difference of the clocks.

    `steady` counts seconds from whenever and is never set, unlike the time of day.
    """

    def __init__(self, steady: Callable[[], float]) -> None:
        self._steady = steady
        self._ages: deque[float] = deque(maxlen=_REMEMBERED)

    def of(self, interaction: str) -> float:
        """Seconds by which it is later than the promptest one; 0 for the first."""
        age = self._steady() - instant_ms(interaction) / 1000
        self._ages.append(age)
        return age - min(self._ages)


def age_of(interaction: str, now: datetime) -> float:
    """Seconds since it was made, if the clocks agree."""
    return now.timestamp() - instant_ms(interaction) / 1000


# Files that members hand in, fetched from Discord and read as text. What is wrong with one is said in a sentence.


Fetch = Callable[[str], Awaitable[bytes]]
"""The bytes at an address of Discord's."""


class FileWrong(Exception):
    """A file that cannot be taken; the message says why and what to do."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(why)
        self.name = name


async def read_file(wanted: WantedFile, fetch: Fetch) -> str:
    """The text of a file. Raises FileWrong."""
    if wanted.size > wanted.most:
        raise FileWrong(wanted.name, f"It has {wanted.size:,} bytes; at most {wanted.most:,} are taken.")
    try:
        content = await fetch(wanted.url)
    except (discord.HTTPException, OSError) as error:
        raise FileWrong(wanted.name, "Discord would not hand it out; please send it again.") from error
    if len(content) > wanted.most:
        raise FileWrong(wanted.name, f"It has {len(content):,} bytes; at most {wanted.most:,} are taken.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileWrong(wanted.name, "It is no text in UTF-8; save it as such and send it again.") from error
    if "\x00" in text:
        raise FileWrong(wanted.name, "It holds zero bytes, so it is no text; send the source itself.")
    return text


_LOG = logging.getLogger(__name__)

_WINDOW_PATIENCE_S: Final = 1.5
# Of what opens no window: a card that is there so soon comes without a "thinking" before it.
_CARD_PATIENCE_S: Final = 0.2
# An interaction that Discord forgot when it was younger than this was answered by another of us.
_SURELY_KNOWN_S: Final = 2.0

WhoIs = Callable[[Who], Awaitable[Who | None]]
"""A member of a server as they are there now; None when they are in it no more."""


@dataclass(frozen=True, slots=True)
class Case:
    """An event with what its reply needs."""

    event: Event
    line: InteractionToken
    edits: bool = False
    """Whether it came from a private card of ours, which a reply may replace."""
    opens: bool = False
    direct: bool = False
    """Whether it came from a direct message, whose buttons must say their server."""
    files: tuple[WantedFile, ...] = ()

    @property
    def route(self) -> dict[str, str]:
        """For the journal."""
        flags = {"edits": self.edits, "opens": self.opens, "direct": self.direct}
        marks = " ".join(name for name, flag in flags.items() if flag)
        line = {"id": str(self.line.id), "application": str(self.line.application), "token": self.line.token}
        return {**line, "marks": marks, "files": dumped(self.files)}

    @classmethod
    def of(cls, taken: Taken) -> Case:
        """From the journal."""
        marks = taken.route["marks"].split()
        flags = {name: name in marks for name in ("edits", "opens", "direct")}
        return cls(taken.event, InteractionToken.of(taken.route), files=loaded(taken.route["files"]), **flags)

    @property
    def place(self) -> Mapping[str, str]:
        """The server and channel its buttons must say; empty where the message is in the server itself."""
        where = (self.event.who.workspace, self.event.where.channel) if self.direct else ("", "")
        return {"guild": where[0], "channel": where[1]}


@dataclass(frozen=True, slots=True)
class InteractionHandler:
    """Answers interactions, each once. It keeps nothing but the journal, so any process may answer any press."""

    answer: Answer
    journal: Journal
    replies: Replies
    platform: DiscordPlatform
    suggester: Suggester
    fetch: Fetch
    who_is: WhoIs
    clock: Callable[[], datetime]
    lateness: ClockSkew

    async def hear(self, heard: RawInteraction) -> None:
        """Answer an interaction. Never raises, but for being cancelled: then the journal still holds it."""
        late = self.lateness.of(heard.id)
        line = InteractionToken(int(heard.id), int(heard.application), heard.token)
        if heard.kind == COMPLETING:
            await self._complete(heard, line)
            return
        read = read_interaction(heard, self.clock() - timedelta(seconds=late))
        if read is None:
            _LOG.warning("interaction %s of kind %s is none of ours", heard.id, heard.kind)
        elif not read.event.who.workspace:
            await self._send_home(line)
        else:
            case = Case(read.event, line, heard.private, read.opens, not heard.guild, read.files)
            if self._take(case):
                await self._settle(case, self._answer(case, late))

    async def replay(self) -> None:
        """Answer what was taken before a crash and not answered."""
        for taken in self.journal.left():
            if "token" not in taken.route:
                continue
            try:
                case = Case.of(taken)
            except (KeyError, ValueError, TypeError) as error:
                # Of another version of ours: it must not keep the others from being answered.
                _LOG.error("%s was left and cannot be read: %r", taken.event.id, error)
                self.journal.done(taken.event.id)
                continue
            _LOG.info("answering %s, which was left", case.event.id)
            await self._settle(case, self._answer_again(case))

    # Once

    def _take(self, case: Case) -> bool:
        try:
            return self.journal.take(case.event, case.route)
        except sqlite3.Error as error:
            # Better answered without a record than not at all.
            _LOG.error("the journal cannot be written: %s", error)
            return True

    async def _settle(self, case: Case, answering: Awaitable[None]) -> None:
        try:
            with following(case.event.id):
                await answering
        except HeardByAnother:
            _LOG.info("%s was answered by another of us", case.event.id)
        except Exception:  # whatever fails, the next interaction is answered
            _LOG.exception("%s could not be answered", case.event.id)
        try:
            self.journal.done(case.event.id)
        except sqlite3.Error as error:
            _LOG.error("the journal cannot be written: %s", error)

    # Answering

    async def _answer(self, case: Case, late: float) -> None:
        begun = asyncio.get_running_loop().time()
        handling: asyncio.Task[Reply] | None = None
        try:
            if late >= TOO_LATE_S:
                _LOG.warning("%s came %.1f s late", case.event.id, late)
                LATE.labels("discord").inc()
                raise NotHeard
            if patience := _patience(case.event):
                handling = asyncio.create_task(self._reply_to(case))
                await asyncio.wait({handling}, timeout=max(0.0, patience - late))
                if handling.done() and await self._at_once(case, handling.result()):
                    _acknowledged(late, begun)
                    return
            if await self._acknowledge(case):
                _acknowledged(late, begun)
            await self._say(case, await (handling or self._reply_to(case)))
        except NotHeard:
            waited = asyncio.get_running_loop().time() - begun
            if max(late, age_of(str(case.line.id), self.clock())) + waited < _SURELY_KNOWN_S:
                raise HeardByAnother from None
            await self._say_aside(case, await (handling or self._reply_to(case)))
        finally:
            if handling is not None:
                handling.cancel()

    async def _answer_again(self, case: Case) -> None:
        if age_of(str(case.line.id), self.clock()) < TOO_LATE_S:
            try:
                await self._acknowledge(case)
            except (HeardByAnother, NotHeard):
                _LOG.debug("%s was acknowledged before", case.event.id)
        await self._say(case, await self._reply_to(case))

    async def _acknowledge(self, case: Case) -> bool:
        """Say that the reply is under way; False where nobody knows whether that arrived."""
        kind, data = (WORKING, None) if case.edits else (THINKING, {"flags": EPHEMERAL})
        try:
            await self.replies.first(case.line, kind, data)
        except TROUBLE as error:
            # What was done is done all the same, and its reply finds a way.
            _LOG.warning("%s could not be acknowledged: %r", case.event.id, error)
            return False
        return True

    async def _reply_to(self, case: Case) -> Reply:
        """What the quiz says, once the files are read and the member of a direct message is known."""
        event = case.event
        try:
            event = with_files(event, [(one.name, await read_file(one, self.fetch)) for one in case.files])
        except FileWrong as wrong:
            return Reply(file_card(wrong.name, str(wrong)))
        if case.direct:
            who = await self.who_is(event.who)
            if who is None:
                return Reply(stranger_card())
            event = replace(event, who=who)
        return await self.answer(event)

    async def _at_once(self, case: Case, reply: Reply) -> bool:
        """Make the reply the first response; False when Discord would not have its window."""
        said = reply.said
        if isinstance(said, Card):
            await self.replies.respond(case.line, said, replaces=case.edits and reply.replaces, **case.place)
            return True
        if not (case.opens or fits_modal(said)):
            await self.replies.respond(case.line, form_card(said), replaces=False, **case.place)
            return True
        try:
            await self.replies.first(case.line, MODAL, placed_body(modal(said), **case.place))
        except discord.HTTPException as error:
            if error.status != 400:
                raise
            _LOG.error("Discord refuses the window %r: %s", said.title, error)
            return False
        return True

    async def _say(self, case: Case, reply: Reply) -> None:
        """Reply after the first response."""
        card = _as_card(reply.said)
        edits = not case.edits or (reply.replaces and isinstance(reply.said, Card))
        try:
            await self.replies.say(case.line, card, edits=edits, **case.place)
        except (Expired, *TROUBLE) as error:
            _LOG.info("%s is told in another way: %r", case.event.id, error)
            await self._say_aside(case, reply)
        except discord.HTTPException as error:
            _LOG.error("Discord refuses the reply %r: %s", card.title, error)
            await self.replies.say(case.line, fault_card(), edits=not case.edits, **case.place)

    async def _say_aside(self, case: Case, reply: Reply) -> None:
        """Reply by the bot's own token: to the member alone, or else with a note that tells nothing."""
        event = case.event
        where = Target(event.who.workspace, event.where.channel, event.who.member)
        try:
            await self.platform.post(where, _as_card(reply.said), event.id)
        except (DeliveryRefused, DeliveryDelayed) as error:
            _LOG.info("%s takes no direct message: %s", event.who.member, error)
            channel = Target(event.who.workspace, event.where.channel)
            await self.platform.post(channel, note_card(event.who.name), f"{event.id}/note")

    # Small answers

    async def _send_home(self, line: InteractionToken) -> None:
        try:
            await self.replies.respond(line, home_card(), replaces=False, guild="", channel="")
        except (NotHeard, HeardByAnother, Expired, discord.HTTPException) as error:
            _LOG.info("a direct message was not answered: %r", error)

    async def _complete(self, heard: RawInteraction, line: InteractionToken) -> None:
        path, options = path_of(heard.data)
        spec = spec_of(str(heard.data.get("name", "")), path)
        typing = next((one for one in options if one.get("focused")), {})
        argument = next((one for one in spec.arguments if one.name == typing.get("name")), None) if spec else None
        try:
            offers = []
            if spec and argument:
                offers = await self.suggester.offers(member_of(heard), spec, argument, str(typing.get("value") or ""))
            await self.replies.first(line, CHOICES, choices(offers))
        except (NotHeard, HeardByAnother, discord.HTTPException) as error:
            _LOG.info("nothing was offered: %r", error)


def _acknowledged(late: float, begun: float) -> None:
    ACKNOWLEDGED.labels("discord").observe(late + asyncio.get_running_loop().time() - begun)


def _as_card(said: Card | Form) -> Card:
    return said if isinstance(said, Card) else form_card(said)


_OPENING_PRESSES = (
    actions.Open,
    actions.Fill,
    actions.Try,
    actions.Next,
    actions.NextOf,
    actions.Report,
    actions.Snippet,
    actions.Import,
    actions.SetupAt,
)
_OPENING_COMMANDS = ("answer", "practice", "report", "bank import")


def _patience(event: Event) -> float:
    """How long the reply may take to be the first response, as it must be where it is a window to fill in."""
    if isinstance(event, Command):
        opens = event.text == "run" or event.text.startswith(_OPENING_COMMANDS)
        return _WINDOW_PATIENCE_S if opens else 0.0
    if isinstance(event, Press):
        try:
            action = actions.decode(event.action)
        except BadAction:
            return 0.0
        if isinstance(action, actions.OpenCard):
            return _CARD_PATIENCE_S
        return _WINDOW_PATIENCE_S if isinstance(action, _OPENING_PRESSES) else 0.0
    return 0.0
