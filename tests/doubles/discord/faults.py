"""What goes wrong on demand: the next requests of a route fail as told. Nothing here is chance."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Status:
    """The answer has this status; with `after` what was asked has been done all the same."""

    status: Literal[429, 500, 502, 503]
    after: bool = False
    retry_after: float = 0.3
    scope: Literal["user", "shared", "global"] = "user"


@dataclass(frozen=True)
class Cut:
    """The connection is cut before anything is done, or with `after` when it has been."""

    after: bool = False


@dataclass
class Hold:
    """The answer waits until `let_go` is called; with `after`, what was asked is done first."""

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
    """What is to go wrong, by route, the next first. A route is "POST /channels/{channel_id}/messages" and so on."""

    waiting: dict[str, deque[Fault]] = field(default_factory=lambda: defaultdict(deque))

    def next(self, route: str, fault: Fault, times: int = 1) -> None:
        """Let the next requests of a route fail."""
        self.waiting[route].extend([fault] * times)

    def take(self, route: str) -> Fault | None:
        """What is to go wrong with this request of the route."""
        queue = self.waiting.get(route)
        return queue.popleft() if queue else None
