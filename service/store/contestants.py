"""Rows of the model that takes part: what it is asked, once, and its answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import CheckConstraint, ColumnElement, ForeignKey, exists, select, update
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store.rounds import is_posting
from service.store.tables import Base, Round, Schedule
from service.wire import AnswerInput, VerdictView


class ContestantAnswerRow(Base):
    """A question for the model, about the slot of a schedule: asked once, even if that fails."""

    __tablename__ = "contestant_answer"
    __table_args__ = (
        CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        CheckConstraint("(answered_at is null) or (asked_at is not null)", name="asked_before_it_answers"),
        CheckConstraint("(given is null) or (answered_at is not null)", name="answered_if_given"),
    )
    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedule.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), primary_key=True, index=True)
    """The version that was expected to be asked. If the round asks another one, the model is asked again."""
    model: Mapped[str]
    at: Mapped[datetime]
    asked_at: Mapped[datetime | None]
    """When a worker began to ask. It is never asked again, even if the worker dies."""
    answered_at: Mapped[datetime | None]
    """When the endpoint replied."""
    given: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """A `service.wire.AnswerInput`; None if there was no reply, or it was not a valid answer."""
    verdict: Mapped[str | None]
    """Verdict of the sandbox on code; None for other kinds, which are graded when they are shown."""
    credit: Mapped[float | None]


class AskedSlot(NamedTuple):
    """What the model is asked once: a schedule's slot of a local date, and the version that it is expected to ask."""

    schedule_id: int
    day: date
    version_id: int


_ASKS = {"contestant": True}
"""What the spec of a schedule contains whose questions the model answers."""


async def list_schedules(session: AsyncSession) -> Sequence[Schedule]:
    """Returns the active schedules whose questions the model answers."""
    query = select(Schedule).where(*is_posting(), Schedule.spec.contains(_ASKS)).order_by(Schedule.id)
    return (await session.scalars(query)).all()


async def list_unasked_rounds(session: AsyncSession, now: datetime) -> Sequence[AskedSlot]:
    """Returns the open rounds of slots that the model was not asked about."""
    asked = exists().where(
        ContestantAnswerRow.schedule_id == Round.schedule_id,
        ContestantAnswerRow.day == Round.day,
        ContestantAnswerRow.version_id == Round.version_id,
    )
    query = (
        select(Round.schedule_id, Round.day, Round.version_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(
            Round.number == 0,
            Round.closed_at.is_(None),
            Round.skipped.is_(None),
            Round.closes_at > now,
            Schedule.spec.contains(_ASKS),
            ~asked,
        )
        .order_by(Round.id)
    )
    found = await session.execute(query)
    return [AskedSlot(schedule_id, day, version_id) for schedule_id, day, version_id in found if version_id is not None]


async def has_question(session: AsyncSession, schedule_id: int, day: date) -> bool:
    """Returns whether there is a question for the model about the slot."""
    known = exists().where(ContestantAnswerRow.schedule_id == schedule_id, ContestantAnswerRow.day == day)
    return bool(await session.scalar(select(known)))


async def add(session: AsyncSession, asked: AskedSlot, model: str, now: datetime) -> bool:
    """Adds a question for the model. Returns False if there is one already."""
    made = insert(ContestantAnswerRow).values({**asked._asdict(), "model": model, "at": now}).on_conflict_do_nothing()
    return await session.scalar(made.returning(ContestantAnswerRow.schedule_id)) is not None


async def claim(session: AsyncSession, asked: AskedSlot, now: datetime) -> bool:
    """Returns whether the caller may ask: the first one may, and nobody after it."""
    claimed = (
        update(ContestantAnswerRow)
        .where(*_is(asked), ContestantAnswerRow.asked_at.is_(None))
        .values(asked_at=now)
        .returning(ContestantAnswerRow.schedule_id)
    )
    return await session.scalar(claimed) is not None


async def save(
    session: AsyncSession, asked: AskedSlot, given: AnswerInput | None, verdict: VerdictView | None, now: datetime
) -> None:
    """Saves the model's answer, None for an invalid one, and the verdict on code."""
    await session.execute(
        update(ContestantAnswerRow)
        .where(*_is(asked))
        .values(
            answered_at=now,
            given=given.model_dump(mode="json") if given else None,
            verdict=verdict.verdict if verdict else None,
            credit=verdict.credit if verdict else None,
        )
    )


async def find(session: AsyncSession, asked: AskedSlot) -> ContestantAnswerRow | None:
    """Returns the question for the model and its answer, if it was asked."""
    return await session.get(ContestantAnswerRow, asked)


def _is(asked: AskedSlot) -> tuple[ColumnElement[bool], ...]:
    return (
        ContestantAnswerRow.schedule_id == asked.schedule_id,
        ContestantAnswerRow.day == asked.day,
        ContestantAnswerRow.version_id == asked.version_id,
    )
