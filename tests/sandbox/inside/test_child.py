"""What a run in a real child comes back with: statuses, output, tracebacks, results."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sandbox.client import SandboxClient
from sandbox.framing import RESULT_HEADER
from sandbox.values import Value, decode, encode, split
from sandbox.wire import Limits, Outcome, Run, encode_run

pytestmark = pytest.mark.sandbox

HOME = str(Path(__file__).parents[3])


async def run(client: SandboxClient, code: str, **changes: Any) -> Outcome:
    return await client.run(replace(Run("run", code), **changes))


async def called(client: SandboxClient, code: str, *cases: tuple[Value, ...], **changes: Any) -> list[Value]:
    """Returns the results of calling `f` of `code` for each case."""
    outcome = await run(client, code, entry="f", cases=encode(list(cases)), **changes)
    assert outcome.status == "ok", outcome
    return [decode(entry) for entry in split(outcome.results)]


def test_a_child_that_cannot_be_confined_says_why_and_takes_no_run() -> None:
    """Without namespaces of its own, a process can map no ids."""
    program = f"""
import os, sys
sys.path.insert(0, {HOME!r})
from sandbox.inside import child, confine
os.dup2(1, child.RESULTS_FD)
os.dup2(0, child.RUN_FD)
child.run_child(confine.Confinement(readable=(), user=os.getuid(), group=os.getgid()))
"""
    sent = encode_run(Run("run", "print('unconfined')"))
    ran = subprocess.run([sys.executable, "-B", "-c", program], input=sent, capture_output=True, check=False)
    length, kind = RESULT_HEADER.unpack_from(ran.stdout)
    assert (ran.returncode, kind, length) == (71, ord("X"), len(ran.stdout) - RESULT_HEADER.size), ran
    assert b"PermissionError" in ran.stdout


async def test_output_comes_back_with_its_streams_apart(client: SandboxClient) -> None:
    outcome = await run(client, "import os, sys\nprint('a')\nprint('b', file=sys.stderr)\nos.write(1, b'c')")
    assert (outcome.status, outcome.stdout, outcome.stderr) == ("ok", "a\nc", "b\n")
    assert (outcome.reached, outcome.exit_code, outcome.signal, outcome.truncated) == ("done", None, None, False)
    assert outcome.wall_ms > 0
    assert outcome.cpu_ms >= 0
    assert outcome.detail == ""


async def test_autograd_training_and_saving_work(client: SandboxClient) -> None:
    code = """
import io, torch
x = torch.tensor(3.0, requires_grad=True)
(x ** 2).backward()
print(x.grad)
model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.Flatten(), torch.nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters())
for batch in torch.utils.data.DataLoader(torch.randn(8, 1, 4, 4), batch_size=4):
    model(batch).mean().backward()
    optimizer.step()
torch.save(model.state_dict(), "model.pt")
print(sorted(torch.load("model.pt")))
torch.set_num_threads(2)
print((torch.ones(400, 400) @ torch.ones(400, 400)).sum().item())
"""
    outcome = await run(client, code)
    assert outcome.status == "ok", outcome
    assert outcome.stdout == "tensor(6.)\n['0.bias', '0.weight', '2.bias', '2.weight']\n64000000.0\n"


async def test_a_traceback_names_the_member_s_lines_only(client: SandboxClient) -> None:
    code = "import torch\n\ndef g(x):\n    return torch.nn.functional.softmax(x, dim=5)\n\ng(torch.ones(2))\n"
    outcome = await run(client, code)
    assert (outcome.status, outcome.reached) == ("error", "load")
    assert [line for line in outcome.stderr.splitlines() if "File" in line] == [
        '  File "<answer>", line 6, in <module>',
        '  File "<answer>", line 4, in g',
    ]
    assert "    return torch.nn.functional.softmax(x, dim=5)" in outcome.stderr
    assert outcome.stderr.splitlines()[-1].startswith("IndexError: Dimension out of range")


@pytest.mark.parametrize(
    ("code", "status", "reached", "exit_code"),
    [
        ("def f(:", "error", "parse", None),
        ("x = '\0'", "error", "parse", None),
        ("1 / 0", "error", "load", None),
        ("import sys; sys.exit()", "ok", "done", None),
        ("exit(0)", "ok", "done", 0),
        ("import sys; sys.exit(3)", "error", "load", 3),
        ("import sys; sys.exit('no')", "error", "load", 1),
        ("import os; os._exit(0)", "crash", "load", 0),
        ("class E(BaseException): pass\nraise E", "error", "load", None),
        ("class E(Exception):\n  def __str__(self): return 1 / 0\nraise E", "error", "load", None),
    ],
)
async def test_the_end_of_a_program_is_reported(
    client: SandboxClient, code: str, status: str, reached: str, exit_code: int | None
) -> None:
    outcome = await run(client, code)
    assert (outcome.status, outcome.reached) == (status, reached), outcome
    assert outcome.exit_code in (exit_code, 0 if exit_code is None else exit_code)


@pytest.mark.parametrize("code", ["import ctypes; ctypes.string_at(0)", "import os; os.abort()"])
async def test_a_crash_is_reported_with_its_signal(client: SandboxClient, code: str) -> None:
    outcome = await run(client, code)
    # Process 1 of a namespace cannot be aborted: libc ends it with SIGSEGV instead.
    assert (outcome.status, outcome.signal) == ("crash", 11)


async def test_a_program_is_main_and_has_nothing_to_read(client: SandboxClient) -> None:
    code = """
