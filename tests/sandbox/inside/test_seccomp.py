"""The filter as the kernel reads it, run by an interpreter of our own over every call there is."""

from __future__ import annotations

import errno
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import linux
from sandbox.inside.seccomp import allowed_names, filter_program

ALLOW, KILL, EPERM = "allow", "kill", f"errno {errno.EPERM}"
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
PID = 1


def verdict(program: bytes, architecture: int, number: int, *arguments: int) -> str:
    """Interprets the BPF program for a system call. It only uses the accumulator, forward jumps and returns."""
    padded = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *(one % 2**64 for one in padded))
    steps = list(struct.iter_unpack("=HBBI", program))
    at, held = 0, 0
    while True:
        code, yes, no, value = steps[at]
        at += 1
        if code == 0x20:
            (held,) = struct.unpack_from("=I", data, value)
        elif code == 0x06:
            return {0x7FFF0000: ALLOW, 0x80000000: KILL}.get(value, f"errno {value & 0xFFFF}")
        else:
            taken = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += yes if taken else no


@pytest.fixture(params=sorted(ARCHITECTURES))
def machine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def asked(machine: str, number: int, *arguments: int) -> str:
    return verdict(filter_program(machine, PID), ARCHITECTURES[machine], number, *arguments)


# x86-64, aarch64
REFUSED = {
    "socket": (41, 198),
    "connect": (42, 203),
    "kill": (62, 129),
    "tkill": (200, 130),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "mount": (165, 40),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "keyctl": (250, 219),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "perf_event_open": (298, 241),
    "setuid": (105, 146),
    "chroot": (161, 51),
    "pivot_root": (155, 41),
    "symlinkat": (266, 36),
    "linkat": (265, 37),
    "mknodat": (259, 33),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "init_module": (175, 105),
    "kexec_load": (246, 104),
    "seccomp": (317, 277),
    "landlock_restrict_self": (446, 446),
    "flock": (73, 32),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_an_answer_has_no_business_with_is_refused(machine: str, name: str) -> None:
    assert name not in allowed_names()
    assert asked(machine, REFUSED[name][machine == "aarch64"]) == EPERM


@pytest.mark.parametrize(("name", "x86", "arm"), [("fork", 57, None), ("vfork", 58, None)])
def test_old_forks_are_refused(name: str, x86: int, arm: None) -> None:
    assert asked("x86_64", x86) == EPERM


CLONE = {"x86_64": 56, "aarch64": 220}
THREAD = 0x3D0F00  # what pthread_create asks for


def test_clone_starts_threads_and_nothing_else(machine: str) -> None:
    assert asked(machine, CLONE[machine], THREAD) == ALLOW
    assert asked(machine, CLONE[machine], 17) == EPERM
    for namespace in (linux.CLONE_NEWUSER, linux.CLONE_NEWNS, linux.CLONE_NEWPID, linux.CLONE_NEWNET, 0x80):
        assert asked(machine, CLONE[machine], THREAD | namespace) == EPERM


def test_clone3_is_reported_missing_so_that_libc_falls_back(machine: str) -> None:
    assert asked(machine, 435) == f"errno {errno.ENOSYS}"


def test_a_pair_of_sockets_is_local_and_of_no_other_family(machine: str) -> None:
    pair = {"x86_64": 53, "aarch64": 199}[machine]
    assert asked(machine, pair, socket.AF_UNIX, socket.SOCK_STREAM) == ALLOW
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, 30, 40):
        assert asked(machine, pair, family, socket.SOCK_STREAM) == EPERM
    for name, x86, arm in (("sendto", 44, 206), ("recvfrom", 45, 207), ("sendmsg", 46, 211), ("recvmsg", 47, 212)):
        assert asked(machine, {"x86_64": x86, "aarch64": arm}[machine]) == EPERM, name


def test_a_process_signals_and_limits_itself_alone(machine: str) -> None:
    tgkill, prlimit = {"x86_64": (234, 302), "aarch64": (131, 261)}[machine]
    assert asked(machine, tgkill, PID, PID, 6) == ALLOW
    assert asked(machine, tgkill, PID + 1, PID + 1, 9) == EPERM
    assert asked(machine, prlimit, 0) == ALLOW
    assert asked(machine, prlimit, PID + 1) == EPERM


def test_a_terminal_cannot_be_typed_into(machine: str) -> None:
    ioctl = {"x86_64": 16, "aarch64": 29}[machine]
    assert asked(machine, ioctl, 0, 0x5401) == ALLOW
    for injecting in (0x5412, 0x541C):
        assert asked(machine, ioctl, 0, injecting) == EPERM


def test_no_lock_is_taken_on_what_all_runs_share(machine: str) -> None:
    fcntl = {"x86_64": 72, "aarch64": 25}[machine]
    assert asked(machine, fcntl, 0, 3) == ALLOW
    for locking in (5, 6, 7, 37, 38, 1024):
        assert asked(machine, fcntl, 0, locking) == EPERM


def test_a_foreign_abi_kills() -> None:
    for machine, other in (("x86_64", 0xC00000B7), ("x86_64", 0x40000003), ("aarch64", 0xC000003E)):
        assert verdict(filter_program(machine, PID), other, 0) == KILL
    assert asked("x86_64", 0x40000000 | 39) == KILL


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 2**64 - 1), max_size=6))
def test_every_call_gets_a_verdict_and_most_are_refused(number: int, arguments: list[int]) -> None:
    for machine in ARCHITECTURES:
        assert asked(machine, number, *arguments) in (ALLOW, KILL, EPERM, f"errno {errno.ENOSYS}")


def test_about_a_hundred_calls_are_allowed(machine: str) -> None:
    program = filter_program(machine, PID)
    allowed = [number for number in range(1000) if verdict(program, ARCHITECTURES[machine], number) == ALLOW]
    assert 60 < len(allowed) <= len(allowed_names()) < 110
    assert len(program) // 8 < 4096, "the kernel takes no longer program"
