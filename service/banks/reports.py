"""Reports of mistakes: moderators are told of each once, settle it with a reason, and its author hears the outcome."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Literal, cast

from sqlalchemy.ext.asyncio import AsyncSession

from service.banks.moderation import find_named
from service.errors import Refused
from service.rounds.review import notify_member, notify_moderators
from service.rounds.views import build_answer_key, build_question_view
from service.store import members, reports, variants
from service.store.banks import is_own_question
from service.store.members import Caller
from service.store.questions import get_version
from service.store.reports import Report
from service.wire import (
    DailyLimitReached,
    NotFound,
    QuestionReported,
    ReportedQuestion,
    ReportSettled,
    ReportView,
    Settled,
    SettledReport,
    TextNeeded,
)

State = Literal["open", "dismissed", "fixed"]
MAX_PER_DAY = 10
"""Most reports of one member within 24 hours: moderators are notified of each."""


async def report(session: AsyncSession, caller: Caller, question: str, text: str, now: datetime) -> ReportView:
    """Reports a question to the moderators. Refused without a reason, and after `MAX_PER_DAY` within a day."""
    text = text.strip()
    if not text:
        raise Refused(TextNeeded(what="report"))
    asked, version = (await find_named(session, caller, question))[0]
    caller = await members.lock_caller(session, caller)
    if await reports.count_since(session, caller.member_id, now - timedelta(days=1)) >= MAX_PER_DAY:
        raise Refused(DailyLimitReached(what="report", most=MAX_PER_DAY))
    reported = await get_version(session, await variants.pick_named(session, version.id, question))
    row = reports.add(session, caller, reported.id, text, now)
    await session.flush()
    fact = QuestionReported(report=row.id, question=build_question_view(reported), text=text)
    in_public = QuestionReported(report=row.id, question=None)
    await notify_moderators(session, caller.workspace_id, reports.notice_key(row.id), fact, in_public, now)
    return ReportView(id=row.id, question=asked.key, by=caller.name, text=text, at=now, state="open")


async def list_reports(session: AsyncSession, caller: Caller) -> tuple[ReportView, ...]:
    """Returns the workspace's reports, open ones first, newest first."""
    return tuple(_view(found) for found in await reports.list_reports(session, caller.workspace_id))


async def view_report(session: AsyncSession, caller: Caller, report_id: int) -> ReportedQuestion:
    """Returns a report beside its question with the key."""
    found = await _find(session, caller, report_id)
    version = await get_version(session, found.row.version_id)
    return ReportedQuestion(
        report=_view(found),
        key=build_answer_key(version),
        own=await is_own_question(session, caller.workspace_id, found.question.id),
        corrected=found.reported.version != found.question.current,
    )


async def settle(
    session: AsyncSession, caller: Caller, report_id: int, state: Settled, reason: str, now: datetime
) -> SettledReport:
    """Settles a report as `fixed` or `dismissed`, and tells its author, once for each. Refused if it is dismissed
    without a reason. A settled report can be settled again."""
    reason = reason.strip()
    found = await _find(session, caller, report_id, lock=True)
    if state == "dismissed" and not reason:
        raise Refused(TextNeeded(what="reason of a dismissal"))
    row = found.row
    row.state, row.reason, row.settled_by = state, reason, caller.member_id
    fact = ReportSettled(question=found.question.key, state=state, reason=reason)
    await notify_member(session, caller.workspace_id, row.member_id, reports.settled_key(row.id, state), fact, now)
    return SettledReport(id=row.id, question=found.question.key, state=state)


async def notify_here(session: AsyncSession, caller: Caller) -> None:
    """Has moderators notified in the caller's channel from now on."""
    await reports.set_place(session, caller.workspace_id, channel_id=caller.channel_id, member_id=None)


async def notify_me(session: AsyncSession, caller: Caller) -> None:
    """Has the caller notified privately from now on."""
    await reports.set_place(session, caller.workspace_id, channel_id=None, member_id=caller.member_id)


async def _find(session: AsyncSession, caller: Caller, report_id: int, *, lock: bool = False) -> Report:
    found = await reports.find_report(session, caller.workspace_id, report_id, lock=lock)
    if found is None:
        raise Refused(NotFound(what="report", name=str(report_id)))
    return found


def _view(found: Report) -> ReportView:
    row = found.row
    state = cast(State, row.state)
    return ReportView(
        id=row.id, question=found.question.key, by=found.by, text=row.text, at=row.at, state=state, reason=row.reason
    )
