"""Answers Slack's events: asks the quiz and delivers its reply within Slack's deadlines."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

from bot.core import actions
from bot.core.cards import Card, Form, Reply
from bot.core.command_spec import may_open_form
from bot.core.dispatcher import Answer
from bot.core.events import Command, Event, Press, Sent, Submit, Visited
from bot.core.text.members import refused_card
from bot.core.text.results import reopen_card
from bot.slack.inbox import Inbox
from bot.slack.people import AdminUnknown, FileFetcher, MemberDirectory
from bot.slack.replies import (
    Replies,
    card_view,
    field_errors,
    form_view,
    refilled_view,
    reply_view,
    waiting_view,
)
from bot.slack.route import IncomingEvent, Route, route_from
from bot.slack.web_api import CALL_ERRORS
from service.tracing import correlate

_LOG = logging.getLogger(__name__)
# A submission must be acknowledged within three seconds, and only the acknowledgement can show errors on its fields.
_ACK_TIMEOUT_S = 2.0
Body = dict[str, Any]
Ack = Callable[..., Awaitable[Any]]
_CARD_ACTIONS = (
    actions.Choose,
    actions.Confide,
    actions.Hint,
    actions.Compare,
    actions.ShareAnswer,
    actions.PeerAnswers,
    actions.ConfirmMarks,
    actions.Credit,
    actions.Explain,
    actions.MyResult,
    actions.ShowBoard,
    actions.Privacy,
    actions.Review,
    actions.ReviewSuggestion,
    actions.AcceptSuggestion,
)
"""Actions that never open a form."""
_ADMIN_ACTIONS = actions.SetupPress | actions.SetupSubmit | actions.ReviewPress | actions.AdminPress


class SlackHandler:
    """Answers events, each in a task of its own, so that a shutdown can wait for them.

    A form that is ready within `view_wait_s` seconds is opened directly; otherwise a waiting view is opened first and
    updated when the form is ready.
    """

    def __init__(
        self,
        answer: Answer,
        people: MemberDirectory,
        replies: Replies,
        files: FileFetcher,
        inbox: Inbox,
        *,
        view_wait_s: float,
    ) -> None:
        self._answer = answer
        self._people = people
        self._replies = replies
        self._files = files
        self._inbox = inbox
        self._view_wait_s = view_wait_s
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def busy(self) -> int:
        """Number of events being answered."""
        return len(self._tasks)

    def start(self, incoming: IncomingEvent) -> None:
        """Starts answering an event that has been acknowledged."""
        self._start(self._finish(incoming, self._answer_event(incoming)))

    def start_submission(self, incoming: IncomingEvent, view: Body, ack: Ack) -> None:
        """Starts answering a submitted view, which includes its acknowledgement."""
        self._start(self._finish(incoming, self._answer_submission(incoming, view, ack)))

    async def resume(self) -> int:
        """Starts answering the events another process left; returns how many. Their triggers have expired."""
        left = await self._inbox.unanswered()
        for taken in left:
            route = replace(route_from(taken.route), trigger="")
            self.start(IncomingEvent(taken.event, route))
        return len(left)

    async def drain(self, seconds: float) -> None:
        """Waits for running answers; the next process answers what is not ready by then."""
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _start(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _finish(self, incoming: IncomingEvent, doing: Coroutine[Any, Any, None]) -> None:
        try:
            with correlate(incoming.event.id):
                await doing
        except CALL_ERRORS as error:
            # The event was handled; only the reply failed, and would fail again.
            _LOG.warning("%s: the reply was not delivered: %s", incoming.event.id, error)
        except Exception:
            _LOG.exception("%s could not be answered", incoming.event.id)
        await self._inbox.mark_answered(incoming.event.id)

    # The reply

    async def _reply(self, incoming: IncomingEvent) -> Reply:
        event, route = incoming.event, incoming.route
        async with self._inbox.turn(event):
            try:
                who = await self._people.resolve(event.who, route.enterprise, admin_matters=is_for_admins(event))
            except AdminUnknown as error:
                return Reply(refused_card(str(error)))
            event = replace(event, who=who)
            if isinstance(event, Sent | Submit) and route.files:
                read = await self._files.with_files(event, route)
                if isinstance(read, Card):
                    return Reply(read)
                event = read
            return await self._answer(event)

    # Its delivery

    async def _answer_event(self, incoming: IncomingEvent) -> None:
        route = incoming.route
        replying = asyncio.create_task(self._reply(incoming))
        try:
            waiting = None
            if route.trigger and may_need_view(incoming):
                ready, _ = await asyncio.wait({replying}, timeout=self._view_wait_s)
                if not ready and (waiting := await self._replies.open_view(route, waiting_view())) is None:
                    # A trigger opens one view, within three seconds: a second attempt would be refused.
                    incoming = replace(incoming, route=replace(route, trigger=""))
            reply = await replying
        finally:
            replying.cancel()
        if not reply.droppable:
            await self._deliver(incoming, reply, waiting)

    async def _deliver(self, incoming: IncomingEvent, reply: Reply, waiting: str | None) -> None:
        route, content = incoming.route, reply.content
        if isinstance(incoming.event, Visited):
            await self._replies.publish_home(route, _as_card(content))
        elif waiting is not None:
            if not await self._replies.update_view(route, waiting, reply_view(content, route)):
                await self._send_card(route, _as_card(content), reply)
        elif route.window == "card" and await self._replies.update_view(route, route.view, reply_view(content, route)):
            return
        elif isinstance(content, Form):
            opened = await self._replies.open_view(route, form_view(content, route))
            if opened is None and not await self._replies.send_form(route, content):
                await self._send_card(route, reopen_card(content), reply)
        elif not (route.window and await self._replies.open_view(route, card_view(content, route))):
            await self._send_card(route, content, reply)

    async def _send_card(self, route: Route, card: Card, reply: Reply) -> None:
        await self._replies.send_card(route, card, replaces=reply.replaces and isinstance(reply.content, Card))

    async def _answer_submission(self, incoming: IncomingEvent, view: Body, ack: Ack) -> None:
        route = incoming.route
        replying = asyncio.create_task(self._reply(incoming))
        try:
            ready, _ = await asyncio.wait({replying}, timeout=_ACK_TIMEOUT_S)
            if not ready:
                await ack(response_action="update", view=waiting_view("Sending…"))
            reply = await replying
        finally:
            replying.cancel()
        if ready:
            await self._acknowledge(route, view, reply, ack)
            return
        refused = refusal(reply)
        body = reply_view(reply.content, route) if refused is None else refilled_view(view, refused)
        if not await self._replies.update_view(route, route.view, body):
            await self._send_card(route, _as_card(reply.content), reply)

    async def _acknowledge(self, route: Route, view: Body, reply: Reply, ack: Ack) -> None:
        content, refused = reply.content, refusal(reply)
        errors = None if refused is None else field_errors(view, refused)
        if errors is not None:
            await ack(**errors)
        elif isinstance(content, Form) or not route.channel:
            await ack(response_action="update", view=reply_view(content, route))
        else:
            await ack(response_action="clear")
            await self._send_card(route, content, reply)


def may_need_view(incoming: IncomingEvent) -> bool:
    """Returns whether the reply may need a view, which must be opened before the trigger expires."""
    event, route = incoming.event, incoming.route
    match event:
        case Command():
            return may_open_form(event.text)
        case Press():
            return route.window != "card" and (route.window == "home" or not isinstance(_action(event), _CARD_ACTIONS))
        case Submit():
            return route.window == "form"
        case _:
            return False


def is_for_admins(event: Event) -> bool:
    """Returns whether an event is only for admins."""
    match event:
        case Command():
            return event.name != "quiz"
        case Press() | Submit():
            return isinstance(_action(event), _ADMIN_ACTIONS)
        case _:
            return False


def refusal(reply: Reply) -> Card | None:
    """Returns why a submission was refused, so that its form stays open; None if it was accepted."""
    return reply.content if isinstance(reply.content, Card) and not reply.replaces else None


def _action(event: Press | Submit) -> actions.Action | None:
    try:
        return actions.decode(event.action)
    except actions.BadAction:
        return None


def _as_card(content: Card | Form) -> Card:
    return reopen_card(content) if isinstance(content, Form) else content
