"""The terminal itself: lines of stdin as they come, and writing to stdout. Works in a pipe too."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import AsyncIterator


async def stdin_lines() -> AsyncIterator[str]:
    """Lines typed, without their ends, until the input ends."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    def give(line: str | None) -> None:
        # The loop may have closed while the thread waited for a line; then nobody wants it.
        if not loop.is_closed():
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        for line in sys.stdin:
            give(line.rstrip("\r\n"))
        give(None)

    # A daemon, as a blocking read cannot be interrupted and must not keep the process alive.
    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line


def stdout_write(text: str) -> None:
    """Write at once, so that a pipe sees it too."""
    sys.stdout.write(text)
    sys.stdout.flush()
