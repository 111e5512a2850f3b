"""Allow-list of system calls for submitted code, compiled to a seccomp BPF program. Installs nothing.

Recorded from forked torch children (autograd, training loops, threads, save and load) and reviewed by hand. Every other
call fails with EPERM, so that Python raises PermissionError. A foreign ABI kills the process.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable

from sandbox import linux

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_NUMBER, _ARCHITECTURE, _FIRST_LOW, _SECOND_LOW = 0, 4, 16, 24
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NAMESPACES = 0x7E020080

# Name: number on x86-64, and number on aarch64 (None if that machine has no such call).
_PLAIN: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "open": (2, None),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "poll": (7, None),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "pwrite64": (18, 68),
    "readv": (19, 65),
    "writev": (20, 66),
    "access": (21, None),
    "pipe": (22, None),
    "select": (23, None),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "dup": (32, 23),
    "dup2": (33, None),
    "pause": (34, None),
    "nanosleep": (35, 101),
    "alarm": (37, None),
    "setitimer": (38, 103),
    "getpid": (39, 172),
    "sendfile": (40, 71),
    "exit": (60, 93),
    "uname": (63, 160),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "truncate": (76, 45),
    "ftruncate": (77, 46),
    "getdents": (78, None),
    "getcwd": (79, 17),
    "chdir": (80, 49),
    "fchdir": (81, 50),
    "rename": (82, None),
    "mkdir": (83, None),
    "rmdir": (84, None),
    "unlink": (87, None),
    "readlink": (89, None),
    "umask": (95, 166),
    "gettimeofday": (96, 169),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "getpgrp": (111, None),
    "sigaltstack": (131, 132),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "sched_getscheduler": (145, 120),
    "arch_prctl": (158, None),
    "setrlimit": (160, 164),
    "gettid": (186, 178),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "getdents64": (217, 61),
    "set_tid_address": (218, 96),
    "restart_syscall": (219, 128),
    "fadvise64": (221, 223),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "openat": (257, 56),
    "mkdirat": (258, 34),
    "newfstatat": (262, 79),
    "unlinkat": (263, 35),
    "renameat": (264, 38),
    "readlinkat": (267, 78),
    "faccessat": (269, 48),
    "pselect6": (270, 72),
    "ppoll": (271, 73),
    "set_robust_list": (273, 99),
    "utimensat": (280, 88),
    "fallocate": (285, 47),
    "dup3": (292, 24),
    "pipe2": (293, 59),
    "getcpu": (309, 168),
    "renameat2": (316, 276),
    "getrandom": (318, 278),
    "membarrier": (324, 283),
    "statx": (332, 291),
    "rseq": (334, 293),
    "close_range": (436, 436),
    "faccessat2": (439, 439),
}
# Calls allowed for certain values of one argument only. Name: numbers, offset of the argument, values.
_TERMINAL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# No locks: two runs could communicate by locking a file that both can read.
_DESCRIPTOR = (0, 1, 2, 3, 4, 1030)
_NAMING = (15, 16, 0x53564D41)
_UNIX = 1
_CHOSEN: dict[str, tuple[tuple[int, int], int, tuple[int, ...]]] = {
    "ioctl": ((16, 29), _SECOND_LOW, _TERMINAL),
    "fcntl": ((72, 25), _SECOND_LOW, _DESCRIPTOR),
    "prctl": ((157, 167), _FIRST_LOW, _NAMING),
    # asyncio's loop wakes itself up with a pair. Neither end can be addressed or passed on: no other call is allowed.
    "socketpair": ((53, 199), _FIRST_LOW, (_UNIX,)),
    # Process 0 is the caller: a program may lower its own limits only.
    "prlimit64": ((302, 261), _FIRST_LOW, (0,)),
}
# Additional calls for a GPU. The driver's ioctl requests have type F; those of unified memory are plain numbers, two of
# them large (NVIDIA's open-gpu-kernel-modules: nv-ioctl-numbers.h, uvm_ioctl.h, uvm_linux_ioctl.h).
_PLAIN_GPU: dict[str, tuple[int, int]] = {"eventfd2": (290, 19), "get_mempolicy": (239, 236)}
_DRIVER_TYPE, _UVM_BELOW, _UVM_LARGE = ord("F") << 8, 0x100, (0x30000001, 0x30000002)
_TGKILL, _CLONE, _CLONE3 = (234, 131), (56, 220), (435, 435)


def allowed_names(*, gpu: bool = False) -> frozenset[str]:
    """Returns the names of all allowed calls, including those allowed with certain arguments only."""
    return (
        frozenset(_PLAIN) | frozenset(_CHOSEN) | {"tgkill", "clone"} | (frozenset(_PLAIN_GPU) if gpu else frozenset())
    )


def filter_program(machine: str, pid: int, *, gpu: bool = False) -> bytes:
    """Returns the filter for a child with process id `pid`, which may signal itself, as abort() does, and no one else.

    With `gpu`, the filter also allows what a started CUDA driver needs.
    """
    column = 0 if machine == "x86_64" else 1
    program = _step(_LOAD, _ARCHITECTURE) + _step(_EQUAL, _ARCHITECTURES[machine], 1, 0) + _return(_KILL)
    program += _step(_LOAD, _NUMBER)
    if machine == "x86_64":
        program += _step(_AT_LEAST, 0x40000000, 0, 1) + _return(_KILL)  # the x32 ABI has its own numbers
    if gpu:
        program += b"".join(_for_call(numbers[column], _return(_ALLOW)) for numbers in _PLAIN_GPU.values())
        program += _gpu_ioctl(_CHOSEN["ioctl"][0][column])
    for numbers in _PLAIN.values():
        number = numbers[column]
        if number is not None:
            program += _for_call(number, _return(_ALLOW))
    for both, offset, values in _CHOSEN.values():
        program += _one_of(both[column], offset, values)
    program += _one_of(_TGKILL[column], _FIRST_LOW, (pid,))
    program += _threads_only(_CLONE[column])
    # libc falls back to clone when clone3, whose flags no filter can read, does not exist.
    program += _for_call(_CLONE3[column], _return(_ERRNO | errno.ENOSYS))
    return program + _return(_REFUSE)


_REFUSE = _ERRNO | errno.EPERM


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    """Returns one BPF instruction: `yes` and `no` are the numbers of instructions a comparison skips."""
    return struct.pack("=HBBI", code, yes, no, value)


def _return(action: int) -> bytes:
    return _step(_RETURN, action)


def _for_call(number: int, body: bytes) -> bytes:
    """Returns `body` guarded so that it applies to one call only. The body must end in a return."""
    return _step(_EQUAL, number, 0, len(body) // 8) + body


def _one_of(number: int, offset: int, values: Iterable[int]) -> bytes:
    """Allows a call if the argument at `offset` has one of the values."""
    body = _step(_LOAD, offset)
    for value in values:
        body += _step(_EQUAL, value, 0, 1) + _return(_ALLOW)
    return _for_call(number, body + _return(_REFUSE))


def _gpu_ioctl(number: int) -> bytes:
    """Allows ioctl requests of a terminal and of a GPU's driver. Landlock decides on which files."""
    body = _step(_LOAD, _SECOND_LOW)
    for value in (*_TERMINAL, *_UVM_LARGE):
        body += _step(_EQUAL, value, 0, 1) + _return(_ALLOW)
    body += _step(_AT_LEAST, _UVM_BELOW, 1, 0) + _return(_ALLOW)
    body += _step(_AND, 0xFF00) + _step(_EQUAL, _DRIVER_TYPE, 0, 1) + _return(_ALLOW)
    return _for_call(number, body + _return(_REFUSE))


def _threads_only(number: int) -> bytes:
    """Allows clone for a thread without new namespaces: memory limits apply to a single process."""
    body = _step(_LOAD, _FIRST_LOW)
    body += _step(_ANY_BIT, _NAMESPACES, 0, 1) + _return(_REFUSE)
    body += _step(_ANY_BIT, linux.CLONE_THREAD, 0, 1) + _return(_ALLOW)
    return _for_call(number, body + _return(_REFUSE))
