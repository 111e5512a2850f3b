"""What a database holds, read without any code of ours: for comparing one with another."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection
from typing import Any

import psycopg
from psycopg import sql

from service.store.session import libpq_url

Rows = dict[str, list[str]]

RENAMED = {("inbox", "workspace_id"): "chat_id"}
"""Columns that older versions called otherwise, and that held the same."""
MOVED = {("workspace", "platform"), ("workspace", "external_id"), ("member", "external_id")}
"""Columns of older versions whose content is in other tables now."""


def all_rows(url: str) -> Rows:
    """Every row of every table, each as JSON whose fields are in order, by table."""
    with psycopg.connect(libpq_url(url)) as connection:
        connection.execute("set timezone = 'UTC'")
        names = connection.execute("select tablename from pg_tables where schemaname = 'public' order by 1").fetchall()
        query = "select to_jsonb(rows)::text from {} rows order by 1"
        return {
            name: [row for (row,) in connection.execute(sql.SQL(query).format(sql.Identifier(name)))]
            for (name,) in names
        }


def sequences(url: str) -> dict[str, int | None]:
    """The number every sequence gave last."""
    with psycopg.connect(libpq_url(url)) as connection:
        return dict(connection.execute("select sequencename, last_value from pg_sequences").fetchall())


def columns(url: str) -> set[tuple[str, str]]:
    """Every column of every table, by the name it has in this version."""
    with psycopg.connect(libpq_url(url)) as connection:
        found = connection.execute(
            "select table_name, column_name from information_schema.columns where table_schema = 'public'"
        ).fetchall()
    return {(str(table), RENAMED.get((table, name), str(name))) for table, name in found}


def lost(before: Rows, after: Rows, only: Collection[tuple[str, str]] | None = None) -> list[str]:
    """What was in a table and is nowhere in it any more; columns that are new do not count.

    With `only`, what is in other columns does not count either.
    """
    missing = []
    for table, rows in before.items():
        was = [_now_called(table, json.loads(row)) for row in rows]
        there = [json.loads(row) for row in after.get(table, [])]
        names = {name for row in was for name in row if (table, name) not in MOVED}
        if only is not None:
            names = {name for name in names if (table, name) in only}
        if table == "alembic_version" or not names:
            continue
        kept = {name for row in there for name in row}
        missing += [f"{table}.{name}" for name in sorted(names - kept) if there]
        missing += [f"{table}: {row}" for row in _counted(was, names) - _counted(there, names)]
    return missing


def _now_called(table: str, row: dict[str, Any]) -> dict[str, Any]:
    return {RENAMED.get((table, name), name): value for name, value in row.items()}


def _counted(rows: list[dict[str, Any]], names: set[str]) -> Counter[str]:
    return Counter(json.dumps({name: row.get(name) for name in names}, sort_keys=True) for row in rows)
