"""ASGI middleware that limits how many requests an application works on at once. Health checks are always answered."""

from __future__ import annotations

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.metrics import OVERLOADED

DEFAULT_LIMIT = 1000
"""Requests at once, in one process. A request that waits costs about 30 KB."""
HEALTH_PATHS = ("/healthz", "/readyz")
"""Paths that are exempt: a process that is busy must not be taken for one that hangs."""
BODY_SECONDS = 60.0
"""Time that the body of a request may take, seconds: a client that stops in the middle does not hold its place."""
RETRY_HEADER = {"Retry-After": "1"}
"""Header of the refusal. Most requests take less than a second, so there is room again soon."""


class ConcurrencyLimit:
    """Sends `refusal`, a response with status 503, to every request beyond `limit` that are in progress.

    It is like uvicorn's `limit_concurrency`, which refuses health checks, too. An open event stream counts. `app` has
    to handle `HTTPException`, which is raised where it reads a body that takes too long.
    """

    def __init__(
        self, app: ASGIApp, refusal: ASGIApp, limit: int = DEFAULT_LIMIT, *, body_seconds: float = BODY_SECONDS
    ) -> None:
        self._app = app
        self._refusal = refusal
        self._limit = limit
        self._body_seconds = body_seconds
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in HEALTH_PATHS:
            await self._app(scope, receive, send)
        elif self._running >= self._limit:
            OVERLOADED.inc()
            await self._refusal(scope, receive, send)
        else:
            self._running += 1
            try:
                await self._app(scope, self._in_time(receive), send)
            except ClientDisconnect:
                pass  # it left before its body was complete: there is no one to answer, and nothing to log
            finally:
                self._running -= 1

    def _in_time(self, receive: Receive) -> Receive:
        """Limits the time until the body is complete. What follows it is waited for without limit."""
        ends = asyncio.get_running_loop().time() + self._body_seconds
        complete = False

        async def timed() -> Message:
            nonlocal complete
            if complete:
                return await receive()
            try:
                async with asyncio.timeout_at(ends):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, f"The body did not arrive within {self._body_seconds:g} seconds.") from None
            complete = not message.get("more_body", False)
            return message

        return timed
