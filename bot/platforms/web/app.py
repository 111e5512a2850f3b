"""The web chat's HTTP side: pages, presses and the stream of news. What an event means is decided in `core.quiz`."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from itsdangerous import BadSignature, URLSafeSerializer
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.applications import Starlette
from starlette.datastructures import FormData
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.core.cards import Form
from bot.core.events import Command, Event, Press, Submit
from bot.core.markup.highlight import highlighted
from bot.core.platform import Answer
from bot.platforms.web.chat import CHANNEL, WORKSPACE, WebChat
from bot.platforms.web.render import code_colours, message_html, page
from bot.platforms.web.store import NameTaken, Person
from service.wire import Where, Who

HERE = Path(__file__).parent
COOKIE = "dailygrad_people"
MAX_BODY = 256 * 1024
SHORTCUTS = ("/quiz today", "/quiz practice", "/quiz board", "/quiz help")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}

Complete = Callable[[str, bool], list[str]]
"""The commands a text may become, for a member who is an admin or not."""


class Problem(Exception):
    """A request we do not serve, with what to tell whoever made it."""

    def __init__(self, status: int, title: str, text: str) -> None:
        super().__init__(text)
        self.status, self.title, self.text = status, title, text


class WebApp:
    """The routes. One for each thing a browser can do here."""

    def __init__(self, chat: WebChat, answer: Answer, complete: Complete) -> None:
        self._chat = chat
        self._answer = answer
        self._complete = complete
        secret = chat.store.secret("session")
        self._people = URLSafeSerializer(secret, salt="people")
        self._tokens = URLSafeSerializer(secret, salt="csrf")

    # Coming in

    async def entry(self, request: Request) -> Response:
        return self._entry(request)

    async def join(self, request: Request) -> Response:
        fields = await self._fields(request, "entry")
        name = " ".join(_text(fields, "name").split())
        if not 1 <= len(name) <= 40 or not name.isprintable():
            return self._entry(request, "A name has 1 to 40 letters or digits. Try another.", name)
        try:
            person = self._chat.store.join(name)
        except NameTaken:
            return self._entry(request, f"Somebody here is already called {name}. Pick another name.", name)
        response = RedirectResponse(f"/m/{person.id}/", 303)
        known = [*self._known(request), person.id]
        response.set_cookie(
            COOKIE, str(self._people.dumps(known)), max_age=365 * 86400, httponly=True, samesite="strict"
        )
        return response

    def _entry(self, request: Request, error: str = "", name: str = "") -> Response:
        people = [person for member in self._known(request) if (person := self._chat.store.person(member))]
        token = self._token("entry")
        html = page("entry.html", channel=CHANNEL, people=people, error=error, name=name, token=token)
        return HTMLResponse(html, 422 if error else 200)

    # Reading

    async def channel(self, request: Request) -> Response:
        person = self._person(request)
        store = self._chat.store
        version = store.version()
        return HTMLResponse(
            page(
                "channel.html",
                channel=CHANNEL,
                person=person,
                token=self._token(person.id),
                version=version,
                messages=store.seen_by(person.id, CHANNEL),
                commands=self._complete("/", person.admin),
                shortcuts=SHORTCUTS,
            )
        )

    async def events(self, request: Request) -> Response:
        person = self._person(request)
        after = request.headers.get("last-event-id") or request.query_params.get("after", "0")
        private = request.query_params.get("private") == "1"
        stream = self._news(person, int(after) if after.isdecimal() else 0, private)
        return EventSourceResponse(stream, ping=15, headers={"Cache-Control": "no-store"})

    async def _news(self, person: Person, after: int, private: bool) -> AsyncIterator[ServerSentEvent]:
        token = self._token(person.id)
        async for message in self._chat.follow(person.id, after):
            if not private or (message.member and not isinstance(message.said, Form)):
                yield ServerSentEvent(data=message_html(message, person, token), id=str(message.version))

    async def form(self, request: Request) -> Response:
        """The editor: a form on a page of its own, with what came of it beneath."""
        person = self._person(request)
        message = self._chat.store.message(_number(request.path_params["message"]), person.id)
        if message is None or not isinstance(message.said, Form):
            raise Problem(404, "This editor is gone", "Press Answer under the question again, or type /quiz today.")
        reply = self._chat.store.message(_number(request.query_params.get("reply", "0")), person.id)
        return HTMLResponse(
            page(
                "editor.html",
                channel=CHANNEL,
                person=person,
                token=self._token(person.id),
                version=self._chat.store.version(),
                message=message,
                messages=[reply] if reply else [],
            )
        )

    async def completions(self, request: Request) -> Response:
        person = self._person(request)
        text = request.query_params.get("text", "")[:200]
        return JSONResponse(self._complete(text, person.admin)[:25])

    async def highlight(self, request: Request) -> Response:
        person = self._person(request)
        fields = await self._fields(request, person.id)
        return HTMLResponse(highlighted(_text(fields, "code"), "python"))

    # Doing

    async def say(self, request: Request) -> Response:
        person = self._person(request)
        fields = await self._fields(request, person.id)
        text = _text(fields, "text").strip()
        if not text.startswith("/"):
            message = self._chat.say(person.id, person.name, text) if text else 0
            return self._done(request, person, message)
        name, _, rest = text[1:].partition(" ")
        event = Command(_text(fields, "event"), self._chat.clock(), _who(person), WHERE, name, rest.strip())
        return await self._handle(request, person, event)

    async def press(self, request: Request) -> Response:
        person = self._person(request)
        fields = await self._fields(request, person.id)
        event = Press(_text(fields, "event"), self._chat.clock(), _who(person), WHERE, _text(fields, "action"))
        return await self._handle(request, person, event, _number(_text(fields, "message")))

    async def submit(self, request: Request) -> Response:
        person = self._person(request)
        fields = await self._fields(request, person.id)
        names = {name for name in fields if name.startswith("v:")}
        values = {name[2:]: tuple(str(value) for value in fields.getlist(name)) for name in names}
        event = Submit(_text(fields, "event"), self._chat.clock(), _who(person), WHERE, _text(fields, "action"), values)
        return await self._handle(request, person, event, _number(_text(fields, "message")))

    async def _handle(self, request: Request, person: Person, event: Event, pressed: int | None = None) -> Response:
        reply = await self._answer(event)
        message = self._chat.whisper(person.id, reply.said, pressed if reply.replaces else None)
        return self._done(request, person, message)

    def _done(self, request: Request, person: Person, message: int) -> Response:
        if "application/json" in request.headers.get("accept", ""):
            return JSONResponse({"message": message})
        referer = request.headers.get("referer", "")
        if "/form/" in referer:
            form = referer.rsplit("/form/", 1)[1].split("?")[0]
            return RedirectResponse(f"/m/{person.id}/form/{_number(form)}?reply={message}", 303)
        return RedirectResponse(f"/m/{person.id}/#m{message}", 303)

    # Who asks, and whether it is really them

    def _known(self, request: Request) -> list[str]:
        try:
            known = self._people.loads(request.cookies.get(COOKIE, ""))
        except BadSignature:
            return []
        return [member for member in known if isinstance(member, str)] if isinstance(known, list) else []

    def _person(self, request: Request) -> Person:
        member = request.path_params["member"]
        person = self._chat.store.person(member) if member in self._known(request) else None
        if person is None:
            raise Problem(403, "Who are you?", "This page belongs to a member who has not joined in this browser.")
        return person

    def _token(self, whose: str) -> str:
        return str(self._tokens.dumps(whose))

    async def _fields(self, request: Request, whose: str) -> FormData:
        """The posted fields, once it is sure that our own page sent them."""
        fields = await request.form(max_files=0, max_fields=40, max_part_size=MAX_BODY)
        if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            raise Problem(403, "Not from here", "Another site sent this. Nothing was done.")
        if not secrets.compare_digest(_text(fields, "token").encode(), self._token(whose).encode()):
            raise Problem(403, "This page is out of date", "Load it again and repeat what you did. Nothing was done.")
        return fields


WHERE = Where(channel=CHANNEL, name=CHANNEL)


def build(chat: WebChat, answer: Answer, complete: Complete) -> Starlette:
    """The web chat as an ASGI app."""
    web = WebApp(chat, answer, complete)
    return Starlette(
        routes=[
            Route("/", web.entry),
            Route("/join", web.join, methods=["POST"]),
            Route("/healthz", lambda _: PlainTextResponse("ok")),
            Route("/highlight.css", lambda _: Response(code_colours(), media_type="text/css")),
            Route("/m/{member}/", web.channel),
            Route("/m/{member}/events", web.events),
            Route("/m/{member}/complete", web.completions),
            Route("/m/{member}/form/{message}", web.form),
            Route("/m/{member}/say", web.say, methods=["POST"]),
            Route("/m/{member}/press", web.press, methods=["POST"]),
            Route("/m/{member}/submit", web.submit, methods=["POST"]),
            Route("/m/{member}/highlight", web.highlight, methods=["POST"]),
            Mount("/static", StaticFiles(directory=HERE / "static")),
        ],
        middleware=[Middleware(Guarded)],
        exception_handlers={Problem: _tell_problem, 404: _tell_missing},
    )


class Guarded:
    """Sends the security headers with everything and refuses a body that is too large before it is read."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        if _number(request.headers.get("content-length", "0")) > MAX_BODY:
            refusal = PlainTextResponse("This is more than the chat takes: 256 KiB at most.", 413, HEADERS)
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, self._with_headers(send))

    @staticmethod
    def _with_headers(send: Send) -> Send:
        extra = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *extra]
            await send(message)

        return guarded


async def _tell_problem(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return HTMLResponse(page("problem.html", title=problem.title, text=problem.text), problem.status)


async def _tell_missing(request: Request, problem: Exception) -> Response:
    return HTMLResponse(page("problem.html", title="Nothing here", text="There is no such page."), 404)


def _who(person: Person) -> Who:
    return Who(platform="web", workspace=WORKSPACE, member=person.id, name=person.name, admin=person.admin)


def _text(fields: FormData, name: str) -> str:
    value = fields.get(name, "")
    return value if isinstance(value, str) else ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 18 else 0
