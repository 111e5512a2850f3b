"""Runs one chaos day from a seed: starts everything, lets members answer during faults, waits, and judges the
result."""

from __future__ import annotations

import asyncio
import resource
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from time import monotonic
from typing import Final

from tests.chaos.faults import Harm
from tests.chaos.oracle import violations
from tests.chaos.processes import LOOK_S, descendants, mounts, running, until
from tests.chaos.program import faults_of
from tests.chaos.scene import Scene, scene_ready

QUIET_S: Final = 300.0
"""Longest time until work is completed, seconds: leases and stalled jobs are taken over after half a minute."""


GONE_S: Final = 60.0
"""Longest time until the work of a killed process ends, seconds."""
PROBES: Final = 3
"""Slots reserved for the time after a leader's death."""


@dataclass(frozen=True)
class Size:
    """Size of a day."""

    slots: int
    members: int
    channels: int
    """Members on Discord; there is one on Slack."""
    at_once: int
    """Slots that are due at the same time."""
    more: int
    """Faults in addition to the essential ones."""

    @property
    def spread(self) -> int:
        """Estimated number of observed actions while faults are injected."""
        return max(10, self.slots * self.members)


SHORT: Final = Size(slots=6, members=3, channels=1, at_once=4, more=3)
LONG: Final = Size(slots=24, members=5, channels=3, at_once=8, more=24)


@dataclass
class Day:
    """Results of a day."""

    seed: int
    broken: list[str] = field(default_factory=list)
    kills: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    counts: dict[str, int] = field(default_factory=dict)
    takeovers: list[float] = field(default_factory=list)
    ticks: list[float] = field(default_factory=list)
    recovered: dict[str, list[float]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    logs: str = ""


async def lived(seed: int, size: Size, keep: Path | None = None) -> Day:
    """Runs the day of a seed. With `keep`, copies the processes' logs to that folder."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-chaos-", ignore_cleanup_errors=True) as made:
        folder = keep or Path(made)
        for place in (folder, Path(made)):
            place.chmod(0o711)
        day = Day(seed)
        mounted, began, worked = mounts(folder), monotonic(), _worked()
        async with scene_ready(folder, seed, size.slots + PROBES, size.channels, size.at_once) as made_scene:
            await _live(made_scene, day, size, began)
        day.broken += [f"left behind: {left}" for left in await _left()]
        day.broken += [f"left behind: a mount at {place}" for place in (mounts(folder) - mounted).elements()]
        day.seconds["in all"] = monotonic() - began
        day.seconds["of processor time"] = _worked() - worked
        return day


async def _live(scene: Scene, day: Day, size: Size, began: float) -> None:
    absent = await scene.all_up()
    day.seconds["to start"] = monotonic() - began
    if absent:
        day.broken += [f"{name} never served" for name in absent]
        return
    probes = [scene.slots.pop() for _ in range(PROBES)]
    harm = Harm(scene, probes)
    faults = faults_of(scene.seed, size.spread, size.more)
    # Any failure ends the day at once.
    async with asyncio.TaskGroup() as group:
        members = [group.create_task(member.day()) for member in scene.members(size.members)]
        group.create_task(_ask(scene, size))
        await harm.run(faults, lambda: all(task.done() for task in members))
    await scene.database.time_is_up(*(slot.mark for slot in scene.diary.slots))
    day.seconds["of answering"] = monotonic() - began - day.seconds["to start"]
    quiet = monotonic()
    day.broken += [f"never quiet: {left}" for left in await _quiet(scene)]
    day.seconds["to be quiet"] = monotonic() - quiet
    await _judge(scene, day, harm)


async def _ask(scene: Scene, size: Size) -> None:
    """Makes a wave of slots due, closes their rounds once most are answered, and continues."""
    waves = [[*slots] for _, slots in groupby(scene.slots, lambda slot: slot.wave)]
    for slots in waves:
        seen = scene.diary.progress
        for slot in slots:
            await scene.asks(slot)
        await until(partial(scene.is_posted, slots), QUIET_S)
        await until(partial(_has_seen, scene, seen + int(0.8 * len(slots) * size.members)), QUIET_S)
        await scene.closes(slots)


def _has_seen(scene: Scene, count: int) -> bool:
    return scene.diary.progress >= count


async def _quiet(scene: Scene) -> list[str]:
    """Waits until all work is done; returns what is not."""
    end = monotonic() + QUIET_S
    while monotonic() < end:
        left = [*await scene.database.waiting(len(scene.diary.slots)), *scene.untold()]
        left += [name for name, part in scene.parts.items() if not part.up.is_set()]
        if not left:
            return []
        await asyncio.sleep(4 * LOOK_S)
    return left


async def _judge(scene: Scene, day: Day, harm: Harm) -> None:
    facts = await scene.facts()
    known = {*(part.pid for part in scene.parts.values()), scene.database.pid}
    facts.left = await _left(*known)
    for name, part in scene.parts.items():
        day.broken += [f"{name} ended by itself with {status}" for status in part.untimely]
        day.recovered[name] = part.recovered
    ended = await asyncio.gather(*(part.stop() for part in scene.parts.values()))
    day.broken += [*violations(scene.diary, facts), *(one for one in ended if one)]
    day.kills, day.done, day.takeovers, day.ticks = harm.kills, harm.done, harm.takeovers, harm.ticks
    outcomes = Counter(act.outcome for act in scene.diary.acts)
    day.counts = {"slots": len(scene.diary.slots), "answers": len(facts.answers), "verdicts": len(facts.verdicts)}
    day.counts |= {outcome: outcomes[outcome] for outcome in ("acknowledged", "late", "refused", "unknown")}


def _worked() -> float:
    """Returns the CPU time of this process and its finished descendants, seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


async def _left(*but: int) -> list[str]:
    """Returns the descendants that still run after a grace period, except for known ones."""
    await until(lambda: not running(descendants(*but)), GONE_S)
    return running(descendants(*but))
