"""Collects the statements that a use case sends, and counts what a query reads, for tests that neither grows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Select, event
from sqlalchemy.engine import Engine
from sqlalchemy.ext.asyncio import AsyncSession


@contextmanager
def counted() -> Iterator[list[str]]:
    """Collects the statements sent to any database. One that is executed for each of many rows counts as so many."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, executemany: bool) -> None:
        # One that inserts many rows by its own VALUES is also called executemany, with all of their parameters.
        each = executemany and not isinstance(parameters, Mapping)
        sent.extend([statement] * (len(parameters) if each else 1))

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


async def blocks_of(session: AsyncSession, query: Select[*tuple[Any, ...]]) -> int:
    """Returns how many blocks the database looks at for a query."""
    compiled = query.compile(dialect=session.get_bind().dialect, compile_kwargs={"render_postcompile": True})
    explain = f"explain (analyze, buffers, format json) {compiled}"
    explained = await (await session.connection()).exec_driver_sql(explain, compiled.params)
    plan = explained.scalar_one()[0]["Plan"]
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
