"""Each wall alone, the others off: a layer that only seems to work because of its neighbor is found here.

Each test is a small process without torch that raises one wall and then tries what that wall should stop; the
same attempts without it succeed, which proves that it was this wall.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sandbox import linux

pytestmark = pytest.mark.sandbox

HOME = str(Path(__file__).parents[3])
PREAMBLE = f"""
import os, sys
sys.path.insert(0, {HOME!r})
from sandbox import linux
from sandbox.inside import confine
from sandbox.wire import Limits

def tried(what):
    try:
        what()
    except (OSError, MemoryError, ValueError) as problem:
        print(type(problem).__name__, flush=True)
    else:
        print("done", flush=True)
"""


def alone(program: str, directory: Path) -> list[str]:
    """Returns the lines that `program` prints."""
    command = [sys.executable, "-I", "-B", "-c", PREAMBLE + program]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=directory, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split("\n")[:-1]


def with_and_without(wall: str, attempt: str, directory: Path) -> tuple[list[str], list[str]]:
    return alone(f"{wall}\n{attempt}", directory), alone(attempt, directory)


READ = "tried(lambda: open('secret').read())"
WRITE = "tried(lambda: open('new', 'w'))"


@pytest.mark.skipif(linux.landlock_abi() == 0, reason="the kernel has no Landlock")
def test_landlock_lets_read_what_is_named_and_write_in_the_scratch(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    wall = "linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)\n"
    wall += "confine.restrict_files([os.path.dirname(os.__file__)], writable=False)"
    attempt = f"{READ}\n{WRITE}\ntried(lambda: open(os.__file__).read())\ntried(lambda: open('/dev/null', 'w'))"
    confined, free = with_and_without(wall, attempt, tmp_path)
    assert confined == ["PermissionError", "PermissionError", "done", "done"]
    assert free == ["done"] * 4


@pytest.mark.skipif(linux.landlock_abi() < 4, reason="the kernel's Landlock knows no network")
def test_landlock_stops_tcp(tmp_path: Path) -> None:
    wall = "linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1); confine.restrict_files(['/'], writable=True)"
    attempt = "import socket\ntried(lambda: socket.create_server(('127.0.0.1', 0)))"
    assert with_and_without(wall, attempt, tmp_path) == (["PermissionError"], ["done"])


@pytest.mark.skipif(linux.landlock_abi() < 6, reason="the kernel's Landlock knows no scopes")
def test_landlock_stops_signals_to_others(tmp_path: Path) -> None:
    wall = "linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1); confine.restrict_files(['/'], writable=True)"
    attempt = "tried(lambda: os.kill(os.getppid(), 0))"
    assert with_and_without(wall, attempt, tmp_path) == (["PermissionError"], ["done"])


def test_the_filter_refuses_with_an_error_and_the_process_lives_on(tmp_path: Path) -> None:
    wall = "linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1); confine.filter_system_calls()"
    attempt = """
import socket, threading
tried(lambda: socket.socket())
tried(lambda: os.kill(os.getppid(), 0))
tried(lambda: linux.unshare(linux.CLONE_NEWUSER))
tried(lambda: os.memfd_create('x'))
thread = threading.Thread(target=print, args=('thread',))
thread.start()
thread.join()
sys.stdout.flush()
tried(lambda: os.fork() or os._exit(0))
"""
    confined, free = with_and_without(wall, attempt, tmp_path)
    assert confined == ["PermissionError"] * 4 + ["thread", "PermissionError"]
    assert free == ["done"] * 4 + ["thread", "done"]


def test_no_capability_is_left(tmp_path: Path) -> None:
    attempt = """
for line in open('/proc/self/status'):
    if line.startswith(('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs')):
        print(int(line.split()[1], 16))
"""
    linux_only = "linux.clone(linux.CLONE_NEWUSER)[0] and os._exit(os.wait()[1] >> 8)\n"
    program = linux_only + "confine.drop_privileges()\nlinux.prctl(linux.PR_SET_DUMPABLE, 1)\n" + attempt
    assert alone(program, tmp_path) == ["0", "0", "0", "0", "0", "1"]
    assert set(alone(linux_only + attempt, tmp_path)) != {"0"}


NAMESPACES = """
user, group = os.getuid(), os.getgid()
sys.stdout.flush()
pid, pidfd = linux.clone(confine.NAMESPACES)
if pid:
    os._exit(os.waitstatus_to_exitcode(os.wait()[1]))
confine.map_identity(user, group)
confine.mount_scratch(1)
confine.cover("/proc")
"""


def test_namespaces_show_a_process_alone_with_a_small_scratch(tmp_path: Path) -> None:
    attempt = """
import socket
print(os.getpid(), os.getuid() == user, os.listdir('/proc'), os.getcwd(), os.listdir('.'))
tried(lambda: open('large', 'wb').write(b'x' * (2 << 20)))
tried(lambda: [open(str(n), 'w') for n in range(300)])
tried(lambda: os.kill(2, 0))
print(socket.if_nameindex())
print(all(os.statvfs('.').f_flag & flag for flag in (os.ST_NOEXEC, os.ST_NODEV, os.ST_NOSUID)))
tried(lambda: socket.create_connection(('127.0.0.1', 9), 1))
"""
    lines = alone(NAMESPACES + attempt, tmp_path)
    assert lines[:4] == ["1 True [] /tmp []", "OSError", "OSError", "ProcessLookupError"]
    assert lines[4] == "[(1, 'lo')]"
    assert lines[5:] == ["True", "OSError"]


def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    program = """
read, write = os.pipe()
pid, _ = linux.clone(0)
if pid == 0:
    middle, _ = linux.clone(0)
    if middle == 0:
        os.close(read)
        confine.start_session()
        os.write(write, b'here')
        import signal
        signal.pause()
    os.close(write)
    os.read(read, 4)
    os._exit(0)
os.close(write)
os.waitpid(pid, 0)
print(os.read(read, 1))
"""
    assert alone(program, tmp_path) == ["b''"]


def test_the_limits_of_a_run(tmp_path: Path) -> None:
    wall = """
pages = int(open('/proc/self/statm').read().split()[0])
confine.set_static_limits(1)
confine.set_run_limits(Limits(memory_mb=64, disk_mb=2), pages * 4096, own_user=False)
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
"""
    attempt = """
tried(lambda: bytearray(100 << 20))
tried(lambda: bytearray(20 << 20))
tried(lambda: open('big', 'wb').write(b'x' * (3 << 20)))
held = []
tried(lambda: [held.append(os.open('/dev/null', 0)) for _ in range(100)])
"""
    confined, free = with_and_without(wall, attempt, tmp_path)
    assert confined == ["MemoryError", "done", "OSError", "OSError"]
    assert free == ["done"] * 4


def test_a_limit_is_never_raised(tmp_path: Path) -> None:
    program = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
confine.set_static_limits(1)
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""
    assert alone(program, tmp_path) == ["(20, 20)"]
