"""Rows of measured code. What they mean is in `service.domain.measurements`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, delete, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store.members import merged_ids
from service.store.schedules import posts_to
from service.store.statements import insert_batches
from service.store.tables import AnswerRow, Base, CurrentAnswer, Member, QuestionRow, QuestionVersion, Round, Schedule


class MeasuredRound(Base):
    """A closed round whose answers were measured, once."""

    __tablename__ = "measured_round"
    __table_args__ = (CheckConstraint("runs > 0", name="runs_are_counted"),)
    round_id: Mapped[int] = mapped_column(ForeignKey("round.id"), primary_key=True)
    at: Mapped[datetime]
    runs: Mapped[int]
    cpu_ms: Mapped[list[Any]]
    """CPU time of each run of the reference."""
    peak_mb: Mapped[list[Any]]
    """Peak memory of each run of the reference, beyond what torch takes."""


class MeasuredAnswer(Base):
    """What the runs of an answer used."""

    __tablename__ = "measured_answer"
    answer_id: Mapped[int] = mapped_column(ForeignKey("answer.id"), primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("measured_round.round_id"), index=True)
    cpu_ms: Mapped[list[Any]]
    peak_mb: Mapped[list[Any]]
    steady: Mapped[bool]
    """Whether every run was right. Otherwise the answer is on no board."""
    shown: Mapped[bool] = mapped_column(server_default=text("false"))
    """Whether its author lets the others see the code."""


@dataclass(frozen=True, slots=True)
class Used:
    """What the runs of one program used, in order."""

    cpu_ms: Sequence[float]
    peak_mb: Sequence[float]
    steady: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """A measured answer and its member."""

    measured: MeasuredAnswer
    answer: AnswerRow
    member: Member


async def is_measured(session: AsyncSession, round_id: int) -> bool:
    """Returns whether the round's code was measured."""
    return await session.get(MeasuredRound, round_id) is not None


async def save(
    session: AsyncSession, round_id: int, runs: int, reference: Used, answers: Mapping[int, Used], now: datetime
) -> None:
    """Saves a measurement, once: a second one of the same round is ignored."""
    values: dict[str, Any] = {
        "round_id": round_id,
        "at": now,
        "runs": runs,
        "cpu_ms": list(reference.cpu_ms),
        "peak_mb": list(reference.peak_mb),
    }
    made = insert(MeasuredRound).values(values).on_conflict_do_nothing().returning(MeasuredRound.round_id)
    if await session.scalar(made) is None or not answers:
        return
    rows = [
        {
            "answer_id": answer_id,
            "round_id": round_id,
            "cpu_ms": list(used.cpu_ms),
            "peak_mb": list(used.peak_mb),
            "steady": used.steady,
        }
        for answer_id, used in answers.items()
    ]
    for batch in insert_batches(MeasuredAnswer, rows):
        await session.execute(batch)


async def find_latest(session: AsyncSession, workspace_id: int, channel_id: int | None) -> int | None:
    """Returns the round of the workspace, or of the channel, that was measured last."""
    query = (
        select(MeasuredRound.round_id)
        .join(Round, Round.id == MeasuredRound.round_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id)
        .order_by(Round.closes_at.desc(), Round.id.desc())
        .limit(1)
    )
    if channel_id is not None:
        query = query.where(posts_to(channel_id))
    found: int | None = await session.scalar(query)
    return found


async def find(session: AsyncSession, round_id: int) -> MeasuredRound | None:
    """Returns the measurement of a round."""
    return await session.get(MeasuredRound, round_id)


async def list_entries(session: AsyncSession, round_id: int) -> list[Entry]:
    """Returns the measured answers that count in the round, with their members, earliest first."""
    query = (
        select(MeasuredAnswer, AnswerRow, Member)
        .join(AnswerRow, AnswerRow.id == MeasuredAnswer.answer_id)
        .join(CurrentAnswer, CurrentAnswer.answer_id == AnswerRow.id)
        .join(Member, Member.id == CurrentAnswer.member_id)
        .where(MeasuredAnswer.round_id == round_id)
        .order_by(AnswerRow.at, AnswerRow.id)
    )
    return [Entry(*row) for row in await session.execute(query)]


async def set_shown(session: AsyncSession, round_id: int, member_id: int, *, shown: bool) -> bool:
    """Sets whether others may see the member's code. Returns False if it is not on the board."""
    mine = select(CurrentAnswer.answer_id).where(
        CurrentAnswer.round_id == round_id, CurrentAnswer.member_id == member_id
    )
    changed = (
        update(MeasuredAnswer)
        .where(MeasuredAnswer.answer_id.in_(mine), MeasuredAnswer.steady)
        .values(shown=shown)
        .returning(MeasuredAnswer.answer_id)
    )
    return await session.scalar(changed) is not None


async def list_of_member(session: AsyncSession, member_id: int) -> Sequence[tuple[MeasuredAnswer, str, datetime]]:
    """Returns what the member's measured answers used, with the ids of their questions and the time of the
    measurement, oldest first."""
    rows = await session.execute(
        select(MeasuredAnswer, QuestionRow.key, MeasuredRound.at)
        .join(MeasuredRound, MeasuredRound.round_id == MeasuredAnswer.round_id)
        .join(AnswerRow, AnswerRow.id == MeasuredAnswer.answer_id)
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(AnswerRow.member_id.in_(merged_ids(member_id)))
        .order_by(MeasuredAnswer.answer_id)
    )
    return [(measured, key, at) for measured, key, at in rows]


async def forget_measurements(session: AsyncSession, member_id: int) -> None:
    """Deletes what the member's answers used."""
    theirs = select(AnswerRow.id).where(AnswerRow.member_id.in_(merged_ids(member_id)))
    await session.execute(delete(MeasuredAnswer).where(MeasuredAnswer.answer_id.in_(theirs)))
