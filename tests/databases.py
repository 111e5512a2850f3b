"""Databases for tests: a PostgreSQL for the run, and migrated databases that are wiped and reused."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import count
from os import environ, getpid
from pathlib import Path
from traceback import extract_stack
from typing import Any, ClassVar, cast
from warnings import warn

import psycopg
from psycopg.pq import ExecStatus, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult
from psycopg.sql import SQL, Identifier
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import (
    AsyncAdapt_psycopg_connection,
    PGDialect_psycopg,
    PGDialectAsync_psycopg,
)
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine

from service.store import migrations
from service.store.session import libpq_url, start_postgres

_CATALOGS = (
    ("pg_class", "oid"),
    ("pg_attribute", "attrelid"),
    ("pg_attrdef", "oid"),
    ("pg_constraint", "oid"),
    ("pg_event_trigger", "oid"),
    ("pg_index", "indexrelid"),
    ("pg_namespace", "oid"),
    ("pg_proc", "oid"),
    ("pg_rewrite", "oid"),
    ("pg_sequence", "seqrelid"),
    ("pg_trigger", "oid"),
    ("pg_type", "oid"),
)
"""Catalogs in which a schema change leaves a new row version, with the column of the object's id."""

_FIRST_OBJECT = 16384
"""Lower ids belong to PostgreSQL itself."""

_TERMINATE = (
    b"select pg_terminate_backend(pid, 5000) from pg_stat_activity "
    b"where datname = current_database() and pid <> pg_backend_pid()"
)
_TABLES = "select schemaname, tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema')"
_RESTART_SEQUENCES = (
    b"select setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) "
    b"from pg_sequences where last_value is not null"
)
_RESET = (
    b"select pg_advisory_unlock_all()",
    b"unlisten *",
    b"close all",
    b"discard temp",
    b"reset session authorization",
    b"reset all",
)
"""What `discard all` does, except that prepared statements stay: psycopg remembers which it has prepared."""


@contextmanager
def server_running() -> Iterator[str]:
    """Yields the URL of a PostgreSQL: the server in DATABASE_URL, or an embedded one."""
    if url := environ.get("DATABASE_URL"):
        yield libpq_url(url)
        return
    with tempfile.TemporaryDirectory(prefix="dailygrad-pg-") as folder:
        Path(folder).chmod(0o711)
        server = start_postgres(Path(folder) / "data")
        try:
            url = libpq_url(server.url)
            with connected(url) as connection:
                # Nothing outlives the run, so nothing needs to be flushed to disk.
                for setting in ("fsync = off", "synchronous_commit = off", "full_page_writes = off"):
                    connection.execute(f"alter system set {setting}".encode())
                connection.execute("alter system set file_copy_method = clone")
                # If PostgreSQL analyzes tables just after a test's rows were deleted, it plans the queries of the next
                # test for empty tables, and they can take a thousand times as long.
                connection.execute("alter system set autovacuum_analyze_threshold = 2000000000")
                connection.execute("select pg_reload_conf()")
            yield url
        finally:
            server.stop()


