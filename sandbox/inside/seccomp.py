"""Which system calls an answer may make: an allow-list, written as the BPF program the kernel takes. Installs nothing.

Recorded from forked torch children (autograd, training loops, threads, save and load) and read through by hand.
What is not named is refused with EPERM, so that Python says PermissionError; a foreign ABI kills.
"""

from __future__ import annotations

import errno
import struct
from collections.abc import Iterable

from sandbox import linux

_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_NUMBER, _ARCHITECTURE, _FIRST_LOW, _FIRST_HIGH, _SECOND_LOW = 0, 4, 16, 20, 24
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NAMESPACES = 0x7E020080

# name: number on x86-64, number on aarch64 (None: that machine has no such call)
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
# Allowed with these values of one argument only: name: numbers, offset of the argument, values.
_TERMINAL = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# No locks: on a file that all runs read, two of them could talk by taking one.
_DESCRIPTOR = (0, 1, 2, 3, 4, 1030)
_NAMING = (15, 16, 0x53564D41)
_CHOSEN: dict[str, tuple[tuple[int, int], int, tuple[int, ...]]] = {
    "ioctl": ((16, 29), _SECOND_LOW, _TERMINAL),
    "fcntl": ((72, 25), _SECOND_LOW, _DESCRIPTOR),
    "prctl": ((157, 167), _FIRST_LOW, _NAMING),
    # Process 0 is the caller: an answer may lower its own limits and nobody else's.
    "prlimit64": ((302, 261), _FIRST_LOW, (0,)),
}
# Beside a GPU. Its driver's requests are of type F, those of its unified memory plain numbers, two of them large
# (NVIDIA's open-gpu-kernel-modules: nv-ioctl-numbers.h, uvm_ioctl.h, uvm_linux_ioctl.h).
_PLAIN_GPU: dict[str, tuple[int, int]] = {"eventfd2": (290, 19), "get_mempolicy": (239, 236)}
_DRIVER_TYPE, _UVM_BELOW, _UVM_LARGE = ord("F") << 8, 0x100, (0x30000001, 0x30000002)
_TGKILL, _CLONE, _CLONE3 = (234, 131), (56, 220), (435, 435)


def _step(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, value)


def _give(verdict: int) -> bytes:
    return _step(_RETURN, verdict)


_REFUSE = _ERRNO | errno.EPERM


def _guarded(number: int, body: bytes) -> bytes:
    """`body`, entered for the call `number` alone; it must end in a return."""
    return _step(_EQUAL, number, 0, len(body) // 8) + body


def _one_of(number: int, offset: int, values: Iterable[int]) -> bytes:
    body = _step(_LOAD, offset)
    for value in values:
        body += _step(_EQUAL, value, 0, 1) + _give(_ALLOW)
    return _guarded(number, body + _give(_REFUSE))


def _driver_requests(number: int) -> bytes:
    """ioctl, where it is of a terminal or of a GPU's driver; which files may be asked at all is Landlock's."""
    body = _step(_LOAD, _SECOND_LOW)
    for value in (*_TERMINAL, *_UVM_LARGE):
        body += _step(_EQUAL, value, 0, 1) + _give(_ALLOW)
    body += _step(_AT_LEAST, _UVM_BELOW, 1, 0) + _give(_ALLOW)
    body += _step(_AND, 0xFF00) + _step(_EQUAL, _DRIVER_TYPE, 0, 1) + _give(_ALLOW)
    return _guarded(number, body + _give(_REFUSE))


def _threads_only(number: int) -> bytes:
    """clone, where it starts a thread and no namespace: memory limits hold for one process only."""
    body = _step(_LOAD, _FIRST_LOW)
    body += _step(_ANY_BIT, _NAMESPACES, 0, 1) + _give(_REFUSE)
    body += _step(_ANY_BIT, linux.CLONE_THREAD, 0, 1) + _give(_ALLOW)
    return _guarded(number, body + _give(_REFUSE))


def allowed_names(*, gpu: bool = False) -> frozenset[str]:
    """Every call that is allowed at all, some of them with certain arguments only."""
    return (
        frozenset(_PLAIN) | frozenset(_CHOSEN) | {"tgkill", "clone"} | (frozenset(_PLAIN_GPU) if gpu else frozenset())
    )


def filter_program(machine: str, pid: int, *, gpu: bool = False) -> bytes:
    """The filter for a child whose own process id is `pid`: it may signal itself, as abort() does, and no one else.

    With `gpu` it lets through what a started CUDA driver needs beside.
    """
    column = 0 if machine == "x86_64" else 1
    program = _step(_LOAD, _ARCHITECTURE) + _step(_EQUAL, _ARCHITECTURES[machine], 1, 0) + _give(_KILL)
    program += _step(_LOAD, _NUMBER)
    if machine == "x86_64":
        program += _step(_AT_LEAST, 0x40000000, 0, 1) + _give(_KILL)  # x32 has numbers of its own
    if gpu:
        program += b"".join(_guarded(numbers[column], _give(_ALLOW)) for numbers in _PLAIN_GPU.values())
        program += _driver_requests(_CHOSEN["ioctl"][0][column])
    for numbers in _PLAIN.values():
        number = numbers[column]
        if number is not None:
            program += _guarded(number, _give(_ALLOW))
    for both, offset, values in _CHOSEN.values():
        program += _one_of(both[column], offset, values)
    program += _one_of(_TGKILL[column], _FIRST_LOW, (pid,))
    program += _threads_only(_CLONE[column])
    # libc falls back from clone3, whose flags no filter can read, to clone.
    program += _guarded(_CLONE3[column], _give(_ERRNO | errno.ENOSYS))
    return program + _give(_REFUSE)