import pickle, sys
from dataclasses import dataclass

@dataclass
class Point:
    x: int = 1

assert pickle.loads(pickle.dumps(Point())) == Point()
print(__name__, sys.argv, repr(sys.stdin.read()))
"""
    assert (await run(client, code)).stdout == "__main__ ['<answer>'] ''\n"


async def test_control_characters_do_no_harm(client: SandboxClient) -> None:
    outcome = await run(client, r"print('\x1b[31mred\x07\u202eback\r\nnext\x00', end='\x9b')")
    assert outcome.stdout == "\ufffd[31mred\ufffd\ufffdback\nnext\ufffd\ufffd"


async def test_the_seed_decides_every_generator(client: SandboxClient) -> None:
    code = "import random, numpy, torch; print(random.random(), numpy.random.rand(), torch.rand(1))"
    first, same, other = [(await run(client, code, seed=seed)).stdout for seed in (2**127 + 1, 2**127 + 1, 2)]
    assert first == same != other


async def test_exceptions_are_results_and_name_the_line(client: SandboxClient) -> None:
    code = "def f(x):\n    return 1 / x"
    assert await called(client, code, (2,), (0,)) == [
        ("ok", 0.5),
        ("raised", "ZeroDivisionError", "division by zero (line 2)"),
    ]
    assert await called(client, "import sys\ndef f(): sys.exit(0)", ()) == [("raised", "SystemExit", "0 (line 2)")]


async def test_a_program_without_its_entry_says_so(client: SandboxClient) -> None:
    for code in ("def g(): pass", "f = 3"):
        outcome = await run(client, code, entry="f", cases=encode([()]))
        assert (outcome.status, outcome.reached) == ("error", "entry")
        assert outcome.stderr == "The program defines no function or class f.\n"


async def test_a_larger_scratch_is_had_by_asking(client: SandboxClient) -> None:
    code = "for n in range(20): open(str(n), 'wb').write(b'x' * (1 << 20))\nprint('fits')"
    assert (await run(client, code, limits=Limits(disk_mb=32))).stdout == "fits\n"


async def test_runs_at_the_same_time_stay_apart(client: SandboxClient) -> None:
    runs = [client.run(Run(str(n), f"open('x', 'w').write('{n}')\nprint(open('x').read())")) for n in range(8)]
    outcomes = await asyncio.gather(*runs)
    assert [(outcome.id, outcome.stdout) for outcome in outcomes] == [(str(n), f"{n}\n") for n in range(8)]


async def test_threads_are_counted_for_the_run_alone(client: SandboxClient) -> None:
    code = """
import threading
gate = threading.Event()
try:
    for started in range(99):
        threading.Thread(target=gate.wait).start()
except RuntimeError as problem:
    print(started, problem)
gate.set()
"""
    runs = [client.run(Run(str(n), code, limits=Limits(processes=4, memory_mb=4096))) for n in range(3)]
    # The main thread is one of them, and neither another run's nor a parked child's count.
    assert {outcome.stdout for outcome in await asyncio.gather(*runs)} == {"3 can't start new thread\n"}
