"""Waits until a call waits for a lock that the test holds."""

from __future__ import annotations

import asyncio
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


async def until_locked_out(session: AsyncSession, calling: asyncio.Task[Any]) -> None:
    """Returns when the call waits for a lock of this session."""
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    while not await session.scalar(text(waiting)):
        assert not calling.done()
        await session.execute(text("select pg_stat_clear_snapshot()"))
