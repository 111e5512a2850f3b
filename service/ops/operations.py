"""Collects the state of the quiz: each slot from due to confirmed, queues, the sandbox, and failures. Read-only.

An admin sees their own workspace only; the operator sees all.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Literal

from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncSession

from sandbox.client import SandboxUnreachable
from service.rounds.sandbox_turns import FairSandbox
from service.store import monitoring, troubles
from service.store.monitoring import LEADER_LOCK, Posting
from service.store.tables import Channel, Chat, Outbox, Trouble
from service.wire import (
    PLATFORM,
    ErrorView,
    Operations,
    QueueView,
    SandboxView,
    ScheduleSpec,
    SkipReason,
    SlotState,
    SlotView,
    TroubleView,
)

SKIP_REASON: TypeAdapter[SkipReason | None] = TypeAdapter(SkipReason | None)
PROMPT = timedelta(minutes=1)
"""Delay up to which a post counts as on time."""
SLOTS_BACK = timedelta(days=7)
"""Age up to which slots are shown."""
ERRORS_BACK = timedelta(days=1)
"""Age up to which failures are shown."""
MOST_SLOTS = 60
"""Slots that are shown."""
MOST_ERRORS = 30
"""Failures that are shown."""
TIMEOUT_SECONDS = 3.0
"""Time limit for a sandbox's health check, seconds."""


async def overview(
    session: AsyncSession, workspace_id: int | None, sandbox: SandboxView | None, now: datetime
) -> Operations:
    """Returns the operations page of one workspace, or of all. `sandbox` is its current state."""
    everywhere = workspace_id is None
    since = now - ERRORS_BACK
    posted = await monitoring.list_postings(session, workspace_id, now - SLOTS_BACK, MOST_SLOTS)
    return Operations(
        at=now,
        led=await monitoring.has_leader(session, LEADER_LOCK),
        slots=tuple(slot_view(posting, now, everywhere) for posting in posted),
        queues=await _queues(session, workspace_id),
        sandbox=sandbox,
        troubles=tuple(view_trouble(row) for row in await troubles.list_recent(session, workspace_id, since)),
        errors=await _errors(session, workspace_id, since, everywhere),
    )


async def sandbox_view(sandbox: FairSandbox | None, timeout_seconds: float = TIMEOUT_SECONDS) -> SandboxView | None:
    """Returns the sandbox's state; None if no sandbox is connected."""
    if sandbox is None:
        return None
    try:
        async with asyncio.timeout(timeout_seconds):
            health = await sandbox.health()
    except SandboxUnreachable as problem:
        return SandboxView(problem="unreachable", trouble=str(problem))
    except TimeoutError:
        return SandboxView(problem="no response")
    return SandboxView(
        ready=health.ready,
        running=health.running,
        waiting=health.waiting,
        wait_s=health.wait_s,
        isolation=health.isolation,
        devices=health.devices,
        trouble=health.trouble,
    )


def slot_view(posting: Posting, now: datetime, everywhere: bool) -> SlotView:
    """Returns a slot in one channel: when it was due, sending and confirmed, and how late."""
    row = posting.row
    due_at = posting.round.opens_at - timedelta(minutes=row.body.get("late_minutes", 0) if row else 0)
    state, late = _state(posting, due_at, now)
    return SlotView(
        platform=PLATFORM.validate_python(posting.chat.platform),
        workspace=posting.chat.external_id if everywhere else "",
        channel=posting.channel.shown_name,
        day=posting.round.day,
        zone=ScheduleSpec.from_stored(posting.schedule.spec).zone,
        due_at=due_at,
        taken_at=row.taken_at if row else None,
        sent_at=row.sent_at if row else None,
        late_s=max(0.0, late.total_seconds()),
        state=state,
        skipped=SKIP_REASON.validate_python(posting.round.skipped),
        error=(row.error if row is not None else None) or "",
    )


def _state(posting: Posting, due_at: datetime, now: datetime) -> tuple[SlotState, timedelta]:
    row = posting.row
    if row is None or row.state in ("skipped", "lost"):
        return "skipped", timedelta()
    if row.sent_at is not None:
        late = row.sent_at - due_at
        return ("posted" if late <= PROMPT else "late"), late
    late = now - due_at
    return ("waiting" if late <= PROMPT else "overdue"), late


async def _queues(session: AsyncSession, workspace_id: int | None) -> tuple[QueueView, ...]:
    waiting = [
        QueueView(
            kind="messages",
            platform=PLATFORM.validate_python(queue.name),
            count=queue.count,
            oldest_at=queue.oldest,
        )
        for queue in await monitoring.count_undelivered(session, workspace_id)
    ]
    answers = await monitoring.count_waiting_answers(session, workspace_id)
    judging = QueueView(kind="answers", count=answers.count, oldest_at=answers.oldest)
    jobs = [
        QueueView(kind="jobs", task=job.task, status=job.status, count=job.count, oldest_at=job.oldest)
        for job in (await monitoring.count_jobs(session) if workspace_id is None else ())
    ]
    return (*waiting, judging, *jobs)


async def _errors(
    session: AsyncSession, workspace_id: int | None, since: datetime, everywhere: bool
) -> tuple[ErrorView, ...]:
    failed = await monitoring.list_failed_messages(session, workspace_id, since, MOST_ERRORS)
    unjudged = await monitoring.list_unjudged_verdicts(session, workspace_id, since, MOST_ERRORS)
    jobs = await monitoring.list_failed_jobs(session, workspace_id, since, MOST_ERRORS)
    found = [
        *[
            _message_error("message", row, chat, channel, everywhere).model_copy(
                update={"name": row.kind, "given_up": row.state in ("skipped", "lost"), "error": row.error or ""}
            )
            for row, chat, channel in failed
        ],
        *[_message_error("verdict", row, chat, channel, everywhere) for row, chat, channel in unjudged],
        *[
            ErrorView(at=job.at or since, kind="job", name=job.task, attempts=job.attempts, given_up=True)
            for job in jobs
        ],
    ]
    return tuple(sorted(found, key=lambda error: error.at, reverse=True)[:MOST_ERRORS])


def _message_error(
    kind: Literal["message", "verdict"], row: Outbox, chat: Chat, channel: Channel | None, everywhere: bool
) -> ErrorView:
    """Returns a failure around a message, without the member of a private one."""
    private = row.member_id is not None
    return ErrorView(
        at=row.due_at,
        kind=kind,
        attempts=row.attempt,
        private=private,
        channel="" if private or channel is None else channel.shown_name,
        platform=PLATFORM.validate_python(chat.platform),
        workspace=chat.external_id if everywhere else "",
    )


def view_trouble(row: Trouble) -> TroubleView:
    """Returns the facts of a trouble."""
    facts = {name: row.detail.get(name) for name in ("channel", "platform", "problem", "error")}
    known = {name: value for name, value in facts.items() if value is not None}
    return TroubleView.from_stored({"kind": row.what, "since": row.since, "over_at": row.over_at, **known})
