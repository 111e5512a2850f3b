"""Rows of what members think of questions: whether they found one good, once for each version."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import merged_ids
from service.store.review_tables import QuestionFeedback
from service.store.tables import QuestionRow


async def save(
    session: AsyncSession, member_id: int, question_id: int, version: int, *, liked: bool, now: datetime
) -> None:
    """Stores what the member thinks of this version, in place of what they said before."""
    given = {"member_id": member_id, "question_id": question_id, "version": version, "liked": liked, "at": now}
    row = insert(QuestionFeedback).values(given)
    await session.execute(
        row.on_conflict_do_update(
            index_elements=["member_id", "question_id", "version"], set_={"liked": liked, "at": now}
        )
    )


async def list_given(
    session: AsyncSession, question_id: int, version: int, member_ids: Collection[int]
) -> dict[int, bool]:
    """Returns whether these members found the version good, for those who said so."""
    query = select(QuestionFeedback.member_id, QuestionFeedback.liked).where(
        QuestionFeedback.question_id == question_id,
        QuestionFeedback.version == version,
        QuestionFeedback.member_id.in_(member_ids),
    )
    return {row.member_id: row.liked for row in await session.execute(query)}


async def list_by_member(session: AsyncSession, member_id: int) -> Sequence[tuple[QuestionFeedback, str]]:
    """Returns what the member thinks of questions, with their ids, oldest first."""
    rows = await session.execute(
        select(QuestionFeedback, QuestionRow.key)
        .join(QuestionRow, QuestionRow.id == QuestionFeedback.question_id)
        .where(QuestionFeedback.member_id == member_id)
        .order_by(QuestionFeedback.at, QuestionRow.key, QuestionFeedback.version)
    )
    return [(row, key) for row, key in rows]


async def forget_feedback(session: AsyncSession, member_id: int) -> None:
    """Deletes what the member thinks of questions."""
    await session.execute(delete(QuestionFeedback).where(QuestionFeedback.member_id.in_(merged_ids(member_id))))


async def merge_feedback(session: AsyncSession, kept: int, gone: int) -> None:
    """Moves the feedback of the member `gone` to `kept`. Of two about one version, the later counts."""
    rows = list(await session.scalars(select(QuestionFeedback).where(QuestionFeedback.member_id == gone)))
    for row in rows:
        other = await session.get(QuestionFeedback, (kept, row.question_id, row.version))
        if other is None or other.at < row.at:
            await save(session, kept, row.question_id, row.version, liked=row.liked, now=row.at)
    await session.execute(delete(QuestionFeedback).where(QuestionFeedback.member_id == gone))
