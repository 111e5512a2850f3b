"""What the tests ask the kernel about the sandbox's processes."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path


def below(pid: int) -> list[int]:
    """Every process that descends from `pid`, parents first."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            found += [child, *below(child)]
    return found


def alive(pids: list[int]) -> list[int]:
    """Those that are still there and no mere zombies of somebody else."""
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
    """Whether all of `pids` end soon."""
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ended = asyncio.Event()
        asyncio.get_running_loop().add_reader(handle, ended.set)
        try:
            await asyncio.wait_for(ended.wait(), 10)
        finally:
            asyncio.get_running_loop().remove_reader(handle)
            os.close(handle)
    return not alive(pids)


def status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def environment(pid: int) -> bytes:
    return Path(f"/proc/{pid}/environ").read_bytes()


def oom_score(pid: int) -> int:
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())
