"""The walls in two stages, each alone and with the neighbors off, in a small process without torch."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import linux
from tests.sandbox.inside.test_confine import alone

pytestmark = pytest.mark.sandbox

# A thread that is there before the wall is raised, and tries what it is told when the wall stands.
THREAD = """
import socket, threading
go, attempts = threading.Event(), []
def wait():
    go.wait()
    for attempt in attempts:
        tried(attempt)
thread = threading.Thread(target=wait)
thread.start()
def tell(*what):
    attempts.extend(what)
    go.set()
    thread.join()
"""


def test_the_filter_holds_for_the_threads_there_are_and_the_other_one_does_not(tmp_path: Path) -> None:
    both = """
from sandbox.inside import seccomp
linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
program = seccomp.filter_program(linux.machine(), os.getpid(), gpu=True)
"""
    attempt = "tell(socket.socket)\ntried(socket.socket)"
    assert (
        alone(THREAD + both + "linux.load_filter_in_all_threads(program)\n" + attempt, tmp_path)
        == ["PermissionError"] * 2
    )
    assert alone(THREAD + both + "linux.load_filter(program)\n" + attempt, tmp_path) == ["done", "PermissionError"]


def test_a_filter_that_one_thread_cannot_have_is_had_by_none(tmp_path: Path) -> None:
    program = """
import socket, threading
from sandbox.inside import seccomp
linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
filter = seccomp.filter_program(linux.machine(), os.getpid())
standing, done = threading.Event(), threading.Event()
def other():
    linux.load_filter(filter)
    standing.set()
    done.wait()
thread = threading.Thread(target=other)
thread.start()
standing.wait()
try:
    linux.load_filter_in_all_threads(filter)
except OSError as problem:
    print("has another one" in str(problem))
done.set()
thread.join()
tried(socket.socket)
"""
    assert alone(program, tmp_path) == ["True", "done"]


@pytest.mark.skipif(linux.landlock_abi() == 0, reason="the kernel has no Landlock")
def test_what_is_settled_before_a_thread_holds_in_it_and_proc_and_sys_go_last(tmp_path: Path) -> None:
    program = """
user, group = os.getuid(), os.getgid()
sys.stdout.flush()
from sandbox.inside import gpu_child
from sandbox.devices import CPU
import threading
pid, pidfd = linux.clone(confine.NAMESPACES)
if pid:
    os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
readable = (os.path.dirname(os.__file__), sys.prefix, sys.base_prefix, os.path.dirname(gpu_child.__file__))
hide = gpu_child.confine_before_driver(confine.Confinement(readable, user, group, 1), CPU)
def attempts():
    tried(lambda: open("/etc/passwd"))
    tried(lambda: linux.mount("none", "/tmp", "tmpfs", 0))
    tried(lambda: open("/tmp/x", "w"))
def read():
    caps = [line.split()[1] for line in open("/proc/thread-self/status") if line.startswith(("CapEff", "CapPrm"))]
    print(set(caps) == {"0" * 16}, os.path.isdir("/proc/self"))
for what in (attempts, read):
    thread = threading.Thread(target=what)
    thread.start()
    thread.join()
hide()
print(os.path.isdir("/proc/self"), os.path.isdir("/sys/kernel"))
gpu_child.confine_after_driver()
tried(lambda: os.kill(2, 0))
sys.stdout.flush()
"""
    assert alone(program, tmp_path) == [
        "PermissionError", "PermissionError", "done", "True True", "False False", "PermissionError",
    ]  # fmt: skip


def test_the_weaker_tier_gets_no_fresh_child(tmp_path: Path) -> None:
    program = """
from sandbox.inside import gpu_child
from sandbox.devices import CPU
try:
    gpu_child.confine_before_driver(confine.Confinement((), 0, 0, namespaces=False), CPU)
except RuntimeError as problem:
    print(problem)
"""
    assert alone(program, tmp_path) == ["a GPU child needs namespaces of its own: not with --weaker"]


REQUESTS = """
import fcntl
def asked(request):
    try:
        fcntl.ioctl(0, request, bytearray(64))
    except OSError as problem:
        import errno
        return errno.errorcode[problem.errno]
    return "done"
print(*[asked(request) for request in (0xC020462A, 37, 0x30000001, 0x5412, 0x80104592, 0x1234)])
"""


def test_a_gpu_s_requests_are_let_through_to_the_file_and_others_are_not(tmp_path: Path) -> None:
    wall = """
from sandbox.inside import seccomp
linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
linux.load_filter(seccomp.filter_program(linux.machine(), os.getpid(), gpu={gpu}))
"""
    refused = "EPERM"
    with_gpu, without = (alone(wall.format(gpu=gpu) + REQUESTS, tmp_path) for gpu in (True, False))
    # What is let through meets a file that knows no such request.
    assert with_gpu == [f"ENOTTY ENOTTY ENOTTY {refused} {refused} {refused}"]
    assert without == [" ".join([refused] * 6)]
