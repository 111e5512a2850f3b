"""Creates the tables of sprints."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT, id_column, refer, refer_within_workspace


def create_sprints() -> None:
    """Creates the tables. The tables they refer to exist."""
    op.create_table(
        "sprint",
        id_column(),
        *_numbers("workspace_id", "channel_id", "started_by"),
        sa.Column("topic", sa.String(), nullable=False),
        *_numbers("seconds", "total", "number"),
        sa.Column("phase", sa.String(), nullable=False),
        sa.Column("until", INSTANT, nullable=True),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("stopped_at", INSTANT, nullable=True),
        sa.Column("ended_at", INSTANT, nullable=True),
        sa.CheckConstraint("phase in ('posting', 'asking', 'pausing', 'ended')", name="phase"),
        sa.CheckConstraint("(phase = 'ended') = (ended_at is not null)", name="ended_at_the_end"),
        sa.CheckConstraint("(phase in ('asking', 'pausing')) = (until is not null)", name="timed_phases_end"),
        sa.CheckConstraint("number between 0 and total", name="number"),
        refer_within_workspace("sprint", "channel_id", "channel"),
        refer_within_workspace("sprint", "started_by", "member"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_sprint_id_workspace_id"),
    )
    running = sa.text("ended_at is null")
    op.create_index("uq_sprint_running", "sprint", ["channel_id"], unique=True, postgresql_where=running)
    op.create_index("ix_sprint_channel", "sprint", ["channel_id"])
    op.create_index("ix_sprint_started_by", "sprint", ["started_by"])
    op.create_table(
        "sprint_question",
        id_column(),
        *_numbers("workspace_id", "sprint_id", "number", "version_id"),
        sa.Column("own_variants", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("opened_at", INSTANT, nullable=True),
        sa.Column("closes_at", INSTANT, nullable=True),
        sa.Column("settled_at", INSTANT, nullable=True),
        sa.CheckConstraint("(opened_at is null) = (closes_at is null)", name="opened_with_a_deadline"),
        sa.CheckConstraint("settled_at is null or settled_at >= closes_at", name="settled_after_the_deadline"),
        refer_within_workspace("sprint_question", "sprint_id", "sprint"),
        sa.ForeignKeyConstraint(
            ["version_id"], ["question_version.id"], name="fk_sprint_question_version_id_question_version"
        ),
        sa.UniqueConstraint("sprint_id", "number", name="uq_sprint_question_sprint_id_number"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_sprint_question_id_workspace_id"),
    )
    op.create_index("ix_sprint_question_version_id", "sprint_question", ["version_id"])
    op.create_table(
        "sprint_answer",
        *_numbers("question_id", "member_id", "workspace_id", "version_id"),
        sa.Column("given", JSONB(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("credit", sa.Float(), nullable=True),
        sa.Column("points", sa.BigInteger(), nullable=True),
        sa.Column("ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        sa.CheckConstraint("num_nulls(credit, points, ms) in (0, 3)", name="graded_as_a_whole"),
        refer_within_workspace("sprint_answer", "question_id", "sprint_question"),
        refer_within_workspace("sprint_answer", "member_id", "member"),
        refer("sprint_answer", "version_id", "question_version"),
        sa.PrimaryKeyConstraint("question_id", "member_id", name="pk_sprint_answer"),
    )
    op.create_index("ix_sprint_answer_member", "sprint_answer", ["member_id"])
    op.create_index("ix_sprint_answer_version_id", "sprint_answer", ["version_id"])
    op.create_table(
        "sprint_variant",
        *_numbers("question_id", "member_id", "workspace_id", "version_id"),
        refer_within_workspace("sprint_variant", "question_id", "sprint_question"),
        refer_within_workspace("sprint_variant", "member_id", "member"),
        refer("sprint_variant", "version_id", "question_version"),
        sa.PrimaryKeyConstraint("question_id", "member_id", name="pk_sprint_variant"),
    )
    op.create_index("ix_sprint_variant_member", "sprint_variant", ["member_id"])
    op.create_index("ix_sprint_variant_version_id", "sprint_variant", ["version_id"])


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]
