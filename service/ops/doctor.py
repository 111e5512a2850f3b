"""Checks of one workspace, as facts: database, sandbox, bank, schedules, messages, troubles. They change nothing."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from sandbox.client import SandboxUnreachable
from service.ops.deployment import MOST_SKEW
from service.ops.operations import view_trouble
from service.rounds import schedules
from service.sandboxes import ReportsHealth
from service.store import banks, monitoring, troubles
from service.store import schedules as rows
from service.store.members import Caller
from service.store.tables import Channel, Schedule
from service.wire import (
    BankCheck,
    ClockCheck,
    DatabaseCheck,
    MessagesCheck,
    NoScheduleCheck,
    QuestionsCheck,
    SandboxCheck,
    ScheduleSpec,
    SchemaCheck,
    SlotsCheck,
    TroubleCheck,
    WorkspaceCheck,
)

LATE = timedelta(minutes=2)
"""Age after which an undelivered message is reported."""
LOW = 10
"""Number of slots for which a schedule should still have questions."""


async def examine(
    session: AsyncSession, caller: Caller, sandbox: ReportsHealth | None, newest_revision: str, now: datetime
) -> tuple[WorkspaceCheck, ...]:
    """Returns the checks of the caller's workspace."""
    found = await rows.list_schedules(session, caller.workspace_id)
    return (
        *await _database(session, newest_revision, now),
        await _sandbox(sandbox),
        await _bank(session, caller),
        *[check for schedule, channel in found for check in await _schedule(session, schedule, channel, now)],
        *([] if found else [NoScheduleCheck(ok=False)]),
        await _messages(session, caller, now),
        *await _troubles(session, caller),
    )


async def _database(session: AsyncSession, newest_revision: str, now: datetime) -> list[WorkspaceCheck]:
    version, clock = await monitoring.server_version_and_clock(session)
    revision = await monitoring.schema_revision(session)
    skew = abs(clock - now)
    return [
        DatabaseCheck(ok=True, version=version),
        SchemaCheck(ok=revision == newest_revision, found=revision, needed=newest_revision),
        ClockCheck(ok=skew <= MOST_SKEW, skew_s=skew.total_seconds()),
    ]


async def _sandbox(sandbox: ReportsHealth | None) -> SandboxCheck:
    if sandbox is None:
        return SandboxCheck(ok=False, problem="not connected")
    try:
        health = await sandbox.health()
    except SandboxUnreachable as error:
        return SandboxCheck(ok=False, problem="unreachable", trouble=str(error))
    return SandboxCheck(
        ok=health.isolation == "full" and not health.trouble,
        trouble=health.trouble,
        ready=health.ready,
        isolation=health.isolation,
        torch=health.versions.get("torch", ""),
        lacks=tuple(health.lacks),
        gpu=health.gpu,
    )


async def _bank(session: AsyncSession, caller: Caller) -> BankCheck:
    count = sum(number for _, number in await banks.count_topics(session, caller.workspace_id))
    waiting = await banks.count_waiting_for_gpu(session, caller.workspace_id)
    return BankCheck(ok=count > 0, questions=count, waiting_for_gpu=waiting)


async def _schedule(session: AsyncSession, schedule: Schedule, channel: Channel, now: datetime) -> list[WorkspaceCheck]:
    name = channel.name or channel.external_id
    left = await schedules.count_left(session, schedule, now)
    spec = ScheduleSpec.model_validate(schedule.spec)
    paused = schedule.paused_at is not None
    timetable = schedules.build_timetable(spec, await rows.list_skips(session, schedule.id))
    slots = () if paused else tuple(slot.instant for slot in schedules.next_slots(timetable, now))
    return [
        QuestionsCheck(ok=left >= LOW, schedule=schedule.id, channel=name, left=left),
        SlotsCheck(
            ok=paused or bool(slots), schedule=schedule.id, channel=name, paused=paused, next=slots, zone=spec.zone
        ),
    ]


async def _messages(session: AsyncSession, caller: Caller, now: datetime) -> MessagesCheck:
    waiting = await monitoring.summarize_undelivered(session, caller.workspace_id, now)
    if waiting.oldest is None:
        return MessagesCheck(ok=True)
    age = now - waiting.oldest
    return MessagesCheck(ok=age <= LATE, waiting=waiting.count, age_s=age.total_seconds(), error=waiting.error)


async def _troubles(session: AsyncSession, caller: Caller) -> list[WorkspaceCheck]:
    rows = await troubles.list_all_open(session, caller.workspace_id)
    return [TroubleCheck(ok=False, trouble=view_trouble(row)) for row in rows]
