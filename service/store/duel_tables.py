"""Tables of duels: who challenged whom, the questions that both get, their answers, and the history of ratings."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base, new_id


def _same_workspace(column: str, table: str) -> ForeignKeyConstraint:
    """Returns a foreign key that cannot leave the workspace, deferrable while workspaces are merged."""
    return ForeignKeyConstraint(
        [column, "workspace_id"], [f"{table}.id", f"{table}.workspace_id"], deferrable=True, initially="IMMEDIATE"
    )


class Duel(Base):
    """A duel of two members. asked → running → over, or → declined, expired or cancelled. Two members have at most one
    duel that has not ended."""

    __tablename__ = "duel"
    __table_args__ = (
        _same_workspace("chat_id", "chat"),
        _same_workspace("channel_id", "channel"),
        _same_workspace("challenger_id", "member"),
        _same_workspace("opponent_id", "member"),
        UniqueConstraint("id", "workspace_id"),
        CheckConstraint("challenger_id <> opponent_id", name="two_members"),
        CheckConstraint("state in ('asked', 'running', 'over', 'declined', 'expired', 'cancelled')", name="state"),
        CheckConstraint("(ended_at is null) = (state in ('asked', 'running'))", name="ended"),
        CheckConstraint("(accepted_at is null) = (ends_at is null)", name="accepted_has_an_end"),
        CheckConstraint("state not in ('running', 'over') or accepted_at is not null", name="accepted"),
        CheckConstraint("(winner is not null) = (state = 'over')", name="over_has_a_result"),
        CheckConstraint("winner in ('challenger', 'opponent', 'draw')", name="winner"),
        Index(
            "uq_duel_live",
            text("least(challenger_id, opponent_id)"),
            text("greatest(challenger_id, opponent_id)"),
            unique=True,
            postgresql_where=text("ended_at is null"),
        ),
        Index("ix_duel_untold", "id", postgresql_where=text("not told")),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int]
    chat_id: Mapped[int] = mapped_column(index=True)
    """The chat it was asked in, where both are told."""
    channel_id: Mapped[int | None] = mapped_column(index=True)
    challenger_id: Mapped[int] = mapped_column(index=True)
    opponent_id: Mapped[int] = mapped_column(index=True)
    topic: Mapped[str] = mapped_column(server_default="")
    state: Mapped[str] = mapped_column(server_default="asked")
    asked_at: Mapped[datetime]
    respond_by: Mapped[datetime]
    accepted_at: Mapped[datetime | None]
    ends_at: Mapped[datetime | None]
    """When the last answers count, at the latest."""
    ended_at: Mapped[datetime | None]
    winner: Mapped[str | None]
    told: Mapped[bool] = mapped_column(server_default=false())
    """Whether the messages about its end are in the outbox."""


class DuelQuestion(Base):
    """One of the questions that both members of a duel get, drawn when it is accepted. Its id is in the questions'
    buttons."""

    __tablename__ = "duel_question"
    __table_args__ = (UniqueConstraint("duel_id", "number"),)
    id: Mapped[int] = new_id()
    duel_id: Mapped[int] = mapped_column(ForeignKey("duel.id"))
    number: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)


class DuelTurn(Base):
    """When one member of a duel first saw a question, and the only answer they gave to it."""

    __tablename__ = "duel_turn"
    __table_args__ = (
        CheckConstraint("side in ('challenger', 'opponent')", name="side"),
        CheckConstraint("answered_at >= shown_at", name="shown_before_answered"),
        CheckConstraint("(answered_at is null) = (given is null)", name="answered"),
    )
    question_id: Mapped[int] = mapped_column(ForeignKey("duel_question.id"), primary_key=True)
    side: Mapped[str] = mapped_column(primary_key=True)
    shown_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]
    given: Mapped[dict[str, Any] | None]
    correct: Mapped[bool] = mapped_column(server_default=false())


class DuelRating(Base):
    """Append-only history of ratings: one row for each member of a duel, so that it is scored once.

    A member's rows are numbered, so two duels cannot both start from the same rating.
    """

    __tablename__ = "duel_rating"
    __table_args__ = (
        _same_workspace("member_id", "member"),
        _same_workspace("duel_id", "duel"),
        UniqueConstraint("duel_id", "side"),
        UniqueConstraint("member_id", "number"),
        CheckConstraint("side in ('challenger', 'opponent')", name="side"),
        CheckConstraint("sigma > 0 and sigma_before > 0", name="deviations_are_positive"),
        CheckConstraint("wins >= 0 and draws >= 0 and wins + draws <= number", name="counts"),
    )
    id: Mapped[int] = new_id()
    duel_id: Mapped[int]
    side: Mapped[str]
    workspace_id: Mapped[int]
    member_id: Mapped[int]
    number: Mapped[int]
    """Rated duels of the member, including this one."""
    wins: Mapped[int]
    draws: Mapped[int]
    mu_before: Mapped[float]
    sigma_before: Mapped[float]
    mu: Mapped[float]
    sigma: Mapped[float]
    at: Mapped[datetime]
