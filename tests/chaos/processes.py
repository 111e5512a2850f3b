"""Processes that are killed and restarted, as compose does, and the search for what they leave behind."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import TypeVar

import psutil

ROOT = Path(__file__).parent.parent.parent
LOOK_S = 0.05
READY_S = 300.0
ENDED_S = 120.0
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LIBC = ctypes.CDLL(None, use_errno=True)
_SHELLS = {
    "bot": "from bot.cli import bot_command; bot_command()",
    "sandbox": "from sandbox.cli import sandbox_command; sandbox_command()",
}
"""Started without the command table, which would import everything."""

T = TypeVar("T")


async def until(found: Callable[[], T | None], patience_s: float) -> T | None:
    """Polls until `found` returns something; None after a timeout."""

    async def check() -> T | None:
        return found()

    return await until_awaited(check, patience_s)


async def until_awaited(found: Callable[[], Awaitable[T | None]], patience_s: float) -> T | None:
    """Like `until`, for a check that is asynchronous."""
    end = monotonic() + patience_s
    while True:
        if (value := await found()) or monotonic() > end:
            return value or None
        await asyncio.sleep(LOOK_S)


def adopt_orphans() -> None:
    """Makes this process the parent of orphaned descendants, so that they are seen."""
    if _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot adopt orphans")


def _die_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def descendants(*but: int) -> list[psutil.Process]:
    """Returns the running descendants of this process, except for some and theirs."""
    spared: set[int] = set(but)
    for pid in but:
        with contextlib.suppress(psutil.NoSuchProcess):
            spared |= {process.pid for process in psutil.Process(pid).children(recursive=True)}
    return [process for process in psutil.Process().children(recursive=True) if process.pid not in spared]


def running(processes: list[psutil.Process]) -> list[str]:
    """Describes those that are still running, and reaps the others."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(f"process {process.pid} ({' '.join(process.cmdline())[:100] or process.name()})")
            elif process.ppid() == os.getpid():
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(process.pid, os.WNOHANG)
    return found


@dataclass
class Part:
    """A process that is restarted whenever it ends. `ready` checks its output for readiness."""

    name: str
    words: tuple[str, ...]
    settings: dict[str, str]
    log: Path
    ready: Callable[[str], object]
    up: asyncio.Event = field(default_factory=asyncio.Event)
    pids: list[int] = field(default_factory=list)
    recovered: list[float] = field(default_factory=list)
    """Seconds from each end to the next readiness."""
    untimely: list[int] = field(default_factory=list)
    """Exit statuses of ends that were not kills."""
    killed: set[int] = field(default_factory=set)
    _process: subprocess.Popen[bytes] | None = None
    _keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        return self.pids[-1]

    def begin(self) -> None:
        """Starts it, and restarts it whenever it ends."""
        self._keeper = asyncio.create_task(self._keep(), name=self.name)

    async def _keep(self) -> None:
        ended: float | None = None
        while True:
            process = self._process = self._started()
            printed = self.log.stat().st_size
            while process.poll() is None:
                if not self.up.is_set() and self.ready(self._output_since(printed)):
                    self.up.set()
                    if ended is not None:
                        self.recovered.append(monotonic() - ended)
                await asyncio.sleep(LOOK_S)
            ended = monotonic()
            if process.pid not in self.killed:
                # A process that finds no database at its start reports it and ends; one that is running must go on.
                self.untimely += [process.returncode] if self.up.is_set() else []
                await asyncio.sleep(0.5)
            self.up.clear()

    def _started(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as out:
            process = subprocess.Popen(
                [sys.executable, *_command(self.words)],
                cwd=ROOT,
                env=self.settings,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
                # If the test itself is killed, its processes end too.
                preexec_fn=_die_with_parent,
            )
        self.pids.append(process.pid)
        return process

    def _output_since(self, since: int) -> str:
        with self.log.open("rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace")

    def kill(self) -> float:
        """Kills it with SIGKILL at once; returns the time."""
        assert self._process is not None
        self.killed.add(self._process.pid)
        self.up.clear()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        return monotonic()

    async def stop(self) -> str:
        """Stops it for good with SIGTERM; returns what was wrong with how it ended."""
        assert self._keeper is not None
        assert self._process is not None
        self._keeper.cancel()
        process = self._process
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        if await until(lambda: process.poll() is not None, ENDED_S) is None:
            process.kill()
            process.wait()
            return f"{self.name} did not end within {ENDED_S:.0f} s of SIGTERM"
        return "" if process.returncode == 0 else f"{self.name} ended with {process.returncode} at SIGTERM"

    def discard(self) -> None:
        """Kills it for good."""
        if self._keeper is not None:
            self._keeper.cancel()
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def _command(words: tuple[str, ...]) -> list[str]:
    if words[0] in _SHELLS:
        return ["-c", _SHELLS[words[0]], *words[1:]]
    return ["-c", "from service.cli import service_command; service_command()", *words]


def says(pattern: str) -> Callable[[str], object]:
    """Returns a check that is true once matching output appears."""
    return lambda said: re.search(pattern, said)


def surroundings(**settings: str) -> dict[str, str]:
    """Returns the environment without our settings, with these added."""
    ours = ("DAILYGRAD_", "DATABASE_", "DISCORD_", "SLACK_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"PYTHONUNBUFFERED": "1"} | settings


def mounts(folder: Path) -> Counter[str]:
    """Returns the mounts in or from the folder, as this process sees them."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return Counter(line.split()[4] for line in lines if str(folder) in line)
