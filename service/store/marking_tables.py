"""Tables of how people judge open answers: their authors' marks, what they share, and the credit they are given."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, text
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base, new_id


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
