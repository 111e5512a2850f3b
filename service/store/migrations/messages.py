"""Creates the tables of messages: outbox, inbox, audit log, bots, the web chat, and private notifications."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT, id_column, refer, refer_within_workspace


def create_messages() -> None:
    """Creates the outbox, the inbox of events that were processed, the audit log, and when maintenance was done."""
    op.create_table(
        "outbox",
        id_column(),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("member_id", sa.BigInteger(), nullable=True),
        sa.Column("round_id", sa.BigInteger(), nullable=True),
        sa.Column("edits_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("body", JSONB(), nullable=False),
        sa.Column("state", sa.String(), server_default="due", nullable=False),
        sa.Column("follower", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("attempt", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("due_at", INSTANT, nullable=False),
        sa.Column("not_before", INSTANT, nullable=False),
        sa.Column("give_up_at", INSTANT, nullable=True),
        sa.Column("claimed_until", INSTANT, nullable=True),
        sa.Column("taken_at", INSTANT, nullable=True),
        sa.Column("message_ref", sa.String(), nullable=True),
        sa.Column("sent_at", INSTANT, nullable=True),
        sa.Column("error", sa.String(), nullable=True),
        sa.CheckConstraint("(state = 'sent') = (message_ref is not null)", name="sent_has_a_reference"),
        sa.CheckConstraint("state in ('due', 'sending', 'uncertain', 'sent', 'skipped', 'lost')", name="state"),
        refer_within_workspace("outbox", "channel_id", "channel"),
        refer_within_workspace("outbox", "chat_id", "chat"),
        refer("outbox", "edits_id", "outbox"),
        refer_within_workspace("outbox", "member_id", "member"),
        refer("outbox", "round_id", "round"),
        refer("outbox", "workspace_id", "workspace"),
        sa.UniqueConstraint("key", name="uq_outbox_key"),
    )
    op.create_index("ix_outbox_round", "outbox", ["round_id"], postgresql_where=sa.text("round_id is not null"))
    op.create_index("ix_outbox_edits", "outbox", ["edits_id"], postgresql_where=sa.text("edits_id is not null"))
    op.create_index("ix_outbox_sent", "outbox", ["sent_at"], postgresql_where=sa.text("sent_at is not null"))
    unsent = "state in ('due', 'sending', 'uncertain')"
    may_be_head = f"{unsent} and not follower"
    ready_at = "greatest(not_before, claimed_until)"
    queue = (
        "chat_id",
        "coalesce(channel_id, 0)",
        "coalesce(member_id, 0)",
        "(kind = 'notice')",
        "(edits_id is not null)",
    )
    for name, columns, where in (
        ("queue", (*queue, "id"), unsent),
        ("followers", (*queue, "id"), "follower"),
        ("ready", ("platform", ready_at, "id"), may_be_head),
        ("turns", ("platform", "chat_id", ready_at, "id"), may_be_head),
        ("give_up", ("give_up_at",), "state = 'due'"),
    ):
        op.create_index(
            f"ix_outbox_{name}", "outbox", [sa.text(column) for column in columns], postgresql_where=sa.text(where)
        )
    op.create_table(
        "inbox",
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("event_id", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("call", sa.String(), nullable=False),
        sa.Column("reply", JSONB(), nullable=False),
        refer("inbox", "chat_id", "chat"),
        sa.PrimaryKeyConstraint("chat_id", "event_id", name="pk_inbox"),
    )
    # A few pages at any size, because rows come in the order of time.
    op.create_index("ix_inbox_at", "inbox", ["at"], postgresql_using="brin")
    op.create_table(
        "audit",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=True),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("detail", JSONB(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        refer("audit", "member_id", "member"),
        refer("audit", "workspace_id", "workspace"),
    )
    op.create_index("ix_audit_at", "audit", ["at"], postgresql_using="brin")
    op.create_table(
        "maintenance",
        sa.Column("task", sa.String(), nullable=False),
        sa.Column("done_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("task", name="pk_maintenance"),
    )


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


NOTIFY_WEB = """
create function tell_web() returns trigger language plpgsql as $$
begin
    perform pg_notify('dailygrad_web', '');
    return null;
