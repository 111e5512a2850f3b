"""Every table, as it was in the beginning."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    "workspace",
    "bank",
    "channel",
    "inbox",
    "member",
    "season",
    "audit",
    "bank_import",
    "question",
    "schedule",
    "card",
    "question_version",
    "retirement",
    "schedule_skip",
    "report",
    "round",
    "answer",
    "ledger",
    "outbox",
    "streak_grace",
    "standing",
    "verdict",
)
"""In the order in which they may be made."""


def upgrade() -> None:
    _make_workspace()
    _make_bank()
    _make_channel()
    _make_inbox()
    _make_member()
    _make_season()
    _make_audit()
    _make_bank_import()
    _make_question()
    _make_schedule()
    _make_card()
    _make_question_version()
    _make_retirement()
    _make_schedule_skip()
    _make_report()
    _make_round()
    _make_answer()
    _make_ledger()
    _make_outbox()
    _make_streak_grace()
    _make_standing()
    _make_verdict()


def downgrade() -> None:
    for table in reversed(TABLES):
        op.drop_table(table)


def _make_workspace() -> None:
    op.create_table(
        "workspace",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), server_default="", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_workspace"),
        sa.UniqueConstraint("platform", "external_id", name="uq_workspace_platform_external_id"),
    )


def _make_bank() -> None:
    op.create_table(
        "bank",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("licence", sa.String(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_bank_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_bank"),
        sa.UniqueConstraint(
            "workspace_id", "name", name="uq_bank_workspace_id_name", postgresql_nulls_not_distinct=True
        ),
    )


def _make_channel() -> None:
    op.create_table(
        "channel",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_channel_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_channel"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_channel_id_workspace_id"),
        sa.UniqueConstraint("workspace_id", "external_id", name="uq_channel_workspace_id_external_id"),
    )


def _make_inbox() -> None:
    op.create_table(
        "inbox",
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("reply", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_inbox_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("workspace_id", "event_id", name="pk_inbox"),
    )


def _make_member() -> None:
    op.create_table(
        "member",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("hidden", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("joined_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("forgotten_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_member_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_member"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_member_id_workspace_id"),
        sa.UniqueConstraint("workspace_id", "external_id", name="uq_member_workspace_id_external_id"),
    )


def _make_season() -> None:
    op.create_table(
        "season",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("archive", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.CheckConstraint("ends_at > starts_at", name="ck_season_ends_after_start"),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_season_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_season"),
        sa.UniqueConstraint("workspace_id", "name", name="uq_season_workspace_id_name"),
    )
    op.create_index(
        "uq_season_running", "season", ["workspace_id"], unique=True, postgresql_where=sa.text("ends_at is null")
    )


def _make_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_audit_member_id_member"),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_audit_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_audit"),
    )


def _make_bank_import() -> None:
    op.create_table(
        "bank_import",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("summary", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.id"], name="fk_bank_import_bank_id_bank"),
        sa.PrimaryKeyConstraint("id", name="pk_bank_import"),
    )


def _make_question() -> None:
    op.create_table(
        "question",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("current", sa.BigInteger(), nullable=False),
        sa.Column("retired_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.id"], name="fk_question_bank_id_bank"),
        sa.PrimaryKeyConstraint("id", name="pk_question"),
        sa.UniqueConstraint("bank_id", "key", name="uq_question_bank_id_key"),
    )


def _make_schedule() -> None:
    op.create_table(
        "schedule",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("spec", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("paused_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["channel_id", "workspace_id"],
            ["channel.id", "channel.workspace_id"],
            name="fk_schedule_channel_id_channel",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_schedule"),
    )


def _make_card() -> None:
    op.create_table(
        "card",
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("state", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("due", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reviews", sa.BigInteger(), server_default="0", nullable=False),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_card_member_id_member"),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"], name="fk_card_question_id_question"),
        sa.PrimaryKeyConstraint("member_id", "question_id", name="pk_card"),
    )


def _make_question_version() -> None:
    op.create_table(
        "question_version",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=True),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("answered", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"], name="fk_question_version_question_id_question"),
        sa.PrimaryKeyConstraint("id", name="pk_question_version"),
        sa.UniqueConstraint("question_id", "version", name="uq_question_version_question_id_version"),
    )


def _make_retirement() -> None:
    op.create_table(
        "retirement",
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"], name="fk_retirement_question_id_question"),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_retirement_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("workspace_id", "question_id", name="pk_retirement"),
    )


def _make_schedule_skip() -> None:
    op.create_table(
        "schedule_skip",
        sa.Column("schedule_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.ForeignKeyConstraint(["schedule_id"], ["schedule.id"], name="fk_schedule_skip_schedule_id_schedule"),
        sa.PrimaryKeyConstraint("schedule_id", "day", name="pk_schedule_skip"),
    )


def _make_report() -> None:
    op.create_table(
        "report",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(), server_default="open", nullable=False),
        sa.CheckConstraint("state in ('open', 'dismissed', 'fixed')", name="ck_report_state"),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_report_member_id_member"),
        sa.ForeignKeyConstraint(["version_id"], ["question_version.id"], name="fk_report_version_id_question_version"),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_report_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_report"),
    )


def _make_round() -> None:
    op.create_table(
        "round",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("schedule_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=True),
        sa.Column("opens_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closes_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("skipped", sa.String(), nullable=True),
        sa.CheckConstraint("(skipped is null) = (version_id is not null)", name="ck_round_asked_or_skipped"),
        sa.CheckConstraint("closes_at > opens_at", name="ck_round_closes_after_opening"),
        sa.ForeignKeyConstraint(["schedule_id"], ["schedule.id"], name="fk_round_schedule_id_schedule"),
        sa.ForeignKeyConstraint(["version_id"], ["question_version.id"], name="fk_round_version_id_question_version"),
        sa.PrimaryKeyConstraint("id", name="pk_round"),
        sa.UniqueConstraint("schedule_id", "day", name="uq_round_schedule_id_day"),
    )
    op.create_index(
        "ix_round_open",
        "round",
        ["closes_at"],
        unique=False,
        postgresql_where=sa.text("closed_at is null and skipped is null"),
    )


def _make_answer() -> None:
    op.create_table(
        "answer",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("round_id", sa.BigInteger(), nullable=True),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("given", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_answer_member_id_member"),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name="fk_answer_round_id_round"),
        sa.ForeignKeyConstraint(["version_id"], ["question_version.id"], name="fk_answer_version_id_question_version"),
        sa.PrimaryKeyConstraint("id", name="pk_answer"),
        sa.UniqueConstraint("id", "round_id", "member_id", name="uq_answer_id_round_id_member_id"),
        sa.UniqueConstraint("member_id", "event_id", name="uq_answer_member_id_event_id"),
        sa.UniqueConstraint("round_id", "member_id", "number", name="uq_answer_round_id_member_id_number"),
    )


def _make_ledger() -> None:
    op.create_table(
        "ledger",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("round_id", sa.BigInteger(), nullable=True),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("credit", sa.Double(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["member_id", "workspace_id"], ["member.id", "member.workspace_id"], name="fk_ledger_member_id_member"
        ),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name="fk_ledger_round_id_round"),
        sa.PrimaryKeyConstraint("id", name="pk_ledger"),
        sa.UniqueConstraint("key", name="uq_ledger_key"),
    )
    op.create_index("ix_ledger_board", "ledger", ["workspace_id", "at"], unique=False)


def _make_outbox() -> None:
    op.create_table(
        "outbox",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("member_id", sa.BigInteger(), nullable=True),
        sa.Column("round_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("state", sa.String(), server_default="due", nullable=False),
        sa.Column("attempt", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=False),
        sa.Column("give_up_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("claimed_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("message_ref", sa.String(), nullable=True),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.CheckConstraint("(state = 'sent') = (message_ref is not null)", name="ck_outbox_sent_has_a_reference"),
        sa.CheckConstraint("state in ('due', 'sending', 'uncertain', 'sent', 'skipped')", name="ck_outbox_state"),
        sa.ForeignKeyConstraint(["channel_id"], ["channel.id"], name="fk_outbox_channel_id_channel"),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_outbox_member_id_member"),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name="fk_outbox_round_id_round"),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_outbox_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_outbox"),
        sa.UniqueConstraint("key", name="uq_outbox_key"),
    )
    op.create_index(
        "ix_outbox_waiting",
        "outbox",
        ["not_before"],
        unique=False,
        postgresql_where=sa.text("state in ('due', 'sending', 'uncertain')"),
    )


def _make_streak_grace() -> None:
    op.create_table(
        "streak_grace",
        sa.Column("round_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_streak_grace_member_id_member"),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name="fk_streak_grace_round_id_round"),
        sa.PrimaryKeyConstraint("round_id", "member_id", name="pk_streak_grace"),
    )


def _make_standing() -> None:
    op.create_table(
        "standing",
        sa.Column("round_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("answer_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["answer_id", "round_id", "member_id"],
            ["answer.id", "answer.round_id", "answer.member_id"],
            name="fk_standing_answer_id_answer",
        ),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_standing_member_id_member"),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name="fk_standing_round_id_round"),
        sa.PrimaryKeyConstraint("round_id", "member_id", name="pk_standing"),
    )


def _make_verdict() -> None:
    op.create_table(
        "verdict",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("answer_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("credit", sa.Double(), nullable=False),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("credit between 0 and 1", name="ck_verdict_credit_is_a_share"),
        sa.ForeignKeyConstraint(["answer_id"], ["answer.id"], name="fk_verdict_answer_id_answer"),
        sa.ForeignKeyConstraint(["version_id"], ["question_version.id"], name="fk_verdict_version_id_question_version"),
        sa.PrimaryKeyConstraint("id", name="pk_verdict"),
        sa.UniqueConstraint("answer_id", "version_id", name="uq_verdict_answer_id_version_id"),
    )
