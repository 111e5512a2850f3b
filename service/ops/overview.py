"""What the admins of a workspace should know now: failures, open rounds, what comes next and what waits for them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.ops import doctor
from service.reference_clock import NO_SKEW
from service.rounds import digests, planning, schedules
from service.sandboxes import ReportsHealth
from service.store import monitoring as counts
from service.store import schedules as rows
from service.store.members import Caller
from service.store.tables import Channel, Schedule
from service.wire import LowView, OpenRound, Overview, QuestionRef, QuestionsCheck, ScheduleSpec, WorkspaceCheck

ACTIVE = timedelta(weeks=4)
"""Time within which a member answered who counts as active."""


async def view(
    session: AsyncSession,
    caller: Caller,
    sandbox: ReportsHealth | None,
    newest_revision: str,
    now: datetime,
    skew: timedelta = NO_SKEW,
) -> Overview:
    """Returns the overview of the caller's workspace."""
    found = await rows.list_schedules(session, caller.workspace_id)
    waiting = await counts.count_waiting(session, caller.workspace_id, now - ACTIVE)
    checks = await doctor.examine(session, caller, sandbox, newest_revision, now, skew)
    return Overview(
        failed=tuple(check for check in checks if not check.ok),
        open=await _open_rounds(session, found, now),
        schedules=await schedules.view_schedules(session, found, now),
        low=_low(checks),
        reports=waiting.reports,
        suggestions=waiting.suggestions,
        answers=waiting.answers,
        generated=waiting.generated,
        members=waiting.members,
        digest=await digests.view(session, caller, now),
    )


def _low(checks: Sequence[WorkspaceCheck]) -> tuple[LowView, ...]:
    """Returns how long the questions of each schedule last, which the checks have counted already."""
    counted = [check for check in checks if isinstance(check, QuestionsCheck)]
    views = [LowView(schedule=each.schedule, channel_name=each.channel, left=each.left) for each in counted]
    return tuple(sorted(views, key=lambda view: (view.left, view.schedule)))


async def _open_rounds(
    session: AsyncSession, found: Sequence[tuple[Schedule, Channel]], now: datetime
) -> tuple[OpenRound, ...]:
    # A round is open for at most a week; a day more covers every zone.
    first = (now - timedelta(days=9)).date()
    posted = await rows.list_posted(session, [row.id for row, _ in found], first, (now + timedelta(days=1)).date())
    by_id = {row.id: (row, channel) for row, channel in found}
    return tuple(
        OpenRound(
            ref=str(QuestionRef("round", each.row.id)),
            channel=by_id[each.row.schedule_id][1].shown_name,
            question=planning.named(each.question, each.version),
            closes_at=each.row.closes_at,
            answers=each.answers,
            zone=ScheduleSpec.from_stored(by_id[each.row.schedule_id][0].spec).zone,
        )
        for each in posted
        if each.version is not None and each.row.closed_at is None
    )
