"""A process shows that it lives: its loop touches a file, which `alive` looks at."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

from service.healthcheck import VARIABLE

EVERY_S = 3.0


@contextlib.asynccontextmanager
async def send_heartbeats(path: Path | None = None) -> AsyncIterator[None]:
    """Touch the file (that of DAILYGRAD_ALIVE_FILE, if none is named) while the loop of this process goes round."""
    named = os.environ.get(VARIABLE)
    path = path or (Path(named) if named else None)
    if path is None:
        yield
        return
    path.touch()
    task = asyncio.create_task(_beat(path))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        path.unlink(missing_ok=True)


async def _beat(path: Path) -> None:
    while True:
        path.touch()  # noqa: ASYNC240 - in memory, and it is this loop that is to be seen going round
        await asyncio.sleep(EVERY_S)
