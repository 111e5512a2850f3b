"""The archive of closed questions with its search, and the page of one question, whose proof can be run there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.actions import BadAction, GiveFeedback, Report, decode, encode, fits
from bot.core.answers import read_count
from bot.core.text import archive as text
from bot.core.text import web_problems as problems
from bot.core.text.practice_page import explanation
from bot.core.text.questions import question_blocks
from bot.core.text.refusals import plain_refusal
from bot.core.text.reveals import feedback, marking_buttons
from bot.core.text.words import day_words
from bot.web.chat import who_of
from bot.web.frame import MemberFrame
from bot.web.security import MOST_PAGES, RequestProblem, cleaned, event_id, refusals_as_pages, text_of
from service.client import ServiceRefused
from service.wire import ArchiveSearch, Kind, OwnResult, QuestionPage, WebPerson

LONGEST_SEARCH = 200


class ArchivePages:
    """The routes of both pages."""

    def __init__(self, frame: MemberFrame) -> None:
        self._frame = frame
        self._cookies = frame.cookies
        self._client = frame.client
        self.routes = (
            Route("/m/{member}/archive", self.search),
            Route("/m/{member}/question/{ref}", self.show),
            Route("/m/{member}/question/{ref}/prove", self.prove, methods=["POST"]),
            Route("/m/{member}/question/{ref}/feedback", self.give_feedback, methods=["POST"]),
        )

    async def search(self, request: Request) -> Response:
        """Shows a page of closed questions."""
        person, wanted = self._cookies.person(request), _asked_for(request.query_params)
        with refusals_as_pages():
            found = await self._client.archive(who_of(person), wanted)
        return self._frame.show(
            person,
            "archive.html",
            "archive",
            archive=found,
            topics=[(topic, topic) for topic in found.topics],
            wanted=wanted,
            query=_query,
            text=text,
            day_words=day_words,
        )

    async def show(self, request: Request) -> Response:
        """Shows a closed question. Changes nothing."""
        person = self._cookies.person(request)
        with refusals_as_pages():
            found = await self._client.question_page(who_of(person), request.path_params["ref"])
        return self._question(person, found)

    async def prove(self, request: Request) -> Response:
        """Runs the proof and shows the page with what it computed."""
        person, ref = self._cookies.person(request), request.path_params["ref"]
        await self._cookies.fields(request, person.id)
        run, problem = None, ""
        with refusals_as_pages():
            found = await self._client.question_page(who_of(person), ref)
            try:
                run = await self._client.question_prove(who_of(person), ref)
            except ServiceRefused as refused:
                problem = " ".join(plain_refusal(refused.refusal))
        return self._question(person, found, run=run, problem=problem)

    async def give_feedback(self, request: Request) -> Response:
        """Stores whether the reader found the question good, and shows the page again."""
        person, ref = self._cookies.person(request), request.path_params["ref"]
        fields = await self._cookies.fields(request, person.id)
        liked = _said_good(text_of(fields, "action"), ref)
        with refusals_as_pages():
            await self._client.feedback(who_of(person), event_id(request, person.id, fields), ref, liked)
            found = await self._client.question_page(who_of(person), ref)
        return self._question(person, found)

    def _question(self, person: WebPerson, found: QuestionPage, **more: Any) -> Response:
        result = found.result
        report = Report(result.key.question.id)
        return self._frame.show(
            person,
            "question.html",
            "archive",
            **({"run": None, "problem": ""} | more),
            page=found,
            result=result,
            report=encode(report) if fits(report) else "",
            marks=marking_buttons(result),
            feedback=feedback(result),
            asked=question_blocks(result.key.question),
            answer=explanation(result.key, points=True),
            text=text,
            day_words=day_words,
        )


def _said_good(action: str, ref: str) -> bool:
    """Returns whether the button says that the question was good. Raises RequestProblem for another button."""
    try:
        found = decode(action)
    except BadAction:
        found = None
    if not isinstance(found, GiveFeedback) or found.ref != ref:
        raise RequestProblem(422, *problems.NO_SUCH_BUTTON)
    return found.answer == "yes"


def _asked_for(query: Mapping[str, str]) -> ArchiveSearch:
    """Returns the search that the query names. Raises RequestProblem."""
    words, topic = cleaned(query.get("text", "")).strip(), cleaned(query.get("topic", "")).strip()
    kind, own, page_number = query.get("kind", ""), query.get("own", ""), read_count(query.get("page", "1"))
    known = kind in ("", *get_args(Kind)) and own in ("", *get_args(OwnResult))
    if not known or not page_number or page_number > MOST_PAGES or max(len(words), len(topic)) > LONGEST_SEARCH:
        raise RequestProblem(422, *problems.NO_SUCH_SEARCH)
    return ArchiveSearch(
        text=words,
        topic=topic,
        kind=cast(Kind, kind) if kind else None,
        own=cast(OwnResult, own) if own else None,
        page=page_number,
    )


def _query(wanted: ArchiveSearch, **changes: object) -> str:
    """Returns the query that asks for the search with these changes, without what is usual."""
    asked = wanted.model_copy(update=changes).model_dump(exclude_defaults=True)
    return f"?{urlencode(asked)}" if asked else "?"
