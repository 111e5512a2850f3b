"""The kernel's word on what a process used, against processes that used a known amount."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sandbox.host.process import Meter, Usage

BUSY = """
import sys, threading, time
def work():
    while time.thread_time() < 0.15: pass
if sys.argv[1] == "thread":
    one = threading.Thread(target=work); one.start(); one.join()
elif sys.argv[1] == "main":
    work()
held = bytearray(b"x" * (64 << 20)) if sys.argv[1] == "memory" else b""
print("done", flush=True)
sys.stdin.read()
"""


@contextmanager
def measured(what: str) -> Iterator[Usage]:
    """Returns the resource use of a process that has run `what`."""
    command = [sys.executable, "-I", "-c", BUSY, what]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"done\n"
        pidfd = os.pidfd_open(process.pid)
        meter = Meter(pidfd)
        assert meter.pid == process.pid
        yield meter.read()
        process.kill()
        process.wait()
        with pytest.raises(OSError):
            meter.read()
        meter.close()
        os.close(pidfd)


@pytest.mark.parametrize("what", ["main", "thread"])
def test_the_time_of_every_thread_is_counted(what: str) -> None:
    with measured(what) as used:
        assert 150 <= used.cpu_ms < 2000


def test_memory_is_counted_now_and_at_its_peak() -> None:
    with measured("nothing") as little, measured("memory") as much:
        assert 60 << 10 < much.anonymous_kb - little.anonymous_kb < 200 << 10
        assert much.peak_kb >= much.anonymous_kb


def test_a_process_that_is_gone_has_no_meter() -> None:
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", "0"], {})
    pidfd = os.pidfd_open(pid)
    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    os.waitpid(pid, 0)
    with pytest.raises(OSError):
        Meter(pidfd)
    os.close(pidfd)


def test_waiting_for_a_core_is_counted_and_sleeping_is_not() -> None:
    core = min(os.sched_getaffinity(0))
    busy = f"import os, sys\nos.sched_setaffinity(0, [{core}])\nprint(flush=True)\nwhile True: pass"
    idle = "import sys\nprint(flush=True)\nsys.stdin.read()"
    with contextlib.ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen([sys.executable, "-I", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            )
            for code in (busy, busy, idle)
        ]
        for process in processes:
            stack.callback(process.kill)
            assert process.stdout is not None
            process.stdout.readline()
        handles = [os.pidfd_open(process.pid) for process in processes]
        meters = [Meter(handle) for handle in handles]
        before = [meter.read() for meter in meters]
        while meters[0].read().cpu_ms < before[0].cpu_ms + 100:
            assert processes[0].poll() is None
        after = [meter.read() for meter in meters]
        delays = [late.delayed_ms - early.delayed_ms for early, late in zip(before, after, strict=True)]
        assert delays[0] > 20, "the other had the core in turn"
        assert delays[2] < delays[0] / 2
        for meter, handle in zip(meters, handles, strict=True):
            meter.close()
            os.close(handle)


REUSE = """
import asyncio, contextlib, os, sys, tempfile
from pathlib import Path
from sandbox import linux
from sandbox.host.cgroups import CgroupParent
from sandbox.host.process import Child, Meter
from sandbox.wire import Limits

try:
    linux.unshare(linux.CLONE_NEWUSER | linux.CLONE_NEWPID | linux.CLONE_NEWNS)
except OSError:
    raise SystemExit(77)
inner = os.fork()
if inner:
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1]))
linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
linux.mount("proc", "/proc", "proc", 0)
questions, ask = os.pipe()
answers, answer = os.pipe()

def start():
    pid = os.fork()
    if pid == 0:
        os.close(ask)
        while data := os.read(questions, 1):
            os.write(answer, data)
        os._exit(0)
    return pid

first = start()
pidfd = os.pidfd_open(first)
meter = Meter(pidfd)
os.kill(first, 9)
os.waitpid(first, 0)
Path("/proc/sys/kernel/ns_last_pid").write_text(str(first - 1))
second = start()
os.close(answer)
assert second == first, "the kernel has given the number away again"

@contextlib.asynccontextmanager
async def reaped():
    yield False

async def use(folder):
    child = Child(-1, -1, -1, -1, 16, pidfd=pidfd, meter=meter, keep_pid=reaped)
    child.cgroup_parent = CgroupParent(folder, folder, unified=True)
    await child.join_cgroup(Limits())
    assert list(folder.iterdir()) == [], "its number was written to a control group"
    assert child.usage() is None, "the figures are another process's"
    child.kill()
    os.write(ask, b"?")
    assert os.read(answers, 1) == b"?", "another process was killed"
    child.close()

with tempfile.TemporaryDirectory() as folder:
    asyncio.run(use(Path(folder)))
"""


def test_a_process_that_got_a_childs_number_is_neither_signalled_nor_written_down() -> None:
    done = subprocess.run([sys.executable, "-c", REUSE], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode == 77:
        pytest.skip("this machine gives us no PID namespace")
    assert done.returncode == 0, done.stderr
