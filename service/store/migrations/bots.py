"""Creates the tables of the bots themselves: their applications, and the events that they have received."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT


def create_bots() -> None:
    """Creates both tables."""
    op.create_table(
        "bot_application",
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("application", sa.String(), nullable=False),
        sa.Column("seen_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("platform", "application", name="pk_bot_application"),
    )
    op.create_table(
        "received_event",
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("application", sa.String(), nullable=False),
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("content", JSONB(), nullable=True),
        sa.Column("claimed_until", INSTANT, nullable=False),
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("author", sa.String(), server_default="", nullable=False),
        sa.PrimaryKeyConstraint("platform", "application", "event_id", name="pk_received_event"),
    )
    waiting = sa.text("content is not null")
    op.create_index("ix_received_event_waiting", "received_event", ["claimed_until"], postgresql_where=waiting)
    op.create_index("ix_received_event_at", "received_event", ["at"])
    op.create_index(
        "ix_received_event_author",
        "received_event",
        ["platform", "application", "author", "number"],
        postgresql_where=sa.text("content is not null and author <> ''"),
    )
