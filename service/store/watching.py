"""How the database is as a whole, read past every workspace: for whoever runs it. It changes nothing."""

from __future__ import annotations

from datetime import datetime

from psycopg import Connection


def size(connection: Connection) -> int:
    """Bytes the database takes on its server's disk."""
    row = connection.execute("select pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


def clock(connection: Connection) -> datetime:
    """The server's, at this very moment."""
    row = connection.execute("select clock_timestamp()").fetchone()
    assert row is not None, "a select without a table gives one row"
    now: datetime = row[0]
    return now


def is_led(connection: Connection, key: int) -> bool:
    """Whether somebody holds the advisory lock of that key."""
    query = (
        "select exists (select from pg_locks where locktype = 'advisory' and granted and classid = %s and objid = %s "
        "and database = (select oid from pg_database where datname = current_database()))"
    )
    row = connection.execute(query, (key >> 32, key & 0xFFFFFFFF)).fetchone()
    return bool(row and row[0])


def awaited(connection: Connection) -> int:
    """How many schedules and jobs need a worker."""
    query = (
        "select (select count(*) from schedule where removed_at is null and paused_at is null) + "
        "(select count(*) from procrastinate_jobs where status = 'todo' and coalesce(scheduled_at, now()) <= now())"
    )
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0
