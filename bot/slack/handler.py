"""From an arrival to what its member is told: asks the quiz, keeps Slack's deadlines, crosses it off the journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from datetime import datetime
from typing import Any

from bot.core import actions
from bot.core.cards import Card, Form, Reply
from bot.core.dispatcher import Answer
from bot.core.events import Command, Event, Press, Sent, Submit, Visited
from bot.core.journal import Journal
from bot.core.text.members import refused_card
from bot.core.text.results import reopen_card
from bot.slack.people import CannotTell, FileFetcher, People
from bot.slack.replies import (
    CANNOT,
    Replies,
    card_view,
    field_errors,
    form_view,
    refilled_view,
    said_view,
    waiting_view,
)
from bot.slack.route import Arrival, Route, route_from
from service.tracing import following

_LOG = logging.getLogger(__name__)

# A trigger lives three seconds. A form that is ready sooner than this is opened at once; else a window is opened that
# says to wait, and filled when the form is there.
_FIRST_S = 0.5
# A submitted view must be acknowledged within three seconds, and can show an error only in that acknowledgement.
_ACK_S = 2.0

Body = dict[str, Any]
Ack = Callable[..., Awaitable[Any]]

# Commands that may ask for more than was typed, and presses that never do.
_ASKING = (("answer",), ("practice",), ("run",), ("report",), ("bank", "import"))
_TELLING = (actions.Choose, actions.Rate, actions.Explain, actions.ShowBoard, actions.Privacy, actions.Settle)
_FOR_ADMINS = frozenset({"Import", "Settle", "Setup", "SetupAt", "Begin", "PostNow"})


class SlackHandler:
    """Every arrival is one task, so that whoever stops can wait for them."""

    def __init__(self, answer: Answer, people: People, replies: Replies, files: FileFetcher, journal: Journal) -> None:
        self._answer = answer
        self._people = people
        self._replies = replies
        self._files = files
        self._journal = journal
        self._work: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> int:
        """How many arrivals are being answered."""
        return len(self._work)

    def begin(self, arrival: Arrival) -> None:
        """Answer an arrival that was acknowledged."""
        self._start(self._finished(arrival, self._told(arrival)))

    def submit(self, arrival: Arrival, view: Body, ack: Ack) -> None:
        """Answer a submitted view, acknowledging it."""
        self._start(self._finished(arrival, self._submitted(arrival, view, ack)))

    def resume(self, clock: Callable[[], datetime]) -> int:
        """Answer again what an earlier process took and did not answer; returns how many. Views cannot be opened."""
        left = self._journal.left()
        for taken in left:
            route = replace(route_from(taken.route), trigger="")
            self.begin(Arrival(taken.event, route))
        return len(left)

    async def drain(self, seconds: float) -> None:
        """Wait for what is being answered; what is not ready by then is answered by the next process."""
        if self._work:
            _, late = await asyncio.wait(self._work, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _start(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(doing)
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _finished(self, arrival: Arrival, doing: Coroutine[Any, Any, None]) -> None:
        try:
            with following(arrival.event.id):
                await doing
        except CANNOT as error:
            # What was done is done; only the telling failed, and a second telling would fail alike.
            _LOG.warning("%s could not be told: %s", arrival.event.id, error)
        except Exception:
            _LOG.exception("%s could not be answered", arrival.event.id)
        self._journal.done(arrival.event.id)

    # What to say

    async def _reply(self, arrival: Arrival) -> Reply:
        event, route = arrival.event, arrival.route
        try:
            who = await self._people.known(event.who, route.enterprise, admin_matters=for_admins(event))
        except CannotTell as error:
            return Reply(refused_card(str(error)))
        event = replace(event, who=who)
        if isinstance(event, Sent):
            read = await self._files.with_files(event, route)
            if isinstance(read, Card):
                return Reply(read)
            event = read
        return await self._answer(event)

    # How to say it

    async def _told(self, arrival: Arrival) -> None:
        route = arrival.route
        thinking = asyncio.create_task(self._reply(arrival))
        try:
            waiting = None
            if route.trigger and may_ask(arrival):
                ready, _ = await asyncio.wait({thinking}, timeout=_FIRST_S)
                waiting = None if ready else await self._replies.open(route, waiting_view())
            reply = await thinking
        finally:
            thinking.cancel()
        if not reply.needless:
            await self._tell(arrival, reply, waiting)

    async def _tell(self, arrival: Arrival, reply: Reply, waiting: str | None) -> None:
        route, said = arrival.route, reply.said
        if isinstance(arrival.event, Visited):
            await self._replies.publish(route, _as_card(said))
        elif waiting is not None:
            if not await self._replies.update(route, waiting, said_view(said, route)):
                await self._say(route, _as_card(said), reply)
        elif route.window == "card" and await self._replies.update(route, route.view, said_view(said, route)):
            return
        elif isinstance(said, Form):
            if await self._replies.open(route, form_view(said, route)) is None:
                await self._say(route, reopen_card(said), reply)
        elif not (route.window and await self._replies.open(route, card_view(said, route))):
            await self._say(route, said, reply)

    async def _say(self, route: Route, card: Card, reply: Reply) -> None:
        await self._replies.show(route, card, replaces=reply.replaces and isinstance(reply.said, Card))

    async def _submitted(self, arrival: Arrival, view: Body, ack: Ack) -> None:
        route = arrival.route
        thinking = asyncio.create_task(self._reply(arrival))
        try:
            ready, _ = await asyncio.wait({thinking}, timeout=_ACK_S)
            if not ready:
                await ack(response_action="update", view=waiting_view("Sending…"))
            reply = await thinking
        finally:
            thinking.cancel()
        if ready:
            await self._acknowledged(route, view, reply, ack)
            return
        refused = refusal(reply)
        body = said_view(reply.said, route) if refused is None else refilled_view(view, refused)
        if not await self._replies.update(route, route.view, body):
            await self._say(route, _as_card(reply.said), reply)

    async def _acknowledged(self, route: Route, view: Body, reply: Reply, ack: Ack) -> None:
        said, refused = reply.said, refusal(reply)
        errors = None if refused is None else field_errors(view, refused)
        if errors is not None:
            await ack(**errors)
        elif isinstance(said, Form) or not route.channel:
            await ack(response_action="update", view=said_view(said, route))
        else:
            await ack(response_action="clear")
            await self._say(route, said, reply)


def may_ask(arrival: Arrival) -> bool:
    """Whether the answer may be a form or belongs in a window, so that its view must be opened in time."""
    event, route = arrival.event, arrival.route
    match event:
        case Command():
            return any(tuple(event.text.lower().split()[: len(words)]) == words for words in _ASKING)
        case Press():
            return route.window != "card" and (route.window == "home" or not isinstance(_action(event), _TELLING))
        case Submit():
            return route.window == "form"
        case _:
            return False


def for_admins(event: Event) -> bool:
    """Whether it matters that who did it is an admin."""
    match event:
        case Command():
            return event.name != "quiz"
        case Press() | Submit():
            return type(_action(event)).__name__ in _FOR_ADMINS
        case _:
            return False


def refusal(reply: Reply) -> Card | None:
    """Why a submission came to nothing; None where it did not, for only then is the form still wanted."""
    return reply.said if isinstance(reply.said, Card) and not reply.replaces else None


def _action(event: Press | Submit) -> actions.Action | None:
    try:
        return actions.decode(event.action)
    except actions.BadAction:
        return None


def _as_card(said: Card | Form) -> Card:
    return reopen_card(said) if isinstance(said, Form) else said
