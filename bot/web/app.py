"""Routes of the web chat: pages, actions and the event stream. `core.quiz` decides what an event means."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from markupsafe import Markup
from sse_starlette import ServerSentEvent
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.core.cards import Card, Form
from bot.core.command_parser import offer
from bot.core.dispatcher import Answer
from bot.core.events import Command, Event, Press, Submit
from bot.core.markup.html import highlighted
from bot.core.metrics import ACKNOWLEDGED
from bot.core.text import operations
from bot.core.text import web_problems as problems
from bot.core.text.refusals import plain_refusal
from bot.core.text.words import Words
from bot.web.accounts import SIGN_IN, SIGNED_OUT, AccountPages
from bot.web.admin import AdminPages
from bot.web.admin.frame import AdminFrame
from bot.web.archive import ArchivePages
from bot.web.board import BoardPage
from bot.web.chat import CHANNEL, WHERE, Connection, WebChat, is_editor, who_of
from bot.web.editor import LinkedEditor
from bot.web.frame import MemberFrame, Navigation
from bot.web.ladder import LadderPage
from bot.web.me import MePage
from bot.web.oidc import Provider
from bot.web.practice import PracticePage
from bot.web.render import code_colors, message_html, page
from bot.web.security import (
    MemberCookies,
    RequestProblem,
    SecurityMiddleware,
    event_id,
    refusals_as_pages,
    text_of,
    values_of,
    with_documents,
)
from bot.web.sessions import SessionPages
from bot.web.sign_in import SignInPages
from bot.web.sprint import SprintPage
from bot.web.store import LAST_ID, Message
from bot.web.streams import EventStreams
from bot.web.suggest import SuggestPage
from bot.web.today import TodayPage
from bot.web.tournament import TournamentPage
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.concurrency import DEFAULT_LIMIT, RETRY_HEADER, ConcurrencyLimit
from service.wire import NameRefused, Operations, WebPerson, Who

# The operations page for admins of the web chat; read-only

FetchOperations = Callable[[Who], Awaitable[Operations]]
"""Fetches the operations data from the service; raises as its client does."""


class OperationsPage:
    """The page that shows admins the state of the service. `who_is` converts a person to the service's member."""

    def __init__(
        self,
        cookies: MemberCookies,
        fetch_operations: FetchOperations,
        who_is: Callable[[WebPerson], Who],
        *,
        admin_pages: bool,
    ) -> None:
        self.cookies = cookies
        self._admin_pages = admin_pages
        self._fetch_operations = fetch_operations
        self._who_is = who_is

    async def show(self, request: Request) -> Response:
        """Renders the current state."""
        person = self.cookies.person(request)
        if not person.admin:
            raise RequestProblem(403, *problems.NOT_ADMIN)
        try:
            found = await self._fetch_operations(self._who_is(person))
        except ServiceRefused as refused:
            raise RequestProblem(403, *plain_refusal(refused.refusal)) from None
        except ServiceUnavailable:
            raise RequestProblem(503, *problems.SERVICE_DOWN) from None
        shown = {"base": f"/m/{person.id}", "person": person, "admin_pages": self._admin_pages}
        return HTMLResponse(page("operations.html", **shown, **template_variables(found)))


def template_variables(found: Operations) -> dict[str, Any]:
    """Returns the template's variables: the service's facts, and the functions that put them into words."""
    sandbox = found.sandbox
    return {
        "found": found,
        "text": operations,
        "sandbox": operations.sandbox_text(sandbox),
        "sandbox_well": sandbox is not None and sandbox.problem is None and not sandbox.trouble,
        "open_troubles": [trouble for trouble in found.troubles if trouble.over_at is None],
        "past_troubles": [trouble for trouble in found.troubles if trouble.over_at is not None],
    }


