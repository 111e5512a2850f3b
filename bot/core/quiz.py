"""From what people do to what they are told: event, service call, card. No wording of its own, no platform objects."""

from __future__ import annotations

import logging

from pydantic import ValidationError

from bot.core import actions
from bot.core.actions import BadAction
from bot.core.admins import AdminDesk
from bot.core.cards import Card, Form, Reply
from bot.core.commands import CommandError, read_command
from bot.core.events import Command, Event, Press, Submit
from bot.core.markup import escape
from bot.core.members import MemberDesk
from bot.core.presses import PressDesk
from bot.core.wording import texts
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable

_LOG = logging.getLogger(__name__)


class Quiz:
    """Answers every event of every platform; it keeps nothing, so any process may answer any press."""

    def __init__(self, client: ServiceClient) -> None:
        self._members = MemberDesk(client)
        self._admins = AdminDesk(client)
        self._presses = PressDesk(client, self._members, self._admins)

    async def handle(self, event: Event) -> Reply:
        """What the one who caused `event` is told, privately. Never raises."""
        try:
            said = await self._said(event)
        except (CommandError, BadAction) as error:
            said = texts.refused_card(str(error), _question_of(event))
        except ServiceRefused as error:
            said = texts.refused_card(escape(error.failure.message), _question_of(event))
        except ServiceUnavailable as error:
            _LOG.warning("%s %s: %s", type(event).__name__, event.id, error)
            said = texts.unavailable_card()
        except ValidationError as error:
            # The wire's own limits: what was typed is longer than anything the service takes.
            said = texts.refused_card(
                f"That is too long or of the wrong kind: {escape(error.errors()[0]['msg'])}.", _question_of(event)
            )
        except Exception:  # whatever else fails, the member gets an answer and the log the cause
            _LOG.exception("%s %s could not be answered", type(event).__name__, event.id)
            said = texts.fault_card()
        return Reply(said, replaces=isinstance(event, Press | Submit) and isinstance(said, Card))

    async def _said(self, event: Event) -> Card | Form:
        match event:
            case Command():
                typed = read_command(event.name, event.text)
                desk = self._admins if typed.spec.admin else self._members
                return await desk.run(event, typed)
            case Press():
                return await self._presses.press(event)
            case Submit():
                return await self._presses.submit(event)


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
