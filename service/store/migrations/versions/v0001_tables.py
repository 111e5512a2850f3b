"""Creates every table, the triggers that no table definition can express, and the tables of the job queue.

The queue's tables are those that the installed version of procrastinate expects. There is no downgrade: to go back,
restore a backup.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.answers import create_answer_functions
from service.store.migrations.banks import (
    create_banks,
    create_calibrations,
    create_contestants,
    create_measurements,
    create_review,
)
from service.store.migrations.boards import create_boards
from service.store.migrations.columns import INSTANT, id_column, refer, refer_within_workspace
from service.store.migrations.competitions import create_duels, create_sprints, create_tournaments
from service.store.migrations.messages import create_bots, create_messages, create_notifications, create_web
from service.store.migrations.triggers import create_planning, create_queues, create_tenants

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

APPEND_ONLY = ("question_version", "answer", "verdict", "given_credit", "ledger", "audit")

REFERENCES = (
    ("chat", "workspace_id"),
    ("channel", "workspace_id"),
    ("member", "workspace_id"),
    ("bank_change", "bank_id"),
    ("bank_import", "bank_id", "undoes"),
    ("import_step", "question_id"),
    ("question_alias", "question_id"),
    ("retirement", "question_id"),
    ("schedule", "workspace_id", "channel_id", "made_by"),
    ("schedule_channel", "channel_id"),
    ("round", "version_id"),
    ("answer", "version_id"),
    ("standing", "answer_id"),
    ("verdict", "version_id"),
    ("given_credit", "answer_id", "member_id"),
    ("outbox", "chat_id", "workspace_id", "member_id", "channel_id"),
    ("card", "question_id"),
    ("streak_grace", "member_id"),
    ("hint_taken", "member_id"),
    ("member_variant", "member_id", "version_id"),
    ("audit", "workspace_id", "member_id"),
    ("link_code", "workspace_id", "chat_id", "member_id"),
)
"""Each table with the foreign keys that no constraint or other index begins with."""

REFUSE_CHANGE = """
create function refuse_change() returns trigger language plpgsql as $$
begin
    -- Forgetting a member erases what they wrote and keeps every number.
    if tg_op = 'UPDATE' and tg_table_name in ('answer', 'verdict')
        and current_setting('dailygrad.forgetting', true) = 'on'
        and to_jsonb(new) - '{name,given,detail}'::text[] = to_jsonb(old) - '{name,given,detail}'::text[] then
        return new;
    end if;
    -- When a workspace joins another, its rows move to that one; nothing else in them changes.
    if tg_op = 'UPDATE' and tg_table_name in ('ledger', 'audit', 'duel_rating')
        and current_setting('dailygrad.joining', true) = 'on'
        and to_jsonb(new) - 'workspace_id' = to_jsonb(old) - 'workspace_id' then
        return new;
    end if;
    -- The audit log is kept as long as the retention setting says.
    if tg_op = 'DELETE' and tg_table_name = 'audit' and current_setting('dailygrad.retiring', true) = 'on' then
        return old;
    end if;
    raise exception '% is append-only: % refused; write a correcting row instead', tg_table_name, tg_op
        using errcode = 'restrict_violation';
end $$
"""

NOTIFY_OUTBOX = """
create function tell_outbox() returns trigger language plpgsql as $$
begin
    perform pg_notify('dailygrad_outbox', '');
    return null;
