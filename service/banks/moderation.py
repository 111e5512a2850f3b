"""Moderation of questions: retiring, approval of generated questions, and who may see a key."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Refused
from service.rounds.views import build_answer_key
from service.store import answers, banks, duels, markings, sprints, variants
from service.store.members import Caller
from service.store.questions import Version, get_version, is_asked_now, newest_version_id
from service.store.tables import QuestionRow, QuestionVersion
from service.wire import (
    AnswerInput,
    Explanation,
    Generated,
    NotFound,
    NotMet,
    QuestionRef,
    RestoreRefused,
    StillOpen,
)

ALL = "all"
"""Stands for every waiting question in `approve`."""


async def visible_version(session: AsyncSession, caller: Caller, question: str) -> Version:
    """Returns the current version of a question whose key the caller may see.

    Refused while a round, a sprint or a duel of the caller asks it, and until the caller has answered it or a round or
    sprint with it has closed.
    """
    for row, asked in await find_named(session, caller, question):
        if await is_asked_now(session, caller.workspace_id, row.id):
            raise Refused(StillOpen())
        if await duels.is_question_in_duel(session, caller.member_id, row.id):
            raise Refused(StillOpen())
        if await banks.has_met_question(session, caller, row.id):
            return await get_version(session, await variants.pick_to_explain(session, caller, asked.id, question))
    raise Refused(NotMet(question=question))


async def explain(session: AsyncSession, caller: Caller, question: str) -> Explanation:
    """Returns the key of a question with the caller's own latest answer to it. Refused as in `visible_version`."""
    version = await visible_version(session, caller, question)
    newest = await get_version(session, await newest_version_id(session, version.question_id))
    # Another variant of a family is another question.
    row = await answers.find_latest(
        session, caller.member_id, version.question_id, version.id if newest.question.draw else None
    )
    verdict = (await answers.latest_verdicts(session, [row.id])).get(row.id) if row else None
    given = row.given if row else await sprints.find_settled_given(session, caller.member_id, version.id)
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
    found = await banks.find_questions(session, caller.workspace_id, question)
    if not found:
        raise Refused(NotFound(what="question", name=question))
    row, _ = found[0]
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
