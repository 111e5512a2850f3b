"""What stands around every request of the web chat: headers, a body's size, the name it was asked by. No routes."""

from __future__ import annotations

from collections.abc import Collection
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
