"""A process that draws: started when first asked, killed when it takes too long, started anew after that.

A process, because a drawing takes a tenth of a second of Python that no chat should wait for, and because a stranger's
formula that never ends can be stopped in no other way.
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

from bot.pictures.drawings import Drawing, as_data

_START_S = 30.0
_READY = b"ready\n"
_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "TEMP", "SYSTEMROOT", "MPLCONFIGDIR", "XDG_CACHE_HOME", "VIRTUAL_ENV")


class CannotDraw(Exception):
    """There is no picture of this; the message says why."""


class CannotStart(Exception):
    """Nothing can be drawn on this machine; the message says why."""


class Painter:
    """Draws one thing after another; to be used by one thread at a time."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._process: subprocess.Popen[bytes] | None = None

    def drawn(self, drawing: Drawing) -> bytes:
        """The PNG. Raises CannotDraw or CannotStart."""
        process = self._running()
        try:
            return self._asked(process, drawing)
        except (OSError, ValueError) as error:
            self.close()
            raise CannotDraw(f"no picture came within {self._limit_s:g} s, or the process died") from error

    def interrupt(self) -> None:
        """From another thread: end what is being drawn, which then raises CannotDraw."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process; the next drawing starts another."""
        if self._process is not None:
            _ended(self._process)
            self._process = None

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = _started()
        return self._process

    def _asked(self, process: subprocess.Popen[bytes], drawing: Drawing) -> bytes:
        asked, told = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        with _killing(process, self._limit_s):
            asked.write(json.dumps(as_data(drawing)).encode() + b"\n")
            asked.flush()
            # A process that was killed ends its output, and what came is no JSON or too short.
            head = json.loads(told.readline())
            png = told.read(head["size"])
        if "error" in head:
            raise CannotDraw(head["error"])
        if len(png) < head["size"]:
            raise ValueError("the picture is not whole")
        return png


@contextmanager
def _killing(process: subprocess.Popen[bytes], limit_s: float) -> Iterator[None]:
    """Kills a process that is not done when the time is up."""
    timer = threading.Timer(limit_s, process.kill)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _started() -> subprocess.Popen[bytes]:
    """A process that is ready. It is given no secrets: strangers' formulas are read in it."""
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.Popen(
        [sys.executable, "-m", "bot.pictures.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        # Ctrl-C and a supervisor's signals are for the bot, which then ends its painter.
        start_new_session=True,
    )
    with _killing(process, _START_S):
        ready = cast(IO[bytes], process.stdout).readline()
    if ready != _READY:
        _ended(process)
        raise CannotStart("the process that draws did not start; its own output says why")
    return process


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.communicate()
