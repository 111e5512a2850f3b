"""Which programs prove a key, and when a run does."""

from __future__ import annotations

from pathlib import Path

import pytest

from questions import read_bank
from questions.proofs import Proof, proofs_of

NATIVE = (Path(__file__).parent / "fixtures" / "native.md").read_text("utf-8")


def test_what_is_run_for_each_question() -> None:
    found = {q.id: proofs_of(q) for q in read_bank(NATIVE, name="native.md").bank.questions}
    assert {id: [(proof.name, proof.expect) for proof in those] for id, those in found.items()} == {
        "transpose-strides": [("transpose-strides: proof", "passes")],
        "shape-of-sum": [("shape-of-sum: proof", "passes")],
        "prints-sum": [("prints-sum: output", "prints")],
        "square": [],
        "why-leaf": [("why-leaf: proof", "passes")],
    }
    (printing,) = found["prints-sum"]
    assert printing.program == "for n in range(2):\n    print(n)"
    assert printing.output == "0\n1"


@pytest.mark.parametrize(
    ("finished", "printed", "holds"),
    [
        (True, "0\n1\n", True),
        (True, "0\n1", True),
        (True, "0\n1\n\n", False),
        (True, " 0\n1\n", False),
        (False, "0\n1\n", False),
    ],
)
def test_a_program_that_must_print(finished: bool, printed: str, holds: bool) -> None:
    assert Proof("a", "…", "prints", "0\n1").holds(finished=finished, printed=printed) is holds


@pytest.mark.parametrize("finished", [True, False])
def test_a_program_that_must_pass(finished: bool) -> None:
    assert Proof("a", "…", "passes").holds(finished=finished, printed="anything") is finished
