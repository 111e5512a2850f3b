"""The kernel's word on what a process used, against processes that used a known amount."""

from __future__ import annotations

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
