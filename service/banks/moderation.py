"""Moderation of questions: members' reports, retiring, approval of generated questions, and who may see a key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal, cast

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Refused
from service.rounds.review import notify_member, notify_moderators
from service.rounds.views import build_answer_key, build_question_view
from service.store import answers, banks, markings, members, reports, sprints, variants
from service.store.banks import is_own_question
from service.store.members import Caller
from service.store.questions import Version, get_version, is_secret, newest_version_id
from service.store.reports import Report
from service.store.tables import QuestionRow, QuestionVersion
from service.wire import (
    MOST_REPORTS,
    AnswerInput,
    DailyLimitReached,
    Explanation,
    Generated,
    NotFound,
    NotMet,
    QuestionRef,
    QuestionReported,
    ReportedQuestion,
    ReportSettled,
    ReportView,
    RestoreRefused,
    Settled,
    SettledReport,
    StillOpen,
    TextNeeded,
)

ALL = "all"
"""Stands for every waiting question in `approve`."""


async def visible_version(session: AsyncSession, caller: Caller, question: str) -> Version:
    """Returns the current version of a question whose key the caller may see.

    Refused while a round, a sprint or a duel of the caller asks it, and until the caller has answered it or a round or
    sprint with it has closed.
    """
    for row, asked in await find_named(session, caller, question):
        if await is_secret(session, caller, row.id):
            raise Refused(StillOpen())
        if await banks.has_met_question(session, caller, row.id):
            return await get_version(session, await variants.pick_to_explain(session, caller, asked.id, question))
    raise Refused(NotMet(question=question))


async def explain(session: AsyncSession, caller: Caller, question: str) -> Explanation:
    """Returns the key of a question with the caller's own latest answer to it. Refused as in `visible_version`."""
    version = await visible_version(session, caller, question)
    newest = await get_version(session, await newest_version_id(session, version.question_id))
    # Another variant of a family is another question.
    only = version.id if newest.question.draw else None
    row = await answers.find_latest(session, caller.member_id, version.question_id, only)
    verdict = (await answers.latest_verdicts(session, [row.id])).get(row.id) if row else None
    given = row.given if row else await sprints.find_settled_given(session, caller.member_id, version.question_id, only)
    return Explanation(
        key=build_answer_key(version, str(QuestionRef("practice", version.id))),
        given=AnswerInput.from_stored(given) if given is not None else None,
        verdict=answers.read_verdict(verdict, await markings.get_credit(session, row.id)) if row and verdict else None,
    )


async def find_named(
    session: AsyncSession, caller: Caller, question: str
) -> Sequence[tuple[QuestionRow, QuestionVersion]]:
    """Returns the questions of that id, as `find_questions`. Refused if there is none."""
    found = await banks.find_questions(session, caller.workspace_id, question)
    if not found:
        raise Refused(NotFound(what="question", name=question))
    return found


async def set_retired(session: AsyncSession, caller: Caller, question: str, retired: bool, now: datetime) -> None:
    """Retires or restores a question in this workspace. Refused if its document no longer has it."""
    row, _ = (await find_named(session, caller, question))[0]
    if retired:
        await banks.retire(session, caller.workspace_id, row.id, now)
        return
    if row.retired_at is not None:
        raise Refused(RestoreRefused(question=question))
    await banks.reinstate(session, caller.workspace_id, row.id)


async def approve(session: AsyncSession, workspace_id: int | None, question: str) -> int:
    """Approves a waiting question of the workspace's own banks, or `all` of them. Returns how many.

    With `workspace_id` None, approves questions of the shared banks, which no workspace can do.
    """
    count = await banks.approve(session, workspace_id, None if question.strip().lower() == ALL else question)
    if not count:
        name = "" if question.strip().lower() == ALL else question
        raise Refused(NotFound(what="waiting question", name=name))
    return count


async def set_generated(session: AsyncSession, caller: Caller, generated: Generated) -> None:
    """Sets what the workspace's next imports do with choices generated from prose."""
    await banks.set_generated_policy(session, caller.workspace_id, generated)


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
    """Returns the workspace's newest reports, open ones first."""
    return tuple(_view(found) for found in await reports.list_reports(session, caller.workspace_id, MOST_REPORTS))


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
    # What they write is erased when they are forgotten.
    caller = await members.lock_caller(session, caller)
    found = await _find(session, caller, report_id, lock=True)
    if state == "dismissed" and not reason:
        raise Refused(TextNeeded(what="reason of a dismissal"))
    row = found.row
    row.state, row.reason, row.settled_by = state, reason, caller.member_id
    fact = ReportSettled(question=found.question.key, state=state, reason=reason)
    await notify_member(session, caller.workspace_id, row.member_id, reports.settled_key(row.id, state), fact, now)
    return SettledReport(id=row.id, question=found.question.key, state=state)


async def notify_here(session: AsyncSession, caller: Caller) -> None:
    """Sends the notices for moderators to the caller's channel from now on."""
    await reports.set_place(session, caller.workspace_id, channel_id=caller.channel_id, member_id=None)


async def notify_me(session: AsyncSession, caller: Caller) -> None:
    """Sends the notices for moderators to the caller privately from now on."""
    caller = await members.lock_caller(session, caller)
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
