"""What the supervisor makes of what a child says and does: forged frames, floods, limits of its own."""

from __future__ import annotations

import os
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest

from sandbox.client import SandboxClient
from sandbox.framing import RESULT_HEADER
from sandbox.host.process import Child
from sandbox.host.running import ChildOutput
from sandbox.values import encode, split
from sandbox.wire import Limits, Outcome, Run


async def run(client: SandboxClient, code: str, **changes: Any) -> Outcome:
    return await client.run(replace(Run("run", code), **changes))


@pytest.mark.sandbox
async def test_results_without_number_are_cut_off(client: SandboxClient) -> None:
    code = "import os\ndef f():\n  while True: os.write(3, b'\\0\\0\\0\\0C' * 1000)"
    outcome = await run(client, code, entry="f", cases=encode([()]))
    assert (outcome.status, len(split(outcome.results)) <= 100_001) == ("output", True)


@pytest.mark.sandbox
async def test_bytes_after_the_end_spoil_all_results(client: SandboxClient) -> None:
    code = """
import json, os, struct
def f():
    end = json.dumps({"status": "ok", "reached": "done", "exit_code": None}).encode()
    os.write(3, struct.pack("<IB", len(end), ord("E")) + end + b"more")
    os._exit(0)
"""
    outcome = await run(client, code, entry="f", cases=encode([()]))
    assert (outcome.status, outcome.results) == ("error", b"")


@pytest.mark.sandbox
async def test_who_writes_on_after_the_end_is_read_no_further(client: SandboxClient) -> None:
    code = """
import json, os, struct
def f():
    end = json.dumps({"status": "ok", "reached": "done", "exit_code": None}).encode()
    os.write(3, struct.pack("<IB", len(end), ord("E")) + end)
    while True: os.write(3, b"\\0\\0\\0\\0C" * 1000)
"""
    outcome = await run(client, code, entry="f", cases=encode([()]))
    assert (outcome.status, outcome.results) in (("error", b""), ("ok", b"")), "at most, its end was seen alone"


@pytest.mark.parametrize("junk", ["b'hello'", "b'\\xff' * 9", "b'\\x02\\0\\0\\0E{}'", "b'\\0\\0\\0\\0Z'"])
@pytest.mark.sandbox
async def test_junk_on_the_results_pipe_is_no_result(client: SandboxClient, junk: str) -> None:
    outcome = await run(
        client, f"import os\ndef f():\n  os.write(3, {junk})\n  os._exit(0)", entry="f", cases=encode([()])
    )
    assert outcome.status in ("error", "output")
    assert outcome.results == b""


@pytest.mark.sandbox
async def test_cpu_time_is_limited_apart_from_wall_time(client: SandboxClient) -> None:
    outcome = await run(client, "while True: pass", limits=Limits(wall_ms=20_000, cpu_ms=100))
    assert outcome.status == "time"
    assert outcome.wall_ms < 10_000


@pytest.mark.sandbox
async def test_results_beyond_their_limit_end_the_run_and_keep_what_was_whole(client: SandboxClient) -> None:
    limits = Limits(result_bytes=3000)
    outcome = await run(client, "def f(n): return 'x' * n", entry="f", cases=encode([(1000,)] * 5), limits=limits)
    assert outcome.status == "output"
    assert len(split(outcome.results)) == 2


async def test_what_a_flooding_program_finishes_before_it_is_killed_does_not_count() -> None:
    """It waits to print until the full pipe is read, and goes on at once: results of before count, later ones never."""
    readers, writers = zip(*(os.pipe() for _ in range(3)), strict=True)
    results, stdout, _ = writers
    child = Child(-1, readers[0], readers[1], readers[2], disk_mb=0)
    output = ChildOutput(child, Run("run", ""))
    os.write(results, RESULT_HEADER.pack(6, ord("C")) + b"before")
    program = Thread(target=flood_then_finish, args=(stdout, results))
    program.start()
    for descriptor in readers:
        os.set_blocking(descriptor, False)
    try:
        while output.flooded is None:
            output._read(child.stdout_fd)
        program.join()
        output.drain()
    finally:
        program.join()
        for descriptor in (*readers, *writers):
            os.close(descriptor)
    assert (output.flooded, output.results, output.report) == ("output", [b"before"], None)


def flood_then_finish(stdout: int, results: int) -> None:
    os.write(stdout, b"x" * 100_000)
    os.write(results, RESULT_HEADER.pack(5, ord("C")) + b"after")