HERE = Path(__file__).parent
LONGEST_TEXT = 4000
"""Longest message that a member may type, characters."""
MOST_MESSAGES = 40
"""Messages on a page of the channel."""
LONGEST_PAGE = 34_000
"""Length of the messages on a page, characters. With styles and scripts the page stays within 100 KB, unless one
message alone is longer."""
SHORTCUTS = ("/quiz today", "/quiz practice", "/quiz board", "/quiz help")
"""Commands offered beside the input."""
WITHOUT_SESSIONS = ("/static/", "/healthz", "/highlight.css", "/e/")
"""Paths that are the same for everyone, and the editor that links open."""
CompleteCommand = Callable[[str, bool], list[str]]
"""Completes a command for an admin or another member."""


class WebApp:
    """The routes' handlers."""

    def __init__(
        self,
        chat: WebChat,
        answer: Answer,
        complete: CompleteCommand,
        fetch_operations: FetchOperations | None = None,
        client: ServiceClient | None = None,
        provider: Provider | None = None,
    ) -> None:
        self._chat = chat
        self._answer = answer
        self._complete = complete
        self._provider = provider
        self._streams = EventStreams()
        oldest = None if provider is None else provider.session_age
        self.cookies = MemberCookies(chat.store, chat.clock, oldest)
        self.operations = (
            OperationsPage(self.cookies, fetch_operations, who_of, admin_pages=client is not None)
            if fetch_operations is not None
            else None
        )
        self._navigation = Navigation(client is not None, self.operations is not None, provider is not None)
        self.pages: list[Route] = []
        if client is not None:
            frame = MemberFrame(self.cookies, client, answer, self._navigation, chat.clock, chat.pause, self._streams)
            pages = (
                TodayPage(frame),
                PracticePage(frame),
                BoardPage(frame),
                LadderPage(frame),
                TournamentPage(frame),
                SprintPage(frame),
                ArchivePages(frame),
                MePage(frame),
                SuggestPage(frame),
                AdminPages(AdminFrame(self.cookies, client, self._navigation, chat.clock, chat.store)),
            )
            self.pages = [route for page in pages for route in page.routes]
        # Somebody whom the provider no longer lets in must not stay signed in by a link that they made before.
        own = provider is None
        signed_out = "/" if own else SIGNED_OUT
        self.sessions = SessionPages(self.cookies, chat.store, self._navigation, signed_out)
        self.sign_in = SignInPages(self.cookies, chat.store, self._navigation, self._first_page, own=own)
        self.joining = (
            [Route("/join", self.join, methods=["POST"])]
            if provider is None
            else AccountPages(provider, self.cookies, chat.store, chat.clock, self._first_page).routes
        )

    # Joining

    async def entry(self, request: Request) -> Response:
        return self._entry(request)

    async def join(self, request: Request) -> Response:
        fields = await self.cookies.fields(request, "entry")
        name = text_of(fields, "name")
        try:
            person = await self._chat.store.join(name)
        except ServiceRefused as refused:
            if not isinstance(refused.refusal, NameRefused):
                raise
            return self._entry(request, plain_refusal(refused.refusal)[1], name)
        response = RedirectResponse(f"/m/{person.id}/{self._first_page}", 303)
        await self.cookies.grant(request, response, person)
        return response

    @property
    def _first_page(self) -> str:
        """The page that members see first: today's question, or the channel where that page is off."""
        return "today" if self.pages else ""

    def _entry(self, request: Request, error: str = "", name: str = "") -> Response:
        people = [session.person for session in self.cookies.sessions(request).values()]
        token = self.cookies.token("entry")
        html = page(
            "entry.html",
            channel=CHANNEL,
            people=people,
            error=error,
            name=name,
            token=token,
            first=self._first_page,
            provider=self._provider and self._provider.name,
            sign_in=SIGN_IN,
        )
        return HTMLResponse(html, 422 if error else 200)

    # Pages

    async def channel(self, request: Request) -> Response:
        """Shows the newest messages, or with `before` those before a message, as many as a page holds."""
        person = self.cookies.person(request)
        token = self.cookies.token(person.id)
        before = _number(request.query_params.get("before", "")) or LAST_ID
        seen = await self._chat.store.seen_by(person.id, CHANNEL, limit=MOST_MESSAGES + 1, before=before)
        found = seen.messages
        messages = page_of_messages(found[-MOST_MESSAGES:], _base(person), token)
        return HTMLResponse(
            page(
                "channel.html",
                **self._navigation.variables(person, "channel"),
                token=token,
                version=seen.version,
                messages=messages,
                earlier=messages[0][0].id if len(found) > len(messages) else 0,
                latest=before == LAST_ID,
                shortcuts=SHORTCUTS,
            )
        )

    async def editor(self, request: Request) -> Response:
        """Shows a code form on its own page, with results below."""
        person = self.cookies.person(request)
        store = self._chat.store
        form = await store.message(_number(request.path_params["message"]), person.id)
        if form is None or form.member != person.id or not isinstance(form.content, Form):
            raise RequestProblem(404, *problems.EDITOR_GONE)
        results = await store.results(form.id, person.id)
        return HTMLResponse(
            page(
                "editor.html",
                channel=CHANNEL,
                person=person,
                base=_base(person),
                token=self.cookies.token(person.id),
                version=results.version,
                message=form,
                messages=results.messages,
                editor=form.id,
            )
        )

    async def events(self, request: Request) -> Response:
        person = self.cookies.person(request)
        query = request.query_params
        after = _number(request.headers.get("last-event-id") or query.get("after", ""))
        news = self._news(request, person, after, _number(query.get("editor", "")))
        return self._streams.respond(person.id, news)

    async def _news(
        self, request: Request, person: WebPerson, after: int, editor: int
    ) -> AsyncGenerator[ServerSentEvent, None]:
        token = self.cookies.token(person.id)

        async def is_signed_in() -> bool:
            await self.cookies.load(request)
            return person.id in self.cookies.known(request)

        ends_at = self.cookies.ends_at(request, person.id)
        async for message in self._chat.follow(person.id, after, is_signed_in, ends_at):
            if isinstance(message, Connection):
                yield ServerSentEvent(data=message.value, event="connection")
            elif not editor or _belongs(message, editor):
                html = message_html(message, _base(person), token, editor)
                yield ServerSentEvent(data=html, id=str(message.version))

    async def completions(self, request: Request) -> Response:
        person = self.cookies.person(request)
        text = request.query_params.get("text", "")[:200]
        return JSONResponse(self._complete(text, person.admin)[:25])

    async def commands(self, request: Request) -> Response:
        """Returns what the command bar offers, and the token with which it posts."""
        person = self.cookies.person(request)
        offers = [asdict(one) for one in offer(request.query_params.get("text", "")[:200], person.admin)]
        return JSONResponse({"token": self.cookies.token(person.id), "offers": offers})

    async def highlight(self, request: Request) -> Response:
        person = self.cookies.person(request)
        fields = await self.cookies.fields(request, person.id)
        return HTMLResponse(await run_in_threadpool(highlighted, text_of(fields, "code"), "python"))

    # Actions

    async def say(self, request: Request) -> Response:
        person = self.cookies.person(request)
        fields = await self.cookies.fields(request, person.id)
        text = text_of(fields, "text").strip()
        if len(text) > LONGEST_TEXT:
            raise RequestProblem(422, *problems.message_too_long(len(text), LONGEST_TEXT))
        if not text:
            raise RequestProblem(422, *problems.NO_MESSAGE)
        event = event_id(request, person.id, fields)
        if not text.startswith("/"):
            message = await self._chat.say(person.id, text, event)
            if message is None:
                raise RequestProblem(403, *problems.NOBODY)
            return self._done(request, person, fields, message)
        name, *rest = text[1:].split(None, 1) or [""]
        command = Command(event, self._chat.clock(), who_of(person), WHERE, name, "".join(rest))
        return await self._handle(request, person, fields, command)

    async def press(self, request: Request) -> Response:
        person = self.cookies.person(request)
        fields = await self.cookies.fields(request, person.id)
        event = event_id(request, person.id, fields)
        press = Press(event, self._chat.clock(), who_of(person), WHERE, text_of(fields, "action"))
        return await self._handle(request, person, fields, press)

    async def submit(self, request: Request) -> Response:
        person = self.cookies.person(request)
        fields = await with_documents(await self.cookies.fields(request, person.id, files=1))
        event = event_id(request, person.id, fields)
        values = values_of(fields)
        await self._chat.save_input(person.id, _number(text_of(fields, "message")), values)
        submit = Submit(event, self._chat.clock(), who_of(person), WHERE, text_of(fields, "action"), values)
        return await self._handle(request, person, fields, submit)

    async def _handle(self, request: Request, person: WebPerson, fields: FormData, event: Event) -> Response:
        with ACKNOWLEDGED.labels("web").time():
            reply = await self._answer(event)
        cause, editor = _number(text_of(fields, "message")), _number(text_of(fields, "editor"))
        message = await self._chat.post_reply(person.id, reply, event.id, cause, editor)
        return self._done(request, person, fields, message)

    def _done(self, request: Request, person: WebPerson, fields: FormData, message: Message) -> Response:
        """Returns the resulting message to scripts; other clients are redirected to the page that shows it."""
        here = _number(text_of(fields, "editor"))
        base = _base(person)
        editor = f"{base}/form/{message.id}" if is_editor(message.content) else ""
        if "application/json" in request.headers.get("accept", ""):
            html = message_html(message, base, self.cookies.token(person.id), here)
            return JSONResponse({"message": message.id, "html": html, "editor": editor})
        if not message.id and isinstance(message.content, Card):
            return _problem(request, (message.content.title, message.content.summary), 200)
        page_of = f"{base}/form/{here}" if here and _belongs(message, here) else f"{base}/"
        return RedirectResponse(editor or f"{page_of}#m{message.id}", 303)


