"""Load balancer over several sandboxes: sends each run to the least loaded one, and retries when a sandbox is lost."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Generic, Protocol, TypeVar, get_args

from sandbox.client import Health, NobodyThere, RunLost, SandboxClient, SandboxUnreachable
from sandbox.tls import Certificates, Node
from sandbox.wire import Device, Outcome, Run

_MAX_ATTEMPTS = 3
"""Nodes that a run is sent to before it fails."""
_LOOK_AGAIN_SECONDS = 0.5
"""Pause before the backends are looked up again for a run that waits for one."""
_MAX_LOOKS = 40
"""Lookups for such a run before it fails: a container takes 10 to 20 seconds to be replaced."""
_FIRST_BACKOFF_SECONDS = 0.5
"""Time for which a node is avoided after a failure; it doubles with each."""
_MAX_BACKOFF_SECONDS = 30.0
"""Longest time for which a node is avoided."""
_QUEUE_NEWS_SECONDS = 2.0
"""Time for which a backend's last reported queue length counts as current."""
_DNS_CACHE_SECONDS = 5.0
"""Time for which resolved addresses are reused."""
_DNS_TIMEOUT_SECONDS = 3.0

_LOG = logging.getLogger(__name__)

Name = TypeVar("Name", bound=Hashable)


class Backend(Protocol):
    """A target for runs: a sandbox's socket, or a worker that forwards them."""

    async def attempt(self, run: Run) -> Outcome:
        """Raises NobodyThere when nothing was sent, RunLost when the connection ended, and another SandboxUnreachable
        when no outcome came and none will."""
        ...

    async def health(self) -> Health:
        """Raises SandboxUnreachable when nobody answers."""
        ...


@dataclass(slots=True)
class _BackendState:
    """What this process knows about one backend."""

    client: Backend
    in_flight: int = 0
    """Number of this process's runs there now."""
    queue_ahead: int = 0
    """Number of runs that the last run found ahead of it."""
    queue_seen_at: float = 0.0
    failures: int = 0
    avoid_until: float = 0.0
    last_used: int = 0
    """Number of the last run sent there, for round robin between equals."""

    def record_failure(self, now: float) -> None:
        self.failures += 1
        backoff = _FIRST_BACKOFF_SECONDS * 2 ** min(self.failures - 1, 10)
        self.avoid_until = now + min(backoff, _MAX_BACKOFF_SECONDS)

    def record_success(self, outcome: Outcome, now: float) -> None:
        self.failures, self.avoid_until = 0, 0.0
        self.queue_ahead, self.queue_seen_at = outcome.before, now

    def cost(self, now: float) -> tuple[float, int, int]:
        """Sort key: remaining backoff first, then the load, then the time of last use."""
        ahead = self.queue_ahead if now - self.queue_seen_at < _QUEUE_NEWS_SECONDS else 0
        return max(0.0, self.avoid_until - now), self.in_flight + ahead, self.last_used


