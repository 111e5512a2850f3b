"""The append-only log of the double: what happened, in order, with times. `oracle` reads nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

from tests.doubles.slack.clock import Clock

T = TypeVar("T")
PATIENCE_S = 60.0
"""What a test waits for comes sooner, on any machine."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened, `at` real seconds after the start."""

    number: int
    at: float
    kind: str
    facts: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.facts.get(name)


@dataclass
class Log:
    """The log. Kinds of entries: call, refused, limited, fault, posted, edited, ephemeral, view, home, delivered,
    acked, late_ack, timeout, undelivered, lost, socket, token, violation, file, http."""

    clock: Clock
    entries: list[Entry] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, kind: str, **facts: Any) -> Entry:
        """Appends an entry and wakes waiting tests."""
        entry = Entry(len(self.entries), self.clock.real(), kind, facts)
        self.entries.append(entry)
        self._news.set()
        self._news = asyncio.Event()
        return entry

    def of(self, kind: str, **facts: Any) -> Iterator[Entry]:
        """Returns the entries of a kind with these values."""
        for entry in self.entries:
            if entry.kind == kind and all(entry[name] == value for name, value in facts.items()):
                yield entry

    def count(self, kind: str, **facts: Any) -> int:
        return sum(1 for _ in self.of(kind, **facts))

    async def until(self, found: Callable[[], T], timeout: float, what: str = "") -> T:
        """Waits until `found`, called after every entry, returns something."""
        end = self.clock.real() + timeout
        while True:
            news = self._news
            if value := found():
                return value
            left = end - self.clock.real()
            if left <= 0:
                raise AssertionError(f"never {what or 'what was waited for'} in {timeout:g} s; last: {self.tail()}")
            try:
                async with asyncio.timeout(left):
                    await news.wait()
            except TimeoutError:
                continue

    def tail(self, most: int = 25) -> str:
        """Formats the last entries for a failed test."""
        lines = (f"{entry.at:8.3f} {entry.kind} {str(entry.facts)[:240]}" for entry in self.entries[-most:])
        return "\n" + "\n".join(lines)
