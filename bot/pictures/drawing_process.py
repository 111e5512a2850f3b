"""The child process that draws (`bot.pictures.worker`): started on first use, and again after it was killed because a
drawing took too long.

A process, because drawing takes a tenth of a second of Python, which would delay every chat, and because only killing
it stops an untrusted formula that never ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, cast

from bot.core.cards import as_data
from bot.core.charts import Drawing

_START_S = 30.0
"""Time in which the process has to be ready: it imports matplotlib and reads the fonts. Seconds."""
_READY = b"ready\n"
_INHERITED_VARIABLES = (
    *("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "SYSTEMROOT"),
    *("MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "VIRTUAL_ENV"),
)


class CannotDraw(Exception):
    """A drawing for which no picture can be made; the message says why."""


class CannotStart(Exception):
    """An environment in which nothing can be drawn; the message says why."""


class DrawingProcess:
    """Draws in a child process. Use it from one thread at a time."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def draw(self, drawing: Drawing) -> bytes:
        """Returns the PNG. Raises CannotDraw or CannotStart."""
        process = self._running()
        try:
            return self._request(process, drawing)
        except (OSError, ValueError) as error:
            self.close()
            raise CannotDraw(f"no picture within {self._limit_s:g} s, or the process died") from error

    def interrupt(self) -> None:
        """Kills the current drawing from another thread; `draw` then raises CannotDraw."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Ends the child process; the next drawing starts another."""
        if self._process is not None:
            _stop_process(self._process)
            self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = _start_process()
        return self._process

    def _request(self, process: subprocess.Popen[bytes], drawing: Drawing) -> bytes:
        requests, responses = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        with _time_limit(process, self._limit_s):
            requests.write(json.dumps(as_data(drawing)).encode() + b"\n")
            requests.flush()
            # If the process is killed, its output ends early: the header is not JSON, or the picture is too short.
            head = json.loads(responses.readline())
            png = responses.read(head["size"])
        if "error" in head:
            raise CannotDraw(head["error"])
        if len(png) < head["size"]:
            raise ValueError("the picture is incomplete")
        return png


@contextmanager
def _time_limit(process: subprocess.Popen[bytes], limit_s: float) -> Iterator[None]:
    """Kills the process if the block takes longer than the limit."""
    timer = threading.Timer(limit_s, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _start_process() -> subprocess.Popen[bytes]:
    """Starts a process and waits until it is ready. It gets no secrets, because it parses untrusted formulas."""
    environment = {name: os.environ[name] for name in _INHERITED_VARIABLES if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-m", "bot.pictures.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        # Ctrl-C and a supervisor's signals are for the bot, which then stops this process.
        start_new_session=True,
    )
    with _time_limit(process, _START_S):
        ready = cast(IO[bytes], process.stdout).readline()
    if ready != _READY:
        _stop_process(process)
        raise CannotStart("the process that draws did not start; its own output says why")
    return process


def _stop_process(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()
