"""Keeps the bot's requests below Discord's global rate limit, so that Discord never has to refuse one.

Why not `aiolimiter`: it counts a request when it starts and never learns of the answer, while Discord counts it at an
unknown instant in between. `AsyncLimiter(50, 1)` lets 99 requests into the first second: a full bucket, and what leaks
out of it meanwhile. `AsyncLimiter(1, 1 / 50)` spaces them evenly, but where requests take between 0 and 1 s to arrive,
62 are still counted within one second (measured with 200 requests). Nor can it pause for a global 429, or start partly
used up by what a previous process has just sent.

discord.py handles a 429 by itself: it waits and repeats that request, and after a global one holds back new requests.
It does not hold back requests that have already passed its check and wait here, so a global 429 stops them here too.
"""

from __future__ import annotations

import asyncio
from collections import deque
from types import SimpleNamespace
from typing import Final

import aiohttp

from bot.discord.library import Route

GLOBAL_LIMIT: Final = 50
"""Global limit, requests per second; interaction endpoints do not count. Docs: topics/rate-limits."""
WINDOW_S: Final = 1.0
"""Length of the window that the limit counts in, seconds."""
INITIAL_SLOTS: Final = 5
"""Requests allowed at once after a start: those of a previous process still count for a second."""
_CATCH_UP: Final = 5
"""Requests that may follow at once after a pause."""


class RequestSlots:
    """Counts at most `most` requests in any window of `window_s` seconds. Pure: the caller passes the time.

    Discord counts a request at an unknown instant between its start and its answer, so a slot is free again one whole
    window after the answer. Proof: if more than `most` requests were counted within one window, then none of the others
    had been answered a window before the last one started, so it would have found every slot taken.
    """

    def __init__(self, now: float, most: int = GLOBAL_LIMIT, window_s: float = WINDOW_S) -> None:
        self._window = window_s
        at_first = min(INITIAL_SLOTS, most)
        self._free_at = deque([now] * at_first + [now + window_s] * (most - at_first))

    @property
    def next(self) -> float | None:
        """When the next request may start; None while all slots wait for answers."""
        return self._free_at[0] if self._free_at else None

    def take(self) -> None:
        """Takes a slot for a request that starts."""
        self._free_at.popleft()

    def release(self, now: float) -> None:
        """Frees a slot, a window after the answer."""
        self._free_at.append(now + self._window)


class RateLimiter:
    """Lets requests through in order and evenly spaced. Belongs to the event loop it was created in."""

    def __init__(self, most: int = GLOBAL_LIMIT, window_s: float = WINDOW_S) -> None:
        self._loop = asyncio.get_running_loop()
        self._slots = RequestSlots(self._loop.time(), most, window_s)
        self._queue = asyncio.Lock()
        self._answered = asyncio.Event()
        self._gap = window_s / most
        self._next = 0.0

    async def acquire(self) -> None:
        """Waits for a slot. Call `release` when the request ends."""
        async with self._queue:
            # Check again after each wait: a 429 may have arrived meanwhile.
            while (free := self._slots.next) is None or max(free, self._next) > self._loop.time():
                if free is None:
                    self._answered.clear()
                    await self._answered.wait()
                else:
                    await asyncio.sleep(max(free, self._next) - self._loop.time())
            self._slots.take()
            # Make up for a late timer, a little at a time.
            self._next = max(self._next, self._loop.time() - _CATCH_UP * self._gap) + self._gap

    def release(self) -> None:
        """Frees the slot of a request that was answered or abandoned."""
        self._slots.release(self._loop.time())
        self._answered.set()

    def pause(self, seconds: float) -> None:
        """Holds back all requests this long, those already waiting here too."""
        self._next = max(self._next, self._loop.time() + seconds)

    def trace(self) -> aiohttp.TraceConfig:
        """Returns a trace that makes every request of the library to Discord's API wait for a slot."""
        trace = aiohttp.TraceConfig()
        trace.on_request_start.append(self._start)
        trace.on_request_end.append(self._end)
        trace.on_request_exception.append(self._end)
        return trace

    async def _start(
        self, session: aiohttp.ClientSession, request: SimpleNamespace, params: aiohttp.TraceRequestStartParams
    ) -> None:
        request.counted = str(params.url).startswith(Route.BASE)
        if request.counted:
            await self.acquire()

    async def _end(
        self,
        session: aiohttp.ClientSession,
        request: SimpleNamespace,
        params: aiohttp.TraceRequestEndParams | aiohttp.TraceRequestExceptionParams,
    ) -> None:
        if request.counted:
            request.counted = False
            self.release()
        if isinstance(params, aiohttp.TraceRequestEndParams):
            self.pause(_global_retry_after(params.response))


def _global_retry_after(response: aiohttp.ClientResponse) -> float:
    """Returns the seconds of a global rate limit; 0 if there is none. Docs: topics/rate-limits."""
    headers = response.headers
    everywhere = headers.get("X-RateLimit-Global", "").lower() == "true" or headers.get("X-RateLimit-Scope") == "global"
    if response.status != 429 or not everywhere:
        return 0.0
    try:
        return max(0.0, float(headers.get("Retry-After", "1")))
    except ValueError:
        return 1.0
