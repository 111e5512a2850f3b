"""Confines the process it is called in, one function per layer, in the order `raise_walls` calls them. Runs no answer.

Each layer stands alone, so that tests can try one with the others off.
"""

from __future__ import annotations

import contextlib
import functools
import os
import resource
import signal
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sandbox import linux
from sandbox.inside import seccomp
from sandbox.wire import Limits

NAMESPACES = (
    linux.CLONE_NEWUSER
    | linux.CLONE_NEWPID
    | linux.CLONE_NEWNS
    | linux.CLONE_NEWNET
    | linux.CLONE_NEWIPC
    | linux.CLONE_NEWUTS
)
SCRATCH = "/tmp"  # noqa: S108 - private to the run: a tmpfs of its own, mounted by `mounts`
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

_FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE, _CONTROL = 1, 2, 4, 8, 1 << 14, 1 << 15
# Making plain files and directories and removing and moving them; no device, socket, pipe or link.
_CHANGE = _WRITE | _READ | _LIST | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | _TRUNCATE


@dataclass(frozen=True, slots=True)
class Isolation:
    """What a child is confined to."""

    readable: tuple[str, ...]
    """Files and directories Python and torch are loaded from."""
    user: int
    group: int
    """The zygote's numbers; the child cannot ask for them once it is in a namespace of its own."""
    disk_mb: int = 16
    namespaces: bool = True
    """Whether the process was cloned into NAMESPACES; False only in the weaker tier."""


def raise_walls(walls: Isolation) -> None:
    """Every layer. Call it in a fresh child with one thread, before it has seen anything of an answer."""
    session()
    if walls.namespaces:
        identity(walls.user, walls.group)
        mounts(walls.disk_mb)
    static_limits(walls.disk_mb)
    privileges()
    files(walls.readable, writable=walls.namespaces)
    system_calls()


def prepare() -> None:
    """Make ready, in the process that forks, what is the same for every child."""
    _filter(1)


def session() -> None:
    """A session of its own, dead with its parent, first in line when memory runs out."""
    os.setsid()
    linux.prctl(linux.PR_SET_PDEATHSIG, int(signal.SIGKILL))
    with _own_proc():
        _put("/proc/self/oom_score_adj", "1000")


@contextlib.contextmanager
def _own_proc() -> Iterator[None]:
    """/proc/self belongs to us only while the process is dumpable."""
    linux.prctl(linux.PR_SET_DUMPABLE, 1)
    try:
        yield
    finally:
        linux.prctl(linux.PR_SET_DUMPABLE, 0)


def _put(path: str, text: str) -> None:
    """Write to a file of the kernel's; what Python's own files bring along costs a child more than the writing."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def identity(user: int, group: int) -> None:
    """In a new user namespace: be `user` and `group`, the zygote's own numbers; no other exists."""
    with _own_proc():
        _put("/proc/self/setgroups", "deny")
        _put("/proc/self/gid_map", f"{group} {group} 1")
        _put("/proc/self/uid_map", f"{user} {user} 1")


def mounts(disk_mb: int) -> None:
    """A small private scratch in memory; /proc empty, so that no process, ours included, can be looked into."""
    scratch(disk_mb)
    cover("/proc")


def scratch(disk_mb: int) -> None:
    """The private scratch, of that size and with few files."""
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    safe = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    linux.mount("none", SCRATCH, "tmpfs", safe, f"size={disk_mb}m,nr_inodes=256,mode=700")
    os.chdir(SCRATCH)


def cover(path: str) -> None:
    """Put an empty directory, never to be written, over the one at `path`."""
    safe = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    linux.mount("none", path, "tmpfs", safe | linux.MS_RDONLY, "size=4k,nr_inodes=2,mode=555")


def static_limits(disk_mb: int, open_files: int = 64) -> None:
    """The limits that hold whatever the run asks for."""
    for what, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, open_files),
        (resource.RLIMIT_FSIZE, disk_mb << 20),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _lower(what, most)


def run_limits(limits: Limits, bytes_in_use: int, *, own_user: bool, data_only: bool = False) -> None:
    """The limits of one run: address space beyond the `bytes_in_use`, CPU beyond what was used, threads.

    With `data_only` it is private writable memory that is limited, and `bytes_in_use` counts that.
    Threads are counted per user, so they can only be limited for a user in a namespace of its own.
    """
    _lower(resource.RLIMIT_DATA if data_only else resource.RLIMIT_AS, bytes_in_use + (limits.memory_mb << 20))
    _lower(resource.RLIMIT_FSIZE, limits.disk_mb << 20)
    if own_user:
        _lower(resource.RLIMIT_NPROC, limits.processes)
    used = resource.getrusage(resource.RUSAGE_SELF)
    # Whole seconds are all the kernel knows, and process 1 of a namespace only heeds the hard limit.
    _lower(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + limits.cpu_ms / 1000) + 1)


def _lower(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (least, least))


def privileges() -> None:
    """No capability, and no way to gain one."""
    linux.drop_capabilities()
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)


def files(readable: Sequence[str], *, writable: bool, devices: Sequence[str] = ()) -> bool:
    """Landlock: reading what Python and torch need, writing in the scratch; False where the kernel has none.

    The `devices` may be read, written and controlled, and no others controlled where the kernel can tell (ABI 5).
    """
    abi = linux.landlock_abi()
    if abi == 0:
        return False
    handled = _FILE_RIGHTS.get(abi, _FILE_RIGHTS[5])
    net, scoped = (3 if abi >= 4 else 0), (3 if abi >= 6 else 0)
    ruleset = linux.landlock_ruleset(handled, net, scoped, abi)
    try:
        _allow(ruleset, readable, _READ | _LIST | _EXECUTE, handled)
        _allow(ruleset, DEVICES, _READ | _WRITE, handled)
        _allow(ruleset, devices, _READ | _WRITE | _CONTROL, handled)
        if writable:
            _allow(ruleset, [SCRATCH], _CHANGE, handled)
        linux.landlock_restrict(ruleset)
    finally:
        os.close(ruleset)
    return True


def _allow(ruleset: int, paths: Iterable[str], rights: int, handled: int) -> None:
    for path in paths:
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            continue
        try:
            file_only = _EXECUTE | _WRITE | _READ | _TRUNCATE | _CONTROL
            kept = rights if stat.S_ISDIR(os.fstat(descriptor).st_mode) else rights & file_only
            linux.landlock_allow(ruleset, descriptor, kept & handled)
        finally:
            os.close(descriptor)


def system_calls() -> None:
    """The allow-list of `sandbox.inside.seccomp`. Needs no_new_privs."""
    linux.load_filter(_filter(os.getpid()))


@functools.lru_cache(2)
def _filter(pid: int) -> bytes:
    return seccomp.filter_program(linux.machine(), pid)
