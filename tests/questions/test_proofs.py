"""Tests the programs that prove a key, and the findings about those that fail."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from questions import Finding, read_bank
from questions.proofs import FailedPart, Part, Proof, describe_failure, proofs_of

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
