"""Checks of one workspace, as facts: database, sandbox, bank, schedules, messages, troubles. They change nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from sandbox.client import SandboxUnreachable
from service.ops.deployment import MOST_SKEW
from service.ops.operations import view_trouble
from service.reference_clock import NO_SKEW
from service.rounds import planning, schedules
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
    session: AsyncSession,
    caller: Caller,
    sandbox: ReportsHealth | None,
    newest_revision: str,
    now: datetime,
    skew: timedelta = NO_SKEW,
) -> tuple[WorkspaceCheck, ...]:
    """Returns the checks of the caller's workspace. `skew` is by how much this machine's clock is ahead of `now`."""
    found = await rows.list_schedules(session, caller.workspace_id)
    return (
        *await _database(session, newest_revision, now + skew),
        await _sandbox(sandbox),
        await _bank(session, caller),
        *await _schedules(session, caller, found, now),
        *([] if found else [NoScheduleCheck(ok=False)]),
        await _messages(session, caller, now),
        *await _troubles(session, caller),
    )


async def _database(session: AsyncSession, newest_revision: str, machine: datetime) -> list[WorkspaceCheck]:
    version, clock = await monitoring.server_version_and_clock(session)
    revision = await monitoring.schema_revision(session)
    skew = abs(clock - machine)
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


async def _schedules(
    session: AsyncSession, caller: Caller, found: Sequence[tuple[Schedule, Channel]], now: datetime
) -> list[WorkspaceCheck]:
    left = await planning.count_left(session, caller.workspace_id, [row for row, _ in found], now)
    checks: list[WorkspaceCheck] = []
    for view in await schedules.view_schedules(session, found, now):
        name, few = view.channel_name, left[view.id]
        checks += [
            QuestionsCheck(ok=few >= LOW, schedule=view.id, channel=name, left=few),
            SlotsCheck(
                ok=view.paused or bool(view.next),
                schedule=view.id,
                channel=name,
                paused=view.paused,
                next=view.next,
                zone=view.spec.zone,
            ),
        ]
    return checks


async def _messages(session: AsyncSession, caller: Caller, now: datetime) -> MessagesCheck:
    waiting = await monitoring.summarize_undelivered(session, caller.workspace_id, now)
    if waiting.oldest is None:
        return MessagesCheck(ok=True)
    age = now - waiting.oldest
    return MessagesCheck(ok=age <= LATE, waiting=waiting.count, age_s=age.total_seconds(), error=waiting.error)


async def _troubles(session: AsyncSession, caller: Caller) -> list[WorkspaceCheck]:
    rows = await troubles.list_all_open(session, caller.workspace_id)
    return [TroubleCheck(ok=False, trouble=view_trouble(row)) for row in rows]
