"""Processes that are killed and come back, as compose would have it, and what they leave behind when they are gone."""

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
"""Started without the front door, which imports everything."""

T = TypeVar("T")


async def until(found: Callable[[], T | None], patience_s: float) -> T | None:
    """Look again and again until there is something; None where the patience ends first."""

    async def looked() -> T | None:
        return found()

    return await until_awaited(looked, patience_s)


async def until_awaited(found: Callable[[], Awaitable[T | None]], patience_s: float) -> T | None:
    """The same, where looking takes a moment itself."""
    end = monotonic() + patience_s
    while True:
        if (value := await found()) or monotonic() > end:
            return value or None
        await asyncio.sleep(LOOK_S)


def adopt_orphans() -> None:
    """From now on whoever loses its parent beneath this process becomes its child, and is seen."""
    if _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process cannot adopt orphans")


def _die_with_parent() -> None:
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def descendants(*but: int) -> list[psutil.Process]:
    """Everything beneath this process that runs, but for these and what is beneath them."""
    spared: set[int] = set(but)
    for pid in but:
        with contextlib.suppress(psutil.NoSuchProcess):
            spared |= {process.pid for process in psutil.Process(pid).children(recursive=True)}
    return [process for process in psutil.Process().children(recursive=True) if process.pid not in spared]


def running(processes: list[psutil.Process]) -> list[str]:
    """Those of them that are not dead, in words; the dead that nobody waits for are let go."""
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
    """A process that is started again whenever it ends. `ready` says of what it printed whether it serves."""

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
    """How it ended when nobody had killed it."""
    killed: set[int] = field(default_factory=set)
    _process: subprocess.Popen[bytes] | None = None
    _keeper: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        return self.pids[-1]

    def begin(self) -> None:
        """Start it, and again whenever it ends."""
        self._keeper = asyncio.create_task(self._keep(), name=self.name)

    async def _keep(self) -> None:
        ended: float | None = None
        while True:
            process = self._process = self._started()
            printed = self.log.stat().st_size
            while process.poll() is None:
                if not self.up.is_set() and self.ready(self._said(printed)):
                    self.up.set()
                    if ended is not None:
                        self.recovered.append(monotonic() - ended)
                await asyncio.sleep(LOOK_S)
            ended = monotonic()
            if process.pid not in self.killed:
                # One that finds no database as it starts says so and ends; one that served must go on.
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
                # A test that is killed itself leaves nothing running; of a part that is killed this says nothing.
                preexec_fn=_die_with_parent,
            )
        self.pids.append(process.pid)
        return process

    def _said(self, since: int) -> str:
        with self.log.open("rb") as log:
            log.seek(since)
            return log.read().decode(errors="replace")

    def kill(self) -> float:
        """`kill -9`, this very moment; returns when."""
        assert self._process is not None
        self.killed.add(self._process.pid)
        self.up.clear()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGKILL)
        return monotonic()

    async def stop(self) -> str:
        """SIGTERM, for good; what is to be said against how it ended."""
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
        """Kill it for good, whatever it does."""
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
    """Ready once it prints something matching."""
    return lambda said: re.search(pattern, said)


def surroundings(**settings: str) -> dict[str, str]:
    """This machine's environment without any setting of ours, and then these."""
    ours = ("DAILYGRAD_", "DATABASE_", "DISCORD_", "SLACK_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | {"PYTHONUNBUFFERED": "1"} | settings


def mounts(folder: Path) -> Counter[str]:
    """Where something is mounted in or from the folder, as this process sees it: others mount what they like."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return Counter(line.split()[4] for line in lines if str(folder) in line)
