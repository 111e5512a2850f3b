"""Tables of what members write to the moderators, where moderators hear of it, and when they get the week's digest."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base, new_id


class ReportRow(Base):
    """A member's report that a question is wrong, and how a moderator settled it."""

    __tablename__ = "report"
    __table_args__ = (
        CheckConstraint("state in ('open', 'dismissed', 'fixed')", name="state"),
        CheckConstraint("(state = 'open') = (settled_by is null)", name="settled_by_somebody"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), index=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), index=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)
    text: Mapped[str]
    at: Mapped[datetime]
    state: Mapped[str] = mapped_column(server_default="open")
    reason: Mapped[str] = mapped_column(server_default="")
    """What the moderator answered."""
    settled_by: Mapped[int | None] = mapped_column(ForeignKey("member.id"), index=True)


class SuggestionRow(Base):
    """A question that a member wrote for the bank, and what a moderator decided about it."""

    __tablename__ = "suggestion"
    __table_args__ = (
        CheckConstraint("state in ('draft', 'waiting', 'accepted', 'declined')", name="state"),
        CheckConstraint("(state in ('accepted', 'declined')) = (decided_by is not null)", name="decided_by_somebody"),
        CheckConstraint("(decided_by is null) = (decided_at is null)", name="decided_at_an_instant"),
        CheckConstraint("(state = 'accepted') = (question_id is not null)", name="accepted_as_a_question"),
        Index("uq_suggestion_draft", "member_id", unique=True, postgresql_where=text("state = 'draft'")),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), index=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), index=True)
    text: Mapped[str]
    """The document as its author wrote it, or as a moderator edited it."""
    at: Mapped[datetime]
    state: Mapped[str] = mapped_column(server_default="waiting")
    reason: Mapped[str] = mapped_column(server_default="")
    """Why a moderator declined it."""
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("member.id"), index=True)
    decided_at: Mapped[datetime | None]
    question_id: Mapped[int | None] = mapped_column(ForeignKey("question.id"), unique=True)
    """The question of the bank that it became."""


class QuestionFeedback(Base):
    """Whether a member found a version of a question good. The latest answer counts."""

    __tablename__ = "question_feedback"
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"), primary_key=True, index=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    """Number of the version. The variants of a family share it."""
    liked: Mapped[bool]
    at: Mapped[datetime]


class ReviewPlace(Base):
    """Where an admin wants the workspace's moderators to be notified: in a channel, or privately."""

    __tablename__ = "review_place"
    __table_args__ = (CheckConstraint("num_nonnulls(channel_id, member_id) = 1", name="channel_or_member"),)
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), primary_key=True)
    channel_id: Mapped[int | None] = mapped_column(ForeignKey("channel.id"), index=True)
    member_id: Mapped[int | None] = mapped_column(ForeignKey("member.id"), index=True)


class DigestPlan(Base):
    """When a workspace's moderators get the digest of a week. The first schedule makes the row."""

    __tablename__ = "digest_plan"
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), primary_key=True)
    next_at: Mapped[datetime | None] = mapped_column(index=True)
    """None if an admin turned digests off."""
