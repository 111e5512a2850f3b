"""Prepares the next judgement of a challenge ahead: draws its cases and runs the reference, so that judging is one run.

Everything prepared is used once, so no two judgements have the same cases.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable

from sandbox.judging.challenge import Challenge, NotJudgeable, Prepared, Runs, prepare_judgement

_MAX_AGE_SECONDS = 3600.0
"""Age from which a preparation is not used: the sandbox may have another version of torch by now, seconds."""
_MAX_CHALLENGES = 64
_MAX_BYTES = 64 << 20
"""Most bytes of cases and results that are kept."""


class JudgementsAhead:
    """At most one preparation for each of the challenges that were judged last."""

    def __init__(self, client: Runs, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._ready: dict[Challenge, tuple[float, Prepared]] = {}
        """Time and preparation, oldest first."""
        self._working: dict[Challenge, asyncio.Task[None]] = {}

    def take(self, challenge: Challenge) -> Prepared | None:
        """Returns a preparation and forgets it, or None if none is ready."""
        prepared_at, prepared = self._ready.pop(challenge, (0.0, None))
        return prepared if prepared is not None and self._clock() - prepared_at < _MAX_AGE_SECONDS else None

    def prepare(self, challenge: Challenge) -> asyncio.Task[None] | None:
        """Starts to prepare the next judgement in the background, unless one is ready or being prepared."""
        if challenge in self._working or challenge in self._ready:
            return None
        task = self._working[challenge] = asyncio.create_task(self._prepare(challenge))
        task.add_done_callback(lambda _: self._working.pop(challenge))
        return task

    async def _prepare(self, challenge: Challenge) -> None:
        try:
            prepared = await prepare_judgement(self._client, challenge, secrets.randbits(128))
        except (NotJudgeable, ValueError):
            return  # the next judgement meets the same fault and reports it
        if prepared.reusable:
            self._ready[challenge] = self._clock(), prepared
        while len(self._ready) > _MAX_CHALLENGES or sum(one.bytes for _, one in self._ready.values()) > _MAX_BYTES:
            del self._ready[next(iter(self._ready))]