class LoadBalancer(ABC, Generic[Name]):
    """Backends that come and go, each identified by a name."""

    waits_for_backend: ClassVar[bool] = False
    """Whether a run waits where nobody answers, and not only if it was lost."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._clock = clock
        self._pause = pause
        self._states: dict[Name, _BackendState] = {}
        self._runs = 0

    @abstractmethod
    async def present(self) -> Sequence[Name]:
        """Returns the names of the backends that exist now."""

    @abstractmethod
    def look_again(self) -> None:
        """Has the next call of `present` rely on nothing that it found before."""

    @abstractmethod
    def backend(self, name: Name) -> Backend:
        """Returns the backend of that name."""

    @abstractmethod
    def absence(self) -> str:
        """Returns the message for when there is no backend."""

    def combine(self, numbers: Iterable[int]) -> int:
        """Combines a count that every backend reports, such as the runs that wait."""
        return sum(numbers)

    def is_final(self, outcome: Outcome) -> bool:
        """Returns whether no other backend should be asked after this outcome."""
        # A member's own limit is the same at every sandbox.
        return outcome.status != "internal" or outcome.refused == "member"

    async def run(self, run: Run) -> Outcome:
        """Runs a program. If its sandbox fails before it returns an outcome, up to two others are tried. A run that was
        lost waits where there is no other: its sandbox may be about to be replaced.

        Returns an outcome with status `internal` if all fail: what one of them answered, or else what is wrong with
        each. Raises ValueError when the Run is too large.
        """
        tried: set[Name] = set()
        answer: Outcome | None = None
        without_device: Outcome | None = None
        problems: dict[Name, str] = {}
        attempts = looks = 0
        waits = self.waits_for_backend
        while attempts < _MAX_ATTEMPTS:
            name = await self._best(tried)
            if name is None:
                if not waits or looks == _MAX_LOOKS:
                    break
                looks += 1
                await self._pause(_LOOK_AGAIN_SECONDS)
                self.look_again()
                tried.clear()
                continue
            tried.add(name)
            try:
                outcome = await self._try(self._states[name], run)
            except SandboxUnreachable as problem:
                problems[name] = str(problem)
                # If nothing was sent, it does not count as an attempt.
                attempts += not isinstance(problem, NobodyThere)
                waits = isinstance(problem, RunLost) or (waits and isinstance(problem, NobodyThere))
                continue
            if self.is_final(outcome):
                return outcome
            waits = False
            if outcome.refused == "device":
                without_device = outcome
                continue  # another sandbox may have a GPU, and asking cost nothing
            answer = outcome
            attempts += 1
        if answer is not None:
            return answer
        if without_device is not None and not problems:
            return without_device
        return Outcome(id=run.id, status="internal", detail="; ".join(problems.values()) or self.absence())

    async def health(self) -> Health:
        """Returns the combined state. Raises SandboxUnreachable when no backend answers."""
        clients = [state.client for state in (await self._current()).values()]
        answers = await asyncio.gather(*(client.health() for client in clients), return_exceptions=True)
        found = [answer for answer in answers if isinstance(answer, Health)]
        lost = [str(answer) for answer in answers if isinstance(answer, SandboxUnreachable)]
        if not found:
            raise SandboxUnreachable("; ".join(lost) or f"{self.absence()}; is it started?")
        return Health(
            ready=self.combine(health.ready for health in found),
            running=self.combine(health.running for health in found),
            waiting=self.combine(health.waiting for health in found),
            isolation="full" if all(health.isolation == "full" for health in found) else "weaker",
            lacks=tuple(dict.fromkeys(lack for health in found for lack in health.lacks)),
            versions=next((health.versions for health in found if health.versions), {}),
            trouble="; ".join(dict.fromkeys([*(health.trouble for health in found if health.trouble), *lost])),
            wait_s=min(health.wait_s for health in found),
            devices=tuple(device for device in get_args(Device) if any(device in health.devices for health in found)),
            gpu="; ".join(dict.fromkeys(health.gpu for health in found if health.gpu)),
            gpu_trouble="; ".join(dict.fromkeys(health.gpu_trouble for health in found if health.gpu_trouble)),
        )

    async def _try(self, state: _BackendState, run: Run) -> Outcome:
        self._runs += 1
        state.last_used = self._runs
        state.in_flight += 1
        try:
            outcome = await state.client.attempt(run)
        except SandboxUnreachable as problem:
            state.record_failure(self._clock())
            if not isinstance(problem, NobodyThere):
                # It may have been executed, and may be again: a run has no side effects, and one outcome is returned.
                _LOG.warning("run %s (%s) was lost: %s", run.id, run.role, problem)
            raise
        finally:
            state.in_flight -= 1
        if outcome.status == "internal" and not outcome.refused:
            state.record_failure(self._clock())
        else:
            state.record_success(outcome, self._clock())
        return outcome

    async def _best(self, tried: set[Name]) -> Name | None:
        """Returns the cheapest backend not tried yet; one in backoff only if there is no other."""
        states = {name: state for name, state in (await self._current()).items() if name not in tried}
        now = self._clock()
        return min(states, key=lambda name: states[name].cost(now), default=None)

    async def _current(self) -> dict[Name, _BackendState]:
        """Returns the backends that exist now, and forgets those that have gone."""
        names = await self.present()
        self._states = {name: self._states.get(name) or _BackendState(self.backend(name)) for name in names}
        return self._states


class Addresses:
    """Addresses that names and ports resolve to, looked up again every few seconds."""

    def __init__(self, named: Sequence[tuple[str, int]], clock: Callable[[], float] = time.monotonic) -> None:
        self._named = tuple(named)
        self._clock = clock
        self._found: tuple[Node, ...] = ()
        self._looked_up = float("-inf")

    async def current(self) -> tuple[Node, ...]:
        """Returns every address. Those known before are kept if the name server fails for a moment."""
        if self._clock() - self._looked_up >= _DNS_CACHE_SECONDS:
            found = await asyncio.gather(*(_resolve(host, port) for host, port in self._named))
            self._found = tuple(dict.fromkeys(one for each in found for one in each)) or self._found
            self._looked_up = self._clock()
        return self._found

    def look_again(self) -> None:
        """Has the names resolved at the next call of `current`."""
        self._looked_up = float("-inf")


async def _resolve(host: str, port: int) -> list[Node]:
    """Returns each address that the host's name resolves to."""
    try:
        async with asyncio.timeout(_DNS_TIMEOUT_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, ValueError):  # TimeoutError is an OSError; an invalid port raises ValueError
        return []
    return [Node(host, address, port) for address in sorted({str(to[0]) for _, _, _, _, to in found})]


class SandboxPool(LoadBalancer[Path | Node]):
    """Sandboxes of this machine and of others.

    `paths` are sockets, or folders in which `*.sock` files come and go; `nodes` are names and ports of other machines.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        clock: Callable[[], float] = time.monotonic,
        *,
        nodes: Sequence[tuple[str, int]] = (),
        certificates: Certificates | None = None,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(clock, pause=pause)
        self._paths = tuple(paths)
        self._nodes = tuple(nodes)
        self._addresses = Addresses(nodes, clock)
        self._certificates = certificates

    async def present(self) -> Sequence[Path | Node]:
        """Returns the sockets and nodes that exist now."""
        return [*self._sockets(), *await self._addresses.current()]

    def look_again(self) -> None:
        """Has the names of other machines resolved again."""
        self._addresses.look_again()

    def backend(self, name: Path | Node) -> SandboxClient:
        """Returns a client of the sandbox there."""
        return SandboxClient(name, self._certificates)

    def absence(self) -> str:
        """Returns the message for when there is no sandbox."""
        places = [*map(str, self._paths), *(f"tls://{host}:{port}" for host, port in self._nodes)]
        what = "sandbox" if self._nodes else "sandbox's socket"
        return f"no {what} is at {', '.join(places)}"

    def _sockets(self) -> Iterator[Path]:
        for path in self._paths:
            yield from sorted(path.glob("*.sock")) if path.is_dir() else (path,)
