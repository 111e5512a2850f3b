"""Table of the answers of the model that takes part. They are no answers of members, so no board, point, streak or
statistic counts them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base


class ContestantAnswerRow(Base):
    """A question for the model, about the slot of a schedule: asked once, whatever fails."""

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
    """When a worker began to ask. It is never asked again, also if the worker dies."""
    answered_at: Mapped[datetime | None]
    """When the endpoint replied."""
    given: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    """A `service.wire.AnswerInput`; None if there was no reply, or it was not a valid answer."""
    verdict: Mapped[str | None]
    """Verdict of the sandbox on code; None for other kinds, which are graded when they are shown."""
    credit: Mapped[float | None]
