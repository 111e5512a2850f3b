"""Tests the programs that prove a key, and the findings about those that fail."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import get_args

import pytest

from questions import Finding, read_bank
from questions.facts import NAMES
from questions.model import CodeTask
from questions.proofs import (
    FailedPart,
    Part,
    Proof,
    describe_failure,
    gpu_fingerprint,
    lacks_gpu_proof,
    proofs_of,
    without_stale_proof,
)

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


OUTPUT = """# topic

## two-lines · output · mid
What does this print?

### Program
```python
print(1)
print(2)
```

### Output
```
1
2
```
"""


def output_finding(printed: str, said: str = "ok; nothing else") -> Finding:
    reading = read_bank(OUTPUT, name="d.md")
    (question,) = reading.bank.questions
    return describe_failure(question, reading.source, FailedPart("output", question.program, said, printed))


@pytest.mark.parametrize(
    ("printed", "line", "label"),
    [
        ("0\n2\n", 14, "it prints `0`"),
        ("1\n3\n", 15, "it prints `3`"),
        ("1\n", 15, "no more output"),
        ("1\n2\n3\n", 15, "after this it prints `3`"),
        ("0\n2\n3\n", 14, "it prints `0`"),
    ],
)
def test_an_output_that_differs_is_marked_at_its_first_different_line(printed: str, line: int, label: str) -> None:
    found = output_finding(printed)
    assert (found.code, found.severity, found.span.line, found.label, found.note) == ("P121", "error", line, label, "")


def test_a_program_that_raises_is_marked_at_the_line_that_raised() -> None:
    said = 'Traceback:\n  File "<answer>", line 1, in f\n  File "<answer>", line 2\nValueError:  two  blanks\n\n'
    found = output_finding("1\n", said)
    assert (found.span.line, found.label, found.note) == (9, "raised here", "ValueError: two blanks")


@pytest.mark.parametrize("part", get_args(Part))
def test_each_part_that_does_not_hold_is_an_error(part: Part) -> None:
    reading = read_bank(OUTPUT, name="d.md")
    (question,) = reading.bank.questions
    assert describe_failure(question, reading.source, FailedPart(part, question.program, "why")).severity == "error"


def test_a_reason_without_a_line_is_kept_short() -> None:
    reading = read_bank(OUTPUT, name="d.md")
    (question,) = reading.bank.questions
    found = describe_failure(
        question, reading.source, FailedPart("proof", "not in the document", "time\nlimit " + "x" * 500)
    )
    assert (found.code, found.span.line, found.label) == ("P120", 3, "")
    assert found.note.startswith("time limit x") and len(found.note) == 400
    assert found.message == "the proof of `two-lines` fails" and found.help == "correct the proof"


def test_a_line_that_raised_outside_the_document_is_not_marked() -> None:
    reading = read_bank(OUTPUT, name="d.md")
    (question,) = reading.bank.questions
    said = 'File "<answer>", line 7\nKeyError: 1'
    found = describe_failure(question, reading.source, FailedPart("family", "not in the document", said))
    assert (found.code, found.span.line, found.label, found.note) == ("P124", 3, "", "KeyError: 1")


ABOUT: dict[Part, tuple[str, str, str]] = {
    "proof": ("P120", "the proof of `two-lines` fails", "correct the proof"),
    "output": ("P121", "the program of `two-lines` prints something else", "copy the actual output"),
    "reference": ("P122", "the reference of `two-lines` fails its own cases", "run the reference on the cases"),
    "wrong": (
        "P123",
        "the cases of `two-lines` do not always reject this wrong solution",
        "add a case that is in every draw and where it differs from the reference",
    ),
    "family": ("P124", "the family `two-lines` does not generate valid questions", "correct its `draw(rng)`"),
    "key": ("P125", "the key of `two-lines` differs from what its proof computes", "correct the key or the proof"),
    "binding": (
        "P126",
        "the proof of `two-lines` does not compute the key",
        "bind `printed` to what the program computes",
    ),
    "constant": ("P127", "the proof of `two-lines` states a fact instead of computing it", "compute it"),
    "coverage": (
        "P128",
        "the proof of `two-lines` does not cover the key exactly once",
        "name each option by its text, or by a part of it that no other option has",
    ),
    "oracle": (
        "P129",
        "nothing independent judges the reference of `two-lines`",
        "add `### Oracle`: solve it another way",
    ),
    "difference": (
        "P130",
        "the reference of `two-lines` differs from its oracle",
        "find out which of the two is wrong",
    ),
    "raises": (
        "P131",
        "the reference of `two-lines` raises where no case declares it",
        "define `raises(*arguments)` in the cases, or correct the reference",
    ),
    "example": (
        "P132",
        "the examples of `two-lines` do not say what to expect",
        "define `expected()` in the cases: the list of the examples' results",
    ),
    "mutant": ("P133", "a mistake in the key of `two-lines` goes unnoticed", "make the proof depend on it"),
}


@pytest.mark.parametrize("part", get_args(Part))
def test_each_part_has_its_own_finding_and_cure(part: Part) -> None:
    reading = read_bank(OUTPUT, name="d.md")
    (question,) = reading.bank.questions
    found = describe_failure(question, reading.source, FailedPart(part, question.program, "why  so\n"))
    code, message, cure = ABOUT[part]
    names = "` or `".join(NAMES["output"])
    assert (found.code, found.message) == (code, message)
    assert found.help == (f"bind `{names}` to what the program computes" if part == "binding" else cure)
    assert found.note == "why so"


def test_a_failure_points_at_the_program_or_at_a_text_of_the_question() -> None:
    reading = read_bank(OUTPUT, name="d.md")
    (question,) = reading.bank.questions
    at_program = describe_failure(question, reading.source, FailedPart("key", question.program, "why"))
    assert (at_program.span.line, at_program.span.column) == (8, 1)
    at_text = describe_failure(question, reading.source, FailedPart("key", question.program, "why", at="### Output"))
    assert at_text.span.line == 12
    blank = describe_failure(question, reading.source, FailedPart("key", "\n", "why"))
    assert blank.span.line == 3


def test_an_answer_that_is_not_in_the_document_is_marked_at_the_question() -> None:
    reading = read_bank(OUTPUT, name="d.md")
    (question,) = reading.bank.questions
    other = dataclasses.replace(question, answer="one\ntwo")
    found = describe_failure(other, reading.source, FailedPart("output", question.program, "ok;", "one\nthree\n"))
    assert (found.span.line, found.label) == (3, "it prints `three`")


# Tasks for a GPU


def gpu_task(**values: object) -> CodeTask:
    task = read_bank(NATIVE, name="native.md").bank.questions[3].task
    assert task is not None
    return dataclasses.replace(task, device="cuda", **values)  # type: ignore[arg-type]


def test_a_fingerprint_covers_all_that_is_proved() -> None:
    task = gpu_task()
    fingerprint = gpu_fingerprint(task)
    assert len(fingerprint) == 12 and set(fingerprint) <= set("0123456789abcdef")
    assert gpu_fingerprint(gpu_task(starter="x", gpu_proof="y")) == fingerprint
    for change in ({"reference": "x"}, {"cases": "x"}, {"wall_ms": 1}, {"entry": "x"}, {"wrong": ()}):
        assert gpu_fingerprint(gpu_task(**change)) != fingerprint
    assert len(gpu_fingerprint(gpu_task(reference="\ud800"))) == 12


def test_a_task_for_a_gpu_lacks_a_proof_until_its_fingerprint_is_written() -> None:
    task = gpu_task()
    proved = dataclasses.replace(task, gpu_proof=gpu_fingerprint(task))
    stale = dataclasses.replace(proved, reference="x")
    on_cpu = dataclasses.replace(task, device="cpu", gpu_proof="abc")
    assert [lacks_gpu_proof(one) for one in (task, proved, stale, on_cpu, None)] == [True, False, True, False, False]
    assert without_stale_proof(proved) == proved
    assert without_stale_proof(stale).gpu_proof == without_stale_proof(on_cpu).gpu_proof == ""
    assert without_stale_proof(task) == task
