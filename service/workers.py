"""The sandbox over HTTP, on the service's side: a load balancer over the workers that relay to it.

See `service.sandboxes` for their side. Imported where a setting names workers: httpx, which it needs, takes 2 MB.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

import httpx

from sandbox import wire
from sandbox.client import EXTRA_SECONDS, Health, NobodyThere, RunLost, SandboxUnreachable, read_health
from sandbox.load_balancer import Addresses, LoadBalancer
from sandbox.wire import Outcome, Run
from service.credentials import ServiceTokens
from service.sandboxes import FRAME, MAX_FRAME_BYTES

_CONNECT_TIMEOUT_SECONDS = 3.0
"""Longest wait for a connection to a worker."""
_EXTRA_RUN_SECONDS = EXTRA_SECONDS + 20
"""Time to wait beyond a run's limit: longer than a worker waits, so that the worker, which knows more, fails first."""
_HEALTH_TIMEOUT_SECONDS = 12.0
_KEEPALIVE_SECONDS = 3.0
"""Time for which idle connections are kept: shorter than the worker's, so that none closes while a run is sent."""


class Workers(LoadBalancer[str]):
    """A load balancer over workers at URLs such as http://worker:8001. A host name may resolve to several workers.

    Workers are replaced one after the other in every update, so a run waits for one where none answers.
    """

    waits_for_backend = True

    def __init__(
        self,
        urls: Sequence[str],
        tokens: ServiceTokens,
        clock: Callable[[], float] = time.monotonic,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(clock, pause=pause)
        self._urls = tuple(urls)
        self._tokens = tokens
        self._http = httpx.AsyncClient(
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

    def look_again(self) -> None:
        """Has the names of the workers resolved again."""
        self._addresses.look_again()

    def backend(self, name: str) -> _Worker:
        """Returns the worker at that address."""
        return _Worker(self._http, self._tokens, name)

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

    def __init__(self, http: httpx.AsyncClient, tokens: ServiceTokens, url: str) -> None:
        self._http = http
        self._tokens = tokens
        self._url = url

    async def attempt(self, run: Run) -> Outcome:
        """Runs once; see `sandbox.load_balancer.Backend`. Disconnecting ends the run."""
        sent = wire.name_attempt(run)
        frame = wire.encode_run(sent)
        answer = await self._request("POST", "/run", run.limits.wall_ms / 1000 + _EXTRA_RUN_SECONDS, frame)
        try:
            _, head, body = wire.decode(answer)
            return replace(wire.read_outcome_of(sent, head, body), id=run.id)
        except ValueError as problem:
            raise SandboxUnreachable(f"{self._url}: {problem}") from None

    async def health(self) -> Health:
        """Returns the health of the worker's sandbox. Raises SandboxUnreachable if there is no answer."""
        answer = await self._request("GET", "/health", _HEALTH_TIMEOUT_SECONDS)
        try:
            return read_health(json.loads(answer))
        except (ValueError, RecursionError) as problem:
            raise SandboxUnreachable(f"{self._url}: {problem}; do service and worker have the same version?") from None

    async def _request(self, method: str, path: str, seconds: float, content: bytes = b"") -> bytes:
        """Returns the body of the answer, which is bounded in size and time. Sends the newest token, and the other ones
        in turn if the worker refuses it."""
        status, body = int(httpx.codes.UNAUTHORIZED), b""
        try:
            async with asyncio.timeout(seconds):
                for token in self._tokens.all:
                    status, body = await self._send(method, path, seconds, content, token)
                    if status != httpx.codes.UNAUTHORIZED:
                        break
        except (httpx.ConnectError, httpx.ConnectTimeout) as problem:
            raise NobodyThere(f"no worker answers at {self._url}: {str(problem) or type(problem).__name__}") from None
        except (httpx.TransportError, TimeoutError) as problem:
            ended = isinstance(problem, httpx.NetworkError | httpx.RemoteProtocolError)
            error = RunLost if ended else SandboxUnreachable
            raise error(f"the worker at {self._url} was lost: {str(problem) or type(problem).__name__}") from None
        if status != httpx.codes.OK:
            # Only a worker that stops answers 503 to a run.
            error = RunLost if status == httpx.codes.SERVICE_UNAVAILABLE else SandboxUnreachable
            raise error(f"the worker at {self._url} says {status}: {body[:500].decode(errors='replace')}")
        return body

    async def _send(self, method: str, path: str, seconds: float, content: bytes, token: str) -> tuple[int, bytes]:
        """Sends a request once, and returns the status and the body of the answer."""
        headers = {"Content-Type": FRAME, "Authorization": f"Bearer {token}"}
        timeout = httpx.Timeout(seconds, connect=_CONNECT_TIMEOUT_SECONDS)
        body = bytearray()
        async with self._http.stream(
            method, f"{self._url}{path}", content=content, headers=headers, timeout=timeout
        ) as answer:
            # As it comes: nothing compresses what a worker answers.
            async for part in answer.aiter_raw():
                body += part
                if len(body) > MAX_FRAME_BYTES:
                    raise SandboxUnreachable(f"the worker at {self._url} answers more than {MAX_FRAME_BYTES} bytes")
        return answer.status_code, bytes(body)
