"""docs/writing-questions.md: every example reads without a finding and is proved in the sandbox."""

from __future__ import annotations

import re

import pytest

from questions import Reading, read_bank
from questions.dialects.native import _PARTS
from questions.export import FORMATS
from questions.facts import runnable_proof
from questions.model import KINDS
from questions.report import explanations
from sandbox.client import SandboxClient
from sandbox.wire import Run
from service.banks.proving import collect_results, generate_variants, plan_proofs, prove_all
from tests.docs.pages import DOCS, blocks_of, rows_of, section_of, text_of

GUIDE = DOCS / "writing-questions.md"
EXAMPLES = blocks_of(GUIDE, "markdown")


def read(example: str) -> Reading:
    return read_bank(example, name="my-questions.md")


NAMED = {read(example).bank.questions[0].id: read(example) for example in EXAMPLES}


def test_there_is_an_example_of_each_kind_of_a_driver_and_of_a_family() -> None:
    questions = [question for reading in NAMED.values() for question in reading.bank.questions]
    assert {question.kind for question in questions} == set(KINDS)
    assert any(question.task and question.task.driver for question in questions)
    assert any(question.draw for question in questions)
    assert len(questions) == len(EXAMPLES) == 9


@pytest.mark.parametrize("name", NAMED)
def test_an_example_reads_without_a_finding(name: str) -> None:
    reading = NAMED[name]
    assert [(finding.code, finding.message) for finding in reading.findings] == []
    assert reading.bank.dialects == ("native",)
    assert all(question.why for question in reading.bank.questions)


@pytest.mark.sandbox
@pytest.mark.parametrize("name", NAMED)
async def test_an_example_is_proved(sandbox: SandboxClient, name: str) -> None:
    work = plan_proofs([NAMED[name]])
    found = [one async for one in prove_all(work, sandbox)]
    proving = collect_results([NAMED[name]], found, {"torch": "2.13.0"}, 1.0)
    assert len(work) >= 1
    assert [finding for document in proving.documents for finding in document.findings] == []
    assert not proving.troubles


@pytest.mark.sandbox
@pytest.mark.parametrize("name", NAMED)
async def test_the_proof_that_members_see_runs_on_its_own(sandbox: SandboxClient, name: str) -> None:
    (question,) = NAMED[name].bank.questions
    if question.proof:
        outcome = await sandbox.run(Run(id=f"shown/{name}", code=runnable_proof(question)))
        assert (outcome.status, bool(outcome.stdout)) == ("ok", True)


@pytest.mark.sandbox
async def test_the_family_draws_as_many_questions_as_its_preview_shows(sandbox: SandboxClient) -> None:
    (family,) = NAMED["shape-of-a-product"].bank.questions
    assert len(await generate_variants(family, sandbox, seed=1, count=5)) == 5


def test_the_parts_it_lists_are_the_ones_that_are_read() -> None:
    listed: dict[str, frozenset[str]] = {}
    for names, kinds, _ in rows_of(section_of(GUIDE, "The format")):
        used_by = frozenset(KINDS) if kinds == "all kinds" else frozenset(kinds.split(", "))
        listed |= {name.partition(":")[0]: used_by for name in re.findall(r"`([^`]+)`", names)}
    assert listed == {name.partition(":")[0]: kinds for name, kinds in _PARTS.items()}


def test_the_formats_and_codes_they_name_exist() -> None:
    text = text_of(GUIDE) + text_of(DOCS / "importing.md")
    assert set(re.findall(r"bank export (\w+)", text)) <= set(FORMATS)
    assert set(FORMATS) <= set(re.findall(r"`(\w+)`", text)) | {"markdown"}
    assert set(re.findall(r"bank explain ([QP]\d+)", text)) <= set(explanations())
