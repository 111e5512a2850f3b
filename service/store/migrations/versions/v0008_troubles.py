"""When a message was first handed out, what troubles a workspace has, and the ways to find both quickly."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
OPEN = sa.text("over_at is null")


def upgrade() -> None:
    op.add_column("outbox", sa.Column("taken_at", INSTANT, nullable=True))
    op.create_index("ix_outbox_round", "outbox", ["round_id"], postgresql_where=sa.text("round_id is not null"))
    op.create_index("ix_outbox_sent", "outbox", ["sent_at"], postgresql_where=sa.text("sent_at is not null"))
    op.create_table(
        "trouble",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("subject", sa.BigInteger(), nullable=False),
        sa.Column("detail", JSONB(), nullable=False),
        sa.Column("since", INSTANT, nullable=False),
        sa.Column("over_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_trouble_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_trouble"),
        sa.CheckConstraint("what in ('late', 'refused', 'sandbox', 'revoked')", name="ck_trouble_what"),
    )
    op.create_index(
        "uq_trouble_open", "trouble", ["workspace_id", "what", "subject"], unique=True, postgresql_where=OPEN
    )


def downgrade() -> None:
    op.drop_table("trouble")
    op.drop_index("ix_outbox_sent", "outbox")
    op.drop_index("ix_outbox_round", "outbox")
    op.drop_column("outbox", "taken_at")
