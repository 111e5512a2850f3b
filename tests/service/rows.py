"""Reads everything a database holds without the product's code, to compare one database with another."""

from __future__ import annotations

import psycopg
from psycopg import sql

from service.store.session import libpq_url

Rows = dict[str, list[str]]


def all_rows(url: str) -> Rows:
    """Returns every row of every table as JSON with sorted fields, by table."""
    with psycopg.connect(libpq_url(url)) as connection:
        connection.execute("set timezone = 'UTC'")
        names = connection.execute("select tablename from pg_tables where schemaname = 'public' order by 1").fetchall()
        query = "select to_jsonb(rows)::text from {} rows order by 1"
        return {
            name: [row for (row,) in connection.execute(sql.SQL(query).format(sql.Identifier(name)))]
            for (name,) in names
        }


def sequences(url: str) -> dict[str, int | None]:
    """Returns the last value of each sequence."""
    with psycopg.connect(libpq_url(url)) as connection:
        return dict(connection.execute("select sequencename, last_value from pg_sequences").fetchall())
