"""What a backup needs of PostgreSQL: which tables there are, their rows as text, and an empty database to put them in.

It reads the catalogue, not the models, so that a database of any revision can be taken and filled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any, TypeAlias

from psycopg import Connection, sql

from service.store.tables import Base

Buffer: TypeAlias = bytes | bytearray | memoryview

JOBS = "procrastinate_"
"""What the names of the queue's tables begin with."""
VERSION = "alembic_version"
"""The one table that is no part of a backup: it says at which revision the others are."""

ALIKE = (
    "set datestyle = 'ISO, YMD'",
    "set intervalstyle = 'postgres'",
    "set timezone = 'UTC'",
    "set extra_float_digits = 1",
    "set bytea_output = 'hex'",
    "set client_encoding = 'UTF8'",
)
"""So that the same rows are the same text, whatever server wrote them."""

_TABLES = """
select class.relname,
    (select array_agg(attname::text order by attname) from pg_attribute
        where attrelid = class.oid and attnum > 0 and not attisdropped and attgenerated = ''),
    coalesce((select array_agg(attname::text order by array_position(conkey, attnum)) from pg_constraint
        join pg_attribute on attrelid = conrelid and attnum = any(conkey)
        where conrelid = class.oid and contype = 'p'), '{}'),
    coalesce((select array_agg(distinct other.relname::text) from pg_constraint
        join pg_class other on other.oid = confrelid
        where conrelid = class.oid and contype = 'f' and confrelid <> conrelid), '{}'),
    pg_table_size(class.oid)
from pg_class class
where class.relnamespace = current_schema()::regnamespace and class.relkind in ('r', 'p')
    and not exists (select from pg_depend where objid = class.oid and deptype = 'e')
order by class.relname"""

_SEQUENCES = """
select class.relname, attname, pg_get_serial_sequence(quote_ident(class.relname), attname)
from pg_class class join pg_attribute on attrelid = class.oid and attnum > 0 and not attisdropped
where class.relnamespace = current_schema()::regnamespace and class.relkind in ('r', 'p')
    and pg_get_serial_sequence(quote_ident(class.relname), attname) is not null
order by 1, 2"""

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


@dataclass(frozen=True, slots=True)
class Table:
    """A table as it stands in the database."""

    name: str
    columns: tuple[str, ...]
    """By name, so that a column that was taken away and put back changes nothing."""
    key: tuple[str, ...]
    refers: frozenset[str]
    size: int
    """About how many bytes it takes on the server's disk."""


def is_ours(name: str) -> bool:
    """Whether a table of that name belongs to Dailygrad."""
    return name in Base.metadata.tables or name.startswith(JOBS) or name == VERSION


def tables(connection: Connection) -> tuple[Table, ...]:
    """Every table of ours, each after those it refers to; among equals by name."""
    found = {row[0]: row for row in connection.execute(_TABLES.encode()) if is_ours(row[0]) and row[0] != VERSION}
    order = TopologicalSorter({name: sorted(set(row[3]) & set(found)) for name, row in found.items()}).static_order()
    return tuple(
        Table(name, tuple(columns), tuple(key), frozenset(refers), size)
        for name, columns, key, refers, size in (found[name] for name in order)
    )


def foreign(connection: Connection) -> tuple[str, ...]:
    """Tables beside ours that are somebody else's."""
    return tuple(row[0] for row in connection.execute(_TABLES.encode()) if not is_ours(row[0]))


def revision(connection: Connection) -> str | None:
    """Where the database stands; None where nothing of ours is there."""
    there = connection.execute("select to_regclass(%s)", (VERSION,)).fetchone()
    if there is None or there[0] is None:
        return None
    row = connection.execute("select version_num from alembic_version").fetchone()
    return None if row is None else str(row[0])


def server_version(connection: Connection) -> str:
    """Such as 16.4."""
    return str(connection.info.parameter_status("server_version") or "").split(" ")[0]


def sequences(connection: Connection) -> dict[str, int]:
    """The number that was given last, by `table.column`; what never gave one is left out."""
    given = {}
    for table, column, name in connection.execute(_SEQUENCES.encode()).fetchall():
        row = connection.execute("select pg_sequence_last_value(%s::regclass)", (name,)).fetchone()
        if row is not None and row[0] is not None and is_ours(table):
            given[f"{table}.{column}"] = int(row[0])
    return given


def set_sequences(connection: Connection, given: Mapping[str, int]) -> None:
    """Go on from the numbers that were given, and never before one that a row bears."""
    for table, column, name in connection.execute(_SEQUENCES.encode()).fetchall():
        most = sql.SQL("select max({}) from {}").format(sql.Identifier(column), sql.Identifier(table))
        row = connection.execute(most).fetchone()
        last = max(given.get(f"{table}.{column}", 0), (row and row[0]) or 0)
        if last:
            connection.execute("select setval(%s, %s)", (name, last))


def copied_out(connection: Connection, table: Table) -> Iterator[Buffer]:
    """The rows in the order of their key, as lines of COPY's text format."""
    columns = sql.SQL(", ").join(map(sql.Identifier, table.columns))
    order = sql.SQL(", ").join(map(sql.Identifier, table.key or table.columns))
    query = sql.SQL("copy (select {} from {} order by {}) to stdout").format(columns, sql.Identifier(table.name), order)
    with connection.cursor() as cursor, cursor.copy(query) as copy:
        yield from copy


def emptied(connection: Connection, found: Iterable[Table]) -> None:
    """Take out what migrations put into the tables, and keep triggers still until `filled`."""
    for table in reversed(list(found)):
        name = sql.Identifier(table.name)
        connection.execute(sql.SQL("alter table {} disable trigger user").format(name))
        connection.execute(sql.SQL("delete from {}").format(name))


def copied_in(connection: Connection, table: str, columns: Iterable[str], blocks: Iterable[bytes]) -> int:
    """Put lines of COPY's text format into a table; how many rows that were."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    with connection.cursor() as cursor:
        with cursor.copy(sql.SQL("copy {} ({}) from stdin").format(sql.Identifier(table), names)) as copy:
            for block in blocks:
                copy.write(block)
        return cursor.rowcount


def filled(connection: Connection, found: Iterable[Table]) -> None:
    """Have triggers do their work again."""
    for table in found:
        connection.execute(sql.SQL("alter table {} enable trigger user").format(sql.Identifier(table.name)))


def others(connection: Connection) -> int:
    """How many others are connected to the database."""
    row = connection.execute(_OTHERS.encode()).fetchone()
    return int(row[0]) if row else 0


def clear(connection: Connection) -> None:
    """Drop every table, function and type of the schema that is no extension's."""
    connection.execute(_CLEAR.encode())


def raw(connection: Any) -> Connection:
    """psycopg's own connection under one of SQLAlchemy's."""
    found = connection.connection.driver_connection
    assert isinstance(found, Connection)
    return found
