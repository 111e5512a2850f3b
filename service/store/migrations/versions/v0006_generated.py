"""Questions made of a document's own sentences: which wait for approval, and what each workspace does with new ones."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("question", sa.Column("held", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.add_column("workspace", sa.Column("generated", sa.String(), server_default="use", nullable=False))


def downgrade() -> None:
    op.drop_column("workspace", "generated")
    op.drop_column("question", "held")