end $$
"""


def create_web() -> None:
    """Creates the tables and the trigger."""
    op.create_table(
        "web_state",
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column("encrypted", sa.Boolean(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("sign_outs", sa.BigInteger(), nullable=False),
        refer("web_state", "chat_id", "chat"),
        sa.PrimaryKeyConstraint("chat_id", name="pk_web_state"),
    )
    op.create_table(
        "web_person",
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=True),
        sa.Column("folded", sa.String(), nullable=True),
        sa.Column("skeleton", sa.String(), nullable=True),
        sa.Column("admin", sa.Boolean(), nullable=False),
        sa.Column("joined_at", INSTANT, nullable=False),
        refer("web_person", "chat_id", "chat"),
        sa.PrimaryKeyConstraint("chat_id", "id", name="pk_web_person"),
        sa.UniqueConstraint("chat_id", "folded", name="uq_web_person_chat_id_folded"),
        sa.UniqueConstraint("chat_id", "skeleton", name="uq_web_person_chat_id_skeleton"),
    )
    op.create_index("ix_web_person_joined", "web_person", ["chat_id", "joined_at"])
    _create_messages()
    _create_sessions()
    op.execute(NOTIFY_WEB)
    op.execute(
        "create trigger tell_changes after insert or update on web_state for each statement execute function tell_web()"
    )


def _create_messages() -> None:
    op.create_table(
        "web_message",
        id_column(),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(), nullable=True),
        sa.Column("event", sa.String(), nullable=True),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("member", sa.String(), nullable=True),
        sa.Column("author", sa.String(), nullable=True),
        sa.Column("reply_to", sa.BigInteger(), nullable=True),
        sa.Column("answers", sa.BigInteger(), nullable=True),
        sa.Column("content", sa.String(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        refer("web_message", "chat_id", "chat"),
        _of_person("web_message", "author"),
        _of_person("web_message", "member"),
        sa.UniqueConstraint("chat_id", "version", name="uq_web_message_chat_id_version"),
        sa.UniqueConstraint("chat_id", "key", name="uq_web_message_chat_id_key"),
        sa.UniqueConstraint("chat_id", "event", name="uq_web_message_chat_id_event"),
    )
    op.create_index("ix_web_message_channel", "web_message", ["chat_id", "channel", "id"])
    op.create_index("ix_web_message_member", "web_message", ["chat_id", "member", "answers"])
    op.create_index("ix_web_message_author", "web_message", ["chat_id", "author", "at"])
    op.create_index("ix_web_message_at", "web_message", ["at"])


def _create_sessions() -> None:
    op.create_table(
        "web_session",
        id_column(),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.Column("began_at", INSTANT, nullable=False),
        sa.Column("used_at", INSTANT, nullable=False),
        _of_person("web_session", "person"),
        sa.UniqueConstraint("digest", name="uq_web_session_digest"),
    )
    op.create_index("ix_web_session_person", "web_session", ["chat_id", "person"])
    op.create_index("ix_web_session_used", "web_session", ["used_at"])
    op.create_table(
        "web_sign_in",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("until", INSTANT, nullable=False),
        _of_person("web_sign_in", "person"),
        sa.PrimaryKeyConstraint("digest", name="pk_web_sign_in"),
    )
    op.create_index("ix_web_sign_in_person", "web_sign_in", ["chat_id", "person"])
    op.create_table(
        "web_account",
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        _of_person("web_account", "person"),
        sa.PrimaryKeyConstraint("chat_id", "digest", name="pk_web_account"),
        sa.UniqueConstraint("chat_id", "person", name="uq_web_account_chat_id_person"),
    )


def _of_person(table: str, column: str) -> sa.ForeignKeyConstraint:
    """Returns a foreign key to a person of the same chat."""
    person = ["web_person.chat_id", "web_person.id"]
    return sa.ForeignKeyConstraint(["chat_id", column], person, name=f"fk_{table}_{column}_web_person")


def create_notifications() -> None:
    """Creates the settings of members and the reminders decided on."""
    op.create_table(
        "notification_setting",
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("reminders", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("results", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("refused", sa.String(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_notification_setting_member_id_member"),
        sa.ForeignKeyConstraint(["chat_id"], ["chat.id"], name="fk_notification_setting_chat_id_chat"),
        sa.PrimaryKeyConstraint("member_id", name="pk_notification_setting"),
    )
    op.create_index("ix_notification_setting_chat_id", "notification_setting", ["chat_id"])
    op.create_table(
        "reminder",
        sa.Column("round_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["round_id"], ["round.id"], name="fk_reminder_round_id_round"),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_reminder_member_id_member"),
        sa.PrimaryKeyConstraint("round_id", "member_id", name="pk_reminder"),
    )
    op.create_index("ix_reminder_member_id", "reminder", ["member_id"])
