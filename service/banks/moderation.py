"""Questions that members call wrong, and what became of it; and the key of a question, to whoever may see it."""

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


async def report(session: AsyncSession, caller: Caller, question: str, text: str, now: datetime) -> ReportView:
    """Put a question before the moderators; refused without a word on what is wrong."""
    said = text.strip()
    if not said:
        raise NotPossible(cause="Say in a sentence what is wrong with the question.")
    _, asked = (await _named(session, caller, question))[0]
    row = reports.add(session, caller, asked.id, said, now)
    await session.flush()
    return _view(row, question, caller.name)


async def queue(session: AsyncSession, caller: Caller) -> tuple[ReportView, ...]:
    """The workspace's reports, those still open first, and the newest first among them."""
    return tuple(_view(row, key, by) for row, key, by in await reports.list_reports(session, caller.workspace_id))


async def settle(session: AsyncSession, caller: Caller, report_id: int, state: str) -> ReportView:
    """Say of a report that its question was `fixed`, or the report `dismissed`; it may be settled again."""
    if state not in ("dismissed", "fixed"):
        raise NotPossible(cause=f"A report cannot be {state!r}: settle it as dismissed or fixed.")
    found = await reports.lock_report(session, caller.workspace_id, report_id)
    if found is None:
        raise NotFound(what=f"report {report_id}", cure="See their numbers with /quiz-admin review.")
    row, key, by = found
    row.state = state
    return _view(row, key, by)


async def may_see(session: AsyncSession, caller: Caller, question: str) -> Version:
    """The version of a question that is asked now, to whoever may know its key.

    Refused while a round asks it, whoever answered; and before the caller answered it or a round with it closed.
    """
    for row, asked in await _named(session, caller, question):
        if await is_open_in_round(session, caller.workspace_id, row.id):
            raise StillOpen
        if await banks.has_met_question(session, caller, row.id):
            return await get_version(session, await variants.pick_to_explain(session, caller, asked.id, question))
    raise NotPossible(
        cause=f"You have not met the question {question} yet: answer it in a round or in practice, and ask again."
    )


async def _named(session: AsyncSession, caller: Caller, question: str) -> Sequence[tuple[QuestionRow, QuestionVersion]]:
    found = await banks.find_questions(session, caller.workspace_id, question)
    if not found:
        raise NotFound(what=f"question {question!r}", cure="Its id stands below every question.")
    return found


def _view(row: ReportRow, key: str, by: str) -> ReportView:
    return ReportView(id=row.id, question=key, by=by, text=row.text, at=row.at, state=cast(State, row.state))


# Taking questions out of a workspace's choosing, and putting them back. Documents retire theirs in `importing`.


async def set_retired(session: AsyncSession, caller: Caller, question: str, retired: bool, now: datetime) -> None:
    """Ask the question no more in this workspace, or ask it again; refused where its document dropped it."""
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


# Generated questions that wait until somebody has read them, and what a workspace does with new ones.


ALL = "all"


async def approve(session: AsyncSession, workspace_id: int | None, question: str) -> int:
    """Have a waiting question of the workspace's own banks, or `all` of them, be asked; how many those were.

    With `workspace_id` None it is those of the banks for everybody, which no workspace approves for the others.
    """
    count = await banks.approve(session, workspace_id, None if question.strip().lower() == ALL else question)
    if not count:
        what = "waiting question" if question.strip().lower() == ALL else f"waiting question {question!r}"
        raise NotFound(
            what=what, cure="The list of banks says how many wait in each; only your own are yours to approve."
        )
    return count


async def set_generated(session: AsyncSession, caller: Caller, generated: Generated) -> None:
    """What this workspace's next imports do with choices made of a document's prose."""
    await banks.set_generated_policy(session, caller.workspace_id, generated)
