"""One day of faults from its seed: start everything, let people answer while things break, wait for quiet, judge."""

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
"""How long what was begun may take until it is done: a lease and a stalled job are taken up after half a minute."""


GONE_S: Final = 60.0
"""How long what was made by somebody who was killed may take to end."""
PROBES: Final = 3
"""Slots that are kept for the moment after a leader's death."""


@dataclass(frozen=True)
class Size:
    """How long a day is."""

    slots: int
    members: int
    channels: int
    """On Discord; one is on Slack."""
    at_once: int
    """Slots that are due together."""
    more: int
    """Faults beside the essential ones."""

    @property
    def spread(self) -> int:
        """How much is seen to happen while the faults come, about."""
        return max(10, self.slots * self.members)


SHORT: Final = Size(slots=6, members=3, channels=1, at_once=4, more=3)
LONG: Final = Size(slots=24, members=5, channels=3, at_once=8, more=24)


@dataclass
class Day:
    """What came of it."""

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
    """A day of that seed. With `keep`, what the processes logged is left in that folder."""
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
    # Whoever fails ends the day at once.
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
    """Let the slots of a wave be due at once, close their rounds once most of them were answered, and go on."""
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
    """Wait until all that was begun is done; what is not."""
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
    """Seconds of processor time that this process and all that have ended beneath it took."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


async def _left(*but: int) -> list[str]:
    """What runs beneath this process and should not, once it had its time to end: all but these and what is theirs."""
    await until(lambda: not running(descendants(*but)), GONE_S)
    return running(descendants(*but))
