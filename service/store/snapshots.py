"""What backups need from PostgreSQL: the tables of a database, emptying it, and running the SQL of a restore.

Reads the catalog, not the models, so that it also works on databases of other revisions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from typing import Any

from psycopg import Connection

from service.store.tables import Base

JOBS = "procrastinate_"
"""Prefix of the job queue's tables."""
VERSION = "alembic_version"

CORE = frozenset({"workspace", "question", "round", "answer", "ledger"})
"""Tables that every version has."""

_TABLES = """
select relname from pg_class
where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
    and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
order by relname"""

_OTHERS = """
select count(*) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null"""

_CLEAR = """
do $$
declare found text;
begin
    for found in select format('drop table if exists %s cascade', oid::regclass) from pg_class
        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p')
        and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e') loop
        execute found;
    end loop;
    for found in select format('drop function if exists %s cascade', oid::regprocedure) from pg_proc
        where pronamespace = current_schema()::regnamespace and prokind = 'f'
        and not exists (select from pg_depend where objid = pg_proc.oid and deptype = 'e') loop
        execute found;
    end loop;
    for found in select format('drop type if exists %s cascade', oid::regtype) from pg_type
        where typnamespace = current_schema()::regnamespace and (typtype = 'e' or typtype = 'c' and exists
            (select from pg_class where pg_class.oid = typrelid and relkind = 'c'))
        and not exists (select from pg_depend where objid = pg_type.oid and deptype = 'e') loop
        execute found;
    end loop;
end $$"""

_COPY = re.compile(rb"COPY .* FROM stdin;\n")
_END_OF_ROWS = b"\\.\n"
_CLIENT_ONLY = re.compile(rb"\\(un)?restrict |SET transaction_timeout = ")
"""Lines that only psql understands, and a parameter that servers before PostgreSQL 17 do not have."""


def is_ours(name: str) -> bool:
    """Returns whether a table of that name belongs to Dailygrad."""
    return name in Base.metadata.tables or name.startswith(JOBS) or name == VERSION


def ours(connection: Connection) -> tuple[str, ...]:
    """Returns the names of Dailygrad's tables."""
    return tuple(name for (name,) in connection.execute(_TABLES.encode()) if is_ours(name))


def foreign(connection: Connection) -> tuple[str, ...]:
    """Returns the names of tables in Dailygrad's schema that belong to another program."""
    return tuple(name for (name,) in connection.execute(_TABLES.encode()) if not is_ours(name))


def schema(connection: Connection) -> str:
    """Returns the name of the schema that holds Dailygrad's tables."""
    row = connection.execute("select current_schema()").fetchone()
    return str(row[0]) if row and row[0] else "public"


def revision(connection: Connection) -> str | None:
    """Returns the database's revision, or None if it has none of Dailygrad's tables."""
    there = connection.execute("select to_regclass(%s)", (VERSION,)).fetchone()
    if there is None or there[0] is None:
        return None
    row = connection.execute("select version_num from alembic_version").fetchone()
    return None if row is None else str(row[0])


def server_version(connection: Connection) -> str:
    """Returns the server's version, such as 16.4."""
    return str(connection.info.parameter_status("server_version") or "").split(" ")[0]


def others(connection: Connection) -> int:
    """Returns the number of other connections to the database."""
    row = connection.execute(_OTHERS.encode()).fetchone()
    return int(row[0]) if row else 0


def clear(connection: Connection) -> None:
    """Drops every table, function and type of the schema, except those of extensions."""
    connection.execute(_CLEAR.encode())


def run_script(connection: Connection, lines: Iterable[bytes]) -> int:
    """Runs SQL as pg_restore writes it, in the connection's transaction. Returns the number of rows it copied."""
    remaining, statements, rows = iter(lines), bytearray(), 0
    for line in remaining:
        if _COPY.fullmatch(line):
            connection.execute(bytes(statements))
            statements.clear()
            with connection.cursor() as cursor:
                with cursor.copy(line.rstrip(b";\n")) as copy:
                    for row in takewhile(lambda row: row != _END_OF_ROWS, remaining):
                        copy.write(row)
                rows += cursor.rowcount
        elif not _CLIENT_ONLY.match(line):
            statements += line
    connection.execute(bytes(statements))
    # The script empties the search path, among others.
    connection.execute("reset all")
    return rows


def raw(connection: Any) -> Connection:
    """Returns psycopg's connection under an SQLAlchemy connection."""
    found = connection.connection.driver_connection
    assert isinstance(found, Connection)
    return found
