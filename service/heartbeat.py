"""Heartbeats: the event loop touches a file, whose age `service.healthcheck` checks."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

from service.healthcheck import FILE_VARIABLE
from service.process import in_background

INTERVAL_SECONDS = 3.0
"""Interval between heartbeats."""


@contextlib.asynccontextmanager
async def send_heartbeats(path: Path | None = None) -> AsyncIterator[None]:
    """Touches the file, by default the one in DAILYGRAD_ALIVE_FILE, while the event loop runs in the block."""
    named = os.environ.get(FILE_VARIABLE)
    path = path or (Path(named) if named else None)
    if path is None:
        yield
        return
    path.touch()
    try:
        async with in_background(_beat(path)):
            yield
    finally:
        path.unlink(missing_ok=True)


async def _beat(path: Path) -> None:
    while True:
        path.touch()  # noqa: ASYNC240 - quick, and it must be the event loop that touches it
        await asyncio.sleep(INTERVAL_SECONDS)
