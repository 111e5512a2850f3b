"""The page of a sprint: its question with the time left, the answer with its distribution, standings and podium.

With scripts it is live, by server-sent events. Members answer on it as by the buttons in the channel.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from time import monotonic

from markupsafe import Markup
from sse_starlette import ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core import actions
from bot.core.events import Submit
from bot.core.text import sprints as text
from bot.core.text.questions import CHANGED, RECORDED, answer_form, question_blocks
from bot.core.text.web_problems import NOT_A_SPRINT_ANSWER
from bot.web.chat import WHERE, Values, who_of, with_values
from bot.web.frame import MemberFrame
from bot.web.render import page
from bot.web.security import Pause, RequestProblem, event_id, refusals_as_pages, text_of, values_of
from bot.web.today import answered_ref, outcome_of
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import SprintPulse, Sprints, WebPerson, Who

PACE_S = 1.0
"""Seconds between two looks at the sprint, of the whole process, however many pages are open."""


class SharedPulse:
    """The latest pulse, which all open pages share: they belong to one chat, and so to one workspace."""

    def __init__(self, client: ServiceClient, pace_s: float) -> None:
        self._client = client
        self._pace_s = pace_s
        self._lock = asyncio.Lock()
        self._latest: SprintPulse | None = None
        self._looked_at = 0.0

    async def get(self, who: Who) -> SprintPulse:
        """Returns a pulse that is at most `pace_s` old. Raises what the client raises."""
        async with self._lock:
            if self._latest is None or monotonic() - self._looked_at >= self._pace_s:
                self._latest = await self._client.sprint_pulse(who)
                self._looked_at = monotonic()
            return self._latest


class SprintPage:
    """The routes of the page and of its events."""

    def __init__(self, frame: MemberFrame, pace_s: float = PACE_S) -> None:
        self._frame = frame
        self._cookies = frame.cookies
        self._client = frame.client
        self._pace_s = pace_s
        self._pulse = SharedPulse(frame.client, pace_s)
        self.routes = (
            Route("/m/{member}/sprint", self.show),
            Route("/m/{member}/sprint", self.submit, methods=["POST"]),
            Route("/m/{member}/sprint/events", self.events),
        )

    async def show(self, request: Request) -> Response:
        """Shows the sprint that runs or ran last, and those that are planned. Changes nothing."""
        return await self._page(self._cookies.person(request))

    async def submit(self, request: Request) -> Response:
        """Submits an answer and shows the page again with the outcome, and with the input if it was refused."""
        person = self._cookies.person(request)
        fields = await self._cookies.fields(request, person.id)
        action = text_of(fields, "action")
        ref = answered_ref(action)
        if not ref or actions.question_ref(ref).kind != "sprint":
            raise RequestProblem(422, *NOT_A_SPRINT_ANSWER)
        event, values = event_id(request, person.id, fields), values_of(fields)
        reply = await self._frame.answer(Submit(event, self._frame.clock(), who_of(person), WHERE, action, values))
        if reply.content.title in (RECORDED, CHANGED):
            return await self._page(person, reply.content.title)
        return await self._page(person, outcome_of(reply), (action, values))

    async def _page(self, person: WebPerson, outcome: str = "", refused: tuple[str, Values] | None = None) -> Response:
        with refusals_as_pages():
            found = await self._client.sprints(who_of(person))
        return self._frame.show(
            person,
            "sprint.html",
            "board",
            state=Markup(self._state(person, found, refused)),  # noqa: S704 - a template made it, which escapes
            step=found.step,
            outcome=outcome,
            refused=refused is not None,
        )

    async def events(self, request: Request) -> Response:
        """Streams the state at each step of the sprint, and the number of answers in between."""
        person = self._cookies.person(request)
        pause = self._cookies.pause_while_signed_in(request, self._frame.pause)
        return self._frame.streams.respond(person.id, self._states(person, pause))

    async def _states(self, person: WebPerson, pause: Pause) -> AsyncGenerator[ServerSentEvent, None]:
        step: str | None = None
        answers, open_ = 0, True
        while open_:
            try:
                pulse = await self._pulse.get(who_of(person))
                if pulse.step != step:
                    # The sprint may have moved on since the pulse: what is sent has the name of its own step, or it
                    # would be sent again, and a browser would undo what the reader has picked by then.
                    found = await self._client.sprints(who_of(person))
                    if found.step != step:
                        yield ServerSentEvent(data=self._state(person, found), id=found.step)
                    step = found.step
                elif pulse.answers != answers:
                    yield ServerSentEvent(data=text.answers_words(pulse.answers), event="answers")
                answers = pulse.answers
            except (ServiceRefused, ServiceUnavailable):
                pass  # the next look may find it
            open_ = await pause(self._pace_s)

    def _state(self, person: WebPerson, found: Sprints, refused: tuple[str, Values] | None = None) -> str:
        """Renders the part of the page that changes; the values of an answer that was refused are kept."""
        live = found.live
        ask = live.form if live is not None else None
        form = None if ask is None else answer_form(ask, self._frame.clock())
        if form is not None and refused is not None and refused[0] == form.action:
            form = replace(form, fields=tuple(with_values(field, refused[1]) for field in form.fields))
        return page(
            "sprint_state.html",
            base=f"/m/{person.id}",
            token=self._cookies.token(person.id),
            live=live,
            planned=found.planned,
            admin=person.admin,
            form=form,
            asked=() if ask is None else question_blocks(ask.question),
            text=text,
        )
