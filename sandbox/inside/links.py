"""How the two halves of a judged answer reach each other: the driver in one child, the answer in another.

The supervisor relays frames between them (`sandbox.host.pair`) and gives the driver access to the answer's shared
memory. A reference needs no second child: a loopback connects both halves in one process.
"""

from __future__ import annotations

import mmap
import os
import queue
import threading
from collections.abc import Callable
from typing import NoReturn, Protocol

from sandbox.framing import MEMORY_BYTES, RESULT_HEADER

MEMORY_FD = 5
"""File descriptor of the shared memory."""
_READ_BYTES = 1 << 20

Handler = Callable[[bytes], bytes]
"""Answers one request."""
Send = Callable[[bytes, bytes], None]
"""Sends a frame of a kind with a payload."""
Receive = Callable[[], tuple[bytes, bytes]]
"""Returns kind and payload of the next frame."""


class Link(Protocol):
    """One half's connection to the other."""

    def request(self, payload: bytes) -> bytes:
        """Sends a request and returns the reply."""
        ...


class Memory(Protocol):
    """The shared memory, from the driver's half."""

    def write(self, offset: int, data: bytes) -> None: ...

    def read(self, offset: int, length: int) -> bytes: ...


class DriverLink:
    """The driver's half. While it waits for a reply, it handles the requests of the other half."""

    def __init__(self, send: Send, receive: Receive) -> None:
        self._send = send
        self._receive = receive
        self.handle: Handler | None = None

    def request(self, payload: bytes) -> bytes:
        """Sends a request and returns the reply."""
        self._send(b"Q", payload)
        while True:
            kind, reply = self._receive()
            if kind == b"S":
                return reply
            if kind != b"Q" or self.handle is None:
                raise ConnectionError("the answer's process sent something else than a request or a reply")
            self._send(b"S", self.handle(reply))


class AnswerLink:
    """The answer's half."""

    def __init__(self, send: Send, receive: Receive) -> None:
        self._send = send
        self._receive = receive

    def request(self, payload: bytes) -> bytes:
        """Sends a request and returns the reply."""
        self._send(b"Q", payload)
        kind, reply = self._receive()
        if kind != b"S":
            raise ConnectionError("a reply was expected")
        return reply

    def serve(self, handle: Handler) -> NoReturn:
        """Handles requests until the process is killed."""
        while True:
            _, payload = self._receive()
            self._send(b"S", handle(payload))


class RelayedMemory:
    """The shared memory of the answer's process, which the supervisor writes and reads for the driver."""

    def __init__(self, send: Send, receive: Receive) -> None:
        self._send = send
        self._receive = receive

    def write(self, offset: int, data: bytes) -> None:
        """Writes to the memory."""
        self._send(b"W", offset.to_bytes(8, "little") + data)

    def read(self, offset: int, length: int) -> bytes:
        """Reads the memory, even while that process changes it."""
        self._send(b"G", offset.to_bytes(8, "little") + length.to_bytes(8, "little"))
        while True:
            kind, data = self._receive()
            if kind == b"D":
                return data
            # The answer's process is not to speak now. What it sends is dropped, and if it waits, its time runs out.


class OwnMemory:
    """The shared memory when both halves are in one process."""

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory

    def write(self, offset: int, data: bytes) -> None:
        """Writes to the memory."""
        self._memory[offset : offset + len(data)] = data

    def read(self, offset: int, length: int) -> bytes:
        """Reads the memory."""
        return self._memory[offset : offset + length]


class Loopback:
    """Both halves in one process, each in a thread of its own: much of torch's state belongs to a thread."""

    def __init__(self) -> None:
        self._to_answer: queue.SimpleQueue[tuple[bytes, bytes]] = queue.SimpleQueue()
        self._to_driver: queue.SimpleQueue[tuple[bytes, bytes] | BaseException] = queue.SimpleQueue()
        self.driver = DriverLink(self._put_for_answer, self._get_for_driver)
        self.answer = AnswerLink(self._put_for_driver, self._to_answer.get)

    def serve(self, handle: Handler) -> None:
        """Starts the thread of the answer's half."""

        def run() -> None:
            try:
                self.answer.serve(handle)
            except BaseException as problem:
                self._to_driver.put(problem)

        threading.Thread(target=run, daemon=True).start()

    def _put_for_answer(self, kind: bytes, payload: bytes) -> None:
        self._to_answer.put((kind, payload))

    def _put_for_driver(self, kind: bytes, payload: bytes) -> None:
        self._to_driver.put((kind, payload))

    def _get_for_driver(self) -> tuple[bytes, bytes]:
        found = self._to_driver.get()
        if isinstance(found, BaseException):
            raise found
        return found


def open_memory() -> mmap.mmap:
    """Maps this child's shared memory."""
    memory = mmap.mmap(MEMORY_FD, MEMORY_BYTES)
    os.close(MEMORY_FD)
    return memory


def receive_frame(descriptor: int) -> tuple[bytes, bytes]:
    """Reads the kind and the payload of a frame. Ends the process when the supervisor has closed the pipe."""
    length, kind = RESULT_HEADER.unpack(receive_bytes(descriptor, RESULT_HEADER.size))
    return bytes((kind,)), receive_bytes(descriptor, length)


def receive_bytes(descriptor: int, count: int) -> bytes:
    """Reads `count` bytes. Ends the process when the pipe is closed before."""
    data = bytearray()
    while len(data) < count:
        block = os.read(descriptor, min(count - len(data), _READ_BYTES))
        if not block:
            os._exit(0)
        data += block
    return bytes(data)
