"""Several sandboxes as one: a run goes to the least loaded, and elsewhere when its sandbox is lost. Judges nothing."""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar, get_args

from sandbox.client import Health, NobodyThere, SandboxClient, SandboxUnreachable
from sandbox.wire import Device, Outcome, Run

_ATTEMPTS = 3
_FIRST_BACKOFF = 0.5
_LONGEST_BACKOFF = 30.0
_NEWS_SECONDS = 2.0
"""How long the queue that a run met there is taken to be there still."""


_LOG = logging.getLogger(__name__)

Name = TypeVar("Name", bound=Hashable)


class Backend(Protocol):
    """Where a run can be sent: a sandbox's socket, or somebody who passes runs on."""

    async def attempt(self, run: Run) -> Outcome:
        """Raises NobodyThere where nothing was sent, SandboxUnreachable where no outcome came and none will."""
        ...

    async def health(self) -> Health:
        """Raises SandboxUnreachable when nobody answers."""
        ...


@dataclass(slots=True)
class _Known:
    """What this process has seen of one place."""

    client: Backend
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


class LoadBalancer(ABC, Generic[Name]):
    """Places that come and go, each known by a name."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[Name, _Known] = {}
        self._runs = 0

    @abstractmethod
    async def present(self) -> Sequence[Name]:
        """Which are there now."""

    @abstractmethod
    def place(self, name: Name) -> Backend:
        """The one of that name."""

    @abstractmethod
    def absence(self) -> str:
        """What is said where there is none."""

    def count(self, numbers: Iterable[int]) -> int:
        """What the numbers that each tells of come to together."""
        return sum(numbers)

    def settles(self, outcome: Outcome) -> bool:
        """Whether no other need be asked."""
        # A member's own bound is theirs at every sandbox.
        return outcome.status != "internal" or outcome.refused == "member"

    async def run(self, run: Run) -> Outcome:
        """One Outcome of `run`: where its sandbox fails before it has told one, another runs it, at most twice.

        The last failure is the outcome then: status `internal`. Raises ValueError when the Run is too large.
        """
        asked: set[Name] = set()
        outcome = Outcome(id=run.id, status="internal", detail=self.absence())
        attempts = 0
        while attempts < _ATTEMPTS and (name := await self._best(asked)) is not None:
            asked.add(name)
            try:
                outcome = await self._tried(self._known[name], run)
            except SandboxUnreachable as problem:
                outcome = Outcome(id=run.id, status="internal", detail=str(problem))
                # Where nothing was sent it is no attempt.
                attempts += not isinstance(problem, NobodyThere)
                continue
            if outcome.refused == "device":
                continue  # another may have a GPU, and it cost nothing to ask
            if self.settles(outcome):
                break
            attempts += 1
        return outcome

    async def health(self) -> Health:
        """How they are together. Raises SandboxUnreachable when none answers."""
        clients = [known.client for known in (await self._all()).values()]
        found = await asyncio.gather(*(client.health() for client in clients), return_exceptions=True)
        well = [health for health in found if isinstance(health, Health)]
        lost = [str(problem) for problem in found if isinstance(problem, SandboxUnreachable)]
        if not well:
            raise SandboxUnreachable("; ".join(lost) or f"{self.absence()}; is it started?")
        return Health(
            ready=self.count(health.ready for health in well),
            running=self.count(health.running for health in well),
            waiting=self.count(health.waiting for health in well),
            isolation="full" if all(health.isolation == "full" for health in well) else "weaker",
            lacks=tuple(dict.fromkeys(lack for health in well for lack in health.lacks)),
            versions=next((health.versions for health in well if health.versions), {}),
            trouble="; ".join(dict.fromkeys([*(health.trouble for health in well if health.trouble), *lost])),
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
        except SandboxUnreachable as problem:
            known.failed(self._clock())
            if not isinstance(problem, NobodyThere):
                # It may have been done, and may be done again: a run changes nothing, and one outcome is told.
                _LOG.warning("run %s was lost: %s", run.id, problem)
            raise
        finally:
            known.at_work -= 1
        if outcome.status == "internal" and not outcome.refused:
            known.failed(self._clock())
        else:
            known.answered(outcome, self._clock())
        return outcome

    async def _best(self, asked: set[Name]) -> Name | None:
        """The one to ask next: none that was asked already; one left out only where there is no other."""
        left = {name: known for name, known in (await self._all()).items() if name not in asked}
        return min(left, key=lambda name: self._cost(left[name]), default=None)

    def _cost(self, known: _Known) -> tuple[float, int, int]:
        now = self._clock()
        met = known.met if now - known.met_at < _NEWS_SECONDS else 0
        return max(0.0, known.until - now), known.at_work + met, known.last

    async def _all(self) -> dict[Name, _Known]:
        """Those that are there now; what was known of one that is gone is forgotten."""
        names = await self.present()
        self._known = {name: self._known.get(name) or _Known(self.place(name)) for name in names}
        return self._known


class SandboxPool(LoadBalancer[Path]):
    """The sandboxes at `places`: each the path of a socket, or a folder in which `*.sock` may come and go."""

    def __init__(self, places: Sequence[Path], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._places = tuple(places)

    async def present(self) -> Sequence[Path]:
        """The sockets that are there."""
        return list(self._sockets())

    def place(self, name: Path) -> SandboxClient:
        """The sandbox at that socket."""
        return SandboxClient(name)

    def absence(self) -> str:
        """Where no socket is."""
        return f"no sandbox's socket is at {', '.join(map(str, self._places))}"

    def _sockets(self) -> Iterator[Path]:
        for place in self._places:
            yield from sorted(place.glob("*.sock")) if place.is_dir() else (place,)
