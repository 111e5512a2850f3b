"""Reads documents that come from a chat in a child process, so that none can stop the service or use up its memory."""

from __future__ import annotations

import asyncio
import atexit
import dataclasses
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import IO, TYPE_CHECKING, cast

from questions.model import Question
from service.errors import Refused
from service.wire import PACKED, DocumentRefused

if TYPE_CHECKING:
    from questions.reader import Reading
    from questions.worker import Limits, TooMuch

_END_S = 5.0
"""Seconds in which a process that has closed its output ends by itself."""
_INHERITED_VARIABLES = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")


class DocumentReader:
    """Reads one document at a time in a child process, which starts with the first one and is used again."""

    def __init__(self, limits: Limits | None = None, wall_s: float = 120.0) -> None:
        self._limits = limits
        self._wall_s = wall_s
        # A thread of its own, which mostly waits: the others stay free for other calls.
        self._thread = ThreadPoolExecutor(1, "documents")
        self._process: subprocess.Popen[bytes] | None = None

    async def read(self, text: str, name: str, recipe: str = "") -> Reading:
        """Returns what the document says, read by a recipe if one is given; a text that begins with `PACKED` is a file.

        Raises Refused if that takes too much; cancelling ends the child process.
        """
        job = _Job(text, name, recipe, self._limits)
        waiting = self._thread.submit(self._run, job)
        try:
            return await asyncio.wrap_future(waiting)
        except asyncio.CancelledError:
            job.cancel()
            raise

    def close(self) -> None:
        """Ends the child process; the next document starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    @property
    def pid(self) -> int | None:
        """Process id of the child; None if none runs."""
        return None if self._process is None else self._process.pid

    def _run(self, job: _Job) -> Reading:
        process = self._process
        if process is None or process.poll() is not None:
            self.close()
            process = self._process = _start_process()
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(self._wall_s, expire)
        timer.daemon = True
        timer.start()
        from questions.reader import Reading
        from questions.worker import TooMuch

        found: Reading | TooMuch | None = None
        try:
            found = job.run(process)
        except (OSError, EOFError):
            found = _why_ended(process, expired.is_set())
        finally:
            timer.cancel()
            if not isinstance(found, Reading) or job.cancelled:
                self.close()
        if isinstance(found, TooMuch):
            raise Refused(DocumentRefused(why=found.why, most=found.most))
        return found


class _Job:
    """One document, and the process that reads it."""

    def __init__(self, text: str, name: str, recipe: str, limits: Limits | None) -> None:
        self._text = text
        self._name = name
        self._recipe = recipe
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self.cancelled = False

    def cancel(self) -> None:
        """Ends the process, if it is reading this document; otherwise the document is never read."""
        with self._lock:
            self.cancelled = True
            if self._process is not None:
                self._process.kill()

    def run(self, process: subprocess.Popen[bytes]) -> Reading | TooMuch:
        """Reads the document in the process. Raises OSError or EOFError if it ends before the answer does."""
        from questions.worker import TooMuch

        with self._lock:
            if self.cancelled:
                return TooMuch("time")
            self._process = process
        try:
            return self._exchange(cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout))
        finally:
            with self._lock:
                self._process = None

    def _exchange(self, requests: IO[bytes], answers: IO[bytes]) -> Reading | TooMuch:
        # Imported in this thread with the first document: the types of its results load the reader.
        from questions.worker import QUESTIONS, READING, REQUEST, TOO_MUCH, Limits, Request

        packed = self._text.startswith(PACKED)
        plain = self._text.removeprefix(PACKED)
        request = Request(plain, self._name, self._limits or Limits(), self._recipe, packed)
        requests.write(REQUEST.dump_json(request) + b"\n")
        requests.flush()
        questions: list[Question] = []
        while True:
            line = answers.readline()
            if not line.endswith(b"\n"):
                raise EOFError
            kind, _, data = line.partition(b" ")
            if kind == b"questions":
                questions += QUESTIONS.validate_json(data)
            elif kind == b"refused":
                return TOO_MUCH.validate_json(data)
            else:
                reading = READING.validate_json(data)
                return dataclasses.replace(reading, bank=dataclasses.replace(reading.bank, questions=tuple(questions)))


def _start_process() -> subprocess.Popen[bytes]:
    environment = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    return subprocess.Popen(
        [sys.executable, "-m", "questions.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        # Ctrl-C and a supervisor's signals are for the service, which then stops this process.
        start_new_session=True,
    )


def _why_ended(process: subprocess.Popen[bytes], expired: bool) -> TooMuch:
    """Returns which limit a process exceeded that ended while it read a document.

    `expired`: whether it was ended because it took too long.
    """
    from questions.worker import ENDED_BY_MEMORY, TooMuch

    try:
        status = process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        status = process.wait()
    if expired or status == -signal.SIGXCPU:
        return TooMuch("time")
    # If the machine runs out of memory, Linux kills this process first.
    if status in (-signal.SIGKILL, -signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, ENDED_BY_MEMORY):
        return TooMuch("memory")
    raise RuntimeError(f"the process that reads documents ended with status {status}; its output says why")


DOCUMENTS = DocumentReader()
"""The reader of this process, shared by all services in it. The child process ends with this one."""
atexit.register(DOCUMENTS.close)
