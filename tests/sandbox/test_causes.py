"""Why a run ended, as the real sandbox reports it: which wall, which limit, which line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sandbox.causes import (
    Cause,
    Crashed,
    Exited,
    MemoryExceeded,
    OutputExceeded,
    Tampered,
    TimeExceeded,
    Wall,
    WallHit,
)
from sandbox.client import SandboxClient
from sandbox.values import encode
from sandbox.wire import Limits, Outcome, Run, Status

pytestmark = pytest.mark.sandbox
SHORT = Limits(wall_ms=400, cpu_ms=5000)


async def run(client: SandboxClient, code: str, **changes: Any) -> Outcome:
    return await client.run(replace(Run("run", code), **changes))


WALLS: dict[str, tuple[Wall, int]] = {
    "import os\nos.fork()": ("processes", 2),
    "from os import fork as spoon\n\nspoon()": ("call", 3),
    "import os\nos.system('ls')": ("processes", 2),
    "import os\nos.execv('/bin/ls', ['ls'])": ("processes", 2),
    "import subprocess\nsubprocess.run(['ls'])": ("processes", 2),
    "import multiprocessing as m\nm.Process(target=print).start()": ("processes", 2),
    "import torch.utils.data as d\nlist(d.DataLoader([1, 2], num_workers=2))": ("processes", 2),
    "import torch\ntorch.zeros(2).share_memory_()": ("shared memory", 2),
    "import sqlite3\nsqlite3.connect('x.db').execute('create table t (x)')": ("locks", 2),
    "import numpy as np\nm = np.memmap('x', mode='w+', shape=4)\nm.flush()": ("flush", 3),
    "import concurrent.futures as f\nwith f.ProcessPoolExecutor(2) as p: p.map(abs, [1])": ("processes", 2),
    "import torch.multiprocessing as m\nm.spawn(print, nprocs=2)": ("processes", 2),
    "import socket\ntry: socket.create_connection(('1.1.1.1', 80))\nexcept OSError as e:\n  raise ValueError from e": (
        "network",
        4,
    ),
    "import urllib.request as u\nu.urlopen('http://example.org')": ("network", 2),
    "import torch.distributed as d\nd.init_process_group('gloo', store=d.HashStore(), rank=0, world_size=1)": (
        "distributed",
        2,
    ),
    "import fcntl\nfcntl.flock(0, fcntl.LOCK_EX)": ("locks", 2),
    "open('/usr/x', 'w')": ("files", 1),
    "from multiprocessing import shared_memory as s\ns.SharedMemory(create=True, size=9)": ("shared memory", 2),
    "import concurrent.futures as f, time\nwith f.ThreadPoolExecutor(40) as p: list(p.map(time.sleep, [.05] * 40))": (
        "threads",
        2,
    ),
    "import torch\ntorch.save(torch.zeros(6 << 20), 'x.pt')": ("disk", 2),
    "held = [open('/dev/null') for _ in range(99)]": ("open files", 1),
    "import os\nopen('x', 'w').close()\nos.chmod('x', 0o600)": ("call", 3),
}


@pytest.mark.parametrize("code", WALLS)
async def test_a_wall_is_named_with_the_line_that_met_it(client: SandboxClient, code: str) -> None:
    outcome = await run(client, code)
    wall, line = WALLS[code]
    assert isinstance(outcome.cause, WallHit), outcome
    assert (outcome.status, outcome.cause.wall, outcome.cause.line) == ("denied", wall, line), outcome


async def test_a_limit_of_openmp_s_threads_is_named(client: SandboxClient) -> None:
    code = "import torch\ntorch.set_num_threads(40)\nprint((torch.ones(900, 900) @ torch.ones(900, 900)).sum())"
    assert (await run(client, code)).cause == WallHit("threads", limit=15)


@pytest.mark.parametrize(
    ("code", "limits", "clock", "line"),
    [
        ("def f():\n    while True: x = 1\nf()", SHORT, "wall", 2),
        ("import time\n\ntime.sleep(9)", SHORT, "wall", 3),
        ("import torch\nx = torch.ones(900, 900)\nwhile True: x = x @ x", SHORT, "wall", 3),
        ("x = 0\nwhile True: x += 1", Limits(wall_ms=20_000, cpu_ms=300), "cpu", 2),
    ],
)
async def test_a_time_limit_names_the_line_it_was_in(
    client: SandboxClient, code: str, limits: Limits, clock: str, line: int
) -> None:
    outcome = await run(client, code, limits=limits)
    assert outcome.status == "time"
    assert isinstance(outcome.cause, TimeExceeded)
    assert (outcome.cause.clock, outcome.cause.line) == (clock, line), outcome
    assert outcome.cause.limit_ms == (limits.wall_ms if clock == "wall" else limits.cpu_ms)


async def test_a_time_limit_within_a_case_names_its_line_too(client: SandboxClient) -> None:
    code = "def f(n):\n  if n == 1:\n    while True: n = n\n  return n"
    outcome = await run(client, code, entry="f", cases=encode([(0,), (1,)]), limits=SHORT)
    assert outcome.cause == TimeExceeded("wall", 400, 3)
    assert outcome.results, "the case before it counts"


async def test_a_program_that_forges_its_stack_explains_itself_only(client: SandboxClient) -> None:
    code = "import os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGXCPU])\nwhile True: pass"
    assert (await run(client, code, limits=SHORT)).cause == TimeExceeded("wall", 400)


@pytest.mark.parametrize(
    ("code", "asked", "used", "line"),
    [
        ("import torch\nx = torch.ones(1 << 30)", 4096, range(20), 2),
        ("import numpy\nx = numpy.ones(1 << 27)", 1024, range(20), 2),
        ("x = [0] * 10 ** 10", 0, range(20), 1),
        ("x = []\nwhile True:\n  x.append(b'a' * 10 ** 6)", 0, range(100, 129), 3),
        ("import torch\nx = []\nwhile True: x.append(torch.ones(1 << 20))", 4, range(100, 129), 3),
    ],
)
async def test_a_memory_limit_names_the_cap_the_use_and_the_line(
    client: SandboxClient, code: str, asked: int, used: range, line: int
) -> None:
    outcome = await run(client, code, limits=Limits(wall_ms=20_000, memory_mb=128))
    assert outcome.status == "memory"
    assert isinstance(outcome.cause, MemoryExceeded)
    cause = outcome.cause
    assert (cause.limit_mb, cause.asked_mb, cause.line, cause.used_mb in used) == (128, asked, line, True), cause


@pytest.mark.parametrize(
    ("code", "status", "cause"),
    [
        ("print('x' * 99_999)", "output", OutputExceeded("output", 64 * 1024)),
        ("import sys\n\nsys.exit('no')", "error", Exited(1, 3)),
        ("raise SystemExit(3)", "error", Exited(3, 1)),
        ("import os\nos._exit(0)", "crash", Exited(0)),
        ("import ctypes; ctypes.string_at(0)", "crash", Crashed(11)),
        ("import os; os.write(3, b'\\0\\0\\0\\0Z')", "error", Tampered()),
        ("raise PermissionError('mine')", "error", None),
        ("raise", "error", None),
        ("1 / 0", "error", None),
        ("1 +", "error", None),
        ("print(1)", "ok", None),
    ],
)
async def test_how_else_a_program_ends(client: SandboxClient, code: str, status: Status, cause: Cause | None) -> None:
    outcome = await run(client, code)
    assert (outcome.status, outcome.cause) == (status, cause), outcome


async def test_results_beyond_their_limit_are_told_from_output(client: SandboxClient) -> None:
    limits = Limits(result_bytes=1000)
    outcome = await run(client, "def f(): return 'x' * 9999", entry="f", cases=encode([()]), limits=limits)
    assert (outcome.status, outcome.cause) == ("output", OutputExceeded("results", 1000))


async def test_a_module_that_exits_says_where_its_entry_was_lost(client: SandboxClient) -> None:
    outcome = await run(client, "def f(): return 1\nexit()", entry="f", cases=encode([()]))
    assert (outcome.status, outcome.cause) == ("error", Exited(0, 2))


@pytest.mark.parametrize(
    "code",
    [
        "import builtins\nbuiltins.isinstance = lambda *a: True\n1 / 0",
        "import builtins\nbuiltins.isinstance = builtins.str = builtins.len = None\n1 / 0",
        "import builtins\nown = vars(builtins)\nfor name in [n for n in own if n.islower()]: own.pop(name)\n1 / 0",
        "import builtins\nbuiltins.MemoryError = ZeroDivisionError\n1 / 0",
    ],
)
async def test_a_program_that_broke_its_builtins_broke_them_for_itself(client: SandboxClient, code: str) -> None:
    outcome = await run(client, code)
    assert (outcome.status, outcome.cause) == ("error", None), outcome
    assert outcome.stderr.endswith("ZeroDivisionError: division by zero\n"), outcome
    assert "/" not in outcome.stderr.replace("1 / 0", ""), "no file of ours"


@pytest.mark.parametrize(
    "code",
    [
        "print.__self__.isinstance = None\n1 / 0",
        "import sys\nsys.modules['json'].dumps = None\n1 / 0",
        "import traceback\ntraceback.TracebackException = traceback.walk_tb = None\n1 / 0",
        "import warnings\nwarnings.warn('old', stacklevel=2)",
        "async def f(): pass\nf()\n",
        "class A:\n  def __del__(self): 1 / 0\nx = A()\ndel x",
        "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()",
        "import asyncio\nasync def f(): asyncio.create_task(g())\nasync def g(): 1 / 0\nasyncio.run(f())",
        "import os\nos.system('ls')",
        "import torch\ntorch.compile(lambda x: x)",
        "import os, traceback\ntry: os.system('ls')\nexcept OSError: traceback.print_exc()",
        "import torch, traceback\ntry: torch.compile(torch.sin)\nexcept OSError: traceback.print_exc()",
    ],
)
async def test_no_message_shows_our_own_files(client: SandboxClient, code: str) -> None:
    outcome = await run(client, code)
    assert "sandbox/" not in outcome.stderr, outcome.stderr
    assert outcome.status != "memory"


async def test_wall_time_covers_the_cpu_time_of_a_program_with_one_thread(client: SandboxClient) -> None:
    outcomes = [await run(client, "sum(range(200_000))") for _ in range(10)]
    assert min(outcome.wall_ms - outcome.cpu_ms for outcome in outcomes) > -1, outcomes
    assert min(outcome.wall_ms for outcome in outcomes) > 1


async def test_waiting_for_a_core_is_told_from_sleeping(client: SandboxClient) -> None:
    sleeping = await run(client, "import time; time.sleep(0.3)")
    assert sleeping.delayed_ms < 150
    assert sleeping.wall_ms >= 300 > sleeping.cpu_ms
    # Threads that take the interpreter's lock in turn wait for each other, not for a core.
    code = "import threading, time\nthreading.Thread(target=lambda: [None for _ in iter(int, 1)], daemon=True).start()"
    assert (await run(client, f"{code}\ntime.sleep(0.3)")).delayed_ms >= 0


async def test_asyncio_runs_tasks_threads_and_timers(client: SandboxClient) -> None:
    code = """
