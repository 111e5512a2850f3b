"""Work that goes on beside a block and ends with it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any


@contextlib.asynccontextmanager
async def in_background(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs the coroutines until the block exits, then cancels them and waits until they have cleaned up.

    They handle their own errors: one that fails is not noticed here.
    """
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
