"""The editor that a signed link opens: one member, one code question. What is sent becomes events like any other."""

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
from bot.web.chat import Clock, Values, filled, is_editor
from bot.web.render import message_html, page
from bot.web.security import RequestProblem, event_id, posted, text_of, values_of
from bot.web.store import Message
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable

FORM, RESULT = 1, 2
"""Numbers of the page's two messages; each new result takes the place of the one before."""


class LinkedEditor:
    """The routes beneath `/e/TOKEN`. It keeps nothing: the token says who may answer what."""

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
        """The page. Looking at it changes nothing, for chats fetch the pages behind links by themselves."""
        access = self._access(request)
        return self._page(request, access, await self._form(access))

    async def submit(self, request: Request) -> Response:
        """Submit, or run the examples; the reply stands beneath, and a script gets it alone."""
        access = self._access(request)
        fields = await self._posted(request)
        action = _allowed(text_of(fields, "action"), access)
        values = values_of(fields)
        # Before the reply is asked for: with a form that cannot be shown again nothing is handed in.
        form = await self._form(access)
        event = event_id(request, f"{access.who.platform}:{access.who.workspace}:{access.who.member}", fields)
        reply = await self._answer(Submit(event, self._clock(), access.who, access.where, action, values))
        result = self._message(RESULT, _bare(reply.said))
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"message": RESULT, "html": message_html(result, "", ""), "editor": ""})
        return self._page(request, access, form, values, result)

    async def highlight(self, request: Request) -> Response:
        self._access(request)
        fields = await self._posted(request)
        return HTMLResponse(await run_in_threadpool(highlighted, text_of(fields, "code"), "python"))

    def _access(self, request: Request) -> EditorAccess:
        try:
            return self._links.verify(request.path_params["token"], self._clock())
        except ExpiredLink as old:
            raise RequestProblem(410, "This link has run out", str(old)) from None
        except InvalidLink as wrong:
            raise RequestProblem(404, "This link opens nothing", str(wrong)) from None

    async def _posted(self, request: Request) -> FormData:
        return await posted(request, self._links.post_token(request.path_params["token"]))

    async def _form(self, access: EditorAccess) -> Form:
        """The question with the member's own code. Raises Problem where it is no longer asked."""
        try:
            ask = await self._client.ask(access.who, access.where, access.ref)
        except ServiceRefused as refused:
            raise RequestProblem(404, "This question is gone", refused.failure.message) from None
        except ServiceUnavailable:
            raise RequestProblem(
                503, "Please try again", "The quiz is not answering right now. Nothing is lost."
            ) from None
        now = self._clock()
        if ask.closes_at is not None and now >= ask.closes_at:
            said = "Its answer is revealed where it was posted; there you can go on with practice."
            raise RequestProblem(410, "This round has closed", said)
        form = questions.ask_said(ask, now)
        if not isinstance(form, Form) or not is_editor(form):
            raise RequestProblem(
                404, "No editor is needed", "This question is answered with a few clicks in your chat."
            )
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
            form = replace(form, fields=tuple(filled(field, values) for field in form.fields))
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

    def _message(self, number: int, said: Card | Form) -> Message:
        """What is said, as the templates want it: newer than all that stands on the page."""
        now = self._clock()
        return Message(number, _milliseconds(now), "", None, None, None, None, False, said, now)


def _milliseconds(instant: datetime) -> int:
    return int(instant.timestamp() * 1000)


def _allowed(action: str, access: EditorAccess) -> str:
    """The action, if it answers the link's own question or tries to. Raises Problem."""
    try:
        meant = actions.decode(action)
    except actions.BadAction:
        meant = None
    if isinstance(meant, actions.Fill | actions.Try) and meant.ref == access.ref:
        return action
    raise RequestProblem(403, "Not with this link", "It answers one question and no other. Nothing was done.")


def _bare(said: Card | Form) -> Card:
    """What is said, without the buttons: they lead on in the chat."""
    return Card(said.title, said.summary if isinstance(said, Card) else said.title, said.blocks)
