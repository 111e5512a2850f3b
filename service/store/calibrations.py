"""When calibrations are due, the answers they are made of, and their results. The model is in
`service.domain.calibration`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast

from pydantic import TypeAdapter
from sqlalchemy import (
    CTE,
    CheckConstraint,
    ForeignKey,
    Index,
    Select,
    Subquery,
    delete,
    func,
    null,
    or_,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute, Mapped, mapped_column

from questions.model import Level
from service.domain.difficulty import Difficulty, Scale
from service.store.members import merged_ids
from service.store.statements import built_once, insert_batches
from service.store.tables import (
    AnswerRow,
    Base,
    CurrentAnswer,
    Member,
    QuestionRow,
    QuestionVersion,
    Round,
    Schedule,
    VerdictRow,
)


class CalibrationRow(Base):
    """The latest calibration of a workspace, and when the next is due."""

    __tablename__ = "calibration"
    __table_args__ = (Index("ix_calibration_due", "due_at", postgresql_where=text("due_at is not null")),)
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), primary_key=True)
    due_at: Mapped[datetime | None]
    """When to calibrate again; None until a round closes."""
    at: Mapped[datetime | None]
    """When it was calibrated; None if it was not yet."""
    answers: Mapped[int] = mapped_column(server_default="0")
    members: Mapped[int] = mapped_column(server_default="0")
    scale: Mapped[dict[str, Any] | None]
    """A `service.domain.difficulty.Scale`."""
    audiences: Mapped[dict[str, Any] | None]
    """Distribution of abilities, by the id of the schedule that the members answer; "" is the whole workspace."""


class ItemDifficulty(Base):
    """The difficulty of a question's version for a workspace."""

    __tablename__ = "item_difficulty"
    __table_args__ = (CheckConstraint("error > 0", name="error_is_positive"),)
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"), primary_key=True, index=True)
    version: Mapped[int]
    value: Mapped[float]
    error: Mapped[float]
    answers: Mapped[int]


EVERYBODY = ""
"""Name of the audience of the whole workspace."""
_SCALE: TypeAdapter[Scale] = TypeAdapter(Scale)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What is known of a workspace."""

    scale: Scale
    audiences: Mapping[str, Sequence[float]]
    answers: int
    members: int

    def audience(self, schedule_id: int | None) -> Sequence[float]:
        """Returns the distribution of the abilities of those who answer a schedule, or of everyone."""
        return self.audiences.get(str(schedule_id), self.audiences[EVERYBODY])


@dataclass(frozen=True, slots=True)
class FirstAnswer:
    """A member's first answer to the current version of a question."""

    member_id: int
    question_id: int
    version: int
    level: Level | None
    topic: str
    credit: float
    at: datetime
    schedule_id: int | None
    """None in practice."""


async def mark_due(session: AsyncSession, workspace_id: int, due_at: datetime) -> None:
    """Makes the workspace's calibration due at an instant, unless it is due sooner."""
    made = insert(CalibrationRow).values(workspace_id=workspace_id, due_at=due_at)
    sooner = func.least(CalibrationRow.due_at, made.excluded.due_at)
    await session.execute(made.on_conflict_do_update(index_elements=["workspace_id"], set_={"due_at": sooner}))


