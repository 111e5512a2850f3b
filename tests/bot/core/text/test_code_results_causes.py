"""One line for each way a program can end early."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from bot.core.cards import Text
from bot.core.text.archive import proof_failure, proof_headline
from bot.core.text.code_results import cause_words, gpu_words, wall_words
from bot.core.text.members import run_card
from bot.core.text.results import verdict_blocks
from service.wire import (
    Cause,
    Crashed,
    Exited,
    GpuNote,
    MemoryExceeded,
    OutputExceeded,
    ProofRun,
    RunResult,
    Tampered,
    TimeExceeded,
    TooSlow,
    VerdictView,
    Wall,
    WallHit,
)

LINES: list[tuple[Cause, str]] = [
    (WallHit("network", 3), "Line 3: No network here. Put the data into the program."),
    (WallHit("threads", None, 15), "At most 15 threads can be started here. Use a smaller pool."),
    (TimeExceeded("wall", 5000, 7), "The time limit of 5 s ran out in line 7."),
    (TimeExceeded("cpu", 1500), "The limit of CPU time of 1.5 s ran out."),
    (MemoryExceeded(512, 3, 4096, 2), "Line 2: It asked for 4,096 MB of memory when 3 of 512 MB were in use."),
    (MemoryExceeded(512, 511, 0, 9), "Line 9: It needed more than its 512 MB of memory. 511 MB were in use then."),
    (MemoryExceeded(512, 0), "It needed more than its 512 MB of memory."),
    (
        MemoryExceeded(4096, 5500, device="cuda"),
        "It needed more than its 4,096 MB of GPU memory. 5,500 MB were in use then.",
    ),
    (OutputExceeded("output", 65536), "It printed more than 64 KB."),
    (OutputExceeded("results", 16 << 20), "It returned more than 16 MB."),
    (Exited(3, 4), "It exited with status 3 in line 4, and nothing after that was run."),
    (Crashed(11), "It crashed: a segmentation fault."),
    (Crashed(7), "It crashed: a mapped file had no room left in `/tmp`, or was cut off."),
    (Crashed(31), "It crashed: SIGSYS."),
    (Crashed(200), "It crashed: signal 200."),
    (Tampered(), "It wrote to the channel that its results are sent on, so they do not count."),
    (
        TooSlow(7, 7, 1500, 12),
        "Too slow for its size: the cases grow, and the time ran out in case 7 of 7. All may take 1,500 ms together; "
        "ours took 12 ms.",
    ),
]


@pytest.mark.parametrize(("cause", "line"), LINES, ids=lambda one: type(one).__name__)
def test_a_cause_is_one_line(cause: Cause, line: str) -> None:
    assert cause_words(cause) == line


@pytest.mark.parametrize("wall", get_args(Wall))
def test_each_wall_says_what_it_is_and_what_to_do(wall: Wall) -> None:
    said = wall_words(wall, 15)
    assert "\n" not in said
    assert said.count(". ") == 1 or wall == "files"


@pytest.mark.parametrize("note", [note for note in get_args(GpuNote) if note])
def test_a_missing_gpu_is_told(note: GpuNote) -> None:
    assert "GPU" in gpu_words(note)


def test_the_line_is_on_the_card_of_a_run_and_of_a_verdict() -> None:
    cause = WallHit("processes", 2)
    line = Text(cause_words(cause))
    assert line in run_card(RunResult(status="denied", cause=cause)).blocks
    verdict = VerdictView(verdict="runtime error", credit=0.0, cause=cause)
    assert line in verdict_blocks(verdict)


@pytest.mark.parametrize(("cause", "line"), LINES, ids=lambda one: type(one).__name__)
def test_a_cause_crosses_the_wire_unchanged(cause: Cause, line: str) -> None:
    sent = VerdictView(verdict="runtime error", credit=0.0, cause=cause)
    assert VerdictView.model_validate_json(sent.model_dump_json()) == sent


def test_a_verdict_that_needs_a_gpu_says_so_first() -> None:
    waiting = VerdictView(verdict="system error", credit=0.0, note="needs gpu")
    assert verdict_blocks(waiting)[0] == Text(gpu_words("needs gpu"))


@pytest.mark.parametrize(
    ("run", "headline", "line"),
    [
        ({"holds": True}, "The proof holds: what it computed matches the key.", ""),
        ({}, "What it computed does not match the key. Please report this question.", ""),
        ({"failed": True, "problem": "ZeroDivisionError"}, "The program failed, so it proves nothing.", ""),
        (
            {"failed": True, "cause": TimeExceeded("cpu", 20_000, 3)},
            "The program failed, so it proves nothing.",
            "The limit of CPU time of 20 s ran out in line 3.",
        ),
        (
            {"failed": True},
            "The program failed, so it proves nothing.",
            "It ended without a fact that can be compared with the key.",
        ),
        ({"ours": True}, "The sandbox failed (our fault). Please try again.", ""),
    ],
)
def test_what_became_of_a_proof_is_put_into_words(run: dict[str, Any], headline: str, line: str) -> None:
    made = ProofRun.model_validate({"ran": "proof", "holds": False} | run)
    assert (proof_headline(made)[0], proof_failure(made)) == (headline, line)


@pytest.mark.parametrize(("peak_mb", "said"), [(0.4, "Finished in 12 ms."), (40, "Finished in 12 ms, using 40 MB.")])
def test_less_than_a_megabyte_is_not_told(peak_mb: float, said: str) -> None:
    assert run_card(RunResult(status="ok", stdout="1\n", wall_ms=12.3, peak_mb=peak_mb)).blocks[0] == Text(said)
