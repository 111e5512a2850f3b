"""Rows of open answers: the author's marks, sharing with peers, and the credit that people gave."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, Select, and_, delete, exists, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store.members import Caller, merged_ids
from service.store.tables import (
    AnswerRow,
    Base,
    CurrentAnswer,
    Member,
    QuestionRow,
    QuestionVersion,
    Round,
    Schedule,
    new_id,
)


class PointMark(Base):
    """Whether an open answer covers one key point of the version it answered, as its author marked it, once."""

    __tablename__ = "point_mark"
    __table_args__ = (CheckConstraint("point >= 0", name="point_is_an_index"),)
    answer_id: Mapped[int] = mapped_column(ForeignKey("answer.id"), primary_key=True)
    point: Mapped[int] = mapped_column(primary_key=True)
    covered: Mapped[bool]
    at: Mapped[datetime]


class SharedAnswer(Base):
    """An open answer whose author lets the other members who answered read it, without a name, and confirm it."""

    __tablename__ = "shared_answer"
    answer_id: Mapped[int] = mapped_column(ForeignKey("answer.id"), primary_key=True)
    at: Mapped[datetime]


class GivenCredit(Base):
    """The credit of an open answer, given by a peer who confirmed its marks (once) or by a moderator. The newest row
    counts."""

    __tablename__ = "given_credit"
    __table_args__ = (
        CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        Index("ix_given_credit_answer_id", "answer_id"),
        Index("uq_given_credit_by_peer", "answer_id", unique=True, postgresql_where=text("by_peer")),
    )
    id: Mapped[int] = new_id()
    answer_id: Mapped[int] = mapped_column(ForeignKey("answer.id"))
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), index=True)
    """The peer or moderator."""
    by_peer: Mapped[bool]
    credit: Mapped[float]
    at: Mapped[datetime]


@dataclass(frozen=True, slots=True)
class ClosedAnswer:
    """The answer that counts for a member in a closed round with an open question."""

    answer: AnswerRow
    author_id: int
    """The author, or the member they were merged into."""
    round: Round
    schedule: Schedule


async def find_practice_answer(session: AsyncSession, member_id: int, version_id: int) -> AnswerRow | None:
    """Returns the member's latest practice answer to this version of a question."""
    query = (
        select(AnswerRow)
        .where(
            AnswerRow.version_id == version_id,
            AnswerRow.round_id.is_(None),
            AnswerRow.member_id.in_(merged_ids(member_id)),
        )
        .order_by(AnswerRow.id.desc())
        .limit(1)
    )
    return await session.scalar(query)


async def lock_answer(session: AsyncSession, answer_id: int) -> None:
    """Makes transactions that share or credit the answer wait for one another."""
    await session.execute(select(AnswerRow.id).where(AnswerRow.id == answer_id).with_for_update(key_share=True))


async def save_marks(session: AsyncSession, answer_id: int, marks: Sequence[bool], now: datetime) -> bool:
    """Saves whether each key point is covered. Returns False, changing nothing, if the answer is marked."""
    rows: list[dict[str, Any]] = [
        {"answer_id": answer_id, "point": point, "covered": covered, "at": now} for point, covered in enumerate(marks)
    ]
    made = insert(PointMark).values(rows).on_conflict_do_nothing().returning(PointMark.point)
    return len((await session.scalars(made)).all()) == len(rows)


async def get_marks(session: AsyncSession, answer_id: int) -> tuple[bool, ...] | None:
    """Returns whether each key point is covered, or None if the answer is not marked."""
    query = select(PointMark.covered).where(PointMark.answer_id == answer_id).order_by(PointMark.point)
    return tuple(await session.scalars(query)) or None


async def list_marks(session: AsyncSession, answer_ids: Collection[int]) -> dict[int, list[bool]]:
    """Returns whether each key point is covered, for each marked answer, by answer id."""
    query = select(PointMark).where(PointMark.answer_id.in_(answer_ids)).order_by(PointMark.answer_id, PointMark.point)
    found: dict[int, list[bool]] = {}
    for row in await session.scalars(query):
        found.setdefault(row.answer_id, []).append(row.covered)
    return found


async def share_answer(session: AsyncSession, answer_id: int, now: datetime) -> None:
    """Lets peers read and confirm the answer."""
    await session.execute(insert(SharedAnswer).values(answer_id=answer_id, at=now).on_conflict_do_nothing())


async def is_shared(session: AsyncSession, answer_id: int) -> bool:
    return await session.get(SharedAnswer, answer_id) is not None


async def get_credit(session: AsyncSession, answer_id: int) -> float | None:
    """Returns the credit that counts, or None if nobody has given one."""
    query = select(GivenCredit.credit).where(GivenCredit.answer_id == answer_id)
    return await session.scalar(query.order_by(GivenCredit.id.desc()).limit(1))


