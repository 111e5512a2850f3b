"""The event streams of open pages: a member has at most so many, so that one person's pages cannot hold all places."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from sse_starlette import EventSourceResponse, ServerSentEvent

from bot.web.chat import PING_S

MOST_STREAMS: Final = 12
"""Streams of one member in one process. A page that is not in view closes its own, so these are windows and devices."""
REPLACED: Final = ServerSentEvent(event="replaced", data="reload")
"""Tells a page that a newer one took its place, so that it does not connect again by itself."""


@dataclass(eq=False, slots=True)
class _Stream:
    member: str
    replaced: asyncio.Event = field(default_factory=asyncio.Event)


class EventStreams:
    """The open event streams of a process, for all members. Belongs to one event loop."""

    def __init__(self, most: int = MOST_STREAMS) -> None:
        self._most = most
        self._open: dict[_Stream, None] = {}
        """Oldest first."""

    def respond(self, member: str, events: AsyncGenerator[ServerSentEvent, None]) -> EventSourceResponse:
        """Returns the stream of a member's page as a response. It ends the member's oldest stream beyond the limit."""
        return EventSourceResponse(self._send(member, events), ping=PING_S)

    async def _send(
        self, member: str, events: AsyncGenerator[ServerSentEvent, None]
    ) -> AsyncGenerator[ServerSentEvent, None]:
        stream = _Stream(member)
        self._open[stream] = None
        mine = [one for one in self._open if one.member == member]
        for oldest in mine[: -self._most]:
            oldest.replaced.set()
            del self._open[oldest]
        try:
            async with aclosing(events):
                while (event := await _next_unless(stream.replaced, events)) is not None:
                    yield event
            if stream.replaced.is_set():
                yield REPLACED
        finally:
            self._open.pop(stream, None)


async def _next_unless(ended: asyncio.Event, events: AsyncGenerator[ServerSentEvent, None]) -> ServerSentEvent | None:
    """Returns the next event; None after the last one, and once `ended` is set."""
    coming, ending = asyncio.ensure_future(anext(events, None)), asyncio.create_task(ended.wait())
    try:
        await asyncio.wait((coming, ending), return_when=asyncio.FIRST_COMPLETED)
        return None if ended.is_set() else coming.result()
    finally:
        # The generator is not closed before its next event has been given up.
        for task in (coming, ending):
            task.cancel()
        await asyncio.gather(coming, ending, return_exceptions=True)
