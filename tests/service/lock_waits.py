"""Waits until calls wait for a lock that the test holds."""

from __future__ import annotations

import asyncio
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession


async def until_locked_out(session: AsyncSession, *calling: asyncio.Task[Any]) -> None:
    """Returns when each of the calls waits for a lock of this session."""
    waiting = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    while await session.scalar(text(waiting)) < len(calling):
        assert not any(call.done() for call in calling)
        await session.execute(text("select pg_stat_clear_snapshot()"))
