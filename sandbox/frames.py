"""Parts what comes through a results pipe into frames: a 4-byte length, a kind, a payload. Pure; reads nothing."""

from __future__ import annotations

import struct
from collections.abc import Iterator

HEAD = struct.Struct("<IB")


class Frames:
    """Frames of at most `most` bytes in all, fed in pieces of any size."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._total = 0
        self._held = bytearray()

    @property
    def torn(self) -> bool:
        """Whether what came so far ends within a frame."""
        return bool(self._held)

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Kind and payload of each frame that is whole now. Raises ValueError beyond the most bytes."""
        self._total += len(data)
        if self._total > self._most:
            raise ValueError(f"more than {self._most} bytes of results")
        self._held += data
        while len(self._held) >= HEAD.size:
            length, kind = HEAD.unpack_from(self._held)
            if length > self._most:
                raise ValueError(f"a frame of {length} bytes, more than {self._most}")
            if len(self._held) < HEAD.size + length:
                return
            payload = bytes(self._held[HEAD.size : HEAD.size + length])
            del self._held[: HEAD.size + length]
            yield bytes((kind,)), payload