def build(
    chat: WebChat,
    answer: Answer,
    complete: CompleteCommand,
    hosts: Collection[str] = (),
    linked: LinkedEditor | None = None,
    fetch_operations: FetchOperations | None = None,
    client: ServiceClient | None = None,
    limit: int = DEFAULT_LIMIT,
    provider: Provider | None = None,
) -> ASGIApp:
    """Returns the web chat as an ASGI app, with the web editor if `linked` is given.

    `hosts` are its public names, see `SecurityMiddleware`. `fetch_operations` enables the admins' operations page,
    and `client` the members' pages. Members then see today's question first. At most `limit` requests are worked on
    at once. With a `provider`, members sign in there instead of joining by name.
    """
    web = WebApp(chat, answer, complete, fetch_operations, client, provider)
    routes = [
        Route("/", web.entry),
        *web.joining,
        Route("/m/{member}/", web.channel),
        Route("/m/{member}/events", web.events),
        Route("/m/{member}/complete", web.completions),
        Route("/m/{member}/commands", web.commands),
        Route("/m/{member}/form/{message}", web.editor),
        Route("/m/{member}/say", web.say, methods=["POST"]),
        Route("/m/{member}/press", web.press, methods=["POST"]),
        Route("/m/{member}/submit", web.submit, methods=["POST"]),
        Route("/m/{member}/highlight", web.highlight, methods=["POST"]),
        *([Route("/m/{member}/operations", web.operations.show)] if web.operations is not None else ()),
        *web.sign_in.routes,
        *web.sessions.routes,
        *web.pages,
        *(linked.routes if linked is not None else ()),
    ]
    return site(routes, hosts, limit, web.cookies)


