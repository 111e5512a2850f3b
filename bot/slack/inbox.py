"""Where the bot records events before it acknowledges them: in its own journal, or in the service for all replicas."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from bot.core.command_order import CommandOrder
from bot.core.events import Command, Event
from bot.core.journal import Journal, JournalEntry, read_event, write_event
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import ReceivedEvent

_LOG = logging.getLogger(__name__)
RECORD_S = 1.0
"""Time for the service to record an event, seconds. Slack waits three for the acknowledgement."""
TURN_S = 0.25
"""Pause between two questions whether it is a command's turn, seconds."""
_UNAVAILABLE = (ServiceUnavailable, ServiceRefused, TimeoutError)
_SECRETS = ("trigger", "response_url")
"""Fields of a route that would let anyone answer in the app's name; they expire before another process needs them."""


class Inbox(Protocol):
    """Records events once and knows which are unanswered."""

    async def record(self, event: Event, route: Mapping[str, str]) -> bool:
        """Records an event before it is acknowledged. Returns False if it was recorded before."""
        ...

    def turn(self, event: Event) -> AbstractAsyncContextManager[None]:
        """Waits until the person's earlier commands are answered, if the event is a command."""
        ...

    async def mark_answered(self, event_id: str) -> None:
        """Records that an event was answered."""
        ...

    async def unanswered(self) -> list[JournalEntry]:
        """Returns events that this process must answer because the one that received them does not."""
        ...


class LocalInbox:
    """The journal of a bot that alone receives its events: Socket Mode hands each to one socket."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._order = CommandOrder()

    async def record(self, event: Event, route: Mapping[str, str]) -> bool:
        """Records the event on disk."""
        return self._journal.record(event, route)

    def turn(self, event: Event) -> AbstractAsyncContextManager[None]:
        """Waits for the commands that this process received earlier."""
        return self._order.turn(event)

    async def mark_answered(self, event_id: str) -> None:
        """Records on disk that the event was answered."""
        self._journal.mark_answered(event_id)

    async def unanswered(self) -> list[JournalEntry]:
        """Returns what an earlier process left."""
        return self._journal.unanswered()


class SharedInbox:
    """The service's record of events, so that of several replicas one answers each, and another one if it dies.

    While the service does not answer, events go to the journal: a repeated delivery to another replica is then answered
    twice, which is better than not at all. The commands of one person are answered in the order in which the service
    recorded them, whichever replica received them; a later one asks every `turn_s` seconds whether it is its turn.
    """

    def __init__(
        self, client: ServiceClient, journal: Journal, record_s: float = RECORD_S, turn_s: float = TURN_S
    ) -> None:
        self._client = client
        self._journal = journal
        self._record_s = record_s
        self._turn_s = turn_s
        self._resumed = False
        self._local_order = CommandOrder()
        # Commands in the journal, and commands that must ask for their turn. All others may begin.
        self._local: set[str] = set()
        self._asking: set[str] = set()

    async def record(self, event: Event, route: Mapping[str, str]) -> bool:
        """Records the event in the service, or in the journal if that takes too long."""
        kept = {name: value for name, value in route.items() if name not in _SECRETS}
        kind, content = write_event(event)
        try:
            async with asyncio.timeout(self._record_s):
                author = _author(event)
                received = ReceivedEvent(id=event.id, kind=kind, content=content, route=kept, author=author)
                recorded = await self._client.event_record("slack", received)
        except _UNAVAILABLE as error:
            _LOG.warning("the service cannot record %s, so this process does: %s", event.id, error)
            if not self._journal.record(event, route):
                return False
            self._local.add(event.id)
            return True
        if recorded == "waits":
            self._asking.add(event.id)
        return recorded != "repeated"

    @asynccontextmanager
    async def turn(self, event: Event) -> AsyncIterator[None]:
        """Waits for earlier commands of any replica. Without the service, those of this process go in order."""
        if event.id in self._local:
            async with self._local_order.turn(event):
                yield
            return
        # The earlier command may be another process's.
        while event.id in self._asking and not await self._may_begin(event.id):  # noqa: ASYNC110
            await asyncio.sleep(self._turn_s)
        yield

    async def _may_begin(self, event_id: str) -> bool:
        try:
            return await self._client.event_turn("slack", event_id)
        except _UNAVAILABLE as error:
            _LOG.warning("cannot tell whether %s must wait for an earlier command: %s", event_id, error)
            return True

    async def mark_answered(self, event_id: str) -> None:
        """Records in both places that the event was answered."""
        self._journal.mark_answered(event_id)
        self._local.discard(event_id)
        self._asking.discard(event_id)
        try:
            await self._client.event_answered("slack", event_id)
        except _UNAVAILABLE as error:
            _LOG.warning("cannot record that %s was answered: %s", event_id, error)

    async def unanswered(self) -> list[JournalEntry]:
        """Returns what other replicas left, and the first time what an earlier process left in the journal."""
        left = [] if self._resumed else self._journal.unanswered()
        self._resumed = True
        self._local.update(entry.event.id for entry in left)
        try:
            claimed = await self._client.event_claim("slack")
        except _UNAVAILABLE as error:
            _LOG.warning("cannot read which events are unanswered: %s", error)
            return left
        self._asking.update(one.id for one in claimed)
        return [*left, *(JournalEntry(read_event(one.kind, one.content), dict(one.route)) for one in claimed)]


def _author(event: Event) -> str:
    """Returns whose commands must be answered before this one; empty for anything but a command."""
    return f"{event.who.workspace}/{event.who.member}" if isinstance(event, Command) else ""
