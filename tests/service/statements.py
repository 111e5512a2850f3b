"""Collects the statements that a use case sends, and counts what a query reads, for tests that neither grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import psycopg
from sqlalchemy import Select, event
from sqlalchemy.engine import Engine
from sqlalchemy.ext.asyncio import AsyncSession


@contextmanager
def counted() -> Iterator[list[str]]:
    """Collects the statements sent to any database. One that is executed for each of many rows counts as so many.

    Of those that are sent without SQLAlchemy it collects the one that records an answer: the others keep the process's
    connections.
    """
    sent: list[str] = []
    execute = psycopg.AsyncConnection.execute

    async def note_direct(connection: Any, query: Any, *more: Any, **options: Any) -> Any:
        if "record_answer" in str(query):
            sent.append(query)
        return await execute(connection, query, *more, **options)

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, executemany: bool) -> None:
        # One that inserts many rows by its own VALUES is also called executemany, with all of their parameters.
        each = executemany and not isinstance(parameters, Mapping)
        sent.extend([statement] * (len(parameters) if each else 1))

    event.listen(Engine, "before_cursor_execute", note)
    psycopg.AsyncConnection.execute = note_direct  # type: ignore[method-assign, assignment]
    try:
        yield sent
    finally:
        psycopg.AsyncConnection.execute = execute  # type: ignore[method-assign]
        event.remove(Engine, "before_cursor_execute", note)


async def blocks_of(session: AsyncSession, query: Select[*tuple[Any, ...]]) -> int:
    """Returns how many blocks the database looks at for a query."""
    plan = await plan_of(session, query)
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])


async def plan_of(session: AsyncSession, query: Select[*tuple[Any, ...]]) -> dict[str, Any]:
    """Returns how the database executes a query, with what it measured."""
    compiled = query.compile(dialect=session.get_bind().dialect, compile_kwargs={"render_postcompile": True})
    explain = f"explain (analyze, buffers, format json) {compiled}"
    explained = await (await session.connection()).exec_driver_sql(explain, compiled.params)
    return cast("dict[str, Any]", explained.scalar_one()[0]["Plan"])
