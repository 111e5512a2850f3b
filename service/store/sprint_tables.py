"""Tables of sprints. Their times come from the database's clock, so that one clock decides what is late."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base, new_id, same_workspace


class Sprint(Base):
    """A live quiz in a channel. Each question is posted, then asked, then followed by a pause with its answer.

    Number 0 is the announcement, which is not asked. A channel has at most one running sprint.
    """

    __tablename__ = "sprint"
    __table_args__ = (
        same_workspace("channel_id", "channel"),
        same_workspace("started_by", "member"),
        UniqueConstraint("id", "workspace_id"),
        Index("uq_sprint_running", "channel_id", unique=True, postgresql_where=text("ended_at is null")),
        Index("ix_sprint_channel", "channel_id"),
        Index("ix_sprint_started_by", "started_by"),
        CheckConstraint("phase in ('posting', 'asking', 'pausing', 'ended')", name="phase"),
        CheckConstraint("(phase = 'ended') = (ended_at is not null)", name="ended_at_the_end"),
        CheckConstraint("(phase in ('asking', 'pausing')) = (until is not null)", name="timed_phases_end"),
        CheckConstraint("number between 0 and total", name="number"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int]
    channel_id: Mapped[int]
    started_by: Mapped[int]
    topic: Mapped[str]
    """Empty for all topics."""
    seconds: Mapped[int]
    """Time for each question."""
    total: Mapped[int]
    """Number of questions."""
    number: Mapped[int]
    """The current question, from 1; 0 before the first."""
    phase: Mapped[str]
    until: Mapped[datetime | None]
    """When the phase ends; a phase without it waits for the message."""
    started_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]
    """When an admin stopped it; it ends soon after."""
    ended_at: Mapped[datetime | None]


class SprintQuestion(Base):
    """One question of a sprint."""

    __tablename__ = "sprint_question"
    __table_args__ = (
        same_workspace("sprint_id", "sprint"),
        UniqueConstraint("sprint_id", "number"),
        UniqueConstraint("id", "workspace_id"),
        CheckConstraint("(opened_at is null) = (closes_at is null)", name="opened_with_a_deadline"),
        CheckConstraint("settled_at is null or settled_at >= closes_at", name="settled_after_the_deadline"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int]
    sprint_id: Mapped[int]
    number: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)
    own_variants: Mapped[bool] = mapped_column(server_default=false())
    """Whether every member gets their own variant; the channel then sees `version_id` as an example."""
    opened_at: Mapped[datetime | None]
    closes_at: Mapped[datetime | None]
    settled_at: Mapped[datetime | None]
    """When its answers were graded, once."""


class SprintAnswer(Base):
    """A member's answer to a question of a sprint: the last one before the deadline. Graded once."""

    __tablename__ = "sprint_answer"
    __table_args__ = (
        same_workspace("question_id", "sprint_question"),
        same_workspace("member_id", "member"),
        Index("ix_sprint_answer_member", "member_id"),
        CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        CheckConstraint("num_nulls(credit, points, ms) in (0, 3)", name="graded_as_a_whole"),
    )
    question_id: Mapped[int] = mapped_column(primary_key=True)
    member_id: Mapped[int] = mapped_column(primary_key=True)
    workspace_id: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)
    """What the member was asked: the question's version, or their own variant."""
    given: Mapped[dict[str, Any]]
    at: Mapped[datetime]
    credit: Mapped[float | None]
    points: Mapped[int | None]
    ms: Mapped[int | None]
    """Milliseconds from the start of the question to the answer."""


class SprintVariant(Base):
    """The variant that a question of a sprint with `own_variants` asks one member. Drawn when the member first sees it,
    and changed only by a merge with another account."""

    __tablename__ = "sprint_variant"
    __table_args__ = (
        same_workspace("question_id", "sprint_question"),
        same_workspace("member_id", "member"),
        Index("ix_sprint_variant_member", "member_id"),
    )
    question_id: Mapped[int] = mapped_column(primary_key=True)
    member_id: Mapped[int] = mapped_column(primary_key=True)
    workspace_id: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)
