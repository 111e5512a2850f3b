"""The page of today's question: answers it in place, and says when the next one comes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.core import actions
from bot.core.cards import Block, Button, Card, Form, Reply
from bot.core.events import Submit
from bot.core.text import today as text
from bot.core.text.questions import CHANGED, RECORDED, answer_form, example_blocks, hint_buttons, question_blocks
from bot.core.text.web_problems import NOT_AN_ANSWER
from bot.web.chat import WHERE, Values, is_editor, who_of, with_values
from bot.web.frame import MemberFrame
from bot.web.security import RequestProblem, event_id, refusals_as_pages, text_of, values_of
from service.wire import AskForm, WebPerson

_SAVED = {"recorded": RECORDED, "changed": CHANGED}
"""Parameters of the address that name the question whose answer was just saved, with what the page says of it."""


@dataclass(frozen=True, slots=True)
class OpenQuestion:
    """One open question, ready for the template."""

    form: Form
    blocks: tuple[Block, ...]
    chips: tuple[str, ...]
    state: str
    closes_at: datetime | None
    closes: str
    editor: str
    """Action that opens the code editor; empty for questions answered on this page."""
    hint: tuple[Button, ...] = ()
    """The button that offers a hint, if there is one."""
    outcome: str = ""
    """What came of the answer that was just sent."""

    @property
    def ref(self) -> str:
        return answered_ref(self.form.action)


class TodayPage:
    """The routes of the page."""

    def __init__(self, frame: MemberFrame) -> None:
        self._frame = frame
        self._cookies = frame.cookies
        self._client = frame.client
        self.routes = (
            Route("/m/{member}/today", self.show),
            Route("/m/{member}/today", self.submit, methods=["POST"]),
        )

    async def show(self, request: Request) -> Response:
        """Shows the open questions. Changes nothing."""
        asked = request.query_params
        saved = {asked[name]: f"{title}." for name, title in _SAVED.items() if name in asked}
        return await self._page(self._cookies.person(request), saved)

    async def submit(self, request: Request) -> Response:
        """Submits an answer and leads to the page that says so, so that going back to it or loading it again works.
        Shows the page with the reason and the input if the answer was refused."""
        person = self._cookies.person(request)
        fields = await self._cookies.fields(request, person.id)
        action, values = text_of(fields, "action"), values_of(fields)
        if not (ref := answered_ref(action)):
            raise RequestProblem(422, *NOT_AN_ANSWER)
        event = event_id(request, person.id, fields)
        reply = await self._frame.answer(Submit(event, self._frame.clock(), who_of(person), WHERE, action, values))
        for name, title in _SAVED.items():
            if reply.content.title == title:
                return RedirectResponse(f"{request.url.path}?{name}={ref}", 303)
        return await self._page(person, {ref: outcome_of(reply)}, values)

    async def _page(self, person: WebPerson, outcomes: dict[str, str], values: Values | None = None) -> Response:
        """Renders the page with what came of an answer, by the question's ref. Values that were refused are kept."""
        who, now = who_of(person), self._frame.clock()
        with refusals_as_pages():
            today, history, practice = await asyncio.gather(
                self._client.today(who, WHERE), self._client.history(who), self._client.practice_session(who)
            )
            # Only a question that is opened has its examples.
            asks = [await self._client.ask(who, WHERE, ask.ref) for ask in today.forms]
        if values is None:
            outcomes = {ask.ref: outcomes.get(ask.ref, "") for ask in asks if ask.given}
        questions = [_open_question(ask, now, outcomes.pop(ask.ref, "")) for ask in asks]
        if values is not None:
            questions = [_with_input(question, values) if question.outcome else question for question in questions]
        return self._frame.show(
            person,
            "today.html",
            "today",
            questions=questions,
            empty=text.nothing_open(today, now),
            # Of a question that has closed meanwhile.
            outcome=next(iter(outcomes.values()), ""),
            refused=values is not None,
            latest=next(iter(history.rounds), None),
            due=practice.cards_due,
            text=text,
        )


def answered_ref(action: str) -> str:
    """Returns the ref of the question that the action answers; empty if it does something else."""
    try:
        fill = actions.decode(action)
    except actions.BadAction:
        return ""
    return fill.ref if isinstance(fill, actions.Fill) else ""


def _open_question(ask: AskForm, now: datetime, outcome: str) -> OpenQuestion:
    form = answer_form(ask, now)
    return OpenQuestion(
        form=form,
        blocks=(*question_blocks(ask.question), *example_blocks(ask)),
        chips=text.chips(ask),
        state=text.state(ask, now),
        closes_at=ask.closes_at,
        closes=text.closes(ask, now),
        editor=actions.encode(actions.Open(ask.ref)) if is_editor(form) else "",
        hint=hint_buttons(ask.ref, ask.question),
        outcome=outcome,
    )


def _with_input(question: OpenQuestion, values: Values) -> OpenQuestion:
    fields = tuple(with_values(field, values) for field in question.form.fields)
    return replace(question, form=replace(question.form, fields=fields))


def outcome_of(reply: Reply) -> str:
    """Says in a sentence what came of an answer."""
    content = reply.content
    return (content.summary if isinstance(content, Card) else "") or content.title
