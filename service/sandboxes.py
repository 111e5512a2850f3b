"""The sandbox as a service reaches it: through workers, each of which passes runs on. `relay` is their side of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from typing import Any, Protocol
from urllib.parse import urlsplit

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from sandbox import wire
from sandbox.client import Health, NobodyThere, SandboxUnreachable
from sandbox.judging.challenge import Runs
from sandbox.load_balancer import LoadBalancer
from sandbox.wire import MAX_BODY, MAX_HEADER, Outcome, Run
from service.credentials import ServiceTokens, ShownToken
from service.process import listening, served

# A worker's door to the sandbox: whoever shows the service token has runs done there. Knows no question and no member.
#
# POST /run takes one Run and GET /health nothing, both answer in the words of `sandbox.wire`. `workers` is the client.


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


class ReportsHealth(Protocol):
    """Anything that reports the health of a sandbox."""

    async def health(self) -> Health:
        """Returns the sandbox's health. Raises SandboxUnreachable if nothing answers."""
        ...


class SandboxPort(Runs, ReportsHealth, Protocol):
    """What the service needs from a sandbox, or from several behind one client."""


class _No(Exception):
    """What was asked is answered with this status and sentence."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status


class Relay:
    """The ASGI application. `admits` says of an Authorization header whether it opens the door."""

    def __init__(
        self,
        sandbox: SandboxPort,
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
    sandbox: SandboxPort | None, admits: Callable[[str], bool], host: str, port: int | None
) -> AsyncIterator[None]:
    """The door at that port until the block ends; where there is no port or no sandbox there is none.

    Raises Refused where the port cannot be had. Runs in hand at the end are given a while to be done.
    """
    async with contextlib.AsyncExitStack() as stack:
        if sandbox is not None and port is not None:
            listener = stack.enter_context(listening(host, port, tries=1, named_by="DAILYGRAD_RELAY_PORT"))
            await stack.enter_async_context(served(Relay(sandbox, admits), listener, grace_s=GRACE_S))
        yield


_CONNECT_S = 3.0
_SLACK_S = 100.0
"""Beyond a run's own time: more than a worker waits for its sandbox, so that the one who knows more gives up first."""
_HEALTH_S = 12.0
_NAMES_S = 5.0
"""How long the addresses of a name are taken to be its addresses still."""
_LOOKUP_S = 3.0
_KEPT_S = 3.0
"""An idle connection is ours to close: a worker keeps it for longer, so none goes as a run is sent over it."""


class Workers(LoadBalancer[str]):
    """Workers at `urls`, such as http://worker:8001, where a name may stand for many.

    Close them at the end.
    """

    def __init__(self, urls: Sequence[str], tokens: ServiceTokens, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._urls = tuple(urls)
        self._http = httpx.AsyncClient(
            auth=ShownToken(tokens),
            timeout=httpx.Timeout(_HEALTH_S, connect=_CONNECT_S),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32, keepalive_expiry=_KEPT_S),
            trust_env=False,
        )
        self._addresses: tuple[str, ...] = ()
        self._looked_up = float("-inf")

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def present(self) -> Sequence[str]:
        """The address of each worker, as the names stand for them just now."""
        if self._clock() - self._looked_up >= _NAMES_S:
            found = await asyncio.gather(*map(_addresses, self._urls))
            # A name server that is away for a moment takes no worker with it.
            self._addresses = tuple(dict.fromkeys(one for each in found for one in each)) or self._addresses
            self._looked_up = self._clock()
        return self._addresses

    def backend(self, name: str) -> _Worker:
        """The worker at that address."""
        return _Worker(self._http, name)

    def absence(self) -> str:
        """Where no worker is."""
        return f"no worker is at {', '.join(self._urls)}"

    def combine(self, numbers: Iterable[int]) -> int:
        """The most: each tells of the sandboxes that it reaches, which are the same ones as a rule."""
        return max(numbers)

    def is_final(self, outcome: Outcome) -> bool:
        """Whether no other worker need be asked: each has asked several sandboxes itself."""
        return outcome.refused not in ("full", "device")


class _Worker:
    """One of them."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url

    async def attempt(self, run: Run) -> Outcome:
        """See `sandbox.load_balancer.Backend`; hanging up ends the run."""
        frame = wire.encode_run(run)
        answer = await self._asked("POST", "/run", run.limits.wall_ms / 1000 + _SLACK_S, frame)
        try:
            _, head, body = wire.decode(answer.content)
            return replace(wire.read_outcome(head, body), id=run.id)
        except ValueError as problem:
            raise SandboxUnreachable(f"{self._url}: {problem}") from None

    async def health(self) -> Health:
        """How the sandbox behind it is. Raises SandboxUnreachable when nobody answers."""
        answer = await self._asked("GET", "/health", _HEALTH_S)
        try:
            found: dict[str, Any] = json.loads(answer.content)
            return Health(**{**found, "lacks": tuple(found["lacks"]), "devices": tuple(found["devices"])})
        except (ValueError, KeyError, TypeError) as problem:
            raise SandboxUnreachable(f"{self._url}: {problem!r}; are service and worker of one version?") from None

    async def _asked(self, method: str, path: str, seconds: float, content: bytes = b"") -> httpx.Response:
        timeout = httpx.Timeout(seconds, connect=_CONNECT_S)
        try:
            answer = await self._http.request(
                method, f"{self._url}{path}", content=content, headers={"Content-Type": FRAME}, timeout=timeout
            )
        except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
            raise NobodyThere(f"no worker answers at {self._url}: {problem or type(problem).__name__}") from None
        except httpx.TransportError as problem:
            raise SandboxUnreachable(
                f"the worker at {self._url} was lost: {problem or type(problem).__name__}"
            ) from None
        if answer.status_code != httpx.codes.OK:
            raise SandboxUnreachable(f"the worker at {self._url} says {answer.status_code}: {answer.text[:500]}")
        return answer


async def _addresses(url: str) -> list[str]:
    """`url` with each address its name stands for; none where it stands for none."""
    parts = urlsplit(url)
    loop = asyncio.get_running_loop()
    try:
        async with asyncio.timeout(_LOOKUP_S):
            found = await loop.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # a TimeoutError is an OSError, a port beyond all ports no value
        return []
    hosts = sorted({(f"[{to[0]}]" if family == socket.AF_INET6 else str(to[0])) for family, _, _, _, to in found})
    return [f"http://{host}:{parts.port or 80}" for host in hosts]
