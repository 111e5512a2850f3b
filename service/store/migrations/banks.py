"""Creates the tables of banks, and of what members report and what is measured about questions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT, id_column, index, refer

_MARK = {
    "question": "select distinct bank_id from changed",
    "question_version": "select distinct bank_id from question where id in (select question_id from changed)",
}
"""Selects the banks that changes of each table are of."""


def create_banks() -> None:
    """Creates banks with their imports, and questions with their versions, aliases and retirements."""
    _create_banks()
    _create_changes()


def _create_changes() -> None:
    op.create_table(
        "bank_change",
        id_column(),
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column(
            "mark",
            sa.BigInteger(),
            server_default=sa.text("hashtextextended(gen_random_uuid()::text, 0)"),
            nullable=False,
        ),
        refer("bank_change", "bank_id", "bank"),
    )
    for table, banks in _MARK.items():
        op.execute(
            f"create function mark_{table}() returns trigger language plpgsql as "
            f"$$ begin insert into bank_change (bank_id) {banks}; return null; end $$"
        )
        for event, rows in (("insert", "new"), ("update", "new"), ("delete", "old")):
            op.execute(
                f"create trigger mark_{event} after {event} on {table} referencing {rows} table as changed "
                f"for each statement execute function mark_{table}()"
            )


def _create_banks() -> None:
    op.create_table(
        "bank",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("license", sa.String(), server_default="", nullable=False),
        sa.Column("recipe", sa.String(), server_default="", nullable=False),
        refer("bank", "workspace_id", "workspace"),
        sa.UniqueConstraint(
            "workspace_id", "name", name="uq_bank_workspace_id_name", postgresql_nulls_not_distinct=True
        ),
    )
    op.create_table(
        "bank_import",
        id_column(),
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("summary", JSONB(), nullable=False),
        sa.Column("document", sa.String(), server_default="", nullable=False),
        sa.Column("undoes", sa.BigInteger(), nullable=True),
        refer("bank_import", "bank_id", "bank"),
        refer("bank_import", "undoes", "bank_import"),
    )
    op.create_table(
        "question",
        id_column(),
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("current", sa.BigInteger(), nullable=False),
        sa.Column("retired_at", INSTANT, nullable=True),
        sa.Column("place", JSONB(), nullable=True),
        sa.Column("held", sa.Boolean(), server_default=sa.false(), nullable=False),
        refer("question", "bank_id", "bank"),
        sa.UniqueConstraint("bank_id", "key", name="uq_question_bank_id_key"),
    )
    op.create_table(
        "import_step",
        sa.Column("import_id", sa.BigInteger(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("version_before", sa.BigInteger(), nullable=True),
        sa.Column("version_after", sa.BigInteger(), nullable=False),
        sa.Column("retired_before", sa.Boolean(), nullable=False),
        sa.Column("retired_after", sa.Boolean(), nullable=False),
        refer("import_step", "import_id", "bank_import"),
        refer("import_step", "question_id", "question"),
        sa.PrimaryKeyConstraint("import_id", "question_id", name="pk_import_step"),
    )
    op.create_table(
        "question_alias",
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        refer("question_alias", "bank_id", "bank"),
        refer("question_alias", "question_id", "question"),
        sa.PrimaryKeyConstraint("bank_id", "key", name="pk_question_alias"),
    )
    op.create_table(
        "question_version",
        id_column(),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("drawing", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("family", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=True),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("answered", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", JSONB(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        refer("question_version", "question_id", "question"),
        sa.UniqueConstraint(
            "question_id", "version", "drawing", name="uq_question_version_question_id_version_drawing"
        ),
    )
    op.create_table(
        "retirement",
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        refer("retirement", "question_id", "question"),
        refer("retirement", "workspace_id", "workspace"),
        sa.PrimaryKeyConstraint("workspace_id", "question_id", name="pk_retirement"),
    )


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
    index("report", "workspace_id", "member_id", "version_id", "settled_by")
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
    index("suggestion", "workspace_id", "member_id", "decided_by")
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
    index("question_feedback", "question_id")
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
    index("review_place", "channel_id", "member_id")
    op.create_table(
        "digest_plan",
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("next_at", INSTANT, nullable=True),
        refer("digest_plan", "workspace_id", "workspace"),
        sa.PrimaryKeyConstraint("workspace_id", name="pk_digest_plan"),
    )
    index("digest_plan", "next_at")


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
