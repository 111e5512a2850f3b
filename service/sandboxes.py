"""The sandbox over HTTP, on the worker's side: a relay of runs to the worker's sandbox.

Services reach it by `service.workers`. `POST /run` takes a Run and `GET /health` nothing; both answer in the format of
`sandbox.wire`. The relay checks the service token and knows nothing about questions or members.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Protocol

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from sandbox import wire
from sandbox.client import Health, SandboxUnreachable
from sandbox.judging.challenge import Runs
from sandbox.load_balancer import SandboxPool
from sandbox.wire import MAX_BODY, MAX_HEADER, Outcome, Run
from service.config import Settings
from service.process import listen, serve_app

MAX_FRAME_BYTES = MAX_BODY + MAX_HEADER + 4
"""Largest frame, bytes."""
MAX_RUNS = 256
"""Most runs that a relay holds at once. The sandboxes decide how many of them run, and in which order."""
MAX_BYTES = 2 * MAX_FRAME_BYTES
"""Most bytes of all runs that a relay holds together."""
GRACE_SECONDS = 8
"""Time that running runs get when the worker stops, seconds; its jobs get the rest of a container's grace period."""
FRAME = "application/octet-stream"


class ReportsHealth(Protocol):
    """Anything that reports the health of a sandbox."""

    async def health(self) -> Health:
        """Returns the sandbox's health. Raises SandboxUnreachable if nothing answers."""
        ...


class SandboxPort(Runs, ReportsHealth, Protocol):
    """What the service needs from a sandbox, or from several behind one client."""


def own_sandboxes(settings: Settings) -> SandboxPool | None:
    """Returns the sandboxes that the settings name by socket or address; None if they name none."""
    if not settings.sandbox_paths and not settings.sandbox_nodes:
        return None
    return SandboxPool(settings.sandbox_paths, nodes=settings.sandbox_nodes, certificates=settings.sandbox_certificates)


class _HttpError(Exception):
    """The request gets this status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Relay:
    """The ASGI application of a worker. `accepts` decides whether an Authorization header is valid."""

    def __init__(
        self,
        sandbox: SandboxPort,
        accepts: Callable[[str], bool],
        *,
        max_runs: int = MAX_RUNS,
        max_bytes: int = MAX_BYTES,
        max_frame_bytes: int = MAX_FRAME_BYTES,
    ) -> None:
        self._sandbox = sandbox
        self._accepts = accepts
        self._max_runs, self._max_bytes, self._max_frame_bytes = max_runs, max_bytes, max_frame_bytes
        self._runs = 0
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles one request. Disconnecting ends the run. A run that outlasts the worker gets status 503."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except _HttpError as refusal:
            answer = PlainTextResponse(str(refusal), refusal.status, {"Connection": "close"})
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            # The server cancels what still runs when its grace period ends, and nothing else does.
            stopped = "the worker stopped before the run ended"
            answer = PlainTextResponse(stopped, 503, {"Connection": "close"})
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if not self._accepts(request.headers.get("authorization", "")):
            raise _HttpError(401, "the service token is missing or wrong: the service and its workers must share one")
        match request.method, request.url.path:
            case "GET", "/health":
                return await self._health()
            case "POST", "/run":
                return await self._run(request)
        raise _HttpError(404, "not found: use POST /run or GET /health")

    async def _health(self) -> Response:
        try:
            health = await self._sandbox.health()
        except SandboxUnreachable as problem:
            raise _HttpError(503, str(problem)) from None
        return Response(json.dumps(asdict(health)), media_type="application/json")

    async def _run(self, request: Request) -> Response:
        length = self._length(request)
        if self._runs >= self._max_runs or self._bytes + length > self._max_bytes:
            outcome = Outcome("", "internal", refused="full", detail=f"the worker already has {self._runs} runs")
            return Response(wire.encode_outcome(outcome), media_type=FRAME, headers={"Connection": "close"})
        self._runs += 1
        self._bytes += length
        try:
            run = await self._read(request, length)
            outcome = await self._run_until_disconnect(run, request)
        finally:
            self._runs -= 1
            self._bytes -= length
        return Response(wire.encode_outcome(outcome), media_type=FRAME)

    def _length(self, request: Request) -> int:
        length = request.headers.get("content-length", "")
        if not length.isascii() or not length.isdecimal():
            raise _HttpError(411, "the Content-Length header is required")
        if len(length) > 12 or int(length) > self._max_frame_bytes:
            raise _HttpError(413, f"a run has at most {self._max_frame_bytes} bytes")
        return int(length)

    async def _read(self, request: Request, length: int) -> Run:
        held = bytearray()
        async for part in request.stream():
            held += part
            if len(held) > length:
                raise _HttpError(400, "the run is longer than its Content-Length")
        try:
            kind, head, body = wire.decode(bytes(held))
            if kind != "run":
                raise ValueError(f"a frame of kind {kind!r}")
            return wire.read_run(head, body)
        except ValueError as problem:
            raise _HttpError(400, f"not a run: {problem}") from None

    async def _run_until_disconnect(self, run: Run, request: Request) -> Outcome:
        running = asyncio.create_task(self._sandbox.run(run), name="relayed run")
        gone = asyncio.create_task(_wait_for_disconnect(request), name="relayed caller")
        try:
            await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                raise ClientDisconnect
            return running.result()
        except ValueError as problem:
            raise _HttpError(400, str(problem)) from None
        finally:
            for task in (running, gone):
                task.cancel()
            # Wait, so that the sandbox connection is closed before the next run.
            await asyncio.gather(running, gone, return_exceptions=True)


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def serve_relay(
    sandbox: SandboxPort | None, accepts: Callable[[str], bool], host: str, port: int | None
) -> AsyncIterator[None]:
    """Serves a relay until the block exits, then gives running runs time to finish. Needs a port and a sandbox.

    Raises CommandFailed if the port is taken.
    """
    async with contextlib.AsyncExitStack() as stack:
        if sandbox is not None and port is not None:
            listener = stack.enter_context(listen(host, port, tries=1, named_by="DAILYGRAD_RELAY_PORT"))
            await stack.enter_async_context(serve_app(Relay(sandbox, accepts), listener, grace_s=GRACE_SECONDS))
        yield
