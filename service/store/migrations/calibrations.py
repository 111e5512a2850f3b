"""Creates the tables of how hard questions are for a workspace."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT, refer


def create_calibrations() -> None:
    """Creates the tables. Those they refer to exist."""
    op.create_table(
        "calibration",
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("due_at", INSTANT, nullable=True),
        sa.Column("at", INSTANT, nullable=True),
        sa.Column("answers", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("members", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("scale", JSONB(), nullable=True),
        sa.Column("audiences", JSONB(), nullable=True),
        refer("calibration", "workspace_id", "workspace"),
        sa.PrimaryKeyConstraint("workspace_id", name="pk_calibration"),
    )
    due = sa.text("due_at is not null")
    op.create_index("ix_calibration_due", "calibration", ["due_at"], postgresql_where=due)
    op.create_table(
        "item_difficulty",
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("error", sa.Float(), nullable=False),
        sa.Column("answers", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("error > 0", name="error_is_positive"),
        refer("item_difficulty", "workspace_id", "workspace"),
        refer("item_difficulty", "question_id", "question"),
        sa.PrimaryKeyConstraint("workspace_id", "question_id", name="pk_item_difficulty"),
    )
    op.create_index("ix_item_difficulty_question_id", "item_difficulty", ["question_id"])
