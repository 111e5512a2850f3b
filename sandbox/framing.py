"""Decoders for the sandbox's two byte streams: frames of `sandbox.wire` on a socket, and a child's results pipe."""

from __future__ import annotations

import asyncio
import signal
import struct
from collections.abc import Callable, Iterator
from typing import Any, cast

from sandbox import wire

FrameHandler = Callable[[str, dict[str, Any], bytes], None]
"""Called with kind, fields and body of a frame."""
_PREFIX_BYTES = 4


class FrameDecoder:
    """Decodes frames from pieces of any size."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._header: tuple[str, dict[str, Any], int] | None = None

    @property
    def pending(self) -> bool:
        """Whether bytes have arrived that were not returned as a frame yet."""
        return bool(self._buffer) or self._header is not None

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def next(self) -> tuple[str, dict[str, Any], bytes] | None:
        """Returns the next whole frame, or None. Raises ValueError for malformed data."""
        if self._header is None:
            if len(self._buffer) < _PREFIX_BYTES:
                return None
            end = _PREFIX_BYTES + wire.header_length(bytes(self._buffer[:_PREFIX_BYTES]))
            if len(self._buffer) < end:
                return None
            self._header = wire.read_header(bytes(self._buffer[_PREFIX_BYTES:end]))
            del self._buffer[:end]
        kind, head, length = self._header
        if len(self._buffer) < length:
            return None
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        self._header = None
        return kind, head, body


class FrameProtocol(asyncio.Protocol):
    """One connection on the supervisor's side.

    Calls `on_frame` for each frame, and `on_close` once with the reason, which is "" for a normal end.
    """

    def __init__(self, on_frame: FrameHandler, on_close: Callable[[str], None]) -> None:
        self._on_frame = on_frame
        self._on_close = on_close
        self._decoder = FrameDecoder()
        self._error = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def send(self, frame: bytes) -> None:
        """Sends a frame. Does nothing if the peer has gone."""
        self.transport.write(frame)

    def data_received(self, data: bytes) -> None:
        self._decoder.feed(data)
        try:
            while (frame := self._decoder.next()) is not None:
                self._on_frame(*frame)
        except ValueError as problem:
            self._error = str(problem)
            self.transport.abort()

    def connection_lost(self, problem: Exception | None) -> None:
        incomplete = "it ended within a frame" if self._decoder.pending else ""
        self._on_close(self._error or (str(problem) if problem else incomplete))


STACK_SIGNAL = signal.SIGXCPU
"""On this signal, a child writes its stack to its results pipe as text, and no frames any more that count."""
BROKEN_EXIT = 73
"""Exit status of a child whose answer broke what reports its result."""
RESULT_HEADER = struct.Struct("<IB")
"""Header of a frame on a child's pipes: length and kind of the payload that follows."""
MEMORY_BYTES = 8 << 20
"""Size of a child's shared memory."""


class ResultDecoder:
    """Decodes the frames of a results pipe from pieces of any size, up to `max_bytes` in total."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._total = 0
        self._buffer = bytearray()

    @property
    def incomplete(self) -> bool:
        """Whether the data so far ends within a frame."""
        return bool(self._buffer)

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Yields kind and payload of each completed frame. Raises ValueError beyond the byte limit."""
        self._total += len(data)
        if self._total > self._max_bytes:
            raise ValueError(f"more than {self._max_bytes} bytes of results")
        self._buffer += data
        while len(self._buffer) >= RESULT_HEADER.size:
            length, kind = RESULT_HEADER.unpack_from(self._buffer)
            if length > self._max_bytes:
                raise ValueError(f"a frame of {length} bytes, more than {self._max_bytes}")
            if len(self._buffer) < RESULT_HEADER.size + length:
                return
            payload = bytes(self._buffer[RESULT_HEADER.size : RESULT_HEADER.size + length])
            del self._buffer[: RESULT_HEADER.size + length]
            yield bytes((kind,)), payload
