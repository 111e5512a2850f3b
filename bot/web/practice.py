"""The practice page: one card at a time, its result in place, the member's rating, and a session of ten.

A session is the time since it began, which the address carries: the service knows what was answered since.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast, get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.core.actions import PracticeFilter
from bot.core.answers import code_in, given_in, marks_in
from bot.core.cards import Block, Form
from bot.core.command_parser import CommandError
from bot.core.events import Submit
from bot.core.text import practice_page as text
from bot.core.text import web_problems as problems
from bot.core.text.questions import answer_form, example_blocks, question_blocks
from bot.core.text.refusals import plain_refusal
from bot.core.text.results import proof_blocks
from bot.web.chat import WHERE, Values, is_editor, who_of, with_values
from bot.web.frame import MemberFrame
from bot.web.security import (
    RequestProblem,
    cleaned,
    event_id,
    refusals_as_pages,
    text_of,
    values_of,
)
from service.client import ServiceRefused
from service.wire import (
    AskForm,
    PracticeAttempt,
    PracticeSession,
    QuestionRef,
    Rating,
    WebPerson,
)

LONGEST_FILTER = 200


@dataclass(frozen=True, slots=True)
class PracticeAddress:
    """What the address says of the session: when it began, and what is practiced."""

    since: datetime | None
    wanted: PracticeFilter

    def begun(self, since: datetime) -> PracticeAddress:
        return PracticeAddress(since, self.wanted)

    @property
    def query(self) -> str:
        """The query that continues this session."""
        since = [("since", str(round(self.since.timestamp() * 1000)))] if self.since else []
        chosen = [(name, getattr(self.wanted, name)) for name in ("topic", "level", "kind")]
        asked = since + [(name, value) for name, value in chosen if value]
        return f"?{urlencode(asked)}" if asked else "?"


@dataclass(frozen=True, slots=True)
class Retry:
    """What is kept when an answer was refused, or only tried: what was typed, and why or with what result."""

    ref: str
    values: Values
    problem: str = ""
    tried: tuple[Block, ...] = ()


class PracticePage:
    """The routes of the page."""

    def __init__(self, frame: MemberFrame) -> None:
        self._frame = frame
        self._cookies = frame.cookies
        self._client = frame.client
        base = "/m/{member}/practice"
        self.routes = (
            Route(base, self.show),
            Route(base, self.answer, methods=["POST"]),
            Route(base + "/due", self.due),
            Route(base + "/{ref}", self.result),
            Route(base + "/{ref}/try", self.try_code, methods=["POST"]),
            Route(base + "/{ref}/mark", self.mark, methods=["POST"]),
            Route(base + "/{ref}/rate", self.rate, methods=["POST"]),
        )

    async def show(self, request: Request) -> Response:
        """Shows the next card; after ten, what the session came to."""
        person, address = self._cookies.person(request), _read_address(request.query_params)
        with refusals_as_pages():
            session = await self._client.practice_session(who_of(person), address.since)
            return await self._next(person, address.begun(session.since), session)

    async def due(self, request: Request) -> Response:
        """Returns how many cards are due, for the navigation of every page."""
        person = self._cookies.person(request)
        with refusals_as_pages():
            due = (await self._client.practice_session(who_of(person))).cards_due
        return JSONResponse({"due": due, "words": text.due_words(due)})

    async def answer(self, request: Request) -> Response:
        """Saves an answer, and leads to its result; shows the question again if the answer cannot be read."""
        person = self._cookies.person(request)
        fields = await self._cookies.fields(request, person.id)
        address, ref = _read_address(request.query_params), _practice_ref(text_of(fields, "ref"))
        event = event_id(request, person.id, fields)
        submit = Submit(event, self._frame.clock(), who_of(person), WHERE, "", values_of(fields))
        with refusals_as_pages():
            try:
                # The question may have been corrected since it was shown; the receipt names what was answered.
                ref = (await self._client.answer(submit.who, WHERE, event, ref, given_in(submit), submit.at)).ref
            except CommandError as error:
                return await self._again(person, address, Retry(ref, submit.values, str(error)), 422)
            except ServiceRefused as refused:
                if refused.refusal.kind not in ("answer-unreadable", "sandbox-busy"):
                    raise
                problem = " ".join(plain_refusal(refused.refusal))
                return await self._again(person, address, Retry(ref, submit.values, problem), 422)
        return self._to_result(person, ref, address)

    async def result(self, request: Request) -> Response:
        """Shows the result of the member's latest answer to a card."""
        person, address = self._cookies.person(request), _read_address(request.query_params)
        ref, who = _practice_ref(request.path_params["ref"]), who_of(person)
        with refusals_as_pages():
            attempt, session = await asyncio.gather(
                self._client.practice_attempt(who, ref), self._client.practice_session(who, address.since)
            )
            address = address.begun(session.since)
            failed = attempt.verdict is not None and attempt.question.kind == "code" and attempt.key is None
            if failed and not attempt.secret and "solution" not in request.query_params:
                return await self._again(person, address, None, 200, attempt)
            solution = (await self._client.explain(who, attempt.question.id)).key if failed else None
        return self._page(person, address, session, state="result", attempt=attempt, solution=solution)

    async def try_code(self, request: Request) -> Response:
        """Runs the examples of a code question; saves nothing."""
        person = self._cookies.person(request)
        fields = await self._cookies.fields(request, person.id)
        address, ref = _read_address(request.query_params), _practice_ref(request.path_params["ref"])
        submit = Submit("try", self._frame.clock(), who_of(person), WHERE, "", values_of(fields))
        with refusals_as_pages():
            try:
                tried = text.verdict(await self._client.try_code(submit.who, ref, code_in(submit)))
            except CommandError as error:
                return await self._again(person, address, Retry(ref, submit.values, str(error)), 422)
            except ServiceRefused as refused:
                problem = " ".join(plain_refusal(refused.refusal))
                return await self._again(person, address, Retry(ref, submit.values, problem), 422)
            return await self._again(person, address, Retry(ref, submit.values, tried=tried), 200)

    async def mark(self, request: Request) -> Response:
        """Saves which points an open answer covers."""
        person = self._cookies.person(request)
        fields = await self._cookies.fields(request, person.id)
        address, ref = _read_address(request.query_params), _practice_ref(request.path_params["ref"])
        event = event_id(request, person.id, fields)
        try:
            covered = marks_in(Submit(event, self._frame.clock(), who_of(person), WHERE, "", values_of(fields)))
        except CommandError as error:
            raise RequestProblem(422, error.title, str(error)) from None
        with refusals_as_pages():
            await self._client.mark(who_of(person), event, ref, covered)
        return self._to_result(person, ref, address)

    async def rate(self, request: Request) -> Response:
        """Saves the member's own rating of a card."""
        person = self._cookies.person(request)
        fields = await self._cookies.fields(request, person.id)
        address, ref = _read_address(request.query_params), _practice_ref(request.path_params["ref"])
        rating = text_of(fields, "rating")
        if rating not in get_args(Rating):
            raise RequestProblem(422, *problems.NOT_A_PRACTICE_ANSWER)
        event = event_id(request, person.id, fields)
        with refusals_as_pages():
            await self._client.practice_rate(who_of(person), event, ref, cast(Rating, rating))
        return self._to_result(person, ref, address)

    async def _next(self, person: WebPerson, address: PracticeAddress, session: PracticeSession) -> Response:
        if len(session.practiced) >= text.SESSION:
            return self._page(person, address, session, state="summary")
        who, wanted = who_of(person), address.wanted
        ask, topics = await asyncio.gather(
            self._client.practice(who, WHERE, wanted.topic, wanted.level, wanted.kind), self._client.topics(who)
        )
        known = [one.topic for one in topics if one.topic]
        if ask is None:
            return self._page(person, address, session, state="empty", topics=known)
        return self._question(person, address, session, ask, topics=known)

    async def _again(
        self,
        person: WebPerson,
        address: PracticeAddress,
        retry: Retry | None,
        status: int,
        attempt: PracticeAttempt | None = None,
    ) -> Response:
        """Shows a question again, with what was typed, or with the verdict on the code that failed."""
        who, ref = who_of(person), attempt.ref if attempt else retry.ref if retry else ""
        session, ask = await asyncio.gather(
            self._client.practice_session(who, address.since), self._client.ask(who, WHERE, ref)
        )
        if attempt is not None and ask.given is None:
            ask = ask.model_copy(update={"given": attempt.given})
        return self._question(
            person, address.begun(session.since), session, ask, retry=retry, status=status, attempt=attempt
        )

    def _question(
        self,
        person: WebPerson,
        address: PracticeAddress,
        session: PracticeSession,
        ask: AskForm,
        *,
        retry: Retry | None = None,
        status: int = 200,
        attempt: PracticeAttempt | None = None,
        topics: list[str] | None = None,
    ) -> Response:
        form = answer_form(ask, self._frame.clock())
        if retry is not None:
            form = Form(form.title, form.action, tuple(with_values(field, retry.values) for field in form.fields))
        return self._page(
            person,
            address,
            session,
            status,
            state="question",
            ask=ask,
            form=form,
            code=is_editor(form),
            asked=(*question_blocks(ask.question), *example_blocks(ask)),
            retry=retry,
            attempt=attempt,
            topics=topics or [],
        )

    def _page(
        self, person: WebPerson, address: PracticeAddress, session: PracticeSession, status: int = 200, **more: Any
    ) -> Response:
        absent: dict[str, Any] = {"ask": None, "attempt": None, "retry": None, "solution": None, "topics": []}
        return self._frame.show(
            person,
            "practice.html",
            "practice",
            status,
            text=text,
            address=address,
            session=session,
            now=self._frame.clock(),
            question_blocks=question_blocks,
            proof_blocks=proof_blocks,
            **(absent | more),
        )

    @staticmethod
    def _to_result(person: WebPerson, ref: str, address: PracticeAddress) -> Response:
        return RedirectResponse(f"/m/{person.id}/practice/{ref}{address.query}", 303)


def _read_address(query: Mapping[str, str]) -> PracticeAddress:
    """Returns the session that the query names. Raises RequestProblem."""
    chosen = {name: cleaned(query.get(name, "")) for name in ("topic", "level", "kind")}
    if any(len(value) > LONGEST_FILTER for value in chosen.values()):
        raise RequestProblem(422, *problems.NO_SUCH_PRACTICE)
    since = query.get("since", "")
    known = since.isascii() and since.isdecimal() and len(since) < 15
    begun = datetime.fromtimestamp(int(since) / 1000, UTC) if known else None
    return PracticeAddress(begun, PracticeFilter(**chosen))


def _practice_ref(ref: str) -> str:
    """Returns the ref if it names a practice question. Raises RequestProblem."""
    try:
        if QuestionRef.parse(ref).kind == "practice":
            return ref
    except ValueError:
        pass
    raise RequestProblem(422, *problems.NOT_A_PRACTICE_ANSWER)
