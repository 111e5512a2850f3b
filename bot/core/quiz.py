"""From what people do to what they are told: event, service call, card. No wording of its own, no platform objects."""

from __future__ import annotations

import logging
import re
import time
from typing import Any

from pydantic import ValidationError

from bot.core import actions
from bot.core.actions import BadAction
from bot.core.admins import AdminDesk
from bot.core.cards import Card, Form, Reply
from bot.core.commands import CommandError, read_command
from bot.core.events import Added, Command, Event, Press, Sent, Submit, Visited
from bot.core.hello import HelloDesk
from bot.core.links import Links
from bot.core.markup import escape
from bot.core.members import MemberDesk
from bot.core.metrics import event_answered
from bot.core.presses import PressDesk
from bot.core.sent import SentDesk
from bot.core.wording import texts
from service import tracing
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.limits import limit_words

_LOG = logging.getLogger(__name__)
_REF = re.compile(r"[rp][0-9]{1,18}")


class Quiz:
    """Answers every event of every platform; it keeps nothing, so any process may answer any press.

    With `links` a code question comes with a link to the web editor.
    """

    def __init__(self, client: ServiceClient, links: Links | None = None) -> None:
        self._links = links
        self._members = MemberDesk(client)
        self._admins = AdminDesk(client)
        self._hello = HelloDesk(client)
        self._sent = SentDesk(client)
        self._presses = PressDesk(client, self._members, self._admins, self._hello)

    async def handle(self, event: Event) -> Reply:
        """What the one who caused `event` is told, privately. Never raises."""
        begun = time.monotonic()
        with tracing.following(event.id):
            try:
                reply, outcome = await self._answered(event), "answered"
            except Exception as error:  # whatever fails, the member gets an answer and the log the cause
                # It takes no card's place: what was typed or shown there is still wanted.
                reply, outcome = Reply(_trouble(event, error)), type(error).__name__
            ms = round(1000 * (time.monotonic() - begun), 1)
            tracing.mark(_LOG, "event answered", **_about(event), status=outcome, ms=ms)
        event_answered(event.who.platform, type(event).__name__, outcome, ms)
        return reply

    async def _answered(self, event: Event) -> Reply:
        if isinstance(event, Added):
            hello, first = await self._hello.added(event)
            return Reply(hello, needless=not first)
        said = await self._said(event)
        if self._links is not None:
            said = self._links.beside(said, event)
        return Reply(said, replaces=_is_answer(event) and isinstance(said, Card))

    async def _said(self, event: Command | Press | Submit | Sent | Visited) -> Card | Form:
        match event:
            case Command():
                typed = read_command(event.name, event.text)
                desk = self._admins if typed.spec.admin else self._members
                return await desk.run(event, typed)
            case Press():
                return await self._presses.press(event)
            case Submit():
                return await self._presses.submit(event)
            case Sent():
                return await self._sent.sent(event)
            case Visited():
                return await self._hello.visited(event)


def _trouble(event: Event, error: Exception) -> Card:
    """What is said when an event could not be answered as wished."""
    match error:
        case CommandError() | BadAction():
            return texts.refused_card(str(error), _question_of(event))
        case ServiceRefused():
            return texts.refused_card(escape(error.failure.message), _question_of(event))
        case ServiceUnavailable():
            _LOG.warning("%s %s: %s", type(event).__name__, event.id, error)
            return texts.unavailable_card()
        case ValidationError():
            # The wire's own limits: what was typed is more than the service takes.
            return texts.refused_card(escape(limit_words(error.errors())), _question_of(event))
        case _:
            _LOG.error("%s %s could not be answered", type(event).__name__, event.id, exc_info=error)
            return texts.fault_card()


def _is_answer(event: Event) -> bool:
    """Whether the reply makes what the event came from obsolete; an editor stays while its examples are run."""
    if isinstance(event, Submit):
        return not isinstance(actions.decode(event.action), actions.Try)
    return isinstance(event, Press)


def _about(event: Event) -> dict[str, Any]:
    """What the log may say of an event: nothing that anybody wrote or chose."""
    who = event.who
    member = tracing.opaque(who.platform, who.workspace, who.member)
    said = {"kind": type(event).__name__, "platform": who.platform, "workspace": who.workspace, "member": member}
    return {**said, "ref": _ref_of(event)}


def _ref_of(event: Event) -> str:
    """The question that a press or a form is about; empty where it is about none."""
    if not isinstance(event, Press | Submit):
        return ""
    try:
        ref = str(getattr(actions.decode(event.action), "ref", "")).partition(",")[0]
    except BadAction:
        return ""
    # An action is whatever a browser sends; only what the service gave out is told.
    return ref if _REF.fullmatch(ref) else ""


def _question_of(event: Event) -> str:
    """The question whose form was filled, so that the way back to it can be offered."""
    if isinstance(event, Submit):
        try:
            action = actions.decode(event.action)
        except BadAction:
            return ""
        if isinstance(action, actions.Fill | actions.Try):
            return action.ref
    return ""
