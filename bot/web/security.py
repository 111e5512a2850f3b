"""Security of the web chat: host names, headers, body limits, signed cookies and CSRF tokens. Knows no routes."""

from __future__ import annotations

import hashlib
import re
import secrets
from base64 import b64encode
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from ipaddress import ip_address
from time import monotonic
from typing import cast
from urllib.parse import urlsplit

from itsdangerous import BadData, URLSafeSerializer
from pydantic import ValidationError
from starlette.datastructures import FormData, Headers, MutableHeaders, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.core.answers import read_count
from bot.core.text import web_problems as problems
from bot.core.text.refusals import UNAVAILABLE, plain_refusal
from bot.web.store import ChatStore
from service.client import ServiceRefused, ServiceUnavailable
from service.process import Clock
from service.wire import PACKED, WebPerson, WebSession, invalid_input

# Middleware: security headers, body limit, allowed host names

MAX_BODY = 4 * 1024 * 1024
"""Largest request body, bytes. A pasted bank is the largest input."""
MAX_FILE = 2 * 1024 * 1024
"""Maximum size of an uploaded file that is not text, bytes: a preview sends it back as base64 within `MAX_BODY`."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
MOST_PAGES = 10_000
"""Number of the last page that a list shows."""
CHECK_S = 10.0
"""Longest time that a stream continues after a sign-out, seconds."""
Pause = Callable[[float], Awaitable[bool]]
"""Waits this many seconds; returns False if the stream has to end."""


class SecurityMiddleware:
    """Middleware for host names, body limits and security headers. Outermost, so that it also covers error pages.

    `hosts` are the public names. IP addresses, names without a dot and `.local` names are always allowed. Any other
    name is refused, because a stranger may have pointed it here (DNS rebinding).
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send, scope["path"])
        headers = Headers(scope=scope)
        if not self._is_allowed_host(headers.get("host", "")):
            await PlainTextResponse(problems.host_unknown(headers.get("host")), 421)(scope, receive, send)
        elif _number(headers.get("content-length", "0")) > MAX_BODY:
            await PlainTextResponse(problems.TOO_LARGE, 413)(scope, receive, send)
        else:
            await self._app(scope, _limited(receive), send)

    def _is_allowed_host(self, host: str) -> bool:
        name = host_name(host)
        if "." not in name or name in self._hosts or name.endswith((".local", ".localhost")):
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def host_name(host: str) -> str:
    """Returns the name in a Host header, without port and without the brackets of an IPv6 address."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if ":" in host else host.lower()


def _with_headers(send: Send, path: str) -> Send:
    # Pages contain private messages and one-time ids, so they are not stored. Assets are revalidated.
    caching = "no-cache" if path.startswith("/static/") or path.endswith(".css") else "no-store"

    async def with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in {**HEADERS, "Cache-Control": caching}.items():
                headers[name] = value
        await send(message)

    return with_headers


def _limited(receive: Receive) -> Receive:
    """Limits a chunked body, which does not announce its length."""
    left = MAX_BODY

    async def counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, problems.TOO_LARGE)
        return message

    return counted


def _number(text: str) -> int:
    # Truncating a huge number keeps it above every limit.
    return int(text[:18]) if text.isascii() and text.isdecimal() else 0


MAX_MEMBERS = 30
"""Members one browser may act as: a cookie holds at most 4 KB."""
YEAR = 365 * 86400
NONCE = re.compile(r"[A-Za-z0-9-]{1,64}")


class RequestProblem(HTTPException):
    """A request that is refused, with the title and text of the error page."""

    def __init__(self, status: int, title: str, text: str) -> None:
        super().__init__(status, text)
        self.title = title


@contextmanager
def refusals_as_pages(status: int = 409) -> Iterator[None]:
    """Turns what the service's client raises, and input that its calls do not take, into a RequestProblem. `status` is
    that of a refusal."""
    try:
        yield
    except ServiceUnavailable:
        raise RequestProblem(503, *UNAVAILABLE) from None
    except ServiceRefused as refused:
        raise RequestProblem(status, *plain_refusal(refused.refusal)) from None
    except ValidationError as error:
        # Input beyond the limits of the service's calls.
        raise RequestProblem(422, *plain_refusal(invalid_input(error.errors()))) from None


class _Signing:
    """What signs cookies and forms: made of the secret that all processes of the chat share."""

    def __init__(self, secret: str) -> None:
        # Cookies ignore ports, so two chats on one machine need different names.
        self.cookie = f"dailygrad_{hashlib.sha256(secret.encode()).hexdigest()[:8]}"
        self.people = URLSafeSerializer(secret, salt="people")
        self.tokens = URLSafeSerializer(secret, salt="csrf")
        self.secret = secret


class MemberCookies:
    """Signed cookies with the secrets of a browser's sessions: each lets it act as one member until it is ended.

    The store's secret signs them, so every process of the chat accepts them, even after a restart. With `oldest`, a
    session counts only that long after its sign-in.
    """

    def __init__(self, store: ChatStore, clock: Clock | None = None, oldest: timedelta | None = None) -> None:
        self._store = store
        self._signing: _Signing | None = None
        self._clock = clock
        self._oldest = oldest

    async def load(self, request: Request) -> None:
        """Reads the browser's sessions from the service, so that one that was ended anywhere ends here at once."""
        if self._signing is None:
            self._signing = _Signing(await self._store.secret())
        try:
            codes = self._signing.people.loads(request.cookies.get(self._signing.cookie, ""))
        except BadData:
            codes = []
        known = [code for code in codes if isinstance(code, str)][:MAX_MEMBERS] if isinstance(codes, list) else []
        sessions = await self._store.use_sessions(known)
        if self._clock is not None and self._oldest is not None:
            since = self._clock() - self._oldest
            sessions = {code: session for code, session in sessions.items() if session.began > since}
        request.state.sessions = sessions

    @property
    def cookie(self) -> str:
        """Returns the cookie's name."""
        return self._sign.cookie

    @property
    def _sign(self) -> _Signing:
        assert self._signing is not None, "MemberSessions loads it before a route runs"
        return self._signing

    def sessions(self, request: Request) -> dict[str, WebSession]:
        """Returns this browser's sessions by their secrets, oldest first."""
        return cast(dict[str, WebSession], request.state.sessions)

    def ends_at(self, request: Request, member: str) -> datetime | None:
        """Returns when this browser's sign-in as the member becomes too old; None if it never does."""
        began = [session.began for session in self.sessions(request).values() if session.person.id == member]
        return max(began) + self._oldest if began and self._oldest is not None else None

    def pause_while_signed_in(self, request: Request, pause: Pause) -> Pause:
        """Returns a pause between two looks of a stream, which ends the stream once this browser is signed out."""
        member = request.path_params["member"]
        checked_at = monotonic()

        async def wait(seconds: float) -> bool:
            nonlocal checked_at
            if not await pause(seconds):
                return False
            if monotonic() - checked_at >= CHECK_S:
                checked_at = monotonic()
                # Without the service there is nothing to send either.
                with suppress(ServiceUnavailable):
                    await self.load(request)
            return member in self.known(request)

        return wait

    def known(self, request: Request) -> list[str]:
        """Returns the ids of the members this browser joined as."""
        return [session.person.id for session in self.sessions(request).values()]

    async def grant(self, request: Request, response: Response, person: WebPerson) -> None:
        """Adds a member to those this browser may act as."""
        known = list(self.sessions(request))
        if person.id not in self.known(request):
            known.append(await self._store.begin_session(person.id, request.headers.get("user-agent", "")))
        known = known[-MAX_MEMBERS:]
        response.set_cookie(
            self._sign.cookie,
            str(self._sign.people.dumps(known)),
            max_age=YEAR,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )

    def person(self, request: Request) -> WebPerson:
        """Returns the member of this page. Raises RequestProblem if this browser did not join as them."""
        member = request.path_params["member"]
        mine = [session.person for session in self.sessions(request).values() if session.person.id == member]
        person = mine[0] if mine else None
        if person is None:
            raise RequestProblem(403, *problems.NOBODY)
        return person

    def token(self, whose: str) -> str:
        """Returns a CSRF token."""
        return str(self._sign.tokens.dumps(whose))

    def signed(self, purpose: str, value: object) -> str:
        """Returns a value as a text that only this chat can have made, for that purpose."""
        return str(URLSafeSerializer(self._sign.secret, salt=f"signed {purpose}").dumps(value))

    def opened(self, purpose: str, text: str) -> object:
        """Returns the value in such a text, or None if it is not one."""
        try:
            return cast(object, URLSafeSerializer(self._sign.secret, salt=f"signed {purpose}").loads(text))
        except BadData:
            return None

    async def fields(self, request: Request, whose: str, files: int = 0) -> FormData:
        """Returns the form fields of a request from one of our pages, with at most `files` files. Raises
        RequestProblem."""
        return await posted(request, self.token(whose), files)