def build_editor(linked: LinkedEditor, hosts: Collection[str] = (), limit: int = DEFAULT_LIMIT) -> ASGIApp:
    """Returns an app with the web editor only, for teams on other chats."""
    return site([Route("/", _editor_root), *linked.routes], hosts, limit)


def site(
    routes: Sequence[BaseRoute],
    hosts: Collection[str],
    limit: int = DEFAULT_LIMIT,
    cookies: MemberCookies | None = None,
) -> ASGIApp:
    """Returns an app with the routes, shared assets, security middleware and a limit of requests at once.

    With `cookies`, the routes know the browser's sessions.
    """
    common = [
        Route("/healthz", lambda _: PlainTextResponse("ok")),
        Route("/highlight.css", lambda _: Response(code_colors(), media_type="text/css")),
        Mount("/static", StaticFiles(directory=HERE / "static")),
    ]
    handlers = {
        HTTPException: _problem_page,
        ServiceRefused: _service_problem,
        ServiceUnavailable: _service_problem,
        Exception: _fault_page,
    }
    app: ASGIApp = Starlette(routes=[*routes, *common], exception_handlers=handlers)
    if cookies is not None:
        app = MemberSessions(app, cookies)
    overloaded = PlainTextResponse(problems.OVERLOADED, 503, RETRY_HEADER)
    return SecurityMiddleware(ConcurrencyLimit(app, overloaded, limit), hosts)


