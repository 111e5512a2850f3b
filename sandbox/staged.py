"""Raises a child's walls in two stages, around the start of a driver that needs /proc and makes threads of its own.

Capabilities and Landlock belong to a thread: they are settled `before` there is a second one. What the driver needs
only to start is taken away `after`: /proc and /sys by a process that kept the right to cover them, the system calls
by a filter for every thread at once.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable

from sandbox import confine, linux, seccomp
from sandbox.devices import Device

_SEEN = ("/proc", "/sys")
"""Where a driver looks for its devices when it starts."""
_MOST_FILES = 1024
"""A context alone holds dozens of device files open."""
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_FILTER, _EVERY_THREAD = 1, 1

_libc = ctypes.CDLL(None, use_errno=True)


def before(walls: confine.Walls, device: Device) -> Callable[[], None]:
    """Every wall but two, in a process with one thread. What is returned covers /proc and /sys, once, later."""
    if not walls.namespaces:
        raise RuntimeError("a fresh child needs namespaces of its own: not with --weaker")
    confine.session()
    confine.identity(walls.user, walls.group)
    confine.scratch(walls.disk_mb)
    hide = _hiding()
    confine.static_limits(walls.disk_mb, _MOST_FILES)
    confine.privileges()
    # The driver reads its own /proc; nobody who could look into this process has started yet.
    linux.prctl(linux.PR_SET_DUMPABLE, 1)
    confine.files([*walls.readable, *_SEEN], writable=True, devices=device.nodes)
    return hide


def _hiding() -> Callable[[], None]:
    """Start a process that covers `_SEEN` when it is told to, for whoever may no longer do so."""
    asked, ask = os.pipe()
    pid, pidfd = linux.clone(0)
    if pid == 0:
        os.close(ask)
        _cover_when(asked)
    os.close(asked)
    os.close(pidfd)

    def hide() -> None:
        os.write(ask, b"!")
        os.close(ask)
        if os.waitpid(pid, 0)[1] != 0:
            raise OSError("/proc could not be covered")

    return hide


def _cover_when(asked: int) -> None:
    """In the other process: leaves with 0 when all is covered, and without a word when nobody is there any more."""
    try:
        if os.read(asked, 1):
            for path in filter(os.path.isdir, _SEEN):
                confine.cover(path)
            os._exit(0)
    finally:
        os._exit(1)


def after() -> None:
    """The last two walls: nobody may look into this process, and the filter for each thread there is and will be."""
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    filter_every_thread(seccomp.filter_program(linux.machine(), os.getpid(), gpu=True))


def filter_every_thread(program: bytes) -> None:
    """Install a seccomp filter in all threads of this process, or in none. Needs no_new_privs."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    number = ctypes.c_long(_SECCOMP[linux.machine()])
    how = ctypes.c_ulong(_SET_FILTER), ctypes.c_ulong(_EVERY_THREAD)
    left = _libc.syscall(number, *how, ctypes.byref(Program(len(program) // 8, program)))
    if left != 0:
        why = f"thread {left} has another one" if left > 0 else os.strerror(ctypes.get_errno())
        raise OSError(ctypes.get_errno(), f"the filter of system calls: {why}")
