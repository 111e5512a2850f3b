"""Prepares the next judgement of a challenge ahead: draws its cases and runs the reference, so that judging is one run.

Each seed is handed out once, so no two judgements have the same cases.
"""

from __future__ import annotations

import asyncio
import secrets

from sandbox.judging.challenge import Challenge, KeepsReferences, NotJudgeable, Runs, prepare_judgement

_MAX_CHALLENGES = 64


class JudgementsAhead:
    """At most one prepared seed for each of the challenges that were judged last."""

    def __init__(self, client: Runs, references: KeepsReferences) -> None:
        self._client = client
        self._references = references
        self._ready: dict[Challenge, int] = {}
        """Seeds whose cases and results were put into the references, oldest first."""
        self._working: dict[Challenge, asyncio.Task[None]] = {}

    def take(self, challenge: Challenge) -> int | None:
        """Returns a seed that was prepared and forgets it, or None if none is ready."""
        return self._ready.pop(challenge, None)

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
            self._references.put(prepared)
            self._ready[challenge] = prepared.seed
        while len(self._ready) > _MAX_CHALLENGES:
            del self._ready[next(iter(self._ready))]
