"""Before a body is read: nothing of a stranger's, and nobody's past its limit. What a body means is the routes'."""

from __future__ import annotations

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.api.dependencies import authorised

MOST = 10_500_000
"""Bytes of a call: the longest document, each of its characters escaped, and what is said beside it."""


class TooLarge(HTTPException):
    """A body that nobody reads to its end."""

    def __init__(self) -> None:
        super().__init__(413, f"that is too large: a call takes at most {MOST:,} bytes. Nothing was done.")


class Door:
    """An ASGI app whose bodies are bounded. What it refuses, it raises where the body is read, so inside the route."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, _bounded(Request(scope), receive) if scope["type"] == "http" else receive, send)


def _bounded(request: Request, receive: Receive) -> Receive:
    left = MOST
    known = False

    async def bounded() -> Message:
        nonlocal left, known
        if not known:
            authorised(request)
            _refuse_declared(request.headers.get("content-length", "0"))
            known = True
        message = await receive()
        # A chunked body does not say its length.
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLarge
        return message

    return bounded


def _refuse_declared(length: str) -> None:
    # More digits than any body has are too many, not none.
    if length.isascii() and length.isdecimal() and int(length[:18]) > MOST:
        raise TooLarge
