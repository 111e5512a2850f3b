"""The engine and its sessions: how the service reaches Postgres. Who opens a transaction, and when, is the caller's."""

from __future__ import annotations

from typing import cast

from psycopg import AsyncConnection
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

Sessions = async_sessionmaker[AsyncSession]

DRIVER = "postgresql+psycopg"


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
