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
from discord.http import Route

MOST: Final = 50
"""Requests a second of a bot in all, interactions aside: docs, topics/rate-limits."""
WINDOW_S: Final = 1.0
AT_FIRST: Final = 5
"""What a bot just started may ask at once: what one before it had asked is still counted for a second."""
_CATCH_UP: Final = 5


class Places:
    """So many requests within any window of so many seconds, by whatever clock is given. Pure.

    Discord counts a request at some instant between its start and its answer, and which is not told. So its place is
    free again only a whole window after the answer. Were more than `most` counted within one window, then the last of
    them to start had found every place taken: at that instant no other of them was answered a window ago.
    """

    def __init__(self, now: float, most: int = MOST, window_s: float = WINDOW_S) -> None:
        self._window = window_s
        at_first = min(AT_FIRST, most)
        self._free = deque([now] * at_first + [now + window_s] * (most - at_first))

    @property
    def next(self) -> float | None:
        """From when on another may start; None while all wait for their answers."""
        return self._free[0] if self._free else None

    def take(self) -> None:
        """One starts."""
        self._free.popleft()

    def give_back(self, now: float) -> None:
        """One was answered."""
        self._free.append(now + self._window)


class Pace:
    """Lets requests through in the order they came, evenly. For the loop it is made in."""

    def __init__(self, most: int = MOST, window_s: float = WINDOW_S) -> None:
        self._loop = asyncio.get_running_loop()
        self._places = Places(self._loop.time(), most, window_s)
        self._line = asyncio.Lock()
        self._answered = asyncio.Event()
        self._gap = window_s / most
        self._next = 0.0

    async def turn(self) -> None:
        """Wait for one's turn; `back` must follow."""
        async with self._line:
            # Looked at again after each wait: a refusal may have come meanwhile.
            while (free := self._places.next) is None or max(free, self._next) > self._loop.time():
                if free is None:
                    self._answered.clear()
                    await self._answered.wait()
                else:
                    await asyncio.sleep(max(free, self._next) - self._loop.time())
            self._places.take()
            # A timer that was late is made up for, a little at a time.
            self._next = max(self._next, self._loop.time() - _CATCH_UP * self._gap) + self._gap

    def back(self) -> None:
        """The request whose turn it was is answered, or given up."""
        self._places.give_back(self._loop.time())
        self._answered.set()

    def rest(self, seconds: float) -> None:
        """Let nobody through for so long, nor whoever waits already: the library holds back only what comes later."""
        self._next = max(self._next, self._loop.time() + seconds)

    def trace(self) -> aiohttp.TraceConfig:
        """What has every request to Discord's API wait for its turn, whoever in the library makes it."""
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
            await self.turn()

    async def _end(
        self,
        session: aiohttp.ClientSession,
        request: SimpleNamespace,
        params: aiohttp.TraceRequestEndParams | aiohttp.TraceRequestExceptionParams,
    ) -> None:
        if request.counted:
            request.counted = False
            self.back()
        if isinstance(params, aiohttp.TraceRequestEndParams):
            self.rest(_refused_for(params.response))


def _refused_for(response: aiohttp.ClientResponse) -> float:
    """Seconds for which Discord wants nothing at all of us: docs, topics/rate-limits. 0 where it said nothing of it."""
    headers = response.headers
    everywhere = headers.get("X-RateLimit-Global", "").lower() == "true" or headers.get("X-RateLimit-Scope") == "global"
    if response.status != 429 or not everywhere:
        return 0.0
    try:
        return max(0.0, float(headers.get("Retry-After", "1")))
    except ValueError:
        return 1.0
