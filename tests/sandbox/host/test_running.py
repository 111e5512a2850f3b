"""What the supervisor makes of what a child says and does: forged frames, floods, limits of its own."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest

from sandbox.causes import Tampered, TimeExceeded
from sandbox.client import SandboxClient
from sandbox.framing import RESULT_HEADER
from sandbox.host.process import Child, ChildExit
from sandbox.host.running import ChildOutput, build_outcome, explain
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


def frame(kind: str, payload: bytes = b"") -> bytes:
    return RESULT_HEADER.pack(len(payload), ord(kind)) + payload


def report(**changes: object) -> bytes:
    """Returns a child's final report: all is well, but for the changes."""
    return frame("E", json.dumps({"status": "ok", "reached": "done", "exit_code": None, **changes}).encode())


@pytest.fixture
async def output() -> AsyncIterator[ChildOutput]:
    """What a child has written that took its run and finished a case."""
    readers, writers = zip(*(os.pipe() for _ in range(3)), strict=True)
    found = ChildOutput(Child(-1, readers[0], readers[1], readers[2], disk_mb=0), Run("run", ""))
    hear(found, frame("A") + frame("C", b"one"))
    yield found
    for descriptor in (*readers, *writers):
        os.close(descriptor)


def hear(output: ChildOutput, data: bytes) -> Outcome:
    """Has the supervisor read this from the results pipe; returns the outcome if the child ends now."""
    output._on_results(output.child.results_fd, data)
    status, cause = explain(output, GONE, Run("run", ""), None)
    outcome = build_outcome(Run("run", ""), output, GONE, status, {"cpu_ms": 0.0, "rss_kb": 0.0})
    return replace(outcome, cause=cause)


GONE = ChildExit(0, 0.0, 0)


async def test_a_report_ends_the_run_with_its_results(output: ChildOutput) -> None:
    outcome = hear(output, report(exit_code=3))
    assert (outcome.status, outcome.exit_code, split(outcome.results)) == ("ok", 3, [b"one"])


@pytest.mark.parametrize(
    "forged",
    [
        frame("A"),
        frame("Z"),
        report() + report(status="error"),
        report() + frame("C", b"two"),
        report() + frame("C", b"two")[:3],
        report(status="accepted"),
        report(reached="judged"),
        report(exit_code=1 << 31),
        report(exit_code=True),
        report(cause={"kind": "sorcery"}),
        report(more="x" * 4096),
        frame("E", b"[]"),
        frame("E", b"not JSON"),
    ],
)
async def test_a_forged_frame_spoils_all_results(output: ChildOutput, forged: bytes) -> None:
    outcome = hear(output, forged)
    assert (outcome.status, outcome.cause, outcome.results) == ("error", Tampered(), b"")
    assert output.stop.done()


async def test_results_have_a_number_beyond_which_none_is_kept(output: ChildOutput) -> None:
    outcome = hear(output, 200_000 * frame("C"))
    assert (outcome.status, len(output.results)) == ("output", 100_001)


async def test_a_limit_that_was_exceeded_counts_for_more_than_the_report(output: ChildOutput) -> None:
    output.exceeded = TimeExceeded("cpu", 10_000)
    outcome = hear(output, report())
    assert (outcome.status, outcome.cause) == ("time", TimeExceeded("cpu", 10_000))
