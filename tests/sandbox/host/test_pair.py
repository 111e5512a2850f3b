"""Hostile frames between an answer and its driver: neither half can use up the supervisor's memory, or fail it.

The answer is a member's code, and the driver that of an imported bank's author. Both own their processes, so each can
write any frame to the results pipe, file descriptor 3.
"""

from __future__ import annotations

import asyncio
import select
from pathlib import Path

import pytest

from sandbox import embedded, values
from sandbox.causes import MemoryExceeded, Tampered
from sandbox.host import jail
from sandbox.host.pair import execute_pair
from sandbox.host.pool import Zygote
from sandbox.host.process import Child
from sandbox.wire import Limits, Run

pytestmark = pytest.mark.sandbox
LIMITS = Limits(wall_ms=4000, cpu_ms=4000)
MAX_GROWTH_MB = 250
"""Largest growth of the supervisor that a run may cause; frames are up to 64 MB."""

WRITE = """
import os
def frame(kind, payload):
    data = len(payload).to_bytes(4, "little") + kind + payload
    while data:
        data = data[os.write(3, data):]
def place(position):
    return position.to_bytes(8, "little")
"""
IDLE = "import time\ndef solve(x):\n    time.sleep(60)\n"
ASKS = "def drive(answer, x):\n    return answer(x)\n"
PATIENT = "import time\ndef drive(answer, x):\n    time.sleep(60)\n"
FLOODS = {
    "requests that the driver does not read": (
        f"{WRITE}\nblock = bytes(1 << 20)\ndef solve(x): pass\nwhile True: frame(b'Q', block)\n",
        PATIENT,
    ),
    "requests that the answer does not read": (
        IDLE,
        f"{WRITE}\nblock = bytes(1 << 20)\ndef drive(answer, x):\n    while True: frame(b'Q', block)\n",
    ),
    "memory that the driver asks for and does not read": (
        IDLE,
        f"{WRITE}\ndef drive(answer, x):\n    while True: frame(b'G', place(0) + place(8 << 20))\n",
    ),
}
POSITIONS = {
    "at the end of the memory": "frame(b'W', place(8 << 20) + bytes(8))",
    "across the end of the memory": "frame(b'W', place((8 << 20) - 4) + bytes(8))",
    "far beyond the memory": "frame(b'W', place(1 << 40) + bytes(8))",
    "beyond what a file can have": "frame(b'W', place((1 << 64) - 1) + bytes(8))",
    "read beyond what a file can have": "frame(b'G', place((1 << 64) - 1) + place(8))",
    "read across the end of the memory": "frame(b'G', place((8 << 20) - 4) + place(8))",
}


def run_of(code: str, driver: str) -> Run:
    return Run("pair", code, "solve", values.encode([(1,)]), limits=LIMITS, driver=driver, driving="pair")


def resident_mb(sandbox: embedded.EmbeddedSandbox, name: str) -> int:
    """Returns the supervisor's resident memory: `VmRSS` now, or `VmHWM` at its peak."""
    status = Path(f"/proc/{sandbox.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) >> 10 for line in status if line.startswith(name))


def reset_peak(sandbox: embedded.EmbeddedSandbox) -> None:
    """Makes the supervisor's peak memory what it uses now."""
    Path(f"/proc/{sandbox.process.pid}/clear_refs").write_text("5")


@pytest.mark.parametrize("flood", FLOODS)
async def test_unread_frames_end_the_run_before_they_fill_the_supervisor(
    survivor: embedded.EmbeddedSandbox, flood: str
) -> None:
    await survivor.client.until_ready()
    reset_peak(survivor)
    before = resident_mb(survivor, "VmRSS")
    outcome = await survivor.client.run(run_of(*FLOODS[flood]))
    assert outcome.status != "ok"
    assert resident_mb(survivor, "VmHWM") - before < MAX_GROWTH_MB


@pytest.mark.parametrize("position", POSITIONS)
async def test_a_driver_reaches_nothing_outside_the_shared_memory(
    survivor: embedded.EmbeddedSandbox, position: str
) -> None:
    await survivor.client.until_ready()
    log = survivor.log.stat().st_size
    driver = f"{WRITE}\n{PATIENT.replace('time.sleep(60)', POSITIONS[position] + '; time.sleep(60)')}"
    outcome = await survivor.client.run(run_of(IDLE, driver))
    # Ended as tampered with at once, not by the time limit.
    assert (outcome.status, outcome.wall_ms < LIMITS.wall_ms / 2) == ("error", True), outcome
    assert survivor.log.read_bytes()[log:].count(b"Traceback") == 0


async def test_an_answer_that_reports_success_while_its_driver_works_has_tampered(
    survivor: embedded.EmbeddedSandbox,
) -> None:
    await survivor.client.until_ready()
    report = b'{"status": "ok", "reached": "done", "exit_code": null, "cause": null}'
    outcome = await survivor.client.run(
        run_of(f"{WRITE}\nframe(b'C', b'12345')\nframe(b'E', {report!r})\n{IDLE}", PATIENT)
    )
    assert (outcome.status, outcome.cause, outcome.results) == ("error", Tampered(), b""), outcome


async def test_a_right_pair_works_after_all_that(survivor: embedded.EmbeddedSandbox) -> None:
    await survivor.client.until_ready()
    outcome = await survivor.client.run(run_of("def solve(x): return x + 1", ASKS))
    assert outcome.status == "ok", outcome
    assert [values.decode(part) for part in values.split(outcome.results)] == [("ok", 2)]


@pytest.mark.slow
async def test_a_driver_whose_death_is_seen_at_once_does_not_look_like_tampering(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kill = Child.kill

    def kill_and_wait(child: Child) -> None:
        kill(child)
        select.select([child.pidfd], [], [])

    zygote = await Zygote.start(jail.probe(weaker=False).bwrap)
    try:
        answer, driver = await asyncio.gather(zygote.spawn(16), zygote.spawn(16))
        with monkeypatch.context() as patched:
            patched.setattr(Child, "kill", kill_and_wait)
            run = run_of("import torch\ndef solve(x): return torch.empty(1 << 40)", ASKS)
            outcome = await execute_pair(answer, driver, run, "full", 0.0)
        answer.close()
        driver.close()
    finally:
        await zygote.stop()
    assert (outcome.status, outcome.reached) == ("memory", "cases"), outcome
    assert isinstance(outcome.cause, MemoryExceeded) and outcome.cause.line == 2
