"""A GPU's road, gone on the CPU: children that import torch themselves, their walls, their lane and the watch."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox.causes import Cause, Crashed, MemoryExceeded, TimeExceeded, WallHit
from sandbox.client import SandboxClient
from sandbox.embedded import EmbeddedSandbox
from sandbox.values import Tensor, decode, encode, split
from sandbox.wire import Limits, Outcome, Run
from tests.sandbox.doubles.drivers import rehearsal_device
from tests.sandbox.processes import ProcessState, below, gone, kill, states, status

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

LONG = Limits(wall_ms=60_000, cpu_ms=60_000)

ATTEMPTS = """
import ctypes, errno, fcntl, mmap, os, socket, threading
libc = ctypes.CDLL(None, use_errno=True)

def tried(name, what):
    try:
        what()
    except OSError as problem:
        print(name, errno.errorcode[problem.errno])
    else:
        print(name, "done")

def checked(result):
    if result == -1:
        raise OSError(ctypes.get_errno(), "")

def all_of_it():
    tried("fork", os.fork)
    tried("exec", lambda: os.execv("/bin/true", ["true"]))
    for family in (socket.AF_UNIX, socket.AF_INET, socket.AF_NETLINK):
        tried(family.name, lambda: socket.socket(family))
    tried("signal", lambda: os.kill(os.getppid() or 2, 0))
    tried("memfd", lambda: os.memfd_create("x"))
    tried("unshare", lambda: checked(libc.unshare(0x10000000)))
    tried("mount", lambda: checked(libc.mount(b"none", b"/tmp", b"tmpfs", 0, None)))
    tried("ptrace", lambda: checked(libc.ptrace(0, 0, 0, 0)))
    tried("keyctl", lambda: checked(libc.syscall(250, 0, 0)))
    tried("bpf", lambda: checked(libc.syscall(321, 0, 0, 0)))
    tried("/proc", lambda: os.listdir("/proc"))
    tried("/proc/self", lambda: open("/proc/self/environ"))
    tried("/etc", lambda: open("/etc/passwd"))
    tried("/dev", lambda: os.listdir("/dev"))
    tried("TIOCSTI", lambda: fcntl.ioctl(0, 0x5412, b"x"))
    tried("read-only", lambda: open(os.__file__, "a"))
    tried("scratch", lambda: open("/tmp/x", "w").write("x"))
    tried("disk", lambda: open("/tmp/y", "wb").write(bytes(20 << 20)))

all_of_it()
print("in a thread")
thread = threading.Thread(target=all_of_it)
thread.start()
thread.join()
"""


async def run(client: SandboxClient, code: str, **changes: Any) -> Outcome:
    return await client.run(replace(Run("run", code, device="cuda"), **changes))


async def test_a_fresh_child_answers_and_reports_its_device(fresh: SandboxClient) -> None:
    code = "import torch\nx = torch.tensor(3.0, requires_grad=True)\n(x ** 2).backward()\nprint(x.grad)"
    outcome = await run(fresh, code)
    # The rehearsal's GPU is the CPU, and it says so.
    assert (outcome.status, outcome.stdout, outcome.device) == ("ok", "tensor(6.)\n", "cpu"), outcome
    health = await fresh.health()
    assert (health.devices, health.gpu) == (("cpu", "cuda"), "the CPU, for a rehearsal")


async def test_the_walls_of_a_fresh_child_are_those_of_any_other(fresh: SandboxClient, client: SandboxClient) -> None:
    theirs = await run(fresh, ATTEMPTS)
    ours = await run(client, ATTEMPTS, device="cpu")
    assert theirs.status == ours.status == "ok", theirs
    assert theirs.stdout == ours.stdout
    done = [line for line in theirs.stdout.splitlines() if line.endswith(" done")]
    assert done == ["scratch done", "scratch done"]


PRECISION = """
import torch
cuda = torch.backends.cuda.matmul
print(torch.backends.cudnn.allow_tf32, cuda.allow_tf32, cuda.allow_fp16_reduced_precision_reduction,
      cuda.allow_bf16_reduced_precision_reduction, torch.get_float32_matmul_precision())
