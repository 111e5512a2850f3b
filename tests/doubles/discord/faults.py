"""Injected faults: makes the next requests of a route fail in a given way. Nothing is random."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Status:
    """Responds with this status; with `after`, the request is carried out nevertheless."""

    status: Literal[429, 500, 502, 503]
    after: bool = False
    retry_after: float = 0.3
    scope: Literal["user", "shared", "global"] = "user"


@dataclass(frozen=True)
class Cut:
    """Cuts the connection before the request is carried out, or with `after` afterwards."""

    after: bool = False


@dataclass
class Hold:
    """Holds the response until `let_go` is called; with `after`, the request is carried out first."""

    after: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    def let_go(self) -> None:
        self.gate.set()

    async def wait(self) -> None:
        self.reached.set()
        await self.gate.wait()


Fault = Status | Cut | Hold


@dataclass
class Faults:
    """The pending faults of each route, in order. A route is "POST /channels/{channel_id}/messages", for example."""

    waiting: dict[str, deque[Fault]] = field(default_factory=lambda: defaultdict(deque))

    def next(self, route: str, fault: Fault, times: int = 1) -> None:
        """Makes the next requests of a route fail."""
        self.waiting[route].extend([fault] * times)

    def take(self, route: str) -> Fault | None:
        """Returns the fault for this request, or None."""
        queue = self.waiting.get(route)
        return queue.popleft() if queue else None
