"""Rows of members' own variants in sprints: drawn once for each member and question, as in a round with
`own_variants`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, delete, exists, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from service.store.sprint_tables import Sprint, SprintAnswer, SprintQuestion, SprintVariant
from service.store.variants import Variant, select_drawing


async def get_for_member(session: AsyncSession, sprint: Sprint, question: SprintQuestion, member_id: int) -> int:
    """Returns the version that an open question of a sprint asks a member, always the same.

    With `own_variants`, draws and stores the member's variant at the first call.
    """
    if not question.own_variants:
        return question.version_id
    stored = await _find_stored(session, question.id, member_id)
    if stored is not None:
        return stored
    # One after the other, so that two members do not get the same variant while others are left.
    lock = func.hashtextextended(f"variants of sprint question {question.id}", 0)
    await session.execute(select(func.pg_advisory_xact_lock(lock)))
    earlier = aliased(Sprint)
    posted = exists(
        select(SprintQuestion.id)
        .join(earlier, earlier.id == SprintQuestion.sprint_id)
        .where(SprintQuestion.version_id == Variant.id, earlier.channel_id == sprint.channel_id)
    )
    having = select(func.count()).where(
        SprintVariant.question_id == question.id, SprintVariant.version_id == Variant.id
    )
    drawing = select_drawing(question.version_id, member_id, posted, having.scalar_subquery(), f"sprint:{question.id}")
    drawn = await session.scalar(drawing) or question.version_id
    values = {
        "question_id": question.id,
        "member_id": member_id,
        "workspace_id": question.workspace_id,
        "version_id": drawn,
    }
    await session.execute(insert(SprintVariant).values(values).on_conflict_do_nothing())
    return await _find_stored(session, question.id, member_id) or drawn


async def forget_variants(session: AsyncSession, member_id: int) -> None:
    """Deletes which variants the member saw. Their graded answers keep the variant that they were given to."""
    await session.execute(delete(SprintVariant).where(SprintVariant.member_id == member_id))


async def merge_variants(session: AsyncSession, kept: int, gone: int) -> None:
    """Moves the variants of the member `gone` to `kept`. Of two for one question, that of the answer that counts stays;
    without an answer, that of `kept`. Call when the answers have moved."""
    unsynced: Any = {"synchronize_session": False}
    mine, theirs = aliased(SprintVariant), SprintVariant
    both = exists().where(mine.question_id == theirs.question_id, mine.member_id == kept)
    await session.execute(delete(theirs).where(theirs.member_id == gone, both), execution_options=unsynced)
    moved = update(theirs).where(theirs.member_id == gone).values(member_id=kept)
    await session.execute(moved, execution_options=unsynced)
    answered = and_(SprintAnswer.question_id == theirs.question_id, SprintAnswer.member_id == theirs.member_id)
    await session.execute(
        update(theirs).where(theirs.member_id == kept, answered).values(version_id=SprintAnswer.version_id),
        execution_options=unsynced,
    )


async def _find_stored(session: AsyncSession, question_id: int, member_id: int) -> int | None:
    return await session.scalar(
        select(SprintVariant.version_id).where(
            SprintVariant.question_id == question_id, SprintVariant.member_id == member_id
        )
    )
