"""Tasks that are ended clean up completely, even if whoever ends them is cancelled meanwhile."""

from __future__ import annotations

import asyncio
import contextlib

from sandbox.host.pool import end_tasks


async def test_a_second_cancellation_does_not_interrupt_the_cleanup() -> None:
    cleaning, go_on = asyncio.Event(), asyncio.Event()
    cleaned = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaning.set()
            await go_on.wait()
            cleaned.append(True)

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    ending = asyncio.create_task(end_tasks([task]))
    await cleaning.wait()
    ending.cancel()
    await asyncio.sleep(0)
    assert not task.done()
    go_on.set()
    with contextlib.suppress(asyncio.CancelledError):
        await ending
    assert cleaned == [True]
    assert ending.cancelled()