"""


async def test_a_fresh_child_computes_in_full_precision(fresh: SandboxClient, client: SandboxClient) -> None:
    assert (await run(fresh, PRECISION)).stdout == "False False False False highest\n"
    # Torch's own choice, which matters on a GPU only.
    assert (await run(client, PRECISION, device="cpu")).stdout == "True False True True highest\n"


def loaded(before: str, after: str) -> subprocess.CompletedProcess[str]:
    """Loads torch as the zygote does, in a process of its own, between two programs."""
    code = f"{before}\nfrom sandbox.inside import gpu_child\ngpu_child.load_torch()\n{after}"
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=150, env=one_thread, check=False)


def test_the_zygote_is_in_full_precision_before_a_child_warms_up() -> None:
    done = loaded("", PRECISION)
    assert done.stdout == "False False False False highest\n", done.stderr


def test_a_zygote_that_has_started_a_driver_refuses_to_fork() -> None:
    done = loaded("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", "")
    assert "RuntimeError: importing torch started a GPU's driver or a thread" in done.stderr


@pytest.mark.parametrize(
    "code",
    [
        "torch.compile(torch.sin)(torch.ones(1))",
        "from torch.utils.cpp_extension import load_inline\nload_inline('x', 'int f() { return 1; }', functions='f')",
        # What Triton starts when a kernel is launched: a compiler for its launcher, and an assembler.
        "raise RuntimeError('Failed to find C compiler. Please specify via CC environment variable.')",
        "exec(compile('import os; os.execv(\"/bin/true\", [\"ptxas\"])', '/packages/triton/compiler.py', 'exec'))",
    ],
)
async def test_what_needs_a_compiler_is_told_so_there_too(fresh: SandboxClient, code: str) -> None:
    outcome = await run(fresh, f"import torch\n{code}", limits=LONG)
    assert isinstance(outcome.cause, WallHit), outcome
    assert outcome.cause.wall == "compiler"


async def test_sys_is_gone_when_the_run_comes(fresh: SandboxClient) -> None:
    outcome = await run(fresh, "import os\nprint(os.path.exists('/sys/kernel'), os.path.exists('/proc/self'))")
    assert outcome.stdout == "False False\n"


async def test_cases_and_results_go_the_same_way(fresh: SandboxClient) -> None:
    given = Tensor("float32", (2,), b"\0\0\x80?\0\0\0@", True)
    code = "def f(x):\n  (x * x).sum().backward()\n  return x.grad, x.device"
    outcome = await run(fresh, code, entry="f", cases=encode([(given,)]))
    (entry,) = split(outcome.results)
    assert decode(entry) == ("ok", (Tensor("float32", (2,), b"\0\0\0@\0\0\x80@", False), "cpu"))


@pytest.mark.parametrize(
    ("code", "status", "cause"),
    [
        ("x = bytearray(300 << 20)", "memory", MemoryExceeded),
        (
            # No limit of the kernel's counts memory that is shared, were it with nobody: the watch does.
            "import mmap\nm = mmap.mmap(-1, 900 << 20)\nfor at in range(0, 900 << 20, 4096): m[at] = 1",
            "memory",
            MemoryExceeded,
        ),
        ("while True: pass", "time", TimeExceeded),
        ("import ctypes; ctypes.string_at(0)", "crash", Crashed),
        ("import socket; socket.socket()", "denied", WallHit),
    ],
)
async def test_each_way_to_end_is_reported(fresh: SandboxClient, code: str, status: str, cause: type[Cause]) -> None:
    outcome = await run(fresh, code, limits=Limits(wall_ms=3000, memory_mb=256))
    assert outcome.status == status, outcome
    assert isinstance(outcome.cause, cause)


async def test_gpu_runs_take_turns_in_their_order_while_the_cpu_goes_on(fresh: SandboxClient) -> None:
    first = asyncio.create_task(run(fresh, "import time; time.sleep(2)"))
    while (await fresh.health()).running == 0:
        await asyncio.wait([first], timeout=0.01)
    second = asyncio.create_task(run(fresh, "print(2)"))
    while (await fresh.health()).waiting == 0:
        await asyncio.wait([second], timeout=0.01)
    meanwhile = await fresh.run(Run("cpu", "print('meanwhile')"))
    assert (meanwhile.stdout, first.done()) == ("meanwhile\n", False)
    assert (await second).before == 1
    assert first.done()


async def test_nothing_is_left_of_a_run_and_its_successor_is_another_process(rehearsal: EmbeddedSandbox) -> None:
    fresh = rehearsal.client
    await fresh.until_ready()
    code = "import os, torch\nprint(os.getpid(), os.listdir('/tmp'), hasattr(torch, 'mine'))\n"
    code += "open('/tmp/left', 'w').close()\ntorch.mine = True"
    assert [(await run(fresh, code)).stdout for _ in range(2)] == ["1 [] False\n"] * 2


async def test_who_hangs_up_frees_the_lane(fresh: SandboxClient) -> None:
    endless = asyncio.create_task(run(fresh, "while True: pass", limits=LONG))
    while (await fresh.health()).running == 0:
        await asyncio.wait([endless], timeout=0.01)
    endless.cancel()
    await asyncio.gather(endless, return_exceptions=True)
    assert (await run(fresh, "print(1)")).stdout == "1\n"


async def test_a_parked_child_shows_nothing_of_the_kernel_s_files(rehearsal: EmbeddedSandbox) -> None:
    """Seen from outside: neither its descriptors nor its folders lead to /proc or /sys."""
    for child in await parked(rehearsal):
        home = Path(f"/proc/{child.pid}")
        if os.getuid() != 0:
            pytest.skip("only root may look into a child")
        links = {one.name: str(one.readlink()) for one in (home / "fd").iterdir()}
        kernel = [link for link in links.values() if link.startswith(("/proc", "/sys"))]
        # Its own statm, which is closed when a run is taken.
        assert [link.rpartition("/")[2] for link in kernel] == ["statm"]
        assert not [
            link for link in links.values() if link.startswith("/") and "/proc/" in link and "statm" not in link
        ]
        assert [list((home / "root" / name).iterdir()) for name in ("proc", "sys")] == [[], []]
        # Not dumpable: its memory belongs to root, whom no other child can be.
        assert (home / "mem").stat().st_uid == 0
        if rehearsal_device().driver:
            assert any("memfd:cuda" in link for link in links.values()), "the driver has not started"
            assert int(child.status["Threads"]) > 1
        mapped = {line.split(None, 5)[5] for line in (home / "maps").read_text().splitlines() if line.count(" ") > 5}
        assert not [name for name in mapped if name.startswith(("/proc", "/sys"))]


def is_forker(pid: int) -> bool:
    """Returns whether a process is the forker: it runs in the jail's own namespace, and its children one level
    deeper."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        return (
            b"sandbox.inside.gpu_child" in command
            and b"bwrap" not in command
            and len(status(pid)["NSpid"].split()) == 2
        )
    except (FileNotFoundError, ProcessLookupError):
        return False