async def list_shared(session: AsyncSession, answer_ids: Collection[int]) -> set[int]:
    """Returns which of these answers peers may read."""
    return set(await session.scalars(select(SharedAnswer.answer_id).where(SharedAnswer.answer_id.in_(answer_ids))))


async def list_credits(session: AsyncSession, answer_ids: Collection[int]) -> dict[int, float]:
    """Returns the credit that counts of each answer that has one, by answer id."""
    if not answer_ids:
        return {}
    query = select(GivenCredit).where(GivenCredit.answer_id.in_(answer_ids)).order_by(GivenCredit.id)
    return {row.answer_id: row.credit for row in await session.scalars(query)}


async def list_given(session: AsyncSession, member_id: int) -> Sequence[tuple[GivenCredit, str]]:
    """Returns the credits that a member gave others, with the ids of the questions, oldest first."""
    rows = await session.execute(
        select(GivenCredit, QuestionRow.key)
        .join(AnswerRow, AnswerRow.id == GivenCredit.answer_id)
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(GivenCredit.member_id.in_(merged_ids(member_id)))
        .order_by(GivenCredit.id)
    )
    return [(given, key) for given, key in rows]


async def add_credit(
    session: AsyncSession, answer_id: int, member_id: int, credit: float, now: datetime, *, by_peer: bool
) -> int | None:
    """Adds a credit and returns its id. Returns None if a peer has confirmed the answer and `by_peer` is set."""
    values = {"answer_id": answer_id, "member_id": member_id, "by_peer": by_peer, "credit": credit, "at": now}
    return await session.scalar(insert(GivenCredit).values(values).on_conflict_do_nothing().returning(GivenCredit.id))


async def list_for_peer(session: AsyncSession, caller: Caller, round_id: int, after: int) -> Sequence[AnswerRow]:
    """Returns other members' answers in the round that wait for confirmation, except those up to the id `after`."""
    query = (
        _closed(select(AnswerRow), caller.workspace_id)
        .join(SharedAnswer, SharedAnswer.answer_id == AnswerRow.id)
        .where(Round.id == round_id, CurrentAnswer.member_id != caller.member_id, AnswerRow.id > after, ~_has_credit())
        .order_by(AnswerRow.id)
    )
    return (await session.scalars(query)).all()


async def find_closed(session: AsyncSession, workspace_id: int, answer_id: int) -> ClosedAnswer | None:
    """Returns an answer to an open question of a closed round, unless its author was forgotten."""
    query = _closed(select(AnswerRow, CurrentAnswer.member_id, Round, Schedule), workspace_id)
    row = (await session.execute(query.where(AnswerRow.id == answer_id))).one_or_none()
    return None if row is None else ClosedAnswer(*row)


async def list_waiting(session: AsyncSession, workspace_id: int, limit: int) -> tuple[Sequence[ClosedAnswer], int]:
    """Returns answers of closed rounds without a credit, shared ones first, then newest, and how many there are."""
    query = _closed(select(AnswerRow, CurrentAnswer.member_id, Round, Schedule), workspace_id).where(~_has_credit())
    shared = exists().where(SharedAnswer.answer_id == AnswerRow.id)
    rows = await session.execute(query.order_by(shared.desc(), AnswerRow.id.desc()).limit(limit))
    return [ClosedAnswer(*row) for row in rows], int(await session.scalar(select_waiting(workspace_id)) or 0)


def select_waiting(workspace_id: int) -> Select[*tuple[Any, ...]]:
    """Selects the number of answers of closed rounds without a credit."""
    return _closed(select(func.count()), workspace_id).where(~_has_credit())


async def forget_markings(session: AsyncSession, member_id: int) -> None:
    """Erases the marks of the member's answers, and withdraws what they shared."""
    theirs = select(AnswerRow.id).where(AnswerRow.member_id.in_(merged_ids(member_id)))
    for table in (PointMark, SharedAnswer):
        await session.execute(delete(table).where(table.answer_id.in_(theirs)))


def _has_credit() -> Any:
    return exists().where(GivenCredit.answer_id == AnswerRow.id)


def _closed(query: Select[*tuple[Any, ...]], workspace_id: int) -> Select[*tuple[Any, ...]]:
    """Restricts a query to the current answers to open questions of the workspace's closed rounds that can be read."""
    return (
        query.select_from(AnswerRow)
        .join(CurrentAnswer, CurrentAnswer.answer_id == AnswerRow.id)
        .join(Member, Member.id == CurrentAnswer.member_id)
        .join(Round, Round.id == CurrentAnswer.round_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(QuestionVersion, and_(QuestionVersion.id == Round.version_id, QuestionVersion.kind == "open"))
        .where(Schedule.workspace_id == workspace_id, Round.closed_at.is_not(None), Member.forgotten_at.is_(None))
        .where(AnswerRow.given["cleared"].is_(None))
    )
