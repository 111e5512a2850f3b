"""The web chat as a Platform: the courier posts here, and open pages are told that something is new."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import datetime

from bot.core.cards import Card, Form
from bot.core.platform import Refused, Target
from bot.platforms.web.store import ChatStore, Message
from service.wire import Platform as PlatformName

WORKSPACE = "local"
CHANNEL = "daily"

Clock = Callable[[], datetime]


class WebChat:
    """Fills `core.platform.Platform` with the messages of a ChatStore. For one event loop."""

    name: PlatformName = "web"

    def __init__(self, store: ChatStore, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._news = asyncio.Event()
        self._closed = False

    async def post(self, target: Target, card: Card, key: str) -> str:
        reply_to = int(target.reply_to) if target.reply_to else None
        if target.workspace != WORKSPACE:
            raise Refused(f"the web chat has no workspace {target.workspace!r}, only {WORKSPACE!r}")
        message = self.store.post(
            target.channel or CHANNEL, card, self.clock(), key=key, member=target.member, reply_to=reply_to
        )
        self.tell()
        return str(message)

    async def find(self, target: Target, key: str) -> str | None:
        found = self.store.find(key)
        return None if found is None else str(found)

    def whisper(self, member: str, said: Card | Form, replaces: int | None = None) -> int:
        """Say something to one member alone, in the place of one of their private messages where they still have it."""
        if replaces is None or not self.store.replace(replaces, member, said):
            replaces = self.store.post(CHANNEL, said, self.clock(), member=member)
        self.tell()
        return replaces

    def say(self, member: str, name: str, text: str) -> int:
        """A member's own words, for all to read."""
        message = self.store.post(CHANNEL, text, self.clock(), author=name)
        self.tell()
        return message

    def tell(self) -> None:
        """Wake every page that follows."""
        self._news.set()
        self._news = asyncio.Event()

    def close(self) -> None:
        """End every page's stream, so that the server can stop."""
        self._closed = True
        self.tell()

    async def follow(self, member: str, after: int) -> AsyncIterator[Message]:
        """Every message this member may see that is new or changed since a version, as it comes."""
        while not self._closed:
            news = self._news
            for message in sorted(self.store.seen_by(member, CHANNEL, after), key=lambda message: message.version):
                after = message.version
                yield message
            await news.wait()
