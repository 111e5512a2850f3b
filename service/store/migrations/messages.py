"""Creates the tables of what comes in and goes out: the outbox, the inbox and the audit log."""

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
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        sa.Column("member_id", sa.BigInteger(), nullable=True),
        sa.Column("round_id", sa.BigInteger(), nullable=True),
        sa.Column("edits_id", sa.BigInteger(), nullable=True),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("body", JSONB(), nullable=False),
        sa.Column("state", sa.String(), server_default="due", nullable=False),
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
    op.create_index(
        "ix_outbox_queue",
        "outbox",
        [
            "chat_id",
            sa.text("coalesce(channel_id, 0)"),
            sa.text("coalesce(member_id, 0)"),
            sa.text("(kind = 'notice')"),
            sa.text("(edits_id is not null)"),
            "id",
        ],
        postgresql_where=sa.text("state in ('due', 'sending', 'uncertain')"),
    )
    op.create_index(
        "ix_outbox_waiting",
        "outbox",
        ["not_before"],
        postgresql_where=sa.text("state in ('due', 'sending', 'uncertain')"),
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
