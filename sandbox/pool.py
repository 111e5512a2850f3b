"""Keeps children parked, ready for a run, and replaces the zygote they come from when it dies.

Trusted: imports no torch and runs no answer.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from sandbox.cgroups import Group, Groups
from sandbox.devices import Device
from sandbox.forker import Zygote, ZygoteDied
from sandbox.handles import Child

_SHORTEST_PAUSE = 0.5
_LONGEST_PAUSE = 30.0
_QUIET_SECONDS = 60.0
_LONGEST_WAIT = 60.0
"""Seconds for a child to be had."""


async def _removed(groups: list[Group]) -> None:
    """Remove them as their processes go; what is left after some seconds the next supervisor clears away."""
    for _ in range(300):
        groups = [group for group in groups if not group.remove()]
        if not groups:
            return
        await asyncio.sleep(0.01)


class Pool:
    """Children ready to take a run, and the zygote they come from."""

    def __init__(
        self, bwrap: str | None, size: int, disk_mb: int, say: Callable[[str], None],
        fresh: Device | None = None, groups: Groups | None = None, at_once: int = 1,
    ) -> None:  # fmt: skip
        self.bwrap = bwrap
        self.at_once = at_once
        """How many are made at the same time: most of what a child needs is its own processor's time."""
        self._groups = groups
        self.fresh = fresh
        self.least = size
        self.size = size
        """How many are kept parked: more after a rush that found none, fewer again when it is quiet."""
        self.disk_mb = disk_mb
        self.say = say
        self.zygote: Zygote | None = None
        self.parked: deque[Child] = deque()
        self._waiting: deque[asyncio.Future[Child]] = deque()
        self.making = 0
        """How many are being made, or failed to be and wait for the next attempt."""
        self._pause = _SHORTEST_PAUSE
        self._short = asyncio.Event()
        """More may be wanted."""
        self._alive = asyncio.Event()
        """There is a zygote."""
        self.trouble = ""
        """Why there is no zygote or no child right now, for the operator."""

    @property
    def versions(self) -> dict[str, str]:
        return self.zygote.versions if self.zygote else {}

    async def keep(self) -> None:
        """Keep a zygote alive and the pool full until cancelled."""
        delay = 0.2
        while True:
            try:
                await self._live()
                delay = 0.2
            except (ZygoteDied, OSError) as death:
                self.trouble = f"the zygote does not start: {death}"
                self.say(self.trouble)
                await asyncio.sleep(delay)
                delay = min(delay * 2, 30.0)

    async def _live(self) -> None:
        """One zygote's life."""
        zygote = await Zygote.start(self.bwrap, self.fresh)
        filling = asyncio.create_task(self._fill(zygote))
        try:
            self.zygote = zygote
            self._alive.set()
            # Shielded: cancelled itself, it would count as dead already, and its socket would stay open.
            why = await asyncio.shield(zygote.died)
            self.say(f"the zygote died ({why}); starting another")
        finally:
            self.zygote = None
            self._alive.clear()
            filling.cancel()
            await asyncio.gather(filling, return_exceptions=True)
            while self.parked:
                self.parked.pop().close()
            left = zygote.groups()
            await zygote.stop()
            await _removed(left)

    async def _fill(self, zygote: Zygote) -> None:
        """Keep the pool full until cancelled."""
        async with asyncio.TaskGroup() as makers:
            while True:
                if await self._wanted(zygote):
                    self.making += 1
                    makers.create_task(self._make(zygote))

    async def _make(self, zygote: Zygote) -> None:
        """Park one more, or say why there is none and let some time pass."""
        try:
            self._park(await self._spawned(zygote, self.disk_mb))
            self.trouble, self._pause = "", _SHORTEST_PAUSE
        except ZygoteDied:
            return
        except (OSError, TimeoutError) as problem:
            self.trouble = f"no child can be made: {problem}"
            self.say(self.trouble)
            pause, self._pause = self._pause, min(2 * self._pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause)
        finally:
            self.making -= 1
            self._short.set()

    async def _wanted(self, zygote: Zygote) -> bool:
        """Wait until another child is wanted; after a quiet while one fewer is, down to the least."""
        try:
            async with asyncio.timeout(_QUIET_SECONDS):
                while (
                    self.making >= self.at_once
                    or len(self.parked) + self.making >= self.size
                    or zygote.died.done()  # there will be another pool
                ):
                    self._short.clear()
                    await self._short.wait()
        except TimeoutError:
            if self.size > self.least:
                self.size -= 1
                while len(self.parked) > self.size:
                    self.parked.pop().close()
            return False
        return True

    async def take(self, disk_mb: int) -> Child:
        """A child for one run; the caller closes it. Waits while there is none.

        Raises TimeoutError after a minute without one, OSError when one of another disk size cannot be made,
        ZygoteDied when the zygote goes meanwhile.
        """
        while disk_mb == self.disk_mb:
            child = await self._next()
            if not self.parked:
                self.size = min(self.size + 1, 2 * self.least)
            if not child.ended.done():
                return child
            child.close()  # it died while it was parked: the machine was short of memory
            self.refill()
        async with asyncio.timeout(_LONGEST_WAIT):
            await self._alive.wait()
        if self.zygote is None:
            raise ZygoteDied("it died before it was asked")
        return await self._spawned(self.zygote, disk_mb)

    async def _next(self) -> Child:
        """The child parked longest, for whoever has waited longest."""
        if self.parked and not self._waiting:
            return self.parked.popleft()
        place: asyncio.Future[Child] = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            async with asyncio.timeout(_LONGEST_WAIT):
                return await place
        except asyncio.CancelledError:
            if place.done() and not place.cancelled():
                self._park(place.result())
            raise

    def _park(self, child: Child) -> None:
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():  # else whoever waited has gone
                return place.set_result(child)
        return self.parked.append(child)

    async def _spawned(self, zygote: Zygote, disk_mb: int) -> Child:
        child = await zygote.spawn(disk_mb)
        child.groups = self._groups
        return child

    def refill(self) -> None:
        """Make up for what was taken: called after an answer, so as not to compete with it."""
        self._short.set()
