"""Every shipped bank is free of findings; all problems are reported at once."""

from __future__ import annotations

from questions.model import KINDS
from questions.proofs import proofs_of
from questions.report import finding_text
from tests.questions.shipped import read_shipped_documents


def test_no_bank_has_a_fault() -> None:
    faults = [
        finding_text(finding, reading.source).plain
        for reading in read_shipped_documents()
        for finding in reading.findings
        if finding.severity != "note"
    ]
    assert not faults, "\n" + "\n".join(faults)


def test_every_question_is_native_answered_and_placed() -> None:
    faults = [
        f"{reading.source.name}:{question.place.line}: {question.id}"
        for reading in read_shipped_documents()
        for question in reading.bank.questions
        if not (question.answered and question.topic and question.level and question.license)
    ]
    assert not faults, "\n" + "\n".join(faults)


def test_ids_are_unique_over_all_banks() -> None:
    ids = [question.id for reading in read_shipped_documents() for question in reading.bank.questions]
    assert sorted(ids) == sorted(set(ids))


def test_every_key_has_a_program_that_proves_it() -> None:
    unproved = [
        question.id
        for reading in read_shipped_documents()
        for question in reading.bank.questions
        if not (proofs_of(question) or question.task or question.draw or question.unproved)
    ]
    assert not unproved


def test_every_kind_is_there() -> None:
    assert {question.kind for reading in read_shipped_documents() for question in reading.bank.questions} == set(KINDS)
