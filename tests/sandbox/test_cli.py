"""What a shell is told of a run: the last line, the exit status, the JSON."""

from __future__ import annotations

import json

import pytest

from sandbox.cli import exit_status, outcome_json, signal_name, summary
from sandbox.wire import Outcome


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome("x", "ok"), 0),
        (Outcome("x", "ok", exit_code=0), 0),
        (Outcome("x", "error"), 1),
        (Outcome("x", "error", exit_code=3), 3),
        (Outcome("x", "error", exit_code=-1), 255),
        (Outcome("x", "crash", signal=11), 139),
        (Outcome("x", "crash", exit_code=0), 1),
        (Outcome("x", "time"), 124),
        (Outcome("x", "denied"), 126),
        (Outcome("x", "memory"), 137),
        (Outcome("x", "output"), 1),
        (Outcome("x", "internal"), 70),
    ],
)
def test_the_exit_status_follows_the_program_s(outcome: Outcome, status: int) -> None:
    assert exit_status(outcome) == status


def test_the_last_line_says_how_it_ended_and_what_it_took() -> None:
    outcome = Outcome("x", "crash", signal=11, wall_ms=12.4, cpu_ms=3.6, peak_mb=7.0, queue_ms=1.0)
    assert summary(outcome) == "crash, SIGSEGV · 12 ms wall, 4 ms CPU · 7 MB · waited 1 ms · cpu · full isolation"
    assert summary(Outcome("x", "error", exit_code=3)).startswith("error, exit 3 · ")
    assert summary(Outcome("x", "ok", exit_code=0)).startswith("ok · ")
    cut = Outcome("x", "output", truncated=True, isolation="weaker", detail="why")
    assert summary(cut).endswith("weaker isolation · output cut · why")
    assert signal_name(200) == "signal 200"


def test_the_json_holds_all_but_the_results() -> None:
    found = json.loads(outcome_json(Outcome("x", "ok", stdout="é", results=b"\0")))
    assert found["stdout"] == "é"
    assert "results" not in found
    assert {"status", "stderr", "exit_code", "signal", "wall_ms", "cpu_ms", "peak_mb", "queue_ms", "device"} <= set(
        found
    )