class MemberSessions:
    """Middleware that reads the browser's sessions before a route of the chat runs.

    While the service does not answer, it shows a page that says so.
    """

    def __init__(self, app: ASGIApp, cookies: MemberCookies) -> None:
        self._app = app
        self._cookies = cookies

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].startswith(WITHOUT_SESSIONS):
            request = Request(scope)
            try:
                await self._cookies.load(request)
            except (ServiceRefused, ServiceUnavailable) as problem:
                response = await _service_problem(request, problem)
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _problem(request: Request, words: Words, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Says what is wrong, with a link back to the quiz of the member whose page it is, else to the start."""
    title, text = words
    member = request.url.path.removeprefix("/m/").partition("/")[0]
    people = [session.person.id for session in getattr(request.state, "sessions", {}).values()]
    home = f"/m/{member}/" if member in people else ""
    return HTMLResponse(page("problem.html", title=title, text=text, home=home), status, headers)


async def _editor_root(request: Request) -> Response:
    return _problem(request, problems.EDITOR_ADDRESS, 200)


async def _problem_page(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    words = getattr(problem, "title", problems.OTHER_PROBLEM), problem.detail
    if problem.status_code == 404 and not isinstance(problem, RequestProblem):
        words = problems.NOT_FOUND
    return _problem(request, words, problem.status_code, problem.headers)


async def _service_problem(request: Request, problem: Exception) -> Response:
    try:
        with refusals_as_pages():
            raise problem
    except RequestProblem as shown:
        return await _problem_page(request, shown)


async def _fault_page(request: Request, fault: Exception) -> Response:
    return _problem(request, problems.FAULT, 500)


def page_of_messages(found: Sequence[Message], base: str, token: str) -> list[tuple[Message, Markup]]:
    """Returns the newest of the messages with their HTML, oldest first: as many as a page holds, and at least one."""
    shown: list[tuple[Message, Markup]] = []
    left = LONGEST_PAGE
    for message in reversed(found):
        html = message_html(message, base, token)
        left -= len(html)
        if left < 0 and shown:
            break
        shown.append((message, Markup(html)))  # noqa: S704 - a template made it, which escapes
    return shown[::-1]


def _belongs(message: Message, editor: int) -> bool:
    """Returns whether an editor's page shows the message: its result, or a newer private delivery."""
    return message.answers == editor or (message.delivered and message.member is not None and message.id > editor)


def _base(person: WebPerson) -> str:
    """Returns the base path of a member's pages."""
    return f"/m/{person.id}"


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else 0
