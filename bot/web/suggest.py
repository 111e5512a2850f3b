"""The page on which members suggest a question: the form with a preview, and what was decided about theirs."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.core.text import suggest_page as text
from bot.core.text.review_pages import question_with_key
from bot.core.text.web_problems import NO_SUCH_BUTTON
from bot.web.chat import who_of
from bot.web.frame import MemberFrame
from bot.web.security import RequestProblem, event_id, refusals_as_pages, text_of
from service.client import ServiceRefused
from service.wire import LONGEST_SUGGESTION, SuggestionPreview, WebPerson

PATH = "/m/{member}/suggest"


class SuggestPage:
    """The routes of the page."""

    def __init__(self, frame: MemberFrame) -> None:
        self._frame = frame
        self._cookies = frame.cookies
        self._client = frame.client
        self.routes = (Route(PATH, self.show), Route(PATH, self.change, methods=["POST"]))

    async def show(self, request: Request) -> Response:
        """Shows the form with the member's draft, or else an example, and their suggestions."""
        person = self._cookies.person(request)
        with refusals_as_pages():
            draft = await self._client.suggestion_draft(who_of(person))
        return await self._page(person, draft or text.TEMPLATE, sent=request.query_params.get("sent", ""))

    async def change(self, request: Request) -> Response:
        """Previews or submits a question. Unless it is submitted, the form keeps what was typed."""
        person = self._cookies.person(request)
        fields = await self._cookies.fields(request, person.id)
        written, action = text_of(fields, "text"), text_of(fields, "action")
        with refusals_as_pages():
            try:
                if action == "preview":
                    reading = await self._client.suggestion_preview(who_of(person), written)
                    return await self._page(person, written, reading)
                if action == "submit":
                    event = event_id(request, person.id, fields)
                    receipt = await self._client.suggest(who_of(person), event, written)
                    if not receipt.problem:
                        return RedirectResponse(f"/m/{person.id}/suggest?sent={receipt.id}", 303)
                    reading = SuggestionPreview(problem=receipt.problem, findings=receipt.findings, key=None)
                    return await self._page(person, written, reading, text.NOT_SUBMITTED)
            except ServiceRefused as refused:
                return await self._page(person, written, problem=text.refused(refused.refusal))
        raise RequestProblem(422, *NO_SUCH_BUTTON)

    async def _page(
        self,
        person: WebPerson,
        written: str,
        reading: SuggestionPreview | None = None,
        problem: str = "",
        sent: str = "",
    ) -> Response:
        with refusals_as_pages():
            own = await self._client.own_suggestions(who_of(person))
        return self._frame.show(
            person,
            "suggest.html",
            "archive",
            422 if problem else 200,
            written=written,
            longest=LONGEST_SUGGESTION,
            reading=reading,
            question=question_with_key(reading.key) if reading is not None and reading.key is not None else (),
            problem=problem,
            # Only a suggestion of the member's own is confirmed, so that no link can put other words on the page.
            sent=next((one.id for one in own if str(one.id) == sent), None),
            own=own[::-1],
            text=text,
        )
