"""The pages of the bank: search and filters, a question with everything about it, imports with their preview, and the
questions that need work."""

from __future__ import annotations

import asyncio
from typing import cast, get_args
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import admin_pages as text
from bot.core.text import item_statistics, review_pages
from bot.core.text.admin_pages import Done
from bot.core.text.web_problems import NO_SUCH_BUTTON
from bot.web.admin.frame import AdminFrame, problem_words
from bot.web.chat import who_of
from bot.web.security import RequestProblem, cleaned, page_of, refusals_as_pages, text_of, with_documents
from service.client import ServiceRefused, ServiceUnavailable
from service.wire import PACKED, Generated, ImportView, QuestionFilter

BASE = "/m/{member}/admin/bank"
LONGEST = 200
"""Longest value of a filter, characters."""


class BankPages:
    """The routes of the bank."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (
            Route(BASE, self.browse),
            Route(BASE, self.approve, methods=["POST"]),
            Route(f"{BASE}/question", self.question),
            Route(f"{BASE}/question", self.change, methods=["POST"]),
            Route(f"{BASE}/import", self.form),
            Route(f"{BASE}/import", self.load, methods=["POST"]),
            Route("/m/{member}/admin/statistics", self.statistics),
        )

    async def browse(self, request: Request) -> Response:
        """Shows the questions that the query asks for."""
        who, wanted = who_of(self._frame.admin(request)), _asked_for(request)
        with refusals_as_pages():
            found, banks, topics = await asyncio.gather(
                self._client.bank_questions(who, wanted), self._client.bank_list(who), self._client.topics(who)
            )
        return self._frame.show(
            request,
            "bank.html",
            "bank",
            found=found,
            wanted=wanted,
            banks=banks,
            topics=[one.topic for one in topics if one.topic],
            pages=text.pages(found),
            query=lambda **more: _query(wanted.model_copy(update=more)),
            text=text,
        )

    async def approve(self, request: Request) -> Response:
        """Approves generated questions, or says what imports do with them."""
        who, fields, event = await self._frame.posted(request)
        action = text_of(fields, "action")
        with refusals_as_pages():
            if action == "approve":
                await self._client.bank_approve(who, event, text_of(fields, "question")[:LONGEST] or "all")
                return self._frame.after(request, "/bank?state=waiting", "approved")
            if action in get_args(Generated):
                await self._client.bank_generated(who, event, cast(Generated, action))
                return self._frame.after(request, "/bank", "set")
        raise RequestProblem(422, *NO_SUCH_BUTTON)

    async def question(self, request: Request) -> Response:
        """Shows one question with its key, versions and figures."""
        who = who_of(self._frame.admin(request))
        id_ = request.query_params.get("id", "")[:LONGEST]
        if not id_:
            raise RequestProblem(404, *text.NO_QUESTION)
        with refusals_as_pages():
            view = await self._client.bank_question(who, id_)
        return self._frame.show(
            request,
            "question.html",
            "bank",
            view=view,
            parts=review_pages.question_with_key(view.key) if view.key else text.without_key(view),
            figures=text.figures(view.statistics) if view.statistics else None,
            edit=f"/review/edit?question={quote(view.listed.id, safe='')}",
            text=text,
        )

    async def change(self, request: Request) -> Response:
        """Retires or restores a question."""
        who, fields, event = await self._frame.posted(request)
        id_, action = text_of(fields, "question")[:LONGEST], text_of(fields, "action")
        if not id_ or action not in ("retire", "restore"):
            raise RequestProblem(422, *NO_SUCH_BUTTON)
        with refusals_as_pages():
            await self._client.bank_retire(who, event, id_, action == "retire")
        done: Done = "retired" if action == "retire" else "restored"
        return self._frame.after(request, f"/bank/question?id={quote(id_, safe='')}", done)

    async def statistics(self, request: Request) -> Response:
        """Shows the questions that need work, each list with its cure."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            view = await self._client.bank_statistics(who)
        lists = [one for one in view.lists if one.items]
        return self._frame.show(request, "statistics.html", "statistics", view=view, lists=lists, text=item_statistics)

    async def form(self, request: Request) -> Response:
        """Shows the form for a document."""
        return self._form(request, {"name": "", "text": "", "recipe": ""}, None)

    async def load(self, request: Request) -> Response:
        """Shows what a document would give, or imports it."""
        who, fields, event = await self._frame.posted(request, files=1)
        fields = await with_documents(fields)
        typed = {"name": text_of(fields, "v:name").strip()[:LONGEST], "text": text_of(fields, "v:text")}
        typed["recipe"] = text_of(fields, "v:recipe")[: text.LONGEST_RECIPE]
        if not typed["name"] or not typed["text"].strip():
            return self._form(request, typed, None, problem=text.NOTHING_GIVEN)
        apply = text_of(fields, "action") == "import"
        try:
            view = await self._client.bank_import(who, event, typed["name"], typed["text"], apply, typed["recipe"])
        except (ServiceRefused, ServiceUnavailable) as error:
            return self._form(request, typed, None, problem_words(error))
        if view.applied:
            return self._frame.after(request, f"/bank?{urlencode({'bank': view.name})}", "imported")
        return self._form(request, typed, view)

    def _form(self, request: Request, typed: dict[str, str], view: ImportView | None, problem: str = "") -> Response:
        return self._frame.show(
            request,
            "import.html",
            "bank",
            422 if problem else 200,
            typed=typed,
            packed=typed["text"].startswith(PACKED),
            view=view,
            problem=problem,
            text=text,
        )


def _asked_for(request: Request) -> QuestionFilter:
    """Returns the filter that the query names; what is not known of it does not matter."""
    query = {name: cleaned(value)[:LONGEST].strip() for name, value in request.query_params.items()}
    choices = {"kind": text.KINDS, "level": text.LEVELS, "state": tuple(text.STATES)}
    chosen = {name: query[name] for name, known in choices.items() if query.get(name) in known}
    return QuestionFilter.model_validate(
        {
            **{name: query.get(name, "") for name in ("text", "topic", "bank")},
            **chosen,
            "page": page_of(query.get("page", "")),
        }
    )


def _query(wanted: QuestionFilter) -> str:
    """Returns the query that asks for the filter, without what is usual."""
    asked = {name: value for name, value in wanted.model_dump(exclude_defaults=True).items() if value}
    return f"?{urlencode(asked)}" if asked else "?"