async def posted(request: Request, token: str, files: int = 0) -> FormData:
    """Returns the form fields of a request that has the right CSRF token. Raises RequestProblem."""
    if not _is_same_origin(request):
        raise RequestProblem(403, *problems.OTHER_SITE)
    fields = await request.form(max_files=files, max_part_size=MAX_BODY)
    if not secrets.compare_digest(text_of(fields, "token").encode(), token.encode()):
        raise RequestProblem(403, *problems.OUT_OF_DATE)
    return fields


def text_of(fields: FormData, name: str) -> str:
    """Returns a text field with normalized line breaks and without NUL, which PostgreSQL cannot store."""
    value = fields.get(name, "")
    return cleaned(value) if isinstance(value, str) else ""


def cleaned(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")


async def with_documents(fields: FormData) -> FormData:
    """Returns the fields with an uploaded document in place of the typed one; its name fills an empty name.

    Raises RequestProblem for a file that is too large.
    """
    items: list[tuple[str, str | UploadFile]] = [one for one in fields.multi_items() if isinstance(one[1], str)]
    for name, file in fields.multi_items():
        if not isinstance(file, UploadFile):
            continue
        content = await file.read()
        await file.close()
        if not file.filename or not name.startswith("file:"):
            continue
        text = _document_text(content, file.filename)
        replaced = (f"v:{name[5:]}", "v:name") if not text_of(fields, "v:name").strip() else (f"v:{name[5:]}",)
        items = [one for one in items if one[0] not in replaced]
        items += zip(replaced, (text, file.filename[:200]), strict=False)
    return FormData(items)


def _document_text(content: bytes, name: str) -> str:
    """Returns the text of a document, or a file that is not text as the service takes it."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    if b"\x00" not in content and not content.startswith(b"PK\x03\x04"):
        try:
            return content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return content.decode("cp1252", "replace")
    if len(content) > MAX_FILE:
        raise RequestProblem(413, *problems.file_too_large(name, MAX_FILE // 1024**2))
    return PACKED + b64encode(content).decode()


def page_of(text: str) -> int:
    """Returns the page that a query names, up to the last one that the service shows; 1 for any other text."""
    page = read_count(text)
    return page if page and page <= MOST_PAGES else 1


def values_of(fields: FormData) -> dict[str, tuple[str, ...]]:
    """Returns the values of the form, by field name."""
    names = {name for name in fields if name.startswith("v:")}
    return {name[2:]: tuple(cleaned(str(value)) for value in fields.getlist(name)) for name in names}


def event_id(request: Request, whose: str, fields: FormData) -> str:
    """Returns an event id: the same for a repeated request, and different for any other.

    Pages contain a new one-time number for each form. Going back in the browser shows an old number again, so the id
    includes the values: otherwise a changed answer would count as a repetition.
    """
    nonce = text_of(fields, "event")
    if not NONCE.fullmatch(nonce):
        raise RequestProblem(400, *problems.OUT_OF_DATE)
    values = sorted((name, str(value)) for name, value in fields.multi_items() if name != "token")
    return hashlib.sha256(repr((whose, request.url.path, values)).encode()).hexdigest()


def _is_same_origin(request: Request) -> bool:
    """Returns whether the request comes from our origin, if the client says so; others need the token anyway."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")
