"""A bounded part of the search that `make fuzz` continues; a search that cannot find a fault is of no use."""

from __future__ import annotations

import random

import pytest

from questions.reader import Reading
from tests.fuzz import fuzz_reader
from tests.fuzz.fuzz_reader import Coverage, check, mutated, search, seeds, smallest

INPUTS = 800


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_no_document_makes_the_reader_fail(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert search(seconds=60, seed=seed, inputs=INPUTS) == 0, capsys.readouterr().out


def test_the_same_seed_makes_the_same_documents() -> None:
    corpus = seeds()
    first, again, other = (
        [mutated(text, corpus, rng) for text in corpus[:50]] for rng in (random.Random(n) for n in (1, 1, 2))
    )
    assert first == again != other


def test_a_fault_of_the_reader_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def unaccounted(reading: Reading) -> list[int]:
        return [line for line, text in enumerate(reading.source.lines, 1) if "MARK" in text]

    monkeypatch.setattr(Reading, "unaccounted", unaccounted)
    text = "\n".join(["# Terms", "", "### What is a lock?", "", "MARK of a fault", "", "**Answer:** a mutex", ""] * 3)
    problem = check(text)
    assert "accounted for nowhere" in problem
    assert smallest(text, problem).strip() == "MARK of a fault"


def test_an_input_is_new_when_it_runs_other_lines() -> None:
    coverage = Coverage()
    sizes = []
    for text in (
        "### What is a lock?\n\n**Answer:** a mutex\n",
        "| Question | Answer |\n|---|---|\n| What? | That. |\n",
    ):
        for _ in range(3):
            with coverage.watching():
                assert fuzz_reader.check(text) == ""
            sizes.append(len(coverage.arcs))
    assert 0 < sizes[1] == sizes[2] < sizes[3] and sizes[4] == sizes[5]
