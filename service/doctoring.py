"""The doctor: one check per thing that can be wrong, each with what was found and the cure. It mends nothing."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from sandbox.client import Health, SandboxUnreachable
from service import schedules
from service.calendar import zone_named
from service.store import banks, state
from service.store import schedules as rows
from service.store.members import Caller
from service.store.tables import Channel, Schedule
from service.wire import Check, ScheduleSpec

MOST_SKEW = timedelta(seconds=5)
"""Between our clock and the database's."""
LATE = timedelta(minutes=2)
"""A message due longer ago than this should have been delivered."""
LOW = 10
"""Slots a schedule should still have questions for."""


class Sandbox(Protocol):
    """What the doctor asks of a sandbox."""

    async def health(self) -> Health: ...


async def examine(
    session: AsyncSession, caller: Caller, sandbox: Sandbox | None, newest_revision: str, now: datetime
) -> tuple[Check, ...]:
    """Every check, the ground first, then this workspace's bank, schedules and messages."""
    found = await rows.all_of(session, caller.workspace_id)
    return (
        *await _database(session, newest_revision, now),
        await _sandbox(sandbox),
        await _bank(session, caller),
        *[check for schedule, channel in found for check in await _schedule(session, schedule, channel, now)],
        *([] if found else [_no_schedule()]),
        await _outbox(session, caller, now),
    )


async def _database(session: AsyncSession, newest_revision: str, now: datetime) -> list[Check]:
    version, clock = await state.server(session)
    revision = await state.revision(session)
    skew = abs(clock - now)
    return [
        Check(name="database", ok=True, said=f"PostgreSQL {version} answers"),
        _check(
            "migrations",
            revision == newest_revision,
            f"the schema is at {revision}",
            f"run `dailygrad migrate`: this program needs {newest_revision}",
        ),
        _check(
            "clock",
            skew <= MOST_SKEW,
            f"{skew.total_seconds():.1f} s between the service's clock and the database's",
            "let both machines keep time by NTP: slots and deadlines are read off these clocks",
        ),
    ]


async def _sandbox(sandbox: Sandbox | None) -> Check:
    cure = (
        "start it with `dailygrad sandbox` and name its socket in DAILYGRAD_SANDBOX_SOCKET, or name workers that reach "
        "it in DAILYGRAD_WORKER_URL"
    )
    if sandbox is None:
        return Check(name="sandbox", ok=False, said="none is connected, so code questions wait", cure=cure)
    try:
        health = await sandbox.health()
    except SandboxUnreachable as error:
        return Check(name="sandbox", ok=False, said=str(error), cure=cure)
    torch = health.versions.get("torch", "")
    said = f"{health.ready} children ready, isolation {health.isolation}{torch and f', torch {torch}'}"
    if health.trouble:
        return Check(name="sandbox", ok=False, said=f"{said}; {health.trouble}", cure="read the sandbox's log")
    lacks = "; ".join(health.lacks)
    said += (lacks and f"; {lacks}") + (health.gpu and f"; GPU: {health.gpu}")
    return _check("sandbox", health.isolation == "full", said, "mend what is named")


async def _bank(session: AsyncSession, caller: Caller) -> Check:
    count = sum(number for _, number in await banks.topic_counts(session, caller.workspace_id))
    waiting = await banks.waiting_for_gpu(session, caller.workspace_id)
    gpu = f"; {waiting} more once a sandbox has a GPU" if waiting else ""
    said = f"{_many(count, 'question')} may be asked{gpu}"
    return _check("bank", count > 0, said, "import a bank with bank import")


async def _schedule(session: AsyncSession, schedule: Schedule, channel: Channel, now: datetime) -> list[Check]:
    name = f"schedule {schedule.id} in {channel.name or channel.external_id}"
    left = await schedules.left(session, schedule, now)
    enough = _check(
        f"{name}: questions",
        left >= LOW,
        f"{_many(left, 'slot')} until one is repeated",
        "import more questions, or widen the schedule's topics, levels and kinds",
    )
    return [enough, await _slots(session, schedule, name, now)]


async def _slots(session: AsyncSession, schedule: Schedule, name: str, now: datetime) -> Check:
    spec = ScheduleSpec.model_validate(schedule.spec)
    if schedule.paused_at is not None:
        return Check(name=f"{name}: next", ok=True, said="paused", cure="")
    timetable = schedules.timetable_of(spec, await rows.skips(session, schedule.id))
    zone = zone_named(spec.zone)
    slots = [slot.instant.astimezone(zone) for slot in schedules.coming(timetable, now)]
    said = ", ".join(f"{slot:%a} {slot:%Y-%m-%d %H:%M}" for slot in slots)
    return _check(
        f"{name}: next",
        bool(slots),
        f"{said} {spec.zone}" if slots else "no slot within a year",
        "its holidays and skips leave no day: change them",
    )


async def _outbox(session: AsyncSession, caller: Caller, now: datetime) -> Check:
    waiting = await state.undelivered(session, caller.workspace_id, now)
    if waiting.oldest is None:
        return Check(name="messages", ok=True, said="nothing waits to be delivered")
    age = now - waiting.oldest
    said = f"{_many(waiting.count, 'message')} to deliver, the oldest for {int(age.total_seconds())} s"
    said += f": {waiting.error}" if waiting.error else ""
    return _check("messages", age <= LATE, said, "see that the bot runs, and that it may write in the channel")


def _no_schedule() -> Check:
    return Check(name="schedules", ok=False, said="none, so nothing is posted", cure="make one with schedule add")


def _check(name: str, ok: bool, said: str, cure: str) -> Check:
    return Check(name=name, ok=ok, said=said, cure="" if ok else cure)


def _many(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
