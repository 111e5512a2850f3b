"""Creates the tables of the web chat, and the notification of its changes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from service.store.migrations.columns import INSTANT, id_column, refer

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


def _of_person(table: str, column: str) -> sa.ForeignKeyConstraint:
    """Returns a foreign key to a person of the same chat."""
    person = ["web_person.chat_id", "web_person.id"]
    return sa.ForeignKeyConstraint(["chat_id", column], person, name=f"fk_{table}_{column}_web_person")
