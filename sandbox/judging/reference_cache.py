"""Cache of what references returned, by question and seed: a second verdict with the same seed runs the answer alone.

A result counts only for the question, the seed, the versions of torch and numpy, and the device that made it. The next
judgement of a question is prepared ahead, so that judging is one run.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
from dataclasses import astuple

from sandbox.judging.challenge import Challenge, KeepsReferences, NotJudgeable, Prepared, Runs, prepare_judgement

_MAX_ENTRIES = 256
"""Cached results of references."""
_MAX_BYTES = 64 << 20
"""Maximum size of the cases and results kept, bytes."""
_MAX_CHALLENGES = 64
"""Maximum number of questions whose next judgement is prepared."""


class ReferenceCache:
    """Cases and reference results of the judgements made last."""

    def __init__(self, max_entries: int = _MAX_ENTRIES, max_bytes: int = _MAX_BYTES) -> None:
        self._max_entries = max_entries
        self._max_bytes = max_bytes
        self._kept: dict[bytes, Prepared] = {}
        """Preparations by digest, least recently used first."""
        self._bytes = 0

    def get(self, challenge: Challenge, seed: int) -> Prepared | None:
        """Returns what is kept for this question and seed. Compare its `platform` with that of the answer's run."""
        key = _digest(challenge, seed)
        kept = self._kept.pop(key, None)
        if kept is not None:
            self._kept[key] = kept
        return kept

    def put(self, prepared: Prepared) -> None:
        """Keeps a preparation if it can be used again, and drops those unused longest beyond the limits."""
        self.drop(prepared.challenge, prepared.seed)
        if not prepared.reusable or prepared.bytes > self._max_bytes:
            return
        self._kept[_digest(prepared.challenge, prepared.seed)] = prepared
        self._bytes += prepared.bytes
        while len(self._kept) > self._max_entries or self._bytes > self._max_bytes:
            self._bytes -= self._kept.pop(next(iter(self._kept))).bytes

    def drop(self, challenge: Challenge, seed: int) -> None:
        """Forgets what is kept for this question and seed."""
        dropped = self._kept.pop(_digest(challenge, seed), None)
        if dropped is not None:
            self._bytes -= dropped.bytes


def _digest(challenge: Challenge, seed: int) -> bytes:
    """Returns a digest of everything that decides the cases and the reference's results. The tolerance does not."""
    named = [challenge.entry, challenge.cases_program, challenge.reference, challenge.driver, challenge.device]
    decisive = [*named, challenge.protected, astuple(challenge.limits), seed]
    return hashlib.sha256(json.dumps(decisive).encode()).digest()


class JudgementsAhead:
    """At most one prepared seed for each of the challenges that were judged last.

    Each seed is handed out once, so no two judgements have the same cases.
    """

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
