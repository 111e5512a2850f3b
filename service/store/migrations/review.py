"""Creates the tables of reports, suggestions and feedback, of where moderators hear of them, and of their digests."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from service.store.migrations.columns import INSTANT, id_column, refer


def create_review() -> None:
    """Creates the tables. Those they refer to exist."""
    op.create_table(
        "report",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("state", sa.String(), server_default="open", nullable=False),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.Column("settled_by", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state in ('open', 'dismissed', 'fixed')", name="state"),
        sa.CheckConstraint("(state = 'open') = (settled_by is null)", name="settled_by_somebody"),
        refer("report", "workspace_id", "workspace"),
        refer("report", "member_id", "member"),
        refer("report", "version_id", "question_version"),
        refer("report", "settled_by", "member"),
    )
    _index("report", "workspace_id", "member_id", "version_id", "settled_by")
    op.create_table(
        "suggestion",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("state", sa.String(), server_default="waiting", nullable=False),
        sa.Column("reason", sa.String(), server_default="", nullable=False),
        sa.Column("decided_by", sa.BigInteger(), nullable=True),
        sa.Column("decided_at", INSTANT, nullable=True),
        sa.Column("question_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("state in ('draft', 'waiting', 'accepted', 'declined')", name="state"),
        sa.CheckConstraint(
            "(state in ('accepted', 'declined')) = (decided_by is not null)", name="decided_by_somebody"
        ),
        sa.CheckConstraint("(decided_by is null) = (decided_at is null)", name="decided_at_an_instant"),
        sa.CheckConstraint("(state = 'accepted') = (question_id is not null)", name="accepted_as_a_question"),
        refer("suggestion", "workspace_id", "workspace"),
        refer("suggestion", "member_id", "member"),
        refer("suggestion", "decided_by", "member"),
        refer("suggestion", "question_id", "question"),
        sa.UniqueConstraint("question_id", name="uq_suggestion_question_id"),
    )
    _index("suggestion", "workspace_id", "member_id", "decided_by")
    draft = sa.text("state = 'draft'")
    op.create_index("uq_suggestion_draft", "suggestion", ["member_id"], unique=True, postgresql_where=draft)
    op.create_table(
        "question_feedback",
        *[sa.Column(name, sa.BigInteger(), nullable=False) for name in ("member_id", "question_id", "version")],
        sa.Column("liked", sa.Boolean(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        refer("question_feedback", "member_id", "member"),
        refer("question_feedback", "question_id", "question"),
        sa.PrimaryKeyConstraint("member_id", "question_id", "version", name="pk_question_feedback"),
    )
    _index("question_feedback", "question_id")
    op.create_table(
        "review_place",
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("member_id", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("num_nonnulls(channel_id, member_id) = 1", name="channel_or_member"),
        refer("review_place", "workspace_id", "workspace"),
        refer("review_place", "channel_id", "channel"),
        refer("review_place", "member_id", "member"),
        sa.PrimaryKeyConstraint("workspace_id", name="pk_review_place"),
    )
    _index("review_place", "channel_id", "member_id")
    op.create_table(
        "digest_plan",
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("next_at", INSTANT, nullable=True),
        refer("digest_plan", "workspace_id", "workspace"),
        sa.PrimaryKeyConstraint("workspace_id", name="pk_digest_plan"),
    )
    _index("digest_plan", "next_at")


def _index(table: str, *columns: str) -> None:
    for column in columns:
        op.create_index(f"ix_{table}_{column}", table, [column])
