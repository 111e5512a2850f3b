"""Several sandboxes as one: a run goes to the least loaded, and elsewhere when its sandbox is lost. Judges nothing."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from sandbox.client import Health, NobodyThere, SandboxClient, SandboxUnreachable
from sandbox.wire import Device, Outcome, Run

_ATTEMPTS = 3
_FIRST_BACKOFF = 0.5
_LONGEST_BACKOFF = 30.0
_NEWS_SECONDS = 2.0
"""How long the queue that a run met there is taken to be there still."""


@dataclass(slots=True)
class _Known:
    """What this process has seen of one sandbox."""

    client: SandboxClient
    at_work: int = 0
    """Runs of ours that are there now."""
    met: int = 0
    met_at: float = 0.0
    """How many runs our last one found before it, and when."""
    failures: int = 0
    until: float = 0.0
    """Left out until then."""
    last: int = 0
    """Which of all runs was its last, so that equals take turns."""

    def failed(self, now: float) -> None:
        self.failures += 1
        self.until = now + min(_FIRST_BACKOFF * 2 ** min(self.failures - 1, 10), _LONGEST_BACKOFF)

    def answered(self, outcome: Outcome, now: float) -> None:
        self.failures, self.until = 0, 0.0
        self.met, self.met_at = outcome.before, now


class Sandboxes:
    """The sandboxes at `places`: each the path of a socket, or a folder in which `*.sock` may come and go."""

    def __init__(self, places: Sequence[Path], clock: Callable[[], float] = time.monotonic) -> None:
        self._places = tuple(places)
        self._clock = clock
        self._known: dict[Path, _Known] = {}
        self._runs = 0

    async def run(self, run: Run) -> Outcome:
        """One Outcome of `run`: where its sandbox fails before it has told one, another runs it, at most twice.

        The last failure is the outcome then: status `internal`. Raises ValueError when the Run is too large.
        """
        asked: set[Path] = set()
        outcome = Outcome(id=run.id, status="internal", detail=f"no sandbox's socket is at {self._named()}")
        attempts = 0
        while attempts < _ATTEMPTS and (known := self._best(asked)) is not None:
            asked.add(known.client.path)
            try:
                outcome = await self._tried(known, run)
            except NobodyThere as problem:
                outcome = Outcome(id=run.id, status="internal", detail=str(problem))
                continue  # nothing was sent, so it is no attempt
            if outcome.refused == "device":
                continue  # another may have a GPU, and it cost nothing to ask
            # A member's own bound is theirs at every sandbox.
            if outcome.status != "internal" or outcome.refused == "member":
                break
            attempts += 1
        return outcome

    async def health(self) -> Health:
        """How they are together. Raises SandboxUnreachable when none answers."""
        clients = [known.client for known in self._all()]
        found = await asyncio.gather(*(client.health() for client in clients), return_exceptions=True)
        well = [health for health in found if isinstance(health, Health)]
        lost = [str(problem) for problem in found if isinstance(problem, SandboxUnreachable)]
        if not well:
            raise SandboxUnreachable("; ".join(lost) or f"no sandbox's socket is at {self._named()}; is it started?")
        return Health(
            ready=sum(health.ready for health in well),
            running=sum(health.running for health in well),
            waiting=sum(health.waiting for health in well),
            isolation="full" if all(health.isolation == "full" for health in well) else "weaker",
            lacks=tuple(dict.fromkeys(lack for health in well for lack in health.lacks)),
            versions=next((health.versions for health in well if health.versions), {}),
            trouble="; ".join([*(health.trouble for health in well if health.trouble), *lost]),
            wait_s=min(health.wait_s for health in well),
            devices=tuple(device for device in get_args(Device) if any(device in health.devices for health in well)),
            gpu="; ".join(dict.fromkeys(health.gpu for health in well if health.gpu)),
        )

    async def _tried(self, known: _Known, run: Run) -> Outcome:
        self._runs += 1
        known.last = self._runs
        known.at_work += 1
        try:
            outcome = await known.client.attempt(run)
        except NobodyThere:
            known.failed(self._clock())
            raise
        except SandboxUnreachable as problem:
            known.failed(self._clock())
            return Outcome(id=run.id, status="internal", detail=str(problem))
        finally:
            known.at_work -= 1
        if outcome.status == "internal" and not outcome.refused:
            known.failed(self._clock())
        else:
            known.answered(outcome, self._clock())
        return outcome

    def _best(self, asked: set[Path]) -> _Known | None:
        """The one to ask next: none that was asked already; one left out only where there is no other."""
        left = [known for known in self._all() if known.client.path not in asked]
        return min(left, key=self._cost, default=None)

    def _cost(self, known: _Known) -> tuple[float, int, int]:
        now = self._clock()
        met = known.met if now - known.met_at < _NEWS_SECONDS else 0
        return max(0.0, known.until - now), known.at_work + met, known.last

    def _all(self) -> list[_Known]:
        """Those that are there now; what was known of one whose socket is gone is forgotten."""
        paths = list(self._sockets())
        self._known = {path: self._known.get(path) or _Known(SandboxClient(path)) for path in paths}
        return list(self._known.values())

    def _sockets(self) -> Iterator[Path]:
        for place in self._places:
            yield from sorted(place.glob("*.sock")) if place.is_dir() else (place,)

    def _named(self) -> str:
        return ", ".join(map(str, self._places))
