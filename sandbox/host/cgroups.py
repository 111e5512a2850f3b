"""Control groups: where this machine allows them, the kernel limits each child's memory and tasks.

Where it does not, the process limits and the supervisor's own checks apply alone. Supports the unified hierarchy (v2),
and the memory and pids controllers of the older one (v1). Kills nothing itself.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.wire import Limits

ROOT = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_PREFIX = "dailygrad-"
_SHARED_MB = 64
"""Allowance for pages a run modifies that it shares with its siblings, MB. An ordinary run modifies 10."""
_LIMIT_FILES = {"memory": ("memory.max", "memory.limit_in_bytes"), "pids": ("pids.max", "pids.max")}
"""File of each limit, in v2 and in v1."""


@dataclass(frozen=True, slots=True)
class Cgroup:
    """One child's control group: a folder per controller (v1), or one folder for both (v2)."""

    memory: Path
    pids: Path
    unified: bool

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders, without duplicates."""
        return tuple(dict.fromkeys((self.memory, self.pids)))

    def create(self, pid: int) -> None:
        """Creates the group and moves a process into it. Raises OSError. Slow where the kernel syncs all cores (v1)."""
        for folder in self.folders:
            folder.mkdir()
            (folder / "cgroup.procs").write_text(str(pid))

    def limit(self, limits: Limits) -> None:
        """Applies a run's limits. Raises OSError."""
        memory, pids = (names[0 if self.unified else 1] for names in _LIMIT_FILES.values())
        (self.memory / memory).write_text(str((limits.memory_mb + _SHARED_MB) << 20))
        (self.pids / pids).write_text(str(limits.processes))

    def remove(self) -> bool:
        """Removes the group. Returns False while it still has processes. Safe if it does not exist."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        return not any(folder.exists() for folder in self.folders)


@dataclass(frozen=True, slots=True)
class CgroupParent:
    """The folders in which children's groups are created."""

    memory: Path
    pids: Path
    unified: bool
    _numbers: Iterator[int] = field(default_factory=itertools.count, compare=False, repr=False)

    def new(self) -> Cgroup:
        """Returns a group with a unique name that is not created yet. Thread-safe."""
        name = f"{_PREFIX}{os.getpid()}-{next(self._numbers)}"
        return Cgroup(self.memory / name, self.pids / name, self.unified)


def find_cgroups(root: Path = ROOT, membership: Path = _MEMBERSHIP) -> CgroupParent | None:
    """Returns where this process may create groups that limit memory and tasks, or None.

    Removes groups that killed supervisors left behind. In the unified hierarchy, this process moves to a leaf of its
    own, as the kernel requires.
    """
    try:
        lines = [line.split(":", 2) for line in membership.read_text().splitlines()]
    except OSError:
        return None
    path_of = {name: path.lstrip("/") for _, names, path in lines for name in names.split(",")}
    found = _unified(root / path_of[""]) if "" in path_of else None
    if found is None and all(name in path_of for name in _LIMIT_FILES):
        found = CgroupParent(root / "memory" / path_of["memory"], root / "pids" / path_of["pids"], unified=False)
    return found if found is not None and _works(found) else None


def _unified(own: Path) -> CgroupParent | None:
    """Returns this process's group in the unified hierarchy if it can delegate both controllers, or None."""
    try:
        if not set(_LIMIT_FILES) <= set((own / "cgroup.controllers").read_text().split()):
            return None
    except OSError:
        return None
    leaf = own / f"{_PREFIX}supervisor"
    try:
        leaf.mkdir(exist_ok=True)
        (leaf / "cgroup.procs").write_text(str(os.getpid()))
        (own / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:
        # The group has other members or belongs to another user: undo the move.
        with contextlib.suppress(OSError):
            (own / "cgroup.procs").write_text(str(os.getpid()))
            leaf.rmdir()
        return None
    return CgroupParent(own, own, unified=True)


def _works(parent: CgroupParent) -> bool:
    """Returns whether a group can be created and limited there. Removes what earlier supervisors left."""
    for folder in {parent.memory, parent.pids}:
        for leftover in folder.glob(f"{_PREFIX}*-*"):
            with contextlib.suppress(OSError):  # it belongs to a running supervisor and has a child in it
                leftover.rmdir()
    trial = parent.new()
    try:
        for folder in trial.folders:
            folder.mkdir()
        trial.limit(Limits())
    except OSError:
        return False
    finally:
        trial.remove()
    return True
