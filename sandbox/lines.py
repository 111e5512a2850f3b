"""Callers' ends of connections to a supervisor: kept while idle, given up when the work on one is.

Knows no meaning of what it carries. Plain sockets beside the loop rather than its transports: an idle one belongs to
no loop, and needs no closing.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path
from typing import Any

from sandbox.talking import Parts

Frame = tuple[str, dict[str, Any], bytes]
_PIECE = 1 << 18
_MOST_IDLE = 16


class Stale(ConnectionError):
    """A kept connection was gone before a word of an answer came: another may be tried."""


class Lines:
    """Connections to the socket at `path`, each for one question at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[_Line] = []

    async def ask(self, frame: bytes, seconds: float) -> Frame:
        """The frame that answers. Raises OSError or ValueError where none comes; cancelled, it hangs up."""
        async with asyncio.timeout(seconds):
            while (line := self._kept()) is not None:
                with contextlib.suppress(Stale):
                    return await self._asked(line, frame)
            return await self._asked(await _Line.connected(self._path), frame)

    async def _asked(self, line: _Line, frame: bytes) -> Frame:
        try:
            answer = await line.ask(frame)
        except BaseException:
            line.close()  # now: whatever is at work at the other end is not wanted any more
            raise
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(line)
        return answer

    def _kept(self) -> _Line | None:
        """The one used last, of those whose other end is still there."""
        while self._idle:
            line = self._idle.pop()
            if line.quiet():
                return line
        return None


class _End(socket.socket):
    """A socket that closes when it is dropped, without a word: an idle connection is nobody's to close."""

    def __del__(self) -> None:
        self.close()


class _Line:
    """One connection; dropping it closes it."""

    def __init__(self, end: _End) -> None:
        self._end = end
        self._used = False

    def close(self) -> None:
        """Hang up."""
        self._end.close()

    @classmethod
    async def connected(cls, path: Path) -> _Line:
        """A new one. Raises OSError where nobody listens."""
        end = _End(socket.AF_UNIX, socket.SOCK_STREAM)
        end.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(end, str(path))
        except BaseException:
            end.close()
            raise
        return cls(end)

    def quiet(self) -> bool:
        """Whether the other end is there and has said nothing unasked."""
        try:
            self._end.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    async def ask(self, frame: bytes) -> Frame:
        """Send one frame and take one. Raises Stale, OSError or ValueError; the line is of no use then."""
        reused, self._used = self._used, True
        parts = Parts()
        try:
            await self._send(frame)
            while (answer := parts.next()) is None:
                parts.feed(await self._heard())
        except ConnectionError as problem:
            if reused and not parts.begun:
                raise Stale(str(problem)) from None
            raise
        if parts.begun:
            raise ValueError("more than one frame came as an answer")
        return answer

    async def _send(self, frame: bytes) -> None:
        try:
            sent = self._end.send(frame)
        except BlockingIOError:
            sent = 0
        if sent < len(frame):
            await asyncio.get_running_loop().sock_sendall(self._end, memoryview(frame)[sent:])

    async def _heard(self) -> bytes:
        data = await asyncio.get_running_loop().sock_recv(self._end, _PIECE)
        if not data:
            raise ConnectionResetError("it hung up without an answer")
        return data
