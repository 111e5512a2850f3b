"""Moderation of questions: reports, retiring, approval of generated questions, and who may see a key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, cast

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import NotFound, NotPossible, StillOpen
from service.store import banks, reports, variants
from service.store.members import Caller
from service.store.questions import Version, get_version, is_open_in_round
from service.store.tables import QuestionRow, QuestionVersion, ReportRow
from service.wire import Generated, ReportView

State = Literal["open", "dismissed", "fixed"]
ALL = "all"
"""Stands for every waiting question in `approve`."""


async def report(session: AsyncSession, caller: Caller, question: str, text: str, now: datetime) -> ReportView:
    """Reports a question to the moderators. Refused without a reason."""
    text = text.strip()
    if not text:
        raise NotPossible(cause="Say in a sentence what is wrong with the question.")
    _, asked = (await _find_named(session, caller, question))[0]
    row = reports.add(session, caller, asked.id, text, now)
    await session.flush()
    return _view(row, question, caller.name)


async def list_reports(session: AsyncSession, caller: Caller) -> tuple[ReportView, ...]:
    """Returns the workspace's reports, open ones first, newest first."""
    return tuple(_view(row, key, by) for row, key, by in await reports.list_reports(session, caller.workspace_id))


async def settle(session: AsyncSession, caller: Caller, report_id: int, state: str) -> ReportView:
    """Settles a report as `fixed` or `dismissed`. A settled report can be settled again."""
    if state not in ("dismissed", "fixed"):
        raise NotPossible(cause=f"A report cannot be {state!r}: settle it as dismissed or fixed.")
    found = await reports.lock_report(session, caller.workspace_id, report_id)
    if found is None:
        raise NotFound(what=f"report {report_id}", cure="See their numbers with /quiz-admin review.")
    row, key, by = found
    row.state = state
    return _view(row, key, by)


async def visible_version(session: AsyncSession, caller: Caller, question: str) -> Version:
    """Returns the current version of a question whose key the caller may see.

    Refused while a round asks it, and until the caller has answered it or a round with it has closed.
    """
    for row, asked in await _find_named(session, caller, question):
        if await is_open_in_round(session, caller.workspace_id, row.id):
            raise StillOpen
        if await banks.has_met_question(session, caller, row.id):
            return await get_version(session, await variants.pick_to_explain(session, caller, asked.id, question))
    raise NotPossible(
        cause=f"You have not met the question {question} yet: answer it in a round or in practice, and ask again."
    )


async def _find_named(
    session: AsyncSession, caller: Caller, question: str
) -> Sequence[tuple[QuestionRow, QuestionVersion]]:
    found = await banks.find_questions(session, caller.workspace_id, question)
    if not found:
        raise NotFound(what=f"question {question!r}", cure="Its id stands below every question.")
    return found


def _view(row: ReportRow, key: str, by: str) -> ReportView:
    return ReportView(id=row.id, question=key, by=by, text=row.text, at=row.at, state=cast(State, row.state))


async def set_retired(session: AsyncSession, caller: Caller, question: str, retired: bool, now: datetime) -> None:
    """Retires or restores a question in this workspace. Refused if its document no longer has it."""
    found = await banks.find_questions(session, caller.workspace_id, question)
    if not found:
        raise NotFound(what=f"question {question!r}", cure="Its id stands below every question.")
    row, _ = found[0]
    if retired:
        await banks.retire(session, caller.workspace_id, row.id, now)
        return
    if row.retired_at is not None:
        raise NotPossible(cause=f"The bank's document no longer holds {question}: put it back there and import again.")
    await banks.reinstate(session, caller.workspace_id, row.id)


async def approve(session: AsyncSession, workspace_id: int | None, question: str) -> int:
    """Approves a waiting question of the workspace's own banks, or `all` of them. Returns how many.

    With `workspace_id` None, approves questions of the shared banks, which no workspace can do.
    """
    count = await banks.approve(session, workspace_id, None if question.strip().lower() == ALL else question)
    if not count:
        what = "waiting question" if question.strip().lower() == ALL else f"waiting question {question!r}"
        raise NotFound(
            what=what, cure="The list of banks says how many wait in each; only your own are yours to approve."
        )
    return count


async def set_generated(session: AsyncSession, caller: Caller, generated: Generated) -> None:
    """Sets what the workspace's next imports do with choices generated from prose."""
    await banks.set_generated_policy(session, caller.workspace_id, generated)
