"""Creates the tables of measured code."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT, refer


def create_measurements() -> None:
    """Creates the tables. Those they refer to exist."""
    op.create_table(
        "measured_round",
        sa.Column("round_id", sa.BigInteger(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("runs", sa.BigInteger(), nullable=False),
        sa.Column("cpu_ms", JSONB(), nullable=False),
        sa.Column("peak_mb", JSONB(), nullable=False),
        sa.CheckConstraint("runs > 0", name="runs_are_counted"),
        refer("measured_round", "round_id", "round"),
        sa.PrimaryKeyConstraint("round_id", name="pk_measured_round"),
    )
    op.create_table(
        "measured_answer",
        sa.Column("answer_id", sa.BigInteger(), nullable=False),
        sa.Column("round_id", sa.BigInteger(), nullable=False),
        sa.Column("cpu_ms", JSONB(), nullable=False),
        sa.Column("peak_mb", JSONB(), nullable=False),
        sa.Column("steady", sa.Boolean(), nullable=False),
        sa.Column("shown", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        refer("measured_answer", "answer_id", "answer"),
        sa.ForeignKeyConstraint(
            ["round_id"], ["measured_round.round_id"], name="fk_measured_answer_round_id_measured_round"
        ),
        sa.PrimaryKeyConstraint("answer_id", name="pk_measured_answer"),
    )
    op.create_index("ix_measured_answer_round_id", "measured_answer", ["round_id"])