@contextmanager
def connected(url: str) -> Iterator[psycopg.Connection]:
    """Returns an autocommit connection."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


@asynccontextmanager
async def tables_locked(url: str, *tables: str) -> AsyncIterator[None]:
    """Locks these tables, or all, until the block exits: queries that use them wait.

    Takes every lock at once or none, again and again: waiting for one table while holding another can deadlock with
    the service, which uses them in another order.
    """
    async with await psycopg.AsyncConnection.connect(libpq_url(url)) as connection:
        rows = await connection.execute("select tablename from pg_tables where schemaname = 'public'")
        names = SQL(", ").join(Identifier(table) for table in tables or [table for (table,) in await rows.fetchall()])
        locks = SQL("lock table {} in access exclusive mode nowait").format(names)
        while True:
            await connection.rollback()
            with suppress(psycopg.errors.LockNotAvailable):
                await connection.execute(locks)
                break
        yield
        await connection.rollback()


def name_openers() -> None:
    """Makes psycopg say who opened a connection that nobody closed: it is collected much later, in another test."""

    def opened(self: Any, *values: Any) -> None:
        self.opened_by = environ.get("PYTEST_CURRENT_TEST"), asyncio.current_task(), extract_stack(limit=20)
        made(self, *values)

    def collected(self: Any, warn: Callable[..., None] = warn) -> None:
        def say(problem: str, kind: type[Warning]) -> None:
            test, task, stack = self.opened_by
            warn(f"{problem}\nIt was opened in {test} by {task} in\n{''.join(stack.format())}", kind)

        dropped(self, say)

    connection: Any = psycopg.AsyncConnection
    made, dropped = connection.__init__, connection.__del__
    connection.__init__, connection.__del__ = opened, collected


_kept: dict[str, psycopg.AsyncConnection] = {}
"""Open connections that no test uses, by their database. The server has read the catalogs for them, which takes it most
of the time of a short test."""


def _keep(connection: psycopg.AsyncConnection) -> bool:
    """Keeps the connection open for the next test, unless it is broken, or its database has one already."""
    database = connection.info.dbname
    if connection.info.transaction_status != TransactionStatus.IDLE or database in _kept:
        return False
    _kept[database] = connection
    return True


def _reuse(database: str) -> psycopg.AsyncConnection | None:
    """Returns the connection that was kept for this database, if the server has not ended it."""
    connection = _kept.pop(database, None)
    if connection is not None:
        # It may have been waited for in the event loop of another test.
        connection.lock = asyncio.Lock()
    return connection


def _forget(database: str) -> None:
    """Closes the connection that was kept for this database."""
    connection = _kept.pop(database, None)
    if connection is not None:
        connection.pgconn.finish()


def keep_connections(engine: AsyncEngine) -> None:
    """Has the engine, which the caller is about to close, leave a connection to the next test.

    For fixtures only: what tests close themselves is closed.
    """
    cast(SharedStatements, engine.sync_engine.dialect).keeps_connections = True


class SharedStatements(PGDialectAsync_psycopg):
    """The asynchronous dialect, whose engines share their compiled statements.

    Each test has an engine of its own, and compiling every statement again took a fifth of its time.
    """

    supports_statement_cache = True
    compiled: ClassVar[dict[Any, Any]] = {}
    keeps_connections = False
    """Whether connections that are closed now are kept open for the next test of their database."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)  # compiled statements are found by their dialect

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        engine.update_execution_options(compiled_cache=cls.compiled)

    def connect(self, *cargs: Any, **cparams: Any) -> DBAPIConnection:
        """Connects, or returns a connection to the same database that an earlier test has left."""

        async def open_or_reuse(*args: Any, **values: Any) -> psycopg.AsyncConnection:
            return _reuse(values.get("dbname", "")) or await psycopg.AsyncConnection.connect(*args, **values)

        return super().connect(*cargs, async_creator_fn=open_or_reuse, **cparams)

    def do_close(self, dbapi_connection: DBAPIConnection) -> None:
        driver = cast(AsyncAdapt_psycopg_connection, dbapi_connection).driver_connection
        if not (self.keeps_connections and _keep(driver)):
            super().do_close(dbapi_connection)  # type: ignore[no-untyped-call]


class Dialect(PGDialect_psycopg):
    """The dialect of `postgresql+psycopg` URLs in tests."""

    supports_statement_cache = True

    @classmethod
    def get_async_dialect_cls(cls, url: URL) -> type[SharedStatements]:
        return SharedStatements


registry.register("postgresql.psycopg", __name__, Dialect.__name__)


