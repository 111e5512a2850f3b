"""One end of a connection of the sandbox: whole frames of `wire` come out, an end is told at once. Knows no meaning."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

from sandbox import wire

Heard = Callable[[str, dict[str, Any], bytes], None]
_PREFIX = 4


class Talk(asyncio.Protocol):
    """`heard` is called with kind, fields and body of each frame, `ended` once, with why: empty for a plain end."""

    def __init__(self, heard: Heard, ended: Callable[[str], None]) -> None:
        self._heard = heard
        self._ended = ended
        self._held = bytearray()
        self._head: tuple[str, dict[str, Any], int] | None = None
        self._why = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def send(self, frame: bytes) -> None:
        """Send one; an end that is gone gets nothing."""
        self.transport.write(frame)

    def data_received(self, data: bytes) -> None:
        self._held += data
        try:
            while self._whole():
                pass
        except ValueError as problem:
            self._why = str(problem)
            self.transport.abort()

    def _whole(self) -> bool:
        """Tell of a frame, if one is whole."""
        if self._head is None:
            if len(self._held) < _PREFIX:
                return False
            end = _PREFIX + wire.header_length(bytes(self._held[:_PREFIX]))
            if len(self._held) < end:
                return False
            self._head = wire.read_header(bytes(self._held[_PREFIX:end]))
            del self._held[:end]
        kind, fields, length = self._head
        if len(self._held) < length:
            return False
        body = bytes(self._held[:length])
        del self._held[:length]
        self._head = None
        self._heard(kind, fields, body)
        return True

    def connection_lost(self, problem: Exception | None) -> None:
        torn = "it ended within a frame" if self._held or self._head else ""
        self._ended(self._why or (str(problem) if problem else torn))
