"""A worker's door to the sandbox: whoever shows the service token has runs done there. Knows no question and no member.

POST /run takes one Run and GET /health nothing, both answer in the words of `sandbox.wire`. `workers` is the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict

from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from sandbox import wire
from sandbox.client import SandboxUnreachable
from sandbox.wire import MAX_BODY, MAX_HEADER, Outcome, Run
from service.fairness import Sandbox
from service.process import listening, served

LARGEST = MAX_BODY + MAX_HEADER + 4
"""Bytes of a frame."""
MOST_RUNS = 256
"""In hand at once; how many of them run, and in which order, is the sandboxes' to say."""
MOST_BYTES = 2 * LARGEST
"""Of all runs in hand together."""
GRACE_S = 8
"""For runs in hand when the worker is stopped; its jobs have the rest of a container's time."""
FRAME = "application/octet-stream"
_FULL = "The sandbox is busy: {} runs are in hand already. Try again in a minute; nothing was changed."


class _No(Exception):
    """What was asked is answered with this status and sentence."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class Relay:
    """The ASGI application. `admits` says of an Authorization header whether it opens the door."""

    def __init__(
        self,
        sandbox: Sandbox,
        admits: Callable[[str], bool],
        *,
        most_runs: int = MOST_RUNS,
        most_bytes: int = MOST_BYTES,
        largest: int = LARGEST,
    ) -> None:
        self._sandbox = sandbox
        self._admits = admits
        self._most_runs, self._most_bytes, self._largest = most_runs, most_bytes, largest
        self._runs = 0
        self._bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; whoever hangs up ends their run."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except _No as refusal:
            answer = PlainTextResponse(str(refusal), refusal.status, {"Connection": "close"})
        except ClientDisconnect:
            return
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if not self._admits(request.headers.get("authorization", "")):
            raise _No(401, "the service token is missing or wrong: the service and its workers must share one")
        match request.method, request.url.path:
            case "GET", "/health":
                return await self._health()
            case "POST", "/run":
                return await self._run(request)
        raise _No(404, "there are POST /run and GET /health here")

    async def _health(self) -> Response:
        try:
            health = await self._sandbox.health()
        except SandboxUnreachable as problem:
            raise _No(503, str(problem)) from None
        return Response(json.dumps(asdict(health)), media_type="application/json")

    async def _run(self, request: Request) -> Response:
        length = self._length(request)
        if self._runs >= self._most_runs or self._bytes + length > self._most_bytes:
            outcome = Outcome("", "internal", refused="full", detail=_FULL.format(self._runs))
            return Response(wire.encode_outcome(outcome), media_type=FRAME, headers={"Connection": "close"})
        self._runs += 1
        self._bytes += length
        try:
            run = await self._read(request, length)
            outcome = await self._done(run, request)
        finally:
            self._runs -= 1
            self._bytes -= length
        return Response(wire.encode_outcome(outcome), media_type=FRAME)

    def _length(self, request: Request) -> int:
        said = request.headers.get("content-length", "")
        if not said.isascii() or not said.isdecimal():
            raise _No(411, "say how long the run is with Content-Length")
        if len(said) > 12 or int(said) > self._largest:
            raise _No(413, f"a run has at most {self._largest} bytes")
        return int(said)

    async def _read(self, request: Request, length: int) -> Run:
        held = bytearray()
        async for part in request.stream():
            held += part
            if len(held) > length:
                raise _No(400, "the run is longer than was said")
        try:
            kind, head, body = wire.decode(bytes(held))
            if kind != "run":
                raise ValueError(f"a frame of kind {kind!r}")
            return wire.read_run(head, body)
        except ValueError as problem:
            raise _No(400, f"no run: {problem}") from None

    async def _done(self, run: Run, request: Request) -> Outcome:
        running = asyncio.create_task(self._sandbox.run(run), name="relayed run")
        gone = asyncio.create_task(_hung_up(request), name="relayed caller")
        try:
            await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done():
                raise ClientDisconnect
            return running.result()
        except ValueError as problem:
            raise _No(400, str(problem)) from None
        finally:
            for task in (running, gone):
                task.cancel()
            # Awaited, so that the sandbox has been hung up on before the next run comes.
            await asyncio.gather(running, gone, return_exceptions=True)


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def relay_open(
    sandbox: Sandbox | None, admits: Callable[[str], bool], host: str, port: int | None
) -> AsyncIterator[None]:
    """The door at that port until the block ends; where there is no port or no sandbox there is none.

    Raises Refused where the port cannot be had. Runs in hand at the end are given a while to be done.
    """
    async with contextlib.AsyncExitStack() as stack:
        if sandbox is not None and port is not None:
            listener = stack.enter_context(listening(host, port, tries=1, named_by="DAILYGRAD_RELAY_PORT"))
            await stack.enter_async_context(served(Relay(sandbox, admits), listener, grace_s=GRACE_S))
        yield