def forker(rehearsal: EmbeddedSandbox) -> int:
    """Returns the forker, which can fork children because it has not imported torch."""
    (found,) = filter(is_forker, below(rehearsal.process.pid))
    return found


async def parked(rehearsal: EmbeddedSandbox) -> list[ProcessState]:
    """Returns the parked children, once one is completely confined and has ended its helper."""
    await rehearsal.client.until_ready()
    await run(rehearsal.client, "pass")
    while True:
        children = states(below(forker(rehearsal)))
        if children and all(child.status["Seccomp"] == "2" for child in children):
            return children
        await asyncio.to_thread(os.sched_yield)


async def test_parked_children_have_no_rights_or_environment_and_are_replaced(
    rehearsal: EmbeddedSandbox,
) -> None:
    children = await parked(rehearsal)
    for child in children:
        known = child.status
        assert (known["NoNewPrivs"], known["CapEff"], known["CapBnd"]) == ("1", *["0000000000000000"] * 2)
        if os.getuid() == 0:
            assert set(known["Uid"].split()) == {"65534"}
            assert child.environment is not None
            assert b"PATH" not in child.environment
        assert child.oom_score == 1000
    pids = [child.pid for child in children]
    kill(pids)
    assert await gone(pids)
    assert (await run(rehearsal.client, "print('another')")).stdout == "another\n"


async def test_a_forker_that_dies_is_replaced_and_its_run_is_ours_to_answer_for(rehearsal: EmbeddedSandbox) -> None:
    await rehearsal.client.until_ready()
    endless = asyncio.create_task(run(rehearsal.client, "while True: pass", limits=LONG))
    while (await rehearsal.client.health()).running == 0 or not below(forker(rehearsal)):
        await asyncio.wait([endless], timeout=0.05)
    os.kill(forker(rehearsal), signal.SIGKILL)
    # Where it had not been taken yet, another child of the next forker takes it.
    while not endless.done() and not list(filter(is_forker, below(rehearsal.process.pid))):
        await asyncio.wait([endless], timeout=0.05)
    endless.cancel()
    await asyncio.gather(endless, return_exceptions=True)
    assert (await run(rehearsal.client, "print('again')")).stdout == "again\n"
