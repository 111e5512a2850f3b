"""Linux system calls that Python lacks, through ctypes: clone, unshare, mount, prctl, capset, seccomp and Landlock."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
import signal

CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000
CLONE_THREAD = 0x00010000
_CLONE_PIDFD = 0x00001000
_CLONE_CHILD_CLEARTID = 0x00200000
_CLONE_CHILD_SETTID = 0x01000000
_SIGCHLD = int(signal.SIGCHLD)

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_BIND, MS_REC, MS_PRIVATE = 1 << 12, 1 << 14, 1 << 18

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP = 1, 4, 22, 24
PR_SET_NO_NEW_PRIVS, PR_GET_TID_ADDRESS, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 38, 40, 47, 4

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_CLONE_NUMBER = {"x86_64": 56, "aarch64": 220}
_SECCOMP_NUMBER = {"x86_64": 317, "aarch64": 277}
_SECCOMP_SET_MODE_FILTER, _SECCOMP_FILTER_FLAG_TSYNC = 1, 1

_libc = ctypes.CDLL(None, use_errno=True)
# PyDLL keeps the GIL during the call, so that the child of a clone holds it as its parent did.
_holding = ctypes.PyDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    """struct sock_fprog: number of instructions, and a pointer to them."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


class _Beneath(ctypes.Structure):
    """struct landlock_path_beneath_attr."""

    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("rights", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


@functools.cache
def machine() -> str:
    """Returns `x86_64` or `aarch64`. Raises OSError on other machines, whose system call numbers are not listed."""
    name = platform.machine()
    if name not in _CLONE_NUMBER:
        raise OSError(f"the sandbox knows the system calls of x86_64 and aarch64, not of {name}")
    return name


def _checked(result: int, call: str) -> int:
    """Returns `result`, or raises OSError with errno if it is -1."""
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, f"{call}: {os.strerror(code)}")
    return result


class Cloner:
    """Forks a single-threaded process into new namespaces, again and again.

    Skips Python's and libc's at-fork handlers, so random generators keep their state in the child: seed them. The
    arguments are made once, because memory that a zygote writes to is no longer shared with its children.
    """

    def __init__(self, flags: int) -> None:
        self._pidfd = ctypes.c_int(-1)
        address, zero = ctypes.c_void_p(0), ctypes.c_long(0)
        # libc caches the thread id at this address. Without it, abort() in the child would signal the parent's id.
        if _libc.prctl(PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) == 0:
            flags |= _CLONE_CHILD_SETTID | _CLONE_CHILD_CLEARTID
        tail = (address, zero) if machine() == "x86_64" else (zero, address)
        number, everything = ctypes.c_long(_CLONE_NUMBER[machine()]), ctypes.c_long(flags | _CLONE_PIDFD | _SIGCHLD)
        self._arguments = (number, everything, zero, ctypes.byref(self._pidfd), *tail)

    def clone(self) -> tuple[int, int]:
        """Returns (pid, pidfd) in the parent and (0, -1) in the child. Raises OSError."""
        pid = _holding.syscall(*self._arguments)
        if pid == -1:
            _checked(pid, "clone")
        return (pid, self._pidfd.value) if pid else (0, -1)


def clone(flags: int) -> tuple[int, int]:
    """Forks once, as `Cloner.clone`."""
    return Cloner(flags).clone()


def unshare(flags: int) -> None:
    """Moves this process into new namespaces."""
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """Calls mount(2)."""
    arguments = (source.encode(), target.encode(), kind.encode() if kind else None)
    _checked(_libc.mount(*arguments, ctypes.c_ulong(flags), data.encode() or None), f"mount {target}")


def prctl(option: int, argument: int = 0, pointer: object = None) -> int:
    """Calls prctl(2) with one number or, if `pointer` is given, with a number and a pointer."""
    second = pointer if pointer is not None else ctypes.c_ulong(0)
    zero = ctypes.c_ulong(0)
    result = _libc.prctl(ctypes.c_int(option), ctypes.c_ulong(argument), second, zero, zero)
    return _checked(result, f"prctl {option}")


def drop_capabilities() -> None:
    """Gives up every capability for good, including the bounding and the ambient set."""
    number = 0
    while _libc.prctl(PR_CAPBSET_DROP, ctypes.c_ulong(number), 0, 0, 0) == 0:
        number += 1
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _checked(_libc.capset(ctypes.byref(header), ctypes.byref((ctypes.c_uint32 * 6)())), "capset")


def load_filter(program: bytes) -> None:
    """Installs a seccomp filter, an array of 8-byte BPF instructions. Requires no_new_privs."""
    prctl(PR_SET_SECCOMP, 2, ctypes.byref(_Program(len(program) // 8, program)))


def load_filter_in_all_threads(program: bytes) -> None:
    """Installs a seccomp filter in every thread of this process, or in none. Requires no_new_privs."""
    number = ctypes.c_long(_SECCOMP_NUMBER[machine()])
    operation = ctypes.c_ulong(_SECCOMP_SET_MODE_FILTER), ctypes.c_ulong(_SECCOMP_FILTER_FLAG_TSYNC)
    thread = _libc.syscall(number, *operation, ctypes.byref(_Program(len(program) // 8, program)))
    if thread != 0:
        why = f"thread {thread} has another one" if thread > 0 else os.strerror(ctypes.get_errno())
        raise OSError(ctypes.get_errno(), f"the system call filter: {why}")


def landlock_abi() -> int:
    """Returns the kernel's Landlock version, or 0 if it has none."""
    version = int(_libc.syscall(ctypes.c_long(_LANDLOCK_CREATE), None, ctypes.c_size_t(0), ctypes.c_uint(1)))
    return max(version, 0)


def landlock_ruleset(files: int, net: int, scoped: int, abi: int) -> int:
    """Returns a descriptor of a ruleset that restricts the given rights, as far as the kernel's `abi` supports them."""
    rights = [files, net, scoped][: 1 if abi < 4 else 2 if abi < 6 else 3]
    attribute = (ctypes.c_uint64 * len(rights))(*rights)
    size = ctypes.c_size_t(ctypes.sizeof(attribute))
    number = ctypes.c_long(_LANDLOCK_CREATE)
    return _checked(_libc.syscall(number, ctypes.byref(attribute), size, ctypes.c_uint(0)), "landlock_create")


def landlock_allow(ruleset: int, descriptor: int, rights: int) -> None:
    """Allows `rights` on the file or beneath the directory behind `descriptor`."""
    rule = ctypes.byref(_Beneath(rights, descriptor))
    number, handle = ctypes.c_long(_LANDLOCK_ADD), ctypes.c_int(ruleset)
    _checked(_libc.syscall(number, handle, ctypes.c_int(1), rule, ctypes.c_uint(0)), "landlock_add_rule")


def landlock_restrict(ruleset: int) -> None:
    """Applies `ruleset` to this process and everything it starts. Requires no_new_privs."""
    number = ctypes.c_long(_LANDLOCK_RESTRICT)
    _checked(_libc.syscall(number, ctypes.c_int(ruleset), ctypes.c_uint(0)), "landlock_restrict_self")
