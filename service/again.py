"""A call made again when the process it went to goes away, as in a rolling restart, where it may be repeated."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import httpx

PAUSES = (0.0, 0.1, 0.4, 1.0)
"""Seconds before each further attempt: another process answers at once, and one that restarts needs a moment."""

NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
"""Nobody was there to hear the call, so it had no effect."""
HUNG_UP = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.RemoteProtocolError)
"""Somebody was there and went: the call may have had its effect."""

# fmt: off
REPEATABLE = frozenset({
    "admin/audit", "admin/bank/list", "admin/bank/log", "admin/bank/low", "admin/doctor", "admin/reports",
    "admin/schedule/list", "admin/schedule/preview", "ask", "board", "explain", "installation/due",
    "installation/find", "join", "me", "outbox/failed", "outbox/places", "outbox/sent", "rules", "seasons", "today",
    "topics",
})
# fmt: on
"""Calls without an event id that may be made twice: they change nothing, or the second time nothing more."""


async def until_heard(send: Callable[[], Awaitable[httpx.Response]], *, answered_once: bool) -> httpx.Response:
    """The response of the first attempt that reaches somebody. Raises what the last attempt raised.

    `answered_once` says that a call that had its effect has none when it is made again.
    """
    somebody = False
    for pause in PAUSES:
        try:
            return await send()
        except NOT_SENT:
            # Another may be there; but where there never was one, waiting keeps whoever asked from hearing of it.
            if pause and not somebody:
                raise
        except HUNG_UP:
            if not answered_once:
                raise
            somebody = True
        await asyncio.sleep(pause)
    return await send()
