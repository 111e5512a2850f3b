"""The web editor opened by a signed link, for one member and one code question."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from bot.core import actions
from bot.core.cards import Card, Form
from bot.core.dispatcher import Answer
from bot.core.events import Submit
from bot.core.links import EditorAccess, ExpiredLink, InvalidLink, Links
from bot.core.markup.html import highlighted
from bot.core.text import questions
from bot.core.text import web_problems as problems
from bot.core.text.refusals import plain_refusal
from bot.web.chat import Values, is_editor, with_values
from bot.web.render import message_html, page
from bot.web.security import RequestProblem, event_id, posted, text_of, values_of
from bot.web.store import Message
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.process import Clock

FORM, RESULT = 1, 2
"""Numbers of the page's two messages. Each new result replaces the previous one."""


class LinkedEditor:
    """The routes under `/e/TOKEN`. Stateless: the token says who may answer what."""

    def __init__(self, links: Links, client: ServiceClient, answer: Answer, clock: Clock) -> None:
        self._links = links
        self._client = client
        self._answer = answer
        self._clock = clock
        self.routes = (
            Route("/e/{token}", self.show),
            Route("/e/{token}/submit", self.submit, methods=["POST"]),
            Route("/e/{token}/highlight", self.highlight, methods=["POST"]),
        )

    async def show(self, request: Request) -> Response:
        """Shows the editor. Changes nothing, because chats fetch linked pages for previews."""
        access = self._access(request)
        return self._page(request, access, await self._form(access))

    async def submit(self, request: Request) -> Response:
        """Submits the code or runs the examples. Returns the page with the result; scripts get only the result."""
        access = self._access(request)
        fields = await self._fields(request)
        action = _checked_action(text_of(fields, "action"), access)
        values = values_of(fields)
        # Fetch the form before answering, so that nothing is submitted if the page cannot be shown again.
        form = await self._form(access)
        event = event_id(request, f"{access.who.platform}:{access.who.workspace}:{access.who.member}", fields)
        reply = await self._answer(Submit(event, self._clock(), access.who, access.where, action, values))
        result = self._message(RESULT, _without_buttons(reply.content))
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"message": RESULT, "html": message_html(result, "", ""), "editor": ""})
        return self._page(request, access, form, values, result)

    async def highlight(self, request: Request) -> Response:
        self._access(request)
        fields = await self._fields(request)
        return HTMLResponse(await run_in_threadpool(highlighted, text_of(fields, "code"), "python"))

    def _access(self, request: Request) -> EditorAccess:
        try:
            return self._links.verify(request.path_params["token"], self._clock())
        except ExpiredLink:
            raise RequestProblem(410, *problems.LINK_EXPIRED) from None
        except InvalidLink:
            raise RequestProblem(404, *problems.LINK_INCOMPLETE) from None

    async def _fields(self, request: Request) -> FormData:
        return await posted(request, self._links.post_token(request.path_params["token"]))

    async def _form(self, access: EditorAccess) -> Form:
        """Returns the form with the member's code. Raises RequestProblem if the question is closed or gone."""
        try:
            ask = await self._client.ask(access.who, access.where, access.ref)
        except ServiceRefused as refused:
            raise RequestProblem(404, *plain_refusal(refused.refusal)) from None
        except ServiceUnavailable:
            raise RequestProblem(503, *problems.EDITOR_UNAVAILABLE) from None
        now = self._clock()
        if ask.closes_at is not None and now >= ask.closes_at:
            raise RequestProblem(410, *problems.ROUND_CLOSED)
        form = questions.private_question(ask, now)
        if not isinstance(form, Form) or not is_editor(form):
            raise RequestProblem(404, *problems.NO_EDITOR)
        return form

    def _page(
        self,
        request: Request,
        access: EditorAccess,
        form: Form,
        values: Values | None = None,
        result: Message | None = None,
    ) -> Response:
        if values is not None:
            form = replace(form, fields=tuple(with_values(field, values) for field in form.fields))
        token = request.path_params["token"]
        html = page(
            "linked.html",
            message=self._message(FORM, form),
            name=access.who.name,
            base=f"/e/{token}",
            token=self._links.post_token(token),
            result=result,
        )
        return HTMLResponse(html)

    def _message(self, number: int, content: Card | Form) -> Message:
        """Wraps a card as a message for the templates, newer than those on the page."""
        now = self._clock()
        return Message(number, _milliseconds(now), None, None, None, None, False, content, now)


def _milliseconds(instant: datetime) -> int:
    return int(instant.timestamp() * 1000)


def _checked_action(action: str, access: EditorAccess) -> str:
    """Returns the action if it answers the link's question. Raises RequestProblem."""
    try:
        meant = actions.decode(action)
    except actions.BadAction:
        meant = None
    if isinstance(meant, actions.Fill | actions.Try) and meant.ref == access.ref:
        return action
    raise RequestProblem(403, *problems.OTHER_QUESTION)


def _without_buttons(content: Card | Form) -> Card:
    """Returns the card without its buttons, which only work in the chat."""
    return Card(content.title, content.summary if isinstance(content, Card) else content.title, content.blocks)
