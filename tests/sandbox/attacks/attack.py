"""What an attack is, and the words every attack's program begins with. Data only: nothing here runs anything.

A program prints BREACH when it got what it wanted and `refused` with the error's name when it did not, so that one
which never came to try is no proof of anything. Run outside the walls it must print BREACH: that is its control.
"""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.wire import Limits, Status

FLEETING = Limits(wall_ms=400, cpu_ms=400, memory_mb=256)
PATIENT = Limits(wall_ms=15_000, cpu_ms=15_000, memory_mb=256)
"""Where something else than the time must end the run, on a busy machine too."""

PRELUDE = """
import ctypes, errno, os, platform, resource, sys
libc = ctypes.CDLL(None, use_errno=True)

def refused(problem):
    print("refused", errno.errorcode.get(getattr(problem, "errno", None), type(problem).__name__), flush=True)

def breach(*what):
    print("BREACH", *what, flush=True)

def attempt(what, *arguments, **named):
    try:
        what(*arguments, **named)
    except (OSError, ValueError, RuntimeError, MemoryError) as problem:
        refused(problem)
    else:
        breach()

def raw(x86, arm, *arguments):
    number = x86 if platform.machine() == "x86_64" else arm
    words = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    ctypes.set_errno(0)
    return libc.syscall(ctypes.c_long(number), *words)

def call(x86, arm, *arguments):
    # Anything but these two means that the kernel listened, be it only to complain of the arguments.
    result = raw(x86, arm, *arguments)
    if result == -1 and ctypes.get_errno() in (errno.EPERM, errno.ENOSYS):
        refused(OSError(ctypes.get_errno(), ""))
    else:
        breach(result, ctypes.get_errno())
"""

ABSENT = ("ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT", "ESOCKTNOSUPPORT", "EOPNOTSUPP", "ENODEV", "ENOENT", "ENXIO")
"""Errors that say that this machine has no such thing at all: there is nothing to break into."""


@dataclass(frozen=True, slots=True)
class Attack:
    """One program that tries one thing."""

    name: str
    code: str
    """Without the PRELUDE."""
    ends: tuple[Status, ...] = ("ok",)
    """How its run may end; `ok` where the program itself says that it was refused."""
    limits: Limits = PATIENT
    uncontrolled: str = ""
    """Why nothing could be seen of it outside the walls; empty where its control prints BREACH there."""

    @property
    def program(self) -> str:
        """What is run."""
        return PRELUDE + self.code
