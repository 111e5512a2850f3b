"""Tests the programs that prove a key, and the reports of their results."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from questions import Finding, read_bank
from questions.proof_report import (
    DocumentProofs,
    ProofReport,
    proof_report_github,
    proof_report_json,
    proof_report_text,
)
from questions.proofs import Proof, failed_part, proofs_of

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
    return failed_part(question, reading.source, "output", question.program, said, printed)


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


def test_a_reason_without_a_line_is_kept_short() -> None:
    reading = read_bank(OUTPUT, name="d.md")
    (question,) = reading.bank.questions
    found = failed_part(question, reading.source, "proof", "not in the document", "time\nlimit " + "x" * 500)
    assert (found.code, found.span.line, found.label) == ("P120", 3, "")
    assert found.note.startswith("time limit x") and len(found.note) == 400
    assert found.message == "the proof of `two-lines` fails" and found.help == "correct the proof"


def test_a_line_that_raised_outside_the_document_is_not_marked() -> None:
    reading = read_bank(OUTPUT, name="d.md")
    (question,) = reading.bank.questions
    said = 'File "<answer>", line 7\nKeyError: 1'
    found = failed_part(question, reading.source, "family", "not in the document", said)
    assert (found.code, found.span.line, found.label, found.note) == ("P124", 3, "", "KeyError: 1")


def proof_report(*findings: Finding, troubles: tuple[str, ...] = ()) -> ProofReport:
    source = read_bank(OUTPUT, name="d.md").source
    document = DocumentProofs(source, findings, held=2, programs=1, parts=(("two-lines: output", "printed"),))
    return ProofReport((document,), {"numpy": "2.0", "torch": "2.13.0"}, 1.26, troubles)


def test_only_an_error_makes_a_proof_report_fail() -> None:
    error = output_finding("0\n")
    warning = dataclasses.replace(error, severity="warning", code="P103")
    assert proof_report(error).has_errors and proof_report(warning, error).has_errors
    assert not proof_report(warning).has_errors and not proof_report().has_errors
    assert proof_report(error, warning, error).codes == ("P103", "P121")


def test_a_proof_report_in_each_format() -> None:
    error = output_finding("0\n")
    report = proof_report(error, troubles=("the  sandbox\nis full",))
    text = proof_report_text(report).plain
    assert "d.md: 2 proved, 1 shown program run, 1 error\n" in text
    assert "could not run: the  sandbox\nis full\n" in text
    assert "total: 1 document, 2 proved, 1 shown program run, 1 error, with torch 2.13.0, numpy 2.0 in 1.3 s\n" in text
    assert text.endswith("`dailygrad bank explain P121` explains it; all codes found: P121\n")
    assert "explain" not in proof_report_text(proof_report()).plain
    data = json.loads(proof_report_json(report))
    assert (data["torch"], data["numpy"], data["seconds"]) == ("2.13.0", "2.0", 1.26)
    assert (data["held"], data["programs"], data["troubles"]) == (2, 1, ["the  sandbox\nis full"])
    (document,) = data["documents"]
    assert document["proved"] == [{"name": "two-lines: output", "said": "printed"}]
    assert [found["code"] for found in document["findings"]] == ["P121"]
    first, second, third = proof_report_github(report).split("\n")
    assert first.startswith("::error file=d.md,line=14,endLine=14,col=1,title=P121::")
    assert second == "::warning title=could not run::the sandbox is full"
    assert third == "::notice title=proved::2 proved, 1 shown program run, 1 error, with torch 2.13.0, numpy 2.0"
