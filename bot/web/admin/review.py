"""The review queue: reports beside their question, suggestions, open answers, edits with what they would move, and
answers that agree."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.answers import read_count
from bot.core.text import review_pages as text
from bot.core.text import similarity
from bot.core.text.admin_pages import Done
from bot.core.text.web_problems import NO_SUCH_BUTTON
from bot.web.admin.frame import AdminFrame, number_of, problem_words
from bot.web.chat import who_of
from bot.web.security import RequestProblem, refusals_as_pages, text_of
from service.client import ServiceRefused, ServiceUnavailable
from service.wire import LONGEST_SUGGESTION, TextNeeded, Who, digest_of

LONGEST_EDIT = 50_000
"""Longest text of a question, as the service takes it, characters."""
BASE = "/m/{member}/admin/review"


class ReviewPages:
    """The routes of the queue."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (
            Route(BASE, self.queue),
            Route(BASE, self.credit, methods=["POST"]),
            Route(f"{BASE}/report/{{number}}", self.report),
            Route(f"{BASE}/report/{{number}}", self.settle, methods=["POST"]),
            Route(f"{BASE}/suggestion/{{number}}", self.suggestion),
            Route(f"{BASE}/suggestion/{{number}}", self.decide, methods=["POST"]),
            Route(f"{BASE}/edit", self.editor),
            Route(f"{BASE}/edit", self.edit, methods=["POST"]),
            Route(f"{BASE}/similarity", self.similarity),
        )

    # The queue

    async def queue(self, request: Request) -> Response:
        """Shows what waits, and the latest settled reports."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            reports, suggestions, answers = await asyncio.gather(
                self._client.reports(who), self._client.suggestions(who), self._client.open_answers(who)
            )
        return self._frame.show(
            request,
            "review.html",
            "review",
            waiting=[one for one in reports if one.state == "open"],
            settled=[one for one in reports if one.state != "open"][: text.MOST_SETTLED],
            suggestions=suggestions,
            answers=answers,
            text=text,
        )

    async def credit(self, request: Request) -> Response:
        """Gives an open answer its credit."""
        who, fields, event = await self._frame.posted(request)
        percent = read_count(text_of(fields, "percent").strip().rstrip("%"))
        if percent is None or percent > 100:
            raise RequestProblem(422, *text.NO_PERCENT)
        with refusals_as_pages():
            await self._client.open_answer_credit(who, event, _number(fields, "answer"), percent)
        return self._frame.after(request, "/review#answers", "credited")

    async def similarity(self, request: Request) -> Response:
        """Shows whose answers agree, and who answers very fast. It is computed each time."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            found = await self._client.similar_answers(who)
        return self._frame.show(
            request,
            "similarity.html",
            "review",
            found=found,
            comparisons=similarity.comparisons(found),
            text=similarity,
        )

    # Reports

    async def report(self, request: Request) -> Response:
        """Shows a report beside the question that it is about."""
        return await self._report(request, who_of(self._frame.admin(request)))

    async def _report(self, request: Request, who: Who, problem: str = "") -> Response:
        with refusals_as_pages():
            view = await self._client.report_view(who, _in_path(request))
        return self._frame.show(
            request,
            "report.html",
            "review",
            422 if problem else 200,
            view=view,
            problem=problem,
            question=text.question_with_key(view.key),
            edit=_edit_path(view.report.question, view.report.id),
            text=text,
        )

    async def settle(self, request: Request) -> Response:
        """Settles a report, or retires its question."""
        who, fields, event = await self._frame.posted(request)
        number, action, reason = _in_path(request), text_of(fields, "action"), text_of(fields, "reason")
        with refusals_as_pages():
            if action in ("dismissed", "fixed"):
                try:
                    await self._client.report_settle(who, event, number, action, reason[: text.LONGEST_REASON])  # type: ignore[arg-type]
                except ServiceRefused as refused:
                    if not isinstance(refused.refusal, TextNeeded):
                        raise
                    return await self._report(request, who, problem_words(refused))
                return self._frame.after(request, "/review#reports", "settled")
            if action == "retire":
                view = await self._client.report_view(who, number)
                await self._client.bank_retire(who, event, view.report.question, True)
                return self._frame.after(request, f"/review/report/{number}", "retired")
        raise RequestProblem(422, *NO_SUCH_BUTTON)

    # Suggestions

    async def suggestion(self, request: Request) -> Response:
        """Shows a suggestion as it is read, with its key."""
        return await self._suggestion(request, who_of(self._frame.admin(request)))

    async def _suggestion(self, request: Request, who: Who, problem: str = "", written: str = "") -> Response:
        with refusals_as_pages():
            view = await self._client.suggestion_view(who, _in_path(request))
        return self._frame.show(
            request,
            "suggestion.html",
            "review",
            422 if problem else 200,
            view=view,
            problem=problem,
            written=written or view.suggestion.text,
            question=text.question_with_key(view.key) if view.key else (),
            longest=LONGEST_SUGGESTION,
            seen=digest_of(view.suggestion.text),
            text=text,
        )

    async def decide(self, request: Request) -> Response:
        """Accepts, edits or declines a suggestion."""
        who, fields, event = await self._frame.posted(request)
        number, action = _in_path(request), text_of(fields, "action")
        done: Done
        with refusals_as_pages():
            if action == "accept":
                await self._client.suggestion_accept(who, event, number, text_of(fields, "seen")[:200])
                done = "accepted"
            elif action == "decline":
                reason = text_of(fields, "reason")[: text.LONGEST_REASON]
                await self._client.suggestion_decline(who, event, number, reason)
                done = "declined"
            elif action == "edit":
                written = text_of(fields, "text")
                try:
                    await self._client.suggestion_edit(who, event, number, written)
                except ServiceRefused as refused:
                    return await self._suggestion(request, who, problem_words(refused), written)
                return self._frame.after(request, f"/review/suggestion/{number}", "saved")
            else:
                raise RequestProblem(422, *NO_SUCH_BUTTON)
        return self._frame.after(request, "/review#suggestions", done)

    # Edits

    async def editor(self, request: Request) -> Response:
        """Shows a question of the workspace's own banks as text to edit."""
        who = who_of(self._frame.admin(request))
        question, report = request.query_params.get("question", "")[:200], request.query_params.get("report", "")
        if not question:
            raise RequestProblem(422, *text.NO_QUESTION)
        with refusals_as_pages():
            source = await self._client.question_source(who, question)
        return self._edited(request, question, source.text, digest_of(source.text), number_of(report), None)

    async def edit(self, request: Request) -> Response:
        """Shows what an edit would move, or makes it."""
        who, fields, event = await self._frame.posted(request)
        question, written = text_of(fields, "question")[:200], text_of(fields, "text")
        report, apply = _number(fields, "report"), text_of(fields, "action") == "apply"
        seen = text_of(fields, "seen")[:64]
        if not question:
            raise RequestProblem(422, *text.NO_QUESTION)
        try:
            view = await self._client.question_edit(who, event, question, written, apply, seen)
        except (ServiceRefused, ServiceUnavailable) as error:
            return self._edited(request, question, written, seen, report, None, problem_words(error))
        if not view.applied:
            return self._edited(request, question, written, seen, report, view)
        back = f"/review/report/{report}" if report else f"/bank/question?id={quote(question, safe='')}"
        return self._frame.after(request, back, "edited")

    def _edited(
        self, request: Request, question: str, written: str, seen: str, report: int, view: object, problem: str = ""
    ) -> Response:
        return self._frame.show(
            request,
            "edit.html",
            "review",
            422 if problem else 200,
            problem=problem,
            question=question,
            written=written,
            seen=seen,
            report=report,
            view=view,
            longest=LONGEST_EDIT,
            text=text,
        )


def _edit_path(question: str, report: int = 0) -> str:
    return f"/review/edit?question={quote(question, safe='')}" + (f"&report={report}" if report else "")


def _in_path(request: Request) -> int:
    return number_of(request.path_params["number"]) or 1 << 60


def _number(fields: FormData, name: str) -> int:
    return number_of(text_of(fields, name))
