"""Parts what comes through a connection into whole frames of `wire`; the supervisor's end of one. Knows no meaning."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Iterator
from typing import Any, cast

from sandbox import wire

Heard = Callable[[str, dict[str, Any], bytes], None]
_PREFIX = 4


class FrameDecoder:
    """Frames, fed in pieces of any size."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._head: tuple[str, dict[str, Any], int] | None = None

    @property
    def begun(self) -> bool:
        """Whether there is a part of a frame, or more."""
        return bool(self._held) or self._head is not None

    def feed(self, data: bytes) -> None:
        self._held += data

    def next(self) -> tuple[str, dict[str, Any], bytes] | None:
        """Kind, fields and body of the next frame that is whole. Raises ValueError for what is none."""
        if self._head is None:
            if len(self._held) < _PREFIX:
                return None
            end = _PREFIX + wire.header_length(bytes(self._held[:_PREFIX]))
            if len(self._held) < end:
                return None
            self._head = wire.read_header(bytes(self._held[_PREFIX:end]))
            del self._held[:end]
        kind, fields, length = self._head
        if len(self._held) < length:
            return None
        body = bytes(self._held[:length])
        del self._held[:length]
        self._head = None
        return kind, fields, body


class FrameProtocol(asyncio.Protocol):
    """`heard` is called with kind, fields and body of each frame, `ended` once, with why: empty for a plain end."""

    def __init__(self, heard: Heard, ended: Callable[[str], None]) -> None:
        self._heard = heard
        self._ended = ended
        self._parts = FrameDecoder()
        self._why = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def send(self, frame: bytes) -> None:
        """Send one; an end that is gone gets nothing."""
        self.transport.write(frame)

    def data_received(self, data: bytes) -> None:
        self._parts.feed(data)
        try:
            while (frame := self._parts.next()) is not None:
                self._heard(*frame)
        except ValueError as problem:
            self._why = str(problem)
            self.transport.abort()

    def connection_lost(self, problem: Exception | None) -> None:
        torn = "it ended within a frame" if self._parts.begun else ""
        self._ended(self._why or (str(problem) if problem else torn))


# Parts what comes through a results pipe into frames: a 4-byte length, a kind, a payload. Pure; reads nothing.


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
