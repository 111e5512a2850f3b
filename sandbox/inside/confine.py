"""Confines the current process, one function per layer. `confine_process` applies all of them in order.

Each layer works alone, so that tests can try one with the others off.
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
SCRATCH = "/tmp"  # noqa: S108 - private to the run: a tmpfs of its own
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")

# Landlock: the rights on files that each ABI version handles.
_FILE_RIGHTS = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_EXECUTE, _WRITE, _READ, _LIST, _TRUNCATE, _IOCTL = 1, 2, 4, 8, 1 << 14, 1 << 15
# Create, remove and move plain files and folders; no devices, sockets, pipes or links.
_CHANGE = _WRITE | _READ | _LIST | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8 | 1 << 13 | _TRUNCATE


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a child is confined to."""

    readable: tuple[str, ...]
    """Files and folders that Python and torch are loaded from."""
    user: int
    group: int
    """The zygote's ids, which the child cannot look up once it is in its own namespace."""
    disk_mb: int = 16
    namespaces: bool = True
    """Whether the process was cloned into NAMESPACES. False only for the weaker isolation."""
    own_pids: bool = True
    """Whether its PID namespace is its own. False only for a GPU child where the kernel allows no new /proc."""


def confine_process(confinement: Confinement) -> None:
    """Applies every layer. Call it in a new, single-threaded child before it has seen any submitted code."""
    start_session()
    if confinement.namespaces:
        map_identity(confinement.user, confinement.group)
        mount_scratch(confinement.disk_mb)
        cover("/proc")
    set_static_limits(confinement.disk_mb)
    drop_privileges()
    restrict_files(confinement.readable, writable=confinement.namespaces)
    filter_system_calls()


def prepare() -> None:
    """Precomputes, in the process that forks, what is the same for every child."""
    _filter(1)


def start_session() -> None:
    """Starts a new session that dies with its parent and is the first to be killed when memory runs out."""
    os.setsid()
    linux.prctl(linux.PR_SET_PDEATHSIG, int(signal.SIGKILL))
    with _dumpable():
        _write("/proc/self/oom_score_adj", "1000")


@contextlib.contextmanager
def _dumpable() -> Iterator[None]:
    """Makes the process dumpable while the block runs: only then may it write to its own /proc/self."""
    linux.prctl(linux.PR_SET_DUMPABLE, 1)
    try:
        yield
    finally:
        linux.prctl(linux.PR_SET_DUMPABLE, 0)


def _write(path: str, text: str) -> None:
    """Writes to a kernel file. Python's own file objects would cost a child more than the write."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def map_identity(user: int, group: int) -> None:
    """Maps the zygote's `user` and `group` into a new user namespace. No other ids exist there."""
    with _dumpable():
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/gid_map", f"{group} {group} 1")
        _write("/proc/self/uid_map", f"{user} {user} 1")


def mount_scratch(disk_mb: int) -> None:
    """Mounts a private tmpfs of that size as the scratch folder, with few inodes."""
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    safe = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    linux.mount("none", SCRATCH, "tmpfs", safe, f"size={disk_mb}m,nr_inodes=256,mode=700")
    os.chdir(SCRATCH)


def mount_own_proc() -> None:
    """Mounts a /proc in which thread ids are those of this PID namespace. Cover it before a run is taken."""
    linux.mount("proc", "/proc", "proc", linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC)


def cover(path: str) -> None:
    """Mounts an empty, read-only folder over `path`. Over /proc, it hides every process."""
    safe = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC
    linux.mount("none", path, "tmpfs", safe | linux.MS_RDONLY, "size=4k,nr_inodes=2,mode=555")


def set_static_limits(disk_mb: int, open_files: int = 64) -> None:
    """Sets the limits that do not depend on the run."""
    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, open_files),
        (resource.RLIMIT_FSIZE, disk_mb << 20),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        _lower_limit(limit, value)


def set_run_limits(limits: Limits, bytes_in_use: int, *, own_user: bool, data_only: bool = False) -> None:
    """Sets one run's limits on address space, CPU time, file size and threads, on top of what is in use already.

    With `data_only`, private writable memory is limited rather than address space, and `bytes_in_use` counts that.
    Threads are counted per user, so they can be limited only for a user in a namespace of its own.
    """
    _lower_limit(resource.RLIMIT_DATA if data_only else resource.RLIMIT_AS, bytes_in_use + (limits.memory_mb << 20))
    _lower_limit(resource.RLIMIT_FSIZE, limits.disk_mb << 20)
    if own_user:
        _lower_limit(resource.RLIMIT_NPROC, limits.processes)
    used = resource.getrusage(resource.RUSAGE_SELF)
    # The kernel knows whole seconds only, and process 1 of a namespace reacts to the hard limit only.
    _lower_limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime + limits.cpu_ms / 1000) + 1)


def _lower_limit(limit: int, value: int) -> None:
    _, hard = resource.getrlimit(limit)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(limit, (value, value))


def drop_privileges() -> None:
    """Drops every capability and prevents gaining any."""
    linux.drop_capabilities()
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)


def restrict_files(
    readable: Sequence[str], *, writable: bool, devices: Sequence[str] = (), kernel_folders: Sequence[str] = ()
) -> bool:
    """Restricts files with Landlock: read what Python and torch need, write in the scratch folder.

    The `devices` may be read, written and controlled; where the kernel can tell (ABI 5), no other device may be
    controlled. Files beneath `kernel_folders` may be read and written: cover those folders afterwards. Returns False
    if the kernel has no Landlock. Requires no_new_privs.
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
        _allow(ruleset, devices, _READ | _WRITE | _IOCTL, handled)
        # A driver names its threads by fopen(..., "w"), which truncates.
        _allow(ruleset, kernel_folders, _READ | _LIST | _WRITE | _TRUNCATE, handled)
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
            file_rights = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
            applicable = rights if stat.S_ISDIR(os.fstat(descriptor).st_mode) else rights & file_rights
            linux.landlock_allow(ruleset, descriptor, applicable & handled)
        finally:
            os.close(descriptor)


def filter_system_calls() -> None:
    """Applies the allow-list of `sandbox.inside.seccomp`. Requires no_new_privs."""
    linux.load_filter(_filter(os.getpid()))


@functools.lru_cache(2)
def _filter(pid: int) -> bytes:
    return seccomp.filter_program(linux.machine(), pid)