import asyncio, time

async def work(n):
    await asyncio.sleep(0.01)
    return n * n

async def main():
    queue = asyncio.Queue()
    asyncio.get_running_loop().call_later(0.01, queue.put_nowait, 5)
    threads = await asyncio.gather(*[asyncio.to_thread(time.sleep, 0.02) for _ in range(4)])
    return await asyncio.gather(*map(work, range(4))), await queue.get(), len(threads)

print(asyncio.run(main()))
print(asyncio.run(work(3)))
"""
    outcome = await run(client, code)
    assert (outcome.status, outcome.stdout) == ("ok", "([0, 1, 4, 9], 5, 4)\n9\n"), outcome


async def test_eager_compilation_takes_a_fraction_of_a_second(client: SandboxClient) -> None:
    code = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.GELU(), torch.nn.Linear(8, 1))
loss = torch.compile(model, backend="eager")(torch.ones(3, 4)).sum()
loss.backward()
print(model[0].weight.grad.shape)
"""
    outcome = await run(client, code, limits=Limits(wall_ms=20_000, cpu_ms=20_000))
    assert (outcome.status, outcome.stdout) == ("ok", "torch.Size([8, 4])\n"), outcome
    assert outcome.cpu_ms < 400


@pytest.mark.parametrize(
    "code",
    [
        "raise ModuleNotFoundError(\"No module named 'triton'\", name='triton')",
        "raise RuntimeError('Failed to find C compiler. Please specify via CC environment variable.')",
        "raise RuntimeError('0 active drivers ([]). There should only be one.')",
        # As Triton and torch start one: a call that is refused, in a file of theirs.
        "exec(compile('import os; os.execv(\"/bin/true\", [\"ptxas\"])', '/packages/triton/compiler.py', 'exec'))",
        "from torch.utils.cpp_extension import load_inline\nload_inline('x', 'int f() { return 1; }', functions='f')",
    ],
)
async def test_what_needs_a_compiler_is_told_so(client: SandboxClient, code: str) -> None:
    outcome = await run(client, code, limits=Limits(wall_ms=20_000, cpu_ms=20_000))
    assert isinstance(outcome.cause, WallHit), outcome
    assert outcome.cause.wall == "compiler", outcome


async def test_compilation_that_cannot_work_is_refused_at_once(client: SandboxClient) -> None:
    outcome = await run(client, "import torch\nf = torch.compile(torch.sin)\nf(torch.ones(1))")
    assert (outcome.status, outcome.cause) == ("denied", WallHit("compiler", 2))
    assert outcome.cpu_ms < 400
