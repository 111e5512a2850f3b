"""Control groups: where this machine lets us make them, the kernel counts each child's memory and tasks. Elsewhere the
limits of a process and the supervisor's watch hold alone. For the supervisor; kills nothing itself.

Knows the unified hierarchy (v2) and the memory and pids controllers of the older one (v1).
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
_OURS = "dailygrad-"
_SHARED_MB = 64
"""What a run may dirty of the pages it shares with its siblings, beyond its own memory: an ordinary one dirties 10."""
_PARTS = {"memory": ("memory.max", "memory.limit_in_bytes"), "pids": ("pids.max", "pids.max")}


@dataclass(frozen=True, slots=True)
class Group:
    """One child's control group: a folder for each controller, or one for all."""

    memory: Path
    pids: Path
    unified: bool

    @property
    def folders(self) -> tuple[Path, ...]:
        """The one, or both."""
        return tuple(dict.fromkeys((self.memory, self.pids)))

    def make(self, pid: int) -> None:
        """Make it, and put that process in. Raises OSError. Slow where the kernel waits for all its cores (v1)."""
        for folder in self.folders:
            folder.mkdir()
            (folder / "cgroup.procs").write_text(str(pid))

    def limit(self, limits: Limits) -> None:
        """Hold it to a run's limits. Raises OSError."""
        memory, pids = (names[0 if self.unified else 1] for names in _PARTS.values())
        (self.memory / memory).write_text(str((limits.memory_mb + _SHARED_MB) << 20))
        (self.pids / pids).write_text(str(limits.processes))

    def remove(self) -> bool:
        """Let go of it; False while it has processes. Harmless when it is not there."""
        for folder in self.folders:
            with contextlib.suppress(OSError):
                folder.rmdir()
        return not any(folder.exists() for folder in self.folders)


@dataclass(frozen=True, slots=True)
class Groups:
    """Where children's groups are made."""

    memory: Path
    pids: Path
    unified: bool
    _numbers: Iterator[int] = field(default_factory=itertools.count, compare=False, repr=False)

    def new(self) -> Group:
        """One that is not made yet, with a name of its own. Any thread may ask."""
        name = f"{_OURS}{os.getpid()}-{next(self._numbers)}"
        return Group(self.memory / name, self.pids / name, self.unified)


def find(root: Path = ROOT, membership: Path = _MEMBERSHIP) -> Groups | None:
    """Where this process may make groups that count memory and tasks; None where it may not. Clears what killed
    supervisors left. In the unified hierarchy the process moves to a leaf of its own, as the kernel wants it."""
    try:
        lines = [line.split(":", 2) for line in membership.read_text().splitlines()]
    except OSError:
        return None
    place = {name: path.lstrip("/") for _, names, path in lines for name in names.split(",")}
    found = _unified(root / place[""]) if "" in place else None
    if found is None and all(name in place for name in _PARTS):
        found = Groups(root / "memory" / place["memory"], root / "pids" / place["pids"], unified=False)
    return found if found is not None and _works(found) else None


def _unified(own: Path) -> Groups | None:
    """Ours in the unified hierarchy, if both controllers can be handed down from it."""
    try:
        if not set(_PARTS) <= set((own / "cgroup.controllers").read_text().split()):
            return None
    except OSError:
        return None
    leaf = own / f"{_OURS}supervisor"
    try:
        leaf.mkdir(exist_ok=True)
        (leaf / "cgroup.procs").write_text(str(os.getpid()))
        (own / "cgroup.subtree_control").write_text("+memory +pids")
    except OSError:
        # It is shared with others, or not ours: back to where we were.
        with contextlib.suppress(OSError):
            (own / "cgroup.procs").write_text(str(os.getpid()))
            leaf.rmdir()
        return None
    return Groups(own, own, unified=True)


def _works(groups: Groups) -> bool:
    """Whether a group can be made and limited there; clears away what is left of earlier ones."""
    for folder in {groups.memory, groups.pids}:
        for left in folder.glob(f"{_OURS}*-*"):
            with contextlib.suppress(OSError):  # another supervisor's, with a child in it
                left.rmdir()
    trial = groups.new()
    try:
        for folder in trial.folders:
            folder.mkdir()
        trial.limit(Limits())
    except OSError:
        return False
    finally:
        trial.remove()
    return True
