"""Where Slack's events come in: written to the journal in a middleware, then acknowledged, then handed to the desk."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncBoltContext, AsyncBoltRequest
from slack_bolt.response import BoltResponse

from bot.core.journal import Journal
from bot.core.metrics import ACKNOWLEDGED, LATE, REPEATED
from bot.platforms.slack.desk import Desk
from bot.platforms.slack.payloads import installed_in, read_payload, revoked
from bot.platforms.slack.tokens import Authorized, Tokens
from bot.platforms.slack.web import SlackWeb
from service.client import ServiceRefused, ServiceUnavailable

_LOG = logging.getLogger(__name__)
_ANY = re.compile("")
_TOO_LATE = timedelta(seconds=3)
"""By then a trigger opens nothing any more."""

Body = dict[str, Any]
Next = Callable[[], Awaitable[BoltResponse]]
Ack = Callable[..., Awaitable[BoltResponse]]


class Inbox:
    """The Bolt app, and when the last event came in."""

    def __init__(
        self,
        web: SlackWeb,
        tokens: Tokens,
        journal: Journal,
        desk: Desk,
        clock: Callable[[], datetime],
        signing_secret: str = "",
    ) -> None:
        self._tokens = tokens
        self._journal = journal
        self._desk = desk
        self._clock = clock
        self.last: datetime | None = None
        self.app = AsyncApp(
            name="dailygrad",
            client=web.client(),
            signing_secret=signing_secret,
            # After the signature is checked, before anybody else looks: Bolt acknowledges events before any listener.
            before_authorize=self.take,
            authorize=Authorized(tokens),
        )
        self.app.command(_ANY)(self._happened)
        self.app.action(_ANY)(self._happened)
        self.app.event(_ANY)(self._event)
        self.app.view(_ANY)(self._submitted)

    async def take(self, req: AsyncBoltRequest, next_: Next) -> BoltResponse:
        """Write down what is to be answered. A second delivery of it is acknowledged and dropped.

        Where it cannot be written it is not acknowledged either, and Slack delivers it again.
        """
        self.last = now = self._clock()
        req.context["begun"] = perf_counter()
        arrival = read_payload(req, now)
        if arrival is not None:
            if not self._journal.take(arrival.event, arrival.route.as_dict()):
                _LOG.info("%s came again", arrival.event.id)
                REPEATED.labels("slack").inc()
                return BoltResponse(status=200, body="")
            req.context["arrival"] = arrival
            if now - arrival.event.at > _TOO_LATE:
                LATE.labels("slack").inc()
        return await next_()

    async def _happened(self, ack: Ack, context: AsyncBoltContext) -> None:
        await ack()
        _acknowledged(context)
        if (arrival := context.get("arrival")) is not None:
            self._desk.begin(arrival)

    async def _submitted(self, ack: Ack, context: AsyncBoltContext, view: Body) -> None:
        async def acknowledge(**said: Any) -> BoltResponse:
            answer = await ack(**said)
            _acknowledged(context)
            return answer

        self._desk.submit(context["arrival"], view, acknowledge)

    async def _event(self, ack: Ack, context: AsyncBoltContext, body: Body) -> None:
        await self._happened(ack, context)
        if revoked(body):
            team, enterprise = installed_in(context, body)
            _LOG.info("the app was removed from %s", team)
            try:
                await self._tokens.forget(team, enterprise)
            except (ServiceUnavailable, ServiceRefused) as error:
                # Nothing is lost by it: the token is dead, and Slack says so when it is used.
                _LOG.warning("the installation of %s could not be forgotten: %s", team, error)


def _acknowledged(context: AsyncBoltContext) -> None:
    ACKNOWLEDGED.labels("slack").observe(perf_counter() - context["begun"])
