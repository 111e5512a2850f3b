"""Tables of how hard questions are for a workspace. They hold no member: abilities are kept as distributions only."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base


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
    """A `service.domain.calibration.Scale`."""
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
