"""The author's guide keeps its word: every example in it reads without a finding and is proved in the sandbox."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from questions import Reading, read_bank
from questions.explaining import explanations
from questions.export import FORMATS
from questions.foreign import FOREIGN
from questions.model import KINDS
from sandbox import embedded
from service.drawing import draw_questions
from service.proving import prove_all, proved_readings, proving_work

GUIDE = Path(__file__).parents[2] / "questions" / "AUTHORS.md"
TEXT = GUIDE.read_text("utf-8")
EXAMPLES = re.findall(r"^````markdown\n(.*?)^````$", TEXT, re.DOTALL | re.MULTILINE)


def read(example: str) -> Reading:
    return read_bank(example, name="my-questions.md")


NAMED = {read(example).bank.questions[0].id: read(example) for example in EXAMPLES}


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[embedded.Sandbox]:
    started = embedded.start(tmp_path_factory.mktemp("sandbox"))
    yield started
    started.stop()


def test_there_is_an_example_of_each_kind_of_a_driver_and_of_a_family() -> None:
    questions = [question for reading in NAMED.values() for question in reading.bank.questions]
    assert {question.kind for question in questions} == set(KINDS)
    assert any(question.task and question.task.driver for question in questions)
    assert any(question.draw for question in questions)
    assert len(questions) == len(EXAMPLES) == 7


@pytest.mark.parametrize("name", NAMED)
def test_an_example_reads_without_a_finding(name: str) -> None:
    reading = NAMED[name]
    assert [(finding.code, finding.message) for finding in reading.findings] == []
    assert reading.bank.dialects == ("native",)
    assert all(question.why for question in reading.bank.questions)


@pytest.mark.sandbox
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", NAMED)
async def test_an_example_is_proved(sandbox: embedded.Sandbox, name: str) -> None:
    await sandbox.client.until_ready()
    work = proving_work([NAMED[name]])
    found = [one async for one in prove_all(work, sandbox.client)]
    proving = proved_readings([NAMED[name]], found, {"torch": "2.13.0"}, 1.0)
    assert len(work) >= 1
    assert [finding for document in proving.documents for finding in document.findings] == []
    assert not proving.troubles


@pytest.mark.sandbox
@pytest.mark.timeout(300)
async def test_the_family_draws_as_many_questions_as_its_preview_shows(sandbox: embedded.Sandbox) -> None:
    await sandbox.client.until_ready()
    (family,) = NAMED["shape-of-a-product"].bank.questions
    assert len(await draw_questions(family, sandbox.client, seed=1, count=5)) == 5


def test_what_the_guide_names_is_there() -> None:
    assert re.findall(r"bank export (\w+)", TEXT) == ["markdown"] and "markdown" in FORMATS
    assert set(re.findall(r"bank explain (\w+)", TEXT)) <= set(explanations())
    said = TEXT.lower().replace("moodle gift and xml", "gift moodle-xml")
    for foreign in FOREIGN:
        assert foreign.name.split("-")[0].split("_")[0] in said, foreign.name
