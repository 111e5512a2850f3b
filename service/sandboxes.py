"""The sandbox over HTTP: workers relay runs to their sandbox, and services reach it through the workers.

`Relay` is the worker's side and `Workers` the service's. `POST /run` takes a Run and `GET /health` nothing; both answer
in the format of `sandbox.wire`. The relay checks the service token and knows nothing about questions or members.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Sequence
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
from sandbox.load_balancer import Addresses, LoadBalancer, SandboxPool
from sandbox.wire import MAX_BODY, MAX_HEADER, Outcome, Run
from service.config import Settings
from service.credentials import ServiceTokens
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
_FULL = "{} runs are in hand already"


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
        """Handles one request. Disconnecting ends the run."""
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        try:
            answer = await self._answer(request)
        except _HttpError as refusal:
            answer = PlainTextResponse(str(refusal), refusal.status, {"Connection": "close"})
        except ClientDisconnect:
            return
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
            outcome = Outcome("", "internal", refused="full", detail=_FULL.format(self._runs))
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


_CONNECT_TIMEOUT_SECONDS = 3.0
_EXTRA_RUN_SECONDS = 100.0
"""Time to wait beyond a run's limit: longer than a worker waits, so that the worker, which knows more, fails first."""
_HEALTH_TIMEOUT_SECONDS = 12.0
_KEEPALIVE_SECONDS = 3.0
"""Time for which idle connections are kept: shorter than the worker's, so that none closes while a run is sent."""


class TokenAuth(httpx.Auth):
    """Sends the newest token, and the other ones in turn if the service refuses it."""

    def __init__(self, tokens: ServiceTokens) -> None:
        self._tokens = tokens

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        refused: set[str] = set()
        while (token := self._tokens.newest(refused)) is not None:
            request.headers["Authorization"] = f"Bearer {token}"
            response = yield request
            if response.status_code != httpx.codes.UNAUTHORIZED:
                return
            refused.add(token)


class Workers(LoadBalancer[str]):
    """A load balancer over workers at URLs such as http://worker:8001. A host name may resolve to several workers."""

    def __init__(self, urls: Sequence[str], tokens: ServiceTokens, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._urls = tuple(urls)
        self._http = httpx.AsyncClient(
            auth=TokenAuth(tokens),
            timeout=httpx.Timeout(_HEALTH_TIMEOUT_SECONDS, connect=_CONNECT_TIMEOUT_SECONDS),
            limits=httpx.Limits(
                max_connections=None, max_keepalive_connections=32, keepalive_expiry=_KEEPALIVE_SECONDS
            ),
            trust_env=False,
        )
        self._addresses = Addresses([_host_and_port(url) for url in urls], clock)

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def present(self) -> Sequence[str]:
        """Returns the address of each worker, as the names resolve now."""
        found = await self._addresses.current()
        hosts = [(f"[{one.address}]" if ":" in one.address else one.address, one.port) for one in found]
        return list(dict.fromkeys(f"http://{host}:{port}" for host, port in hosts))

    def backend(self, name: str) -> _Worker:
        """Returns the worker at that address."""
        return _Worker(self._http, name)

    def absence(self) -> str:
        """Returns why no worker can be used."""
        return f"no worker found at {', '.join(self._urls)}"

    def combine(self, numbers: Iterable[int]) -> int:
        """Returns the maximum: workers usually share their sandboxes, so that a sum would count them twice."""
        return max(numbers)

    def is_final(self, outcome: Outcome) -> bool:
        """Returns whether to accept this outcome without trying another worker."""
        return outcome.refused not in ("full", "device")


def _host_and_port(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return parts.hostname or "", parts.port or 80


class _Worker:
    """One worker."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url

    async def attempt(self, run: Run) -> Outcome:
        """Runs once; see `sandbox.load_balancer.Backend`. Disconnecting ends the run."""
        frame = wire.encode_run(run)
        answer = await self._request("POST", "/run", run.limits.wall_ms / 1000 + _EXTRA_RUN_SECONDS, frame)
        try:
            _, head, body = wire.decode(answer.content)
            return replace(wire.read_outcome(head, body), id=run.id)
        except ValueError as problem:
            raise SandboxUnreachable(f"{self._url}: {problem}") from None

    async def health(self) -> Health:
        """Returns the health of the worker's sandbox. Raises SandboxUnreachable if there is no answer."""
        answer = await self._request("GET", "/health", _HEALTH_TIMEOUT_SECONDS)
        try:
            found: dict[str, Any] = json.loads(answer.content)
            return Health(**{**found, "lacks": tuple(found["lacks"]), "devices": tuple(found["devices"])})
        except (ValueError, KeyError, TypeError) as problem:
            raise SandboxUnreachable(
                f"{self._url}: {problem!r}; do service and worker have the same version?"
            ) from None

    async def _request(self, method: str, path: str, seconds: float, content: bytes = b"") -> httpx.Response:
        timeout = httpx.Timeout(seconds, connect=_CONNECT_TIMEOUT_SECONDS)
        try:
            answer = await self._http.request(
                method, f"{self._url}{path}", content=content, headers={"Content-Type": FRAME}, timeout=timeout
            )
        except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
            raise NobodyThere(f"no worker answers at {self._url}: {str(problem) or type(problem).__name__}") from None
        except httpx.TransportError as problem:
            raise SandboxUnreachable(
                f"the worker at {self._url} was lost: {str(problem) or type(problem).__name__}"
            ) from None
        if answer.status_code != httpx.codes.OK:
            raise SandboxUnreachable(f"the worker at {self._url} says {answer.status_code}: {answer.text[:500]}")
        return answer
