"""What the tests ask the kernel about the sandbox's processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass
from pathlib import Path

import psutil


def below(pid: int) -> list[int]:
    """Returns the processes that descend from `pid`, parents first. They may end at any time."""
    try:
        return [child.pid for child in psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def alive(pids: list[int]) -> list[int]:
    """Returns those that still run and are not zombies of another process."""
    left = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if state not in "ZX":
            left.append(pid)
    return left


async def gone(pids: list[int]) -> bool:
    """Waits a while; returns whether all of `pids` have ended."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(handle, ended.set)
        try:
            await asyncio.wait_for(ended.wait(), 60)
        finally:
            asyncio.get_running_loop().remove_reader(handle)
            os.close(handle)
    return not alive(pids)


@dataclass(frozen=True)
class ProcessState:
    """A process that runs, as the kernel describes it."""

    pid: int
    status: dict[str, str]
    environment: bytes | None
    """Only root may read it."""
    oom_score: int


def states(pids: list[int]) -> list[ProcessState]:
    """Returns the states of these processes, without those that have ended meanwhile."""
    found = []
    for pid in pids:
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            state = ProcessState(pid, status(pid), environment(pid) if os.getuid() == 0 else None, oom_score(pid))
            if state.status["State"][0] not in "ZX":
                found.append(state)
    return found


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def environment(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


def oom_score(pid: int) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def kill(pids: list[int]) -> None:
    """Kills the processes that have not ended by themselves."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
