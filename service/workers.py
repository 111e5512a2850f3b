"""The sandbox as a service reaches it: through workers, each of which passes runs on. `relay` is their side of it."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx

from sandbox import wire
from sandbox.client import Health, NobodyThere, SandboxUnreachable
from sandbox.several import Several
from sandbox.wire import Outcome, Run
from service.relay import FRAME
from service.tokens import ShownToken, Tokens

_CONNECT_S = 3.0
_SLACK_S = 100.0
"""Beyond a run's own time: more than a worker waits for its sandbox, so that the one who knows more gives up first."""
_HEALTH_S = 12.0
_NAMES_S = 5.0
"""How long the addresses of a name are taken to be its addresses still."""
_LOOKUP_S = 3.0
_KEPT_S = 3.0
"""An idle connection is ours to close: a worker keeps it for longer, so none goes as a run is sent over it."""


class Workers(Several[str]):
    """Workers at `urls`, such as http://worker:8001, where a name may stand for many.

    Close them at the end.
    """

    def __init__(self, urls: Sequence[str], tokens: Tokens, clock: Callable[[], float] = time.monotonic) -> None:
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

    def place(self, name: str) -> _Worker:
        """The worker at that address."""
        return _Worker(self._http, name)

    def absence(self) -> str:
        """Where no worker is."""
        return f"no worker is at {', '.join(self._urls)}"

    def count(self, numbers: Iterable[int]) -> int:
        """The most: each tells of the sandboxes that it reaches, which are the same ones as a rule."""
        return max(numbers)

    def settles(self, outcome: Outcome) -> bool:
        """Whether no other worker need be asked: each has asked several sandboxes itself."""
        return outcome.refused not in ("full", "device")


class _Worker:
    """One of them."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self._http = http
        self._url = url

    async def attempt(self, run: Run) -> Outcome:
        """See `sandbox.several.Place`; hanging up ends the run."""
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