end $$
"""


def upgrade() -> None:
    _create_workspaces()
    create_banks()
    _create_rounds()
    _create_answers()
    create_messages()
    create_planning()
    create_queues()
    _create_links()
    _create_reference_indexes()
    _create_triggers()
    create_boards()
    create_review()
    create_sprints()
    create_notifications()
    create_bots()
    create_duels()
    create_tournaments()
    create_calibrations()
    create_contestants()
    create_measurements()
    create_web()
    create_tenants()
    create_answer_functions()
    _run_script(SchemaManager.get_schema())


def _create_workspaces() -> None:
    op.create_table(
        "workspace",
        id_column(),
        sa.Column("name", sa.String(), server_default="", nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("generated", sa.String(), server_default="none", nullable=False),
    )
    op.create_table(
        "chat",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("greeted_at", INSTANT, nullable=True),
        sa.Column("left_at", INSTANT, nullable=True),
        sa.Column("application", sa.String(), server_default="", nullable=False),
        refer("chat", "workspace_id", "workspace"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_chat_id_workspace_id"),
        sa.UniqueConstraint("platform", "external_id", name="uq_chat_platform_external_id"),
    )
    op.create_table(
        "channel",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), server_default="", nullable=False),
        refer_within_workspace("channel", "chat_id", "chat"),
        refer("channel", "workspace_id", "workspace"),
        sa.UniqueConstraint("chat_id", "external_id", name="uq_channel_chat_id_external_id"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_channel_id_workspace_id"),
    )
    op.create_table(
        "member",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("hidden", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("joined_at", INSTANT, nullable=False),
        sa.Column("forgotten_at", INSTANT, nullable=True),
        sa.Column("merged_into", sa.BigInteger(), nullable=True),
        refer("member", "merged_into", "member"),
        refer("member", "workspace_id", "workspace"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_member_id_workspace_id"),
    )
    op.create_index(
        "ix_member_merged_into", "member", ["merged_into"], postgresql_where=sa.text("merged_into is not null")
    )
    op.create_table(
        "identity",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        refer_within_workspace("identity", "chat_id", "chat"),
        refer_within_workspace("identity", "member_id", "member"),
        sa.UniqueConstraint("chat_id", "external_id", name="uq_identity_chat_id_external_id"),
        sa.UniqueConstraint("chat_id", "member_id", name="uq_identity_chat_id_member_id"),
    )
    op.create_index("ix_identity_member", "identity", ["member_id"])
    op.create_table(
        "season",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("starts_at", INSTANT, nullable=False),
        sa.Column("ends_at", INSTANT, nullable=True),
        sa.Column("archive", JSONB(), nullable=True),
        sa.CheckConstraint("ends_at > starts_at", name="ends_after_start"),
        refer("season", "workspace_id", "workspace"),
        sa.UniqueConstraint("workspace_id", "name", name="uq_season_workspace_id_name"),
    )
    op.create_index(
        "uq_season_running", "season", ["workspace_id"], unique=True, postgresql_where=sa.text("ends_at is null")
    )
    op.create_table(
        "trouble",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("subject", sa.BigInteger(), nullable=False),
        sa.Column("detail", JSONB(), nullable=False),
        sa.Column("since", INSTANT, nullable=False),
        sa.Column("over_at", INSTANT, nullable=True),
        sa.CheckConstraint("what in ('late', 'refused', 'sandbox', 'revoked', 'role')", name="what"),
        refer("trouble", "workspace_id", "workspace"),
    )
    op.create_index(
        "uq_trouble_open",
        "trouble",
        ["workspace_id", "what", "subject"],
        unique=True,
        postgresql_where=sa.text("over_at is null"),
    )


def _create_rounds() -> None:
    op.create_table(
        "schedule",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("made_by", sa.BigInteger(), nullable=True),
        sa.Column("spec", JSONB(), nullable=False),
        sa.Column("since", INSTANT, nullable=False),
        sa.Column("next_at", INSTANT, nullable=True),
        sa.Column("paused_at", INSTANT, nullable=True),
        sa.Column("removed_at", INSTANT, nullable=True),
        refer_within_workspace("schedule", "channel_id", "channel"),
        refer("schedule", "made_by", "member"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_schedule_id_workspace_id"),
    )
    op.create_index("ix_schedule_next", "schedule", ["next_at", "id"], postgresql_where=sa.text("next_at is not null"))
    op.create_table(
        "schedule_channel",
        sa.Column("schedule_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("since", INSTANT, nullable=False),
        refer_within_workspace("schedule_channel", "channel_id", "channel"),
        refer_within_workspace("schedule_channel", "schedule_id", "schedule"),
        sa.PrimaryKeyConstraint("schedule_id", "channel_id", name="pk_schedule_channel"),
    )
    op.create_table(
        "schedule_skip",
        sa.Column("schedule_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        refer("schedule_skip", "schedule_id", "schedule"),
        sa.PrimaryKeyConstraint("schedule_id", "day", name="pk_schedule_skip"),
    )
    op.create_table(
        "round",
        id_column(),
        sa.Column("schedule_id", sa.BigInteger(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("number", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=True),
        sa.Column("opens_at", INSTANT, nullable=False),
        sa.Column("closes_at", INSTANT, nullable=False),
        sa.Column("closed_at", INSTANT, nullable=True),
        sa.Column("own_variants", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("skipped", sa.String(), nullable=True),
        sa.CheckConstraint("(skipped is null) = (version_id is not null)", name="asked_or_skipped"),
        sa.CheckConstraint("closes_at > opens_at", name="closes_after_opening"),
        sa.CheckConstraint("number >= 0", name="number_counts_up"),
        refer("round", "schedule_id", "schedule"),
        refer("round", "version_id", "question_version"),
        sa.UniqueConstraint("schedule_id", "day", "number", name="uq_round_schedule_id_day_number"),
    )
    for index, column in (("ix_round_open", "closes_at"), ("ix_round_open_schedule", "schedule_id")):
        op.create_index(index, "round", [column], postgresql_where=sa.text("closed_at is null and skipped is null"))


def _create_answers() -> None:
    op.create_table(
        "answer",
        id_column(),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("round_id", sa.BigInteger(), nullable=True),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("given", JSONB(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("chat_id", sa.BigInteger(), nullable=True),
        refer("answer", "chat_id", "chat"),
        refer("answer", "member_id", "member"),
        refer("answer", "round_id", "round"),
        refer("answer", "version_id", "question_version"),
        sa.UniqueConstraint("id", "round_id", name="uq_answer_id_round_id"),
        sa.UniqueConstraint(
            "member_id",
            "chat_id",
            "event_id",
            name="uq_answer_member_id_chat_id_event_id",
            postgresql_nulls_not_distinct=True,
        ),
        sa.UniqueConstraint("round_id", "member_id", "number", name="uq_answer_round_id_member_id_number"),
    )
    written = sa.text("coalesce(given ->> 'text', given ->> 'code') is not null")
    op.create_index("ix_answer_text", "answer", ["at"], postgresql_where=written)
    op.create_table(
        "standing",
        sa.Column("round_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("answer_id", sa.BigInteger(), nullable=False),
        *[sa.Column(name, sa.BigInteger(), nullable=True) for name in ("rank_before", "rank_after", "ranked")],
        sa.ForeignKeyConstraint(
            ["answer_id", "round_id"], ["answer.id", "answer.round_id"], name="fk_standing_answer_id_answer"
        ),
        refer("standing", "member_id", "member"),
        refer("standing", "round_id", "round"),
        sa.PrimaryKeyConstraint("round_id", "member_id", name="pk_standing"),
    )
    # Streaks read the rounds of a member from the index alone.
    op.create_index("ix_standing_member", "standing", ["member_id", "round_id"])
    op.create_table(
        "verdict",
        id_column(),
        sa.Column("answer_id", sa.BigInteger(), nullable=False),
        sa.Column("version_id", sa.BigInteger(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("credit", sa.Double(), nullable=True),
        sa.Column("detail", JSONB(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        sa.CheckConstraint("(credit is null) = (verdict = 'awaits marking')", name="judged_or_awaits_marking"),
        refer("verdict", "answer_id", "answer"),
        refer("verdict", "version_id", "question_version"),
        sa.UniqueConstraint("answer_id", "version_id", name="uq_verdict_answer_id_version_id"),
    )
    op.create_table(
        "point_mark",
        sa.Column("answer_id", sa.BigInteger(), nullable=False),
        sa.Column("point", sa.BigInteger(), nullable=False),
        sa.Column("covered", sa.Boolean(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint("point >= 0", name="point_is_an_index"),
        refer("point_mark", "answer_id", "answer"),
        sa.PrimaryKeyConstraint("answer_id", "point", name="pk_point_mark"),
    )
    op.create_table(
        "shared_answer",
        sa.Column("answer_id", sa.BigInteger(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        refer("shared_answer", "answer_id", "answer"),
        sa.PrimaryKeyConstraint("answer_id", name="pk_shared_answer"),
    )
    op.create_table(
        "given_credit",
        id_column(),
        sa.Column("answer_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("by_peer", sa.Boolean(), nullable=False),
        sa.Column("credit", sa.Double(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        refer("given_credit", "answer_id", "answer"),
        refer("given_credit", "member_id", "member"),
    )
    op.create_index(
        "uq_given_credit_by_peer", "given_credit", ["answer_id"], unique=True, postgresql_where=sa.text("by_peer")
    )

    op.create_table(
        "ledger",
        id_column(),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("round_id", sa.BigInteger(), nullable=True),
        sa.Column("points", sa.BigInteger(), nullable=False),
        sa.Column("credit", sa.Double(), nullable=True),
        sa.Column("seconds", sa.Double(), nullable=True),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        refer_within_workspace("ledger", "member_id", "member"),
        refer("ledger", "round_id", "round"),
        sa.UniqueConstraint("key", name="uq_ledger_key"),
    )
    op.create_index("ix_ledger_board", "ledger", ["workspace_id", "at"])
    op.create_index("ix_ledger_member", "ledger", ["member_id", "at"])
    op.create_index("ix_ledger_round", "ledger", ["round_id", "member_id"])
    op.create_table(
        "streak_grace",
        sa.Column("round_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        refer("streak_grace", "member_id", "member"),
        refer("streak_grace", "round_id", "round"),
        sa.PrimaryKeyConstraint("round_id", "member_id", name="pk_streak_grace"),
    )
    op.create_table(
        "hint_taken",
        sa.Column("round_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        refer("hint_taken", "member_id", "member"),
        refer("hint_taken", "round_id", "round"),
        sa.PrimaryKeyConstraint("round_id", "member_id", name="pk_hint_taken"),
    )
    op.create_table(
        "member_variant",
        *[sa.Column(name, sa.BigInteger(), nullable=False) for name in ("round_id", "member_id", "version_id")],
        refer("member_variant", "member_id", "member"),
        refer("member_variant", "round_id", "round"),
        refer("member_variant", "version_id", "question_version"),
        sa.PrimaryKeyConstraint("round_id", "member_id", name="pk_member_variant"),
    )
    op.create_table(
        "card",
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("state", JSONB(), nullable=False),
        sa.Column("due", INSTANT, nullable=False),
        sa.Column("reviews", sa.BigInteger(), server_default="0", nullable=False),
        refer("card", "member_id", "member"),
        refer("card", "question_id", "question"),
        sa.PrimaryKeyConstraint("member_id", "question_id", name="pk_card"),
    )
    op.create_index("ix_card_due", "card", ["member_id", "due", "question_id"])


def _create_links() -> None:
    op.create_table(
        "link_code",
        id_column(),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.CheckConstraint("what in ('chat', 'member')", name="what"),
        refer("link_code", "chat_id", "chat"),
        refer("link_code", "member_id", "member"),
        refer("link_code", "workspace_id", "workspace"),
        sa.UniqueConstraint("digest", name="uq_link_code_digest"),
    )
    op.create_table(
        "link_guess",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        refer("link_guess", "workspace_id", "workspace"),
    )
    op.create_index("ix_link_guess_workspace", "link_guess", ["workspace_id", "at"])
    op.create_table(
        "installation",
        id_column(),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("enterprise", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("about", JSONB(), nullable=False),
        sa.Column("token", sa.LargeBinary(), nullable=True),
        sa.Column("refresh", sa.LargeBinary(), nullable=True),
        sa.Column("expires_at", INSTANT, nullable=True),
        sa.Column("installed_at", INSTANT, nullable=False),
        sa.Column("leased_until", INSTANT, nullable=True),
        sa.Column("revoked_at", INSTANT, nullable=True),
        sa.UniqueConstraint("platform", "enterprise", "team", name="uq_installation_platform_enterprise_team"),
    )
    op.create_table(
        "oauth_state",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_oauth_state"),
    )
    op.create_table(
        "sandbox_device",
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("seen_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("device", name="pk_sandbox_device"),
    )


def _create_reference_indexes() -> None:
    for table, *columns in REFERENCES:
        for column in columns:
            op.create_index(f"ix_{table}_{column}", table, [column])


def _create_triggers() -> None:
    op.execute(REFUSE_CHANGE)
    for table in APPEND_ONLY:
        op.execute(
            f"create trigger append_only before update or delete on {table} "
            "for each row execute function refuse_change()"
        )
        op.execute(
            f"create trigger never_emptied before truncate on {table} "
            "for each statement execute function refuse_change()"
        )
    op.execute(NOTIFY_OUTBOX)
    op.execute(
        "create trigger tell_waiting after insert or update of state on outbox "
        "for each statement execute function tell_outbox()"
    )


def _run_script(script: str) -> None:
    # Past SQLAlchemy: the script holds many statements, and percent signs that are not parameters.
    connection = op.get_bind().connection.driver_connection
    assert connection is not None, "alembic runs on a live connection"
    connection.execute(script)
