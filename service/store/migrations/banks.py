"""Creates the tables of banks: imports, questions and their versions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT, id_column, refer

_MARK = {
    "question": "select distinct bank_id from changed",
    "question_version": "select distinct bank_id from question where id in (select question_id from changed)",
}
"""Selects the banks that changes of each table are of."""


def create_banks() -> None:
    """Creates banks with their imports, and questions with their versions, aliases and retirements."""
    _create_banks()
    _create_changes()


def _create_changes() -> None:
    op.create_table(
        "bank_change",
        id_column(),
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column(
            "mark",
            sa.BigInteger(),
            server_default=sa.text("hashtextextended(gen_random_uuid()::text, 0)"),
            nullable=False,
        ),
        refer("bank_change", "bank_id", "bank"),
    )
    for table, banks in _MARK.items():
        op.execute(
            f"create function mark_{table}() returns trigger language plpgsql as "
            f"$$ begin insert into bank_change (bank_id) {banks}; return null; end $$"
        )
        for event, rows in (("insert", "new"), ("update", "new"), ("delete", "old")):
            op.execute(
                f"create trigger mark_{event} after {event} on {table} referencing {rows} table as changed "
                f"for each statement execute function mark_{table}()"
            )


def _create_banks() -> None:
    op.create_table(
        "bank",
        id_column(),
        sa.Column("workspace_id", sa.BigInteger(), nullable=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("license", sa.String(), server_default="", nullable=False),
        sa.Column("recipe", sa.String(), server_default="", nullable=False),
        refer("bank", "workspace_id", "workspace"),
        sa.UniqueConstraint(
            "workspace_id", "name", name="uq_bank_workspace_id_name", postgresql_nulls_not_distinct=True
        ),
    )
    op.create_table(
        "bank_import",
        id_column(),
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("summary", JSONB(), nullable=False),
        sa.Column("document", sa.String(), server_default="", nullable=False),
        sa.Column("undoes", sa.BigInteger(), nullable=True),
        refer("bank_import", "bank_id", "bank"),
        refer("bank_import", "undoes", "bank_import"),
    )
    op.create_table(
        "question",
        id_column(),
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("current", sa.BigInteger(), nullable=False),
        sa.Column("retired_at", INSTANT, nullable=True),
        sa.Column("place", JSONB(), nullable=True),
        sa.Column("held", sa.Boolean(), server_default=sa.false(), nullable=False),
        refer("question", "bank_id", "bank"),
        sa.UniqueConstraint("bank_id", "key", name="uq_question_bank_id_key"),
    )
    op.create_table(
        "import_step",
        sa.Column("import_id", sa.BigInteger(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("version_before", sa.BigInteger(), nullable=True),
        sa.Column("version_after", sa.BigInteger(), nullable=False),
        sa.Column("retired_before", sa.Boolean(), nullable=False),
        sa.Column("retired_after", sa.Boolean(), nullable=False),
        refer("import_step", "import_id", "bank_import"),
        refer("import_step", "question_id", "question"),
        sa.PrimaryKeyConstraint("import_id", "question_id", name="pk_import_step"),
    )
    op.create_table(
        "question_alias",
        sa.Column("bank_id", sa.BigInteger(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        refer("question_alias", "bank_id", "bank"),
        refer("question_alias", "question_id", "question"),
        sa.PrimaryKeyConstraint("bank_id", "key", name="pk_question_alias"),
    )
    op.create_table(
        "question_version",
        id_column(),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("drawing", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("family", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("level", sa.String(), nullable=True),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("answered", sa.Boolean(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("body", JSONB(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        refer("question_version", "question_id", "question"),
        sa.UniqueConstraint(
            "question_id", "version", "drawing", name="uq_question_version_question_id_version_drawing"
        ),
    )
    op.create_table(
        "retirement",
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        refer("retirement", "question_id", "question"),
        refer("retirement", "workspace_id", "workspace"),
        sa.PrimaryKeyConstraint("workspace_id", "question_id", name="pk_retirement"),
    )
