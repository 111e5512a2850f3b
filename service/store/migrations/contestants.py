"""Creates the table of the answers of the model that takes part."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT, refer


def create_contestants() -> None:
    """Creates the table. Those it refers to exist."""
    op.create_table(
        "contestant_answer",
        sa.Column("schedule_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("asked_at", INSTANT, nullable=True),
        sa.Column("answered_at", INSTANT, nullable=True),
        sa.Column("given", JSONB(none_as_null=True), nullable=True),
        sa.Column("verdict", sa.String(), nullable=True),
        sa.Column("credit", sa.Float(), nullable=True),
        sa.CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        sa.CheckConstraint("(answered_at is null) or (asked_at is not null)", name="asked_before_it_answers"),
        sa.CheckConstraint("(given is null) or (answered_at is not null)", name="answered_if_given"),
        refer("contestant_answer", "schedule_id", "schedule"),
        refer("contestant_answer", "version_id", "question_version"),
        sa.PrimaryKeyConstraint("schedule_id", "day", "version_id", name="pk_contestant_answer"),
    )
    op.create_index("ix_contestant_answer_version_id", "contestant_answer", ["version_id"])
