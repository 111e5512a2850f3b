"""Who a browser may act as in the web chat, and whether a post came from our own page. It knows no routes."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Collection
from ipaddress import ip_address
from urllib.parse import urlsplit

from itsdangerous import BadData, URLSafeSerializer
from starlette.datastructures import FormData, Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.web.store import ChatStore, Person

# Middleware: security headers, body limit, allowed host names.

MAX_BODY = 4 * 1024 * 1024
"""Bytes of a request. A pasted bank is the largest thing anybody sends."""

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
TOO_LARGE = "This is more than the chat takes: 4 MiB at most. Nothing was done."


class Guarded:
    """The outermost layer, so that what fails further in is guarded as well.

    `hosts` are the public names it may be asked by. Addresses, names without a dot and `.local` names need not be
    listed; any other name may be a stranger's that was pointed here (DNS rebinding) and is refused.
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
        if not self._answers_to(headers.get("host", "")):
            said = f"This chat does not go by the name {headers.get('host')!r}. Open it by its address."
            await PlainTextResponse(said, 421)(scope, receive, send)
        elif _number(headers.get("content-length", "0")) > MAX_BODY:
            await PlainTextResponse(TOO_LARGE, 413)(scope, receive, send)
        else:
            await self._app(scope, _limited(receive), send)

    def _answers_to(self, host: str) -> bool:
        name = host_name(host)
        if "." not in name or name in self._hosts or name.endswith((".local", ".localhost")):
            return True
        try:
            ip_address(name)
        except ValueError:
            return False
        return True


def host_name(host: str) -> str:
    """The name in a Host header, without its port; an IPv6 address without its brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if ":" in host else host.lower()


def _with_headers(send: Send, path: str) -> Send:
    # Pages hold private messages and one-time ids; the browser asks again whether our own files are still the same.
    caching = "no-cache" if path.startswith("/static/") or path.endswith(".css") else "no-store"

    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in {**HEADERS, "Cache-Control": caching}.items():
                headers[name] = value
        await send(message)

    return guarded


def _limited(receive: Receive) -> Receive:
    """Counts what comes: a chunked body does not say its length."""
    left = MAX_BODY

    async def counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, TOO_LARGE)
        return message

    return counted


def _number(text: str) -> int:
    # More digits than any body has are too many, not none.
    return int(text[:18]) if text.isascii() and text.isdecimal() else 0


MOST_PEOPLE = 30
"""Members one browser may act as; a cookie holds no more than 4 KB."""
YEAR = 365 * 86400
NONCE = re.compile(r"[A-Za-z0-9-]{1,64}")


class RequestProblem(HTTPException):
    """A request we do not serve, with what to tell whoever made it."""

    def __init__(self, status: int, title: str, text: str) -> None:
        super().__init__(status, text)
        self.title = title


class Passes:
    """Signed with the store's secret, so that they outlive a restart. A browser may hold several members at once."""

    def __init__(self, store: ChatStore) -> None:
        self._store = store
        secret = store.secret("session")
        # Cookies know no ports: two chats on one machine would take each other's if they shared a name.
        self.cookie = f"dailygrad_{hashlib.sha256(secret.encode()).hexdigest()[:8]}"
        self._people = URLSafeSerializer(secret, salt="people")
        self._tokens = URLSafeSerializer(secret, salt="csrf")

    def known(self, request: Request) -> list[str]:
        """The ids of the members this browser joined as."""
        try:
            known = self._people.loads(request.cookies.get(self.cookie, ""))
        except BadData:
            return []
        return [member for member in known if isinstance(member, str)] if isinstance(known, list) else []

    def grant(self, request: Request, response: Response, person: Person) -> None:
        """Let this browser act as `person` from now on, beside those it knows."""
        known = [*self.known(request), person.id][-MOST_PEOPLE:]
        response.set_cookie(
            self.cookie,
            str(self._people.dumps(known)),
            max_age=YEAR,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )

    def person(self, request: Request) -> Person:
        """The member whose page this is. Raises Problem when this browser is not theirs."""
        member = request.path_params["member"]
        person = self._store.person(member) if member in self.known(request) else None
        if person is None:
            raise RequestProblem(
                403, "Who are you?", "This page belongs to a member who has not joined in this browser."
            )
        return person

    def token(self, whose: str) -> str:
        """What our pages carry and another site cannot know."""
        return str(self._tokens.dumps(whose))

    async def fields(self, request: Request, whose: str) -> FormData:
        """The posted fields, once it is sure that our own page sent them. Raises Problem."""
        return await posted(request, self.token(whose))


async def posted(request: Request, token: str) -> FormData:
    """The posted fields, once it is sure that our own page, which carries the token, sent them. Raises Problem."""
    if not _ours(request):
        raise RequestProblem(403, "Not from here", "Another site sent this. Nothing was done.")
    fields = await request.form(max_files=0, max_part_size=MAX_BODY)
    if not secrets.compare_digest(text_of(fields, "token").encode(), token.encode()):
        raise RequestProblem(
            403, "This page is out of date", "Load it again and repeat what you did. Nothing was done."
        )
    return fields


def text_of(fields: FormData, name: str) -> str:
    """A field as people typed it: one kind of line end, and no NUL, which no database keeps."""
    value = fields.get(name, "")
    return cleaned(value) if isinstance(value, str) else ""


def cleaned(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "\ufffd")


def values_of(fields: FormData) -> dict[str, tuple[str, ...]]:
    """What was filled in, by the names of the form's fields."""
    names = {name for name in fields if name.startswith("v:")}
    return {name[2:]: tuple(cleaned(str(value)) for value in fields.getlist(name)) for name in names}


def event_id(request: Request, whose: str, fields: FormData) -> str:
    """The same for the same post sent twice, and for nothing else.

    The page gives every form a number used once. A browser that goes back shows the old number again, so what was
    chosen belongs to the id too, or a change of mind would be taken for a repetition.
    """
    nonce = text_of(fields, "event")
    if not NONCE.fullmatch(nonce):
        raise RequestProblem(
            400, "This page is out of date", "Load it again and repeat what you did. Nothing was done."
        )
    said = sorted((name, str(value)) for name, value in fields.multi_items() if name != "token")
    return hashlib.sha256(repr((whose, request.url.path, said)).encode()).hexdigest()


def _ours(request: Request) -> bool:
    """Whether the browser says that this comes from our own origin; a client that says nothing needs the token."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")
