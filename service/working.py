"""A worker of the queue that outlives its database's troubles. What the jobs are is not known here.

procrastinate's own worker ends for good when the database is away for half a minute, goes on deaf when its listener is
lost, and takes no job up again whose start or end it could not write. So a worker whose database failed it is ended and
followed by a new one: what the old one lost sight of is then nobody's, and is taken up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, LiteralString

import structlog
from procrastinate import PsycopgConnector
from procrastinate.connector import Notify
from procrastinate.exceptions import ConnectorException

log = structlog.get_logger(__name__)

AGAIN_S = 1.0
"""How long after its end a worker is followed by another."""


class WatchfulConnector(PsycopgConnector):
    """procrastinate's connector, which notes that the database failed it."""

    def __init__(self, **pool: Any) -> None:
        super().__init__(**pool)
        self.failed = asyncio.Event()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        try:
            yield
        except ConnectorException:
            self.failed.set()
            raise

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:
        """As the connector says."""
        with self._noting():
            await super().execute_query_async(query, **arguments)

    async def execute_query_one_async(self, query: LiteralString, **arguments: Any) -> dict[str, Any]:
        """As the connector says."""
        with self._noting():
            row: dict[str, Any] = await super().execute_query_one_async(query, **arguments)
        return row

    async def execute_query_all_async(self, query: LiteralString, **arguments: Any) -> list[dict[str, Any]]:
        """As the connector says."""
        with self._noting():
            rows: list[dict[str, Any]] = await super().execute_query_all_async(query, **arguments)
        return rows

    async def listen_notify(self, on_notification: Notify, channels: Iterable[str]) -> None:
        """As the connector says."""
        with self._noting():
            await super().listen_notify(on_notification, channels)


async def keep_working(connector: WatchfulConnector, work: Callable[[], Awaitable[None]]) -> None:
    """Call `work` and, whenever it ends or the database failed it, once more; until this is cancelled.

    Cancelled, `work` finishes what it has in hand first.
    """
    while True:
        connector.failed.clear()
        await _work_once(connector, work)
        log.warning("the database failed the queue's worker; another begins")
        await asyncio.sleep(AGAIN_S)


async def _work_once(connector: WatchfulConnector, work: Callable[[], Awaitable[None]]) -> None:
    working = asyncio.ensure_future(work())
    failing = asyncio.create_task(connector.failed.wait())
    try:
        await asyncio.wait({working, failing}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        failing.cancel()
        working.cancel()
        await asyncio.wait({working})
    if not working.cancelled() and (error := working.exception()) is not None:
        log.warning("the queue's worker ended", exc_info=error)
