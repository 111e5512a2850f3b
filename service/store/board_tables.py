"""Tables of the boards: sums of the ledger per member, in order, and counted in blocks; and what winners get.

Triggers keep the boards equal to the ledger in the transaction that posts points; see
`service.store.migrations.boards`. Nothing else writes them. The rows of a board have no foreign keys: the triggers take
their ids from rows that have.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base, new_id


class WinnerRole(Base):
    """The role that a chat gives to the winner of a season, and who was given it last."""

    __tablename__ = "winner_role"
    chat_id: Mapped[int] = mapped_column(ForeignKey("chat.id"), primary_key=True, autoincrement=False)
    channel_id: Mapped[int] = mapped_column(ForeignKey("channel.id"), index=True)
    """Where the winner is announced."""
    role: Mapped[str]
    """External id of the role."""
    holders: Mapped[list[int]] = mapped_column(JSONB, server_default=text("'[]'"))
    """Ids of the members who were given it last."""


class BoardRecord(Base):
    """A board that is kept: of a channel or (null) the workspace, a topic or ('') all, over one period."""

    __tablename__ = "board"
    __table_args__ = (
        UniqueConstraint("workspace_id", "channel_id", "topic", "period", "since", postgresql_nulls_not_distinct=True),
        CheckConstraint("period in ('day', 'week', 'month', 'season', 'all')", name="period"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"))
    channel_id: Mapped[int | None] = mapped_column(ForeignKey("channel.id"), index=True)
    topic: Mapped[str]
    """A topic path in lower case; includes everything below it."""
    period: Mapped[str]
    since: Mapped[datetime | None]
    """Inclusive; None without a beginning."""
    until: Mapped[datetime | None]
    """Exclusive; None without an end."""
    previous_id: Mapped[int | None] = mapped_column(ForeignKey("board.id", ondelete="SET NULL"), index=True)
    """The board of the period before, which the most improved are compared with."""


class BoardMember(Base):
    """One member's sums on one board."""

    __tablename__ = "board_member"
    board_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    member_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    points: Mapped[int]
    credit: Mapped[int]
    """Sum of credits, in units of 1e-12, so that the order of additions does not matter."""
    answered: Mapped[int]
    """Rounds with a credit."""
    entries: Mapped[int]
    """Ledger entries that belong to a round. A channel's board ranks members who have one."""
    ms: Mapped[int]
    """Total answering time, milliseconds."""
    accuracy: Mapped[int]
    """Mean credit, in units of 1e-9."""
    ranked: Mapped[bool]
    rookie: Mapped[bool]
    """Whether the member is ranked among the rookies."""
    gain: Mapped[int | None]
    """Gain in accuracy over the previous board; None if the member is not among the most improved."""


class BoardEntry(Base):
    """A ranked member in the order of one contest: smaller is better. Equal (deficit, ms) share a rank."""

    __tablename__ = "board_entry"
    board_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    contest: Mapped[str] = mapped_column(primary_key=True)
    deficit: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    """Negated points and accuracy, or gain, as one number."""
    ms: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    member_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class BoardBlock(Base):
    """The number of entries from this start up to the next block's. A rank is a sum over blocks and a part of one."""

    __tablename__ = "board_block"
    board_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    contest: Mapped[str] = mapped_column(primary_key=True)
    deficit: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    ms: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    member_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    members: Mapped[int]