async def claim_due(session: AsyncSession, now: datetime, least_age: timedelta, limit: int) -> list[int]:
    """Returns workspaces whose calibration is due and whose last one has that age, and makes them due no more."""
    due = (
        select(CalibrationRow.workspace_id)
        .where(CalibrationRow.due_at <= now, or_(CalibrationRow.at.is_(None), CalibrationRow.at <= now - least_age))
        .order_by(CalibrationRow.due_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    ids = list(await session.scalars(due))
    await session.execute(update(CalibrationRow).where(CalibrationRow.workspace_id.in_(ids)).values(due_at=None))
    return ids


async def list_first_answers(
    session: AsyncSession, workspace_id: int, since: datetime, limit: int, member_id: int | None = None
) -> list[FirstAnswer]:
    """Returns the latest first answers of members to questions, newest first: in closed rounds, and in practice before
    any round had asked the question. Those of a sprint or duel are left out: they are given in a hurry.

    With `member_id`, only those of this member and of the accounts that were merged into it.
    """
    rows = await session.execute(*select_first_answers(workspace_id, since, limit, member_id))
    return [
        FirstAnswer(member_id, question_id, version, cast(Level | None, level), topic, float(credit), at, schedule_id)
        for member_id, question_id, version, level, topic, credit, at, schedule_id in rows
    ]


@built_once
def select_first_answers(
    workspace_id: int, since: datetime, most: int, member_id: int | None = None
) -> Select[*tuple[Any, ...]]:
    """Selects the columns of `FirstAnswer`, as `list_first_answers`."""
    member_ids = None if member_id is None else merged_ids(member_id)
    every = _in_rounds(workspace_id, since, member_ids).union_all(_in_practice(workspace_id, since, member_ids)).cte()
    number = func.row_number().over(partition_by=(every.c.member_id, every.c.question_id), order_by=every.c.at)
    first = select(every, number.label("number")).subquery()
    query = select(*(column for column in first.c if column.name != "number")).where(first.c.number == 1)
    return query.order_by(first.c.at.desc()).limit(most)


def _in_rounds(workspace_id: int, since: datetime, member_ids: Select[int] | None) -> Select[*tuple[Any, ...]]:
    columns = CurrentAnswer.member_id, CurrentAnswer.answer_id, CurrentAnswer.round_id
    standing = _of_members(select(*columns), CurrentAnswer.member_id, member_ids)
    return (
        select(*_judged(standing.c.member_id, AnswerRow.at), Round.schedule_id)
        .select_from(standing)
        .join(AnswerRow, AnswerRow.id == standing.c.answer_id)
        .join(Round, Round.id == standing.c.round_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(Member, Member.id == standing.c.member_id)
        .join(VerdictRow, VerdictRow.answer_id == AnswerRow.id)
        .join(QuestionVersion, QuestionVersion.id == VerdictRow.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(Schedule.workspace_id == workspace_id, Round.closed_at >= since, *_counts())
    )


def _in_practice(workspace_id: int, since: datetime, member_ids: Select[int] | None) -> Select[*tuple[Any, ...]]:
    known = _first_asked(workspace_id)
    member = func.coalesce(Member.merged_into, Member.id)
    given = select(AnswerRow.id, AnswerRow.member_id, AnswerRow.at)
    given = given.where(AnswerRow.round_id.is_(None), AnswerRow.at >= since)
    answer = _of_members(given, AnswerRow.member_id, member_ids)
    return (
        select(*_judged(member, answer.c.at), null().label("schedule_id"))
        .select_from(answer)
        .join(Member, Member.id == answer.c.member_id)
        .join(VerdictRow, VerdictRow.answer_id == answer.c.id)
        .join(QuestionVersion, QuestionVersion.id == VerdictRow.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .outerjoin(known, known.c.question_id == QuestionVersion.question_id)
        .where(Member.workspace_id == workspace_id, *_counts())
        .where(or_(known.c.opens_at.is_(None), answer.c.at < known.c.opens_at))
    )


def _of_members(
    rows: Select[*tuple[Any, ...]], column: InstrumentedAttribute[int], member_ids: Select[int] | None
) -> Subquery | CTE:
    """Returns the rows of everyone, or those of some members, read first: PostgreSQL cannot guess how few they are,
    and would read the whole workspace for one member."""
    if member_ids is None:
        return rows.subquery()
    return rows.where(column.in_(member_ids)).cte().prefix_with("MATERIALIZED")


def _judged(member_id: Any, at: Any) -> tuple[Any, ...]:
    version = QuestionVersion
    return (
        member_id.label("member_id"),
        version.question_id,
        version.version,
        version.level,
        version.topic,
        VerdictRow.credit,
        at.label("at"),
    )


def _counts() -> tuple[Any, ...]:
    """Returns the conditions of an answer that says something: judged by the current version, of a member who is."""
    return (
        QuestionVersion.version == QuestionRow.current,
        VerdictRow.credit.is_not(None),
        VerdictRow.verdict != "system error",
        Member.forgotten_at.is_(None),
    )


def _first_asked(workspace_id: int) -> CTE:
    """Selects when a round of the workspace first asked each question."""
    return (
        select(QuestionVersion.question_id, func.min(Round.opens_at).label("opens_at"))
        .join(Round, Round.version_id == QuestionVersion.id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id)
        .group_by(QuestionVersion.question_id)
        .cte("first_asked")
    )


async def save(
    session: AsyncSession,
    workspace_id: int,
    found: Calibration,
    items: Mapping[tuple[int, int], tuple[Difficulty, int]],
    now: datetime,
) -> None:
    """Replaces the workspace's calibration. `items` has the difficulty and the number of answers by question id and
    version."""
    values = {
        "at": now,
        "answers": found.answers,
        "members": found.members,
        "scale": _SCALE.dump_python(found.scale, mode="json"),
        "audiences": {name: list(weights) for name, weights in found.audiences.items()},
    }
    made = insert(CalibrationRow).values(workspace_id=workspace_id, **values)
    await session.execute(made.on_conflict_do_update(index_elements=["workspace_id"], set_=values))
    await session.execute(delete(ItemDifficulty).where(ItemDifficulty.workspace_id == workspace_id))
    rows = [
        {
            "workspace_id": workspace_id,
            "question_id": question_id,
            "version": version,
            "value": difficulty.value,
            "error": difficulty.error,
            "answers": answers,
        }
        for (question_id, version), (difficulty, answers) in items.items()
    ]
    for made in insert_batches(ItemDifficulty, rows):
        await session.execute(made)


async def find(session: AsyncSession, workspace_id: int) -> Calibration | None:
    """Returns the workspace's latest calibration."""
    return (await find_each(session, [workspace_id])).get(workspace_id)


async def find_each(session: AsyncSession, workspace_ids: Collection[int]) -> dict[int, Calibration]:
    """Returns the latest calibration of each of these workspaces that has one."""
    rows = await session.execute(*_select_calibrations(workspace_ids))
    return {
        workspace_id: Calibration(_SCALE.validate_python(scale), audiences, answers, members)
        for workspace_id, scale, audiences, answers, members in rows
        if scale is not None and audiences is not None
    }


@built_once
def _select_calibrations(workspace_ids: Collection[int]) -> Select[*tuple[Any, ...]]:
    row = CalibrationRow
    query = select(row.workspace_id, row.scale, row.audiences, row.answers, row.members)
    return query.where(row.workspace_id.in_(workspace_ids))


async def list_topic_difficulties(
    session: AsyncSession, workspace_id: int, least: int
) -> list[tuple[str, Difficulty, int]]:
    """Returns topic, difficulty and answers of each measured question with this number of answers, by topic."""
    rows = await session.execute(*_select_topic_difficulties(workspace_id, least))
    return [(topic, Difficulty(value, error), answers) for topic, value, error, answers in rows]


@built_once
def _select_topic_difficulties(workspace_id: int, least: int) -> Select[str, float, float, int]:
    return (
        select(QuestionVersion.topic, ItemDifficulty.value, ItemDifficulty.error, ItemDifficulty.answers)
        .join(ItemDifficulty, measured(workspace_id))
        .where(QuestionVersion.drawing == 0, QuestionVersion.topic != "", ItemDifficulty.answers >= least)
        .order_by(QuestionVersion.topic)
    )


def measured(workspace_id: int) -> Any:
    """Returns the condition of the row of `ItemDifficulty` that is about `QuestionVersion`."""
    return (
        (ItemDifficulty.workspace_id == workspace_id)
        & (ItemDifficulty.question_id == QuestionVersion.question_id)
        & (ItemDifficulty.version == QuestionVersion.version)
    )


async def list_difficulties(session: AsyncSession, workspace_id: int) -> dict[tuple[int, int], tuple[Difficulty, int]]:
    """Returns the difficulty and the number of answers behind it, by question id and version."""
    rows = await session.execute(*_select_difficulties(workspace_id))
    return {
        (question_id, version): (Difficulty(value, error), answers)
        for question_id, version, value, error, answers in rows
    }


@built_once
def _select_difficulties(workspace_id: int) -> Select[int, int, float, float, int]:
    item = ItemDifficulty
    query = select(item.question_id, item.version, item.value, item.error, item.answers)
    return query.where(item.workspace_id == workspace_id)


async def list_current_difficulties(session: AsyncSession, workspace_id: int) -> dict[int, Difficulty]:
    """Returns the difficulties of the current versions of questions, by question id."""
    query = (
        select(ItemDifficulty)
        .join(QuestionRow, QuestionRow.id == ItemDifficulty.question_id)
        .where(ItemDifficulty.workspace_id == workspace_id, ItemDifficulty.version == QuestionRow.current)
    )
    return {row.question_id: Difficulty(row.value, row.error) for row in await session.scalars(query)}


async def forget_workspaces(session: AsyncSession, workspace_ids: Collection[int]) -> None:
    """Deletes the calibrations of workspaces, which their next round makes again."""
    await session.execute(delete(ItemDifficulty).where(ItemDifficulty.workspace_id.in_(workspace_ids)))
    await session.execute(delete(CalibrationRow).where(CalibrationRow.workspace_id.in_(workspace_ids)))
