"""Around every call: takes up the id of the chat event it serves, and tells of it in one line. It refuses nothing."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service import tracing

_LOG = logging.getLogger(__name__)
PREFIX = "/v1/"
HUNG_UP = 0
"""The status of a call whose caller went before it was answered."""


class Followed:
    """Calls that serve no event are told of only where they fail: most are couriers asking what waits."""

    def __init__(self, app: ASGIApp, seconds: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        status, begun = HUNG_UP, self._seconds()

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with tracing.following(event_of(scope)), tracing.noting() as notes:
            try:
                await self._app(scope, receive, answered)
            except Exception:
                status = 500
                raise
            finally:
                _tell(scope, status, round(1000 * (self._seconds() - begun), 1), notes)


def event_of(scope: Scope) -> str:
    """The id of the event that a request serves; empty where it names none."""
    return tracing.from_header(Headers(scope=scope).get(tracing.HEADER, ""))


def _tell(scope: Scope, status: int, ms: float, notes: dict[str, object]) -> None:
    # What no route of ours bears was never a call, and its path is anybody's text.
    if "route" not in scope or (status < 400 and not tracing.followed()):
        return
    level = logging.WARNING if status in (401, 500) else logging.INFO
    call = str(scope["path"]).removeprefix(PREFIX)
    tracing.mark(_LOG, "call answered", level=level, call=call, http=status, ms=ms, **notes)
