"""Tables of measured code: a round whose answers were measured, and what the runs of each answer used."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base


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
