"""Families: what is drawn from one lies beside its version, told apart by its number."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

OLD = "uq_question_version_question_id_version"
NEW = "uq_question_version_question_id_version_drawing"


def upgrade() -> None:
    op.add_column("question_version", sa.Column("drawing", sa.BigInteger(), server_default="0", nullable=False))
    op.add_column("question_version", sa.Column("family", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.drop_constraint(OLD, "question_version")
    op.create_unique_constraint(NEW, "question_version", ["question_id", "version", "drawing"])


def downgrade() -> None:
    # What was drawn was asked: it stays, as versions far beyond any a document reaches.
    op.execute("update question_version set version = version * 1000000 + drawing where drawing > 0")
    op.drop_constraint(NEW, "question_version")
    op.create_unique_constraint(OLD, "question_version", ["question_id", "version"])
    op.drop_column("question_version", "family")
    op.drop_column("question_version", "drawing")
