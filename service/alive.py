"""`python -m service.alive PLACE`: the health check of a container. Status 1 and a word where something is wrong.

PLACE is a file that a living process touches, or an address that answers 200.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from pathlib import Path

EVERY_S = 3.0
LONGEST_S = 20.0
VARIABLE = "DAILYGRAD_ALIVE_FILE"


@contextlib.asynccontextmanager
async def beating(path: Path | None = None) -> AsyncIterator[None]:
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


def trouble(place: str, now: float) -> str:
    """What is wrong at `place`; empty if nothing is. `now` in seconds since the epoch."""
    if place.startswith("http://"):
        try:
            with urllib.request.urlopen(place, timeout=4):  # noqa: S310 - http alone, by the line above
                return ""
        except (OSError, urllib.error.HTTPError) as problem:
            return f"{place}: {problem}"
    try:
        age = now - Path(place).stat().st_mtime
    except OSError as problem:
        return str(problem)
    return "" if age < LONGEST_S else f"{place} was touched {age:.0f} s ago: the process hangs"


def main() -> int:
    said = trouble(sys.argv[1], time.time())
    sys.stdout.write(said or "ok")
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
