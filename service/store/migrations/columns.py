"""Columns, indexes and foreign keys that the tables of every area have."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

INSTANT = sa.DateTime(timezone=True)


def id_column() -> sa.Column[int]:
    """Returns the primary key of a table whose rows are numbered by the database."""
    return sa.Column("id", sa.BigInteger(), sa.Identity(always=True), primary_key=True)


def index(table: str, *columns: str) -> None:
    """Creates one index for each column."""
    for column in columns:
        op.create_index(f"ix_{table}_{column}", table, [column])


def refer(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    """Returns a foreign key to the id of another table."""
    return sa.ForeignKeyConstraint([column], [f"{other}.id"], name=f"fk_{table}_{column}_{other}")


def refer_within_workspace(table: str, column: str, other: str) -> sa.ForeignKeyConstraint:
    """Returns a foreign key that cannot leave the workspace. It is deferrable for the transaction that moves everything
    of one workspace into another."""
    return sa.ForeignKeyConstraint(
        [column, "workspace_id"],
        [f"{other}.id", f"{other}.workspace_id"],
        name=f"fk_{table}_{column}_{other}",
        deferrable=True,
        initially="IMMEDIATE",
    )