class Databases:
    """Creates databases on a server. `lend` and `take_back` recycle migrated ones.

    A recycled database is wiped: its connections are closed, its rows deleted and its sequences restarted. If its
    schema has changed, it is dropped instead.
    """

    def __init__(self, server_url: str) -> None:
        self._server_url = server_url
        self._numbers = count(1)
        self._idle: list[str] = []
        self._template = f"dailygrad_template_{getpid()}"
        self._template_made = False
        self._schema = ""
        self._wipe: list[bytes] = []
        self._migrated: list[bytes] = []

    def url(self, name: str) -> str:
        """Returns the URL of a database."""
        return make_url(self._server_url).set(database=name).render_as_string(hide_password=False)

    def make(self, template: str = "template0") -> str:
        """Creates a database, empty by default, and returns its name."""
        name = f"dailygrad_test_{getpid()}_{next(self._numbers)}"
        self._create(name, template)
        return name

    def drop(self, name: str) -> None:
        """Drops a database and closes its connections."""
        _forget(name)
        with connected(self._server_url) as connection:
            connection.execute(SQL("drop database if exists {} with (force)").format(Identifier(name)))

    def lend(self) -> str:
        """Returns the name of a database that is migrated and empty."""
        if not self._template_made:
            self._make_template()
        return self._idle.pop() if self._idle else self.make(self._template)

    def take_back(self, name: str) -> None:
        """Wipes a lent database for the next test, or drops it if that is not possible."""
        try:
            wiped = self._wiped(name)
        except psycopg.OperationalError:
            # A failed test can leave a database that refuses connections.
            wiped = False
        if wiped:
            self._idle.append(name)
        else:
            self.drop(name)

    def close(self) -> None:
        """Drops the remaining databases."""
        for name in [*self._idle, self._template] if self._template_made else ():
            self.drop(name)

    def _create(self, name: str, template: str) -> None:
        with connected(self._server_url) as connection:
            # Copying files takes half the time of writing every page to the WAL.
            made = SQL("create database {} template {} strategy file_copy")
            connection.execute(made.format(Identifier(name), Identifier(template)))

    def _make_template(self) -> None:
        self._create(self._template, "template0")
        self._template_made = True
        migrations.upgrade(self.url(self._template))
        with connected(self.url(self._template)) as connection:
            for schema, table in connection.execute(_TABLES).fetchall():
                named = Identifier(schema, table)
                filled = connection.execute(SQL("select exists (select from {})").format(named)).fetchone()
                if filled == (True,):
                    rows = SQL("select coalesce(string_agg(t::text, ',' order by t::text), '') from {} t")
                    self._migrated.append(rows.format(named).as_bytes(connection))
                else:
                    self._wipe.append(SQL("delete from {}").format(named).as_bytes(connection))
            self._schema = self._state(connection.pgconn)
            superuser = connection.execute("select rolsuper from pg_roles where rolname = current_user").fetchone()
        if superuser != (True,):
            self._wipe.clear()

    def _state(self, connection: PGconn) -> str:
        """Returns the versions of the schema's objects, the rows inserted by migrations, and how many tables were found
        empty by `analyze` though they take room: plans made for no rows suit no others."""
        versions = " union all ".join(
            f"select concat_ws(' ', '{catalog}', {number}, ctid, xmin) from {catalog} where {number} >= {_FIRST_OBJECT}"
            for catalog, number in _CATALOGS
        )
        settings = (
            "select concat_ws(' ', (select count(*) from pg_db_role_setting s "
            "join pg_database d on d.oid = s.setdatabase where datname = current_database()), "
            "(select count(*) from pg_class "
            f"where oid >= {_FIRST_OBJECT} and relkind = 'r' and reltuples = 0 and relpages > 0))"
        )
        asked = [f"select sum(hashtextextended(version, 0))::text from ({versions}) as _ (version)".encode()]
        found = [_execute(connection, query).get_value(0, 0) for query in [*asked, settings.encode(), *self._migrated]]
        return repr(found)

    def _wiped(self, name: str) -> bool:
        if not self._wipe:
            return False
        if name in _kept:
            with suppress(psycopg.OperationalError):
                return self._wiped_by(_kept[name].pgconn)
            _forget(name)  # a test can end every connection
        with connected(self.url(name)) as connection:
            return self._wiped_by(connection.pgconn)

    def _wiped_by(self, connection: PGconn) -> bool:
        for query in _RESET:
            _execute(connection, query)
        _execute(connection, _TERMINATE)
        if self._state(connection) != self._schema:
            return False
        # Append-only tables have triggers, which are not fired on a replica.
        _execute(connection, b"set session_replication_role = replica;" + b";".join(self._wipe))
        _execute(connection, _RESTART_SEQUENCES)
        _execute(connection, b"reset all")
        return True


def _execute(connection: PGconn, query: bytes) -> PGresult:
    """Executes the query, also on a connection of another event loop. Raises psycopg.Error."""
    result = connection.exec_(query)
    if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
        raise psycopg.OperationalError(connection.get_error_message())
    return result
