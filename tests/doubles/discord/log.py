"""What the double saw and did, in order and with times: written by it alone, read by tests and the oracle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_S = 25.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened. `at` is monotonic."""

    at: float
    kind: str
    facts: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.facts[name]


@dataclass
class Log:
    """Append-only; whoever waits for something is woken at every entry."""

    entries: list[Entry] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, kind: str, **facts: Any) -> Entry:
        """Note that something happened."""
        entry = Entry(monotonic(), kind, facts)
        self.entries.append(entry)
        self._news.set()
        return entry

    def of(self, kind: str, **wanted: Any) -> list[Entry]:
        """The entries of a kind with these facts, in order."""
        return list(self._matching(kind, wanted))

    def _matching(self, kind: str, wanted: dict[str, Any]) -> Iterator[Entry]:
        for entry in self.entries:
            if entry.kind == kind and all(entry.facts.get(name) == value for name, value in wanted.items()):
                yield entry

    async def until(self, condition: Callable[[], T | None], what: str, patience_s: float = PATIENCE_S) -> T:
        """Wait until the condition, looked at after every entry, gives something. Fails saying what never came."""
        try:
            async with asyncio.timeout(patience_s):
                while not (found := condition()):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never {what}; last seen:\n{self.tail()}") from None
        return found

    def tail(self, count: int = 25) -> str:
        """The last entries, a line each."""
        return "\n".join(f"{entry.at:.3f} {entry.kind} {str(entry.facts)[:300]}" for entry in self.entries[-count:])
