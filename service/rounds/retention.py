"""Deletes rows that are older than the settings keep them, once a day, a batch of each kind at a tick."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from service.store.retention import BATCH, RETENTION, Kind, delete_old, list_done, record_done
from service.store.session import Sessions

INTERVAL = timedelta(days=1)
"""Interval between two deletions."""

_LOG = logging.getLogger(__name__)


class Retention:
    """Deletes old rows; called at every tick. `days` says how long each kind is kept; 0 is forever."""

    def __init__(self, sessions: Sessions, days: Mapping[Kind, int]) -> None:
        self._sessions = sessions
        self._days = {kind: kept for kind, kept in days.items() if kept}
        self._next: datetime | None = None

    async def check(self, now: datetime) -> None:
        """Deletes a batch of each kind if a day has passed since nothing was left to delete."""
        if self._next is not None and self._next - INTERVAL <= now < self._next:
            return
        async with self._sessions.begin() as session:
            done = (await list_done(session)).get(RETENTION)
        # Another worker may have led before. A date in the future comes from a clock that was wrong.
        if done is not None and done <= now < done + INTERVAL:
            self._next = done + INTERVAL
            return
        deleted: dict[Kind, int] = {}
        for kind, kept in self._days.items():
            async with self._sessions.begin() as session:
                deleted[kind] = await delete_old(session, kind, now - timedelta(days=kept))
        if any(deleted.values()):
            _LOG.info("old rows deleted", extra={"fields": dict(deleted)})
        if all(number < BATCH for number in deleted.values()):
            async with self._sessions.begin() as session:
                await record_done(session, RETENTION, now)
            self._next = now + INTERVAL
