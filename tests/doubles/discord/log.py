"""The log of the double: what happened, in order, with times. Only the double writes it; tests read it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, TypeVar

T = TypeVar("T")

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that happened. `at` is monotonic time."""

    at: float
    kind: str
    facts: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.facts[name]


@dataclass
class Log:
    """An append-only log. Each entry wakes the waiting tests."""

    entries: list[Entry] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def add(self, kind: str, **facts: Any) -> Entry:
        """Appends an entry."""
        entry = Entry(monotonic(), kind, facts)
        self.entries.append(entry)
        self._news.set()
        return entry

    def of(self, kind: str, **facts: Any) -> list[Entry]:
        """Returns the entries of a kind with these values, in order."""
        return list(self._matching(kind, facts))

    def _matching(self, kind: str, facts: dict[str, Any]) -> Iterator[Entry]:
        for entry in self.entries:
            if entry.kind == kind and all(entry.facts.get(name) == value for name, value in facts.items()):
                yield entry

    async def until(self, condition: Callable[[], T | None], what: str, patience_s: float = PATIENCE_S) -> T:
        """Waits until the condition, checked after every entry, returns something. Fails with a message that says
        what was missing."""
        try:
            async with asyncio.timeout(patience_s):
                while not (found := condition()):
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            raise AssertionError(f"never {what}; last seen:\n{self.tail()}") from None
        return found

    def tail(self, count: int = 25) -> str:
        """Formats the last entries, one per line."""
        return "\n".join(f"{entry.at:.3f} {entry.kind} {str(entry.facts)[:300]}" for entry in self.entries[-count:])
