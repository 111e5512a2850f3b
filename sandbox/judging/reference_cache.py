"""Cache of what references returned, by question and seed: a second verdict with the same seed runs the answer alone.

A result counts only for the question, the seed, the versions of torch and numpy, and the device that made it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import astuple

from sandbox.judging.challenge import Challenge, Prepared

_MAX_ENTRIES = 256
_MAX_BYTES = 64 << 20
"""Maximum size of the cases and results kept, bytes."""


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
