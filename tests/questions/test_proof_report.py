"""Reports of what was proved."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from questions import Finding, Span, read_bank
from questions.proof_report import (
    DocumentProofs,
    Mutant,
    MutationScore,
    ProofReport,
    mutation_score,
    proof_report_github,
    proof_report_json,
    proof_report_text,
)
from questions.proofs import _ABOUT
from questions.source import Severity

MUTANTS = (
    Mutant("strides", "choice", "the mark moved to a", "noticed"),
    Mutant("strides", "choice", "the mark moved to c", "survived"),
    Mutant("softmax", "code", "line 3: Add to Sub", "noticed"),
    Mutant("softmax", "code", "line 4: 1 to 2", "equivalent"),
    Mutant("softmax", "code", "line 5: 1 to 2", "equivalent"),
)


def finding(code: str = "P121", severity: Severity = "error") -> Finding:
    return Finding(code, severity, "a message", Span(2, 1, 2, 4))


def proof_report(*findings: Finding, troubles: tuple[str, ...] = (), mutants: tuple[Mutant, ...] = ()) -> ProofReport:
    source = read_bank("one\ntwo\n", name="d.md").source
    document = DocumentProofs(source, findings, held=2, programs=1, parts=(("strides: proof", "so"),), mutants=mutants)
    return ProofReport((document,), {"numpy": "2.0", "torch": "2.13.0"}, 1.26, troubles)


def test_only_an_error_makes_a_proof_report_fail() -> None:
    error, warning = finding(), finding("P103", "warning")
    assert proof_report(error).has_errors and proof_report(warning, error).has_errors
    assert not proof_report(warning).has_errors and not proof_report().has_errors
    assert proof_report(error, warning, error).codes == ("P103", "P121")


def test_the_exit_status_names_a_false_claim_first_and_then_what_was_not_run() -> None:
    full = ("the sandbox is full",)
    reports = (proof_report(), proof_report(troubles=full), proof_report(finding(), troubles=full))
    assert [report.exit_status for report in reports] == [0, 2, 1]


def test_a_proof_report_in_each_format() -> None:
    report = proof_report(finding(), troubles=("the  sandbox\nis full",))
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
    assert document["proved"] == [{"name": "strides: proof", "said": "so"}]
    assert [found["code"] for found in document["findings"]] == ["P121"]
    first, second, third = proof_report_github(report).split("\n")
    assert first.startswith("::error file=d.md,line=2,endLine=2,col=1,title=P121::")
    assert second == "::warning title=could not run::the sandbox is full"
    assert third == "::notice title=proved::2 proved, 1 shown program run, 1 error, with torch 2.13.0, numpy 2.0"


def test_the_score_counts_mutants_that_make_a_difference() -> None:
    assert mutation_score(MUTANTS) == MutationScore(noticed=2, survived=1, equivalent=2)
    assert mutation_score(MUTANTS).share == pytest.approx(2 / 3)
    assert mutation_score(()).share == 1.0


def test_mutants_by_bank_and_kind_as_text() -> None:
    lines = proof_report_text(proof_report(mutants=MUTANTS)).plain.split("\n")
    assert lines[0].startswith("d.md: 2 proved, 1 shown program run, 2 of 3 mutants noticed (66.7%) and 2 equivalent")
    assert lines[1] == "  softmax: no drawn case distinguishes line 4: 1 to 2; line 5: 1 to 2"
    assert lines[4:6] == [
        "  choice  1 of 2 mutants noticed (50.0%)",
        "  code    1 of 1 mutants noticed (100.0%) and 2 equivalent",
    ]


def test_mutants_by_bank_and_kind_as_json() -> None:
    data = json.loads(proof_report_json(proof_report(mutants=MUTANTS)))
    assert data["mutation"]["choice"] == {"noticed": 1, "survived": 1, "equivalent": 0, "share": 0.5}
    assert data["mutation"]["open"] == {"noticed": 0, "survived": 0, "equivalent": 0, "share": 1.0}
    (document,) = data["documents"]
    assert document["mutation"] == {"noticed": 2, "survived": 1, "equivalent": 2, "share": 0.6667}
    assert document["survived"] == [
        {"question": "strides", "kind": "choice", "name": "the mark moved to c", "state": "survived"}
    ]
    assert [mutant["name"] for mutant in document["equivalent"]] == ["line 4: 1 to 2", "line 5: 1 to 2"]


@pytest.mark.parametrize(("draws", "times"), [(1, "one draw"), (3, "each of 3 draws")])
def test_how_often_wrong_solutions_were_judged_is_said(draws: int, times: str) -> None:
    (document,) = proof_report().documents
    parts = (("a: reference", ""), ("a: wrong: adds", "rejected"), ("b: wrong: adds", "rejected"))
    report = replace(proof_report(), documents=(replace(document, parts=parts),), draws=draws)
    assert f"\n  2 wrong solutions rejected by {times} of the cases\n" in proof_report_text(report).plain
    data = json.loads(proof_report_json(report))
    assert (data["wrong"], data["draws"]) == (2, draws)
    assert "wrong solution" not in proof_report_text(proof_report()).plain


def test_every_part_has_a_code_of_its_own_a_message_and_a_cure() -> None:
    codes = [about.code for about in _ABOUT.values()]
    assert len(set(codes)) == len(codes) and all(re.fullmatch(r"P1[0-9]{2}", code) for code in codes)
    assert all("`{id}`" in about.message and len(about.help.split()) >= 2 for about in _ABOUT.values())
