"""Creates the tables of the private messages that members opt in to."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from service.store.migrations.columns import INSTANT


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
