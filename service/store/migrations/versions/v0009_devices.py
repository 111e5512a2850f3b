"""Where the sandboxes can compute, so that a question for a GPU is asked where there is one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sandbox_device",
        sa.Column("device", sa.String(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("device", name="pk_sandbox_device"),
    )


def downgrade() -> None:
    op.drop_table("sandbox_device")
