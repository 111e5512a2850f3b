"""Changes of the chat, whichever process makes them: one long poll per process, from which every open page reads."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from bot.web.store import ChatStore, Message, Messages, decoded
from service.client import ServiceRefused, ServiceUnavailable
from service.wire import MOST_CHANGES

KEPT: Final = MOST_CHANGES
"""Latest changes that are remembered: a page that reads later than that asks the service."""
POLL_S: Final = 20.0
"""Time for which the service waits for a change, seconds."""
RETRY_S: Final = 0.5
"""Wait before asking again when the service does not answer, seconds."""

_LOG = logging.getLogger(__name__)


class Feed:
    """Follows the chat while pages are open. Belongs to one event loop."""

    def __init__(self, store: ChatStore, retry_s: float = RETRY_S) -> None:
        self._store = store
        self._retry_s = retry_s
        self._news = asyncio.Event()
        self._kept: deque[Message] = deque(maxlen=KEPT)
        self._start = 0
        """All changes after this version are remembered."""
        self._version = 0
        self._readers = 0
        self._following: asyncio.Task[None] | None = None
        self.sign_outs = 0
        """Number of times that sessions ended or roles changed; 0 until the service first answered."""
        self.is_away = False
        """Whether the service does not answer."""

    @asynccontextmanager
    async def reading(self, version: int) -> AsyncIterator[None]:
        """Follows the chat until the block exits, from that version on if nobody reads yet."""
        self._readers += 1
        if self._following is None:
            self._kept.clear()
            self._start = self._version = version
            self._following = asyncio.create_task(self._follow(), name="changes of the web chat")
        try:
            yield
        finally:
            self._readers -= 1
            if not self._readers:
                task, self._following = self._following, None
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    def next_news(self) -> asyncio.Event:
        """Returns an event that is set at the next change. Get it before you look, to miss none."""
        return self._news

    async def changes(self, member: str, channel: str, after: int) -> Messages:
        """Returns what changed for a member after a version, in the order of the changes. Raises ServiceUnavailable."""
        if after < self._start:
            found = await self._store.seen_by(member, channel, after)
            return Messages(found.version, tuple(sorted(found.messages, key=lambda message: message.version)))
        seen = [one for one in self._kept if one.version > after and one.member in (None, member)]
        return Messages(max(after, self._version), tuple(seen))

    def notify(self) -> None:
        """Makes every open page look for changes."""
        self._news.set()
        self._news = asyncio.Event()

    async def _follow(self) -> None:
        while True:
            try:
                found = await self._store.changes(self._version, self.sign_outs, POLL_S)
                messages = [decoded(message) for message in found.messages]
            except Exception as error:  # every open page waits for this task, so nothing may end it
                if not self.is_away:
                    known = isinstance(error, ServiceUnavailable | ServiceRefused)
                    _LOG.warning("changes of the web chat cannot be read (%s); trying again", error, exc_info=not known)
                    self.is_away = True
                    self.notify()
                await asyncio.sleep(self._retry_s)
                continue
            self._remember(messages, found.version)
            self._version, self.sign_outs, self.is_away = found.version, found.sign_outs, False
            self.notify()

    def _remember(self, messages: list[Message], version: int) -> None:
        if len(messages) >= KEPT:
            # There may have been more.
            self._kept.clear()
            self._start = version
            return
        for message in messages:
            if len(self._kept) == KEPT:
                self._start = self._kept[0].version
            self._kept.append(message)
