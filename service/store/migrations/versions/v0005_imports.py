"""Imports: what each did to each question, where questions stand now, and the ids that edited prompts make."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("question", sa.Column("place", JSONB(), nullable=True))
    op.add_column("bank_import", sa.Column("document", sa.String(), server_default="", nullable=False))
    op.add_column("bank_import", sa.Column("undoes", sa.BigInteger(), nullable=True))
    op.create_foreign_key("fk_bank_import_undoes_bank_import", "bank_import", "bank_import", ["undoes"], ["id"])
    op.create_table(
        "question_alias",
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["bank_id"], ["bank.id"], name="fk_question_alias_bank_id_bank"),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"], name="fk_question_alias_question_id_question"),
        sa.PrimaryKeyConstraint("bank_id", "key", name="pk_question_alias"),
    )
    op.create_table(
        "import_step",
        sa.Column("import_id", sa.BigInteger(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("version_before", sa.BigInteger(), nullable=True),
        sa.Column("version_after", sa.BigInteger(), nullable=False),
        sa.Column("retired_before", sa.Boolean(), nullable=False),
        sa.Column("retired_after", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["import_id"], ["bank_import.id"], name="fk_import_step_import_id_bank_import"),
        sa.ForeignKeyConstraint(["question_id"], ["question.id"], name="fk_import_step_question_id_question"),
        sa.PrimaryKeyConstraint("import_id", "question_id", name="pk_import_step"),
    )


def downgrade() -> None:
    op.drop_table("import_step")
    op.drop_table("question_alias")
    op.drop_constraint("fk_bank_import_undoes_bank_import", "bank_import")
    op.drop_column("bank_import", "undoes")
    op.drop_column("bank_import", "document")
    op.drop_column("question", "place")
