"""docs/importing.md and docs/formats.md: every example is read as they say, and every format has its place."""

from __future__ import annotations

import re

import pytest

from questions import read_bank
from questions.formats import IMPORT_FORMATS
from questions.report import reading_text, total_text
from tests.docs.pages import DOCS, blocks_of, section_of, text_of

IMPORTING = DOCS / "importing.md"
FIRST, *STYLES, UNREAD = blocks_of(IMPORTING, "markdown")
"""The document of the first step, those in styles that are recognized, and the one that needs a recipe."""


def test_the_report_of_the_first_step_is_what_is_printed() -> None:
    reading = read_bank(FIRST, name="interview.md")
    printed = reading_text(reading).plain + total_text([reading]).plain
    assert blocks_of(IMPORTING, "text")[0].strip() == printed.strip()


@pytest.mark.parametrize("document", STYLES, ids=lambda document: document.splitlines()[0])
def test_an_example_of_a_style_is_read_whole(document: str) -> None:
    reading = read_bank(document, name="my-questions.md")
    assert (reading.findings, reading.unanswered, reading.unused) == ((), 0, ())
    assert reading.answered == document.count("?")


def test_the_table_and_the_data_are_read() -> None:
    table = next(block for block in blocks_of(IMPORTING, "text") if block.startswith("question,"))
    (data,) = blocks_of(IMPORTING, "json")
    for document, name, count in ((table, "terms.csv", 2), (data, "terms.json", 1)):
        reading = read_bank(document, name=name)
        assert (reading.findings, reading.answered, reading.unanswered) == ((), count, 0)
        assert all(question.kind == "choice" for question in reading.bank.questions)


def test_what_is_not_read_is_read_by_a_recipe_and_the_finding_says_so() -> None:
    recipe = next(block for block in blocks_of(IMPORTING, "text") if block.startswith("question:"))
    unread = read_bank(UNREAD, name="terms.md")
    assert not unread.bank.questions
    assert "recipe" in unread.findings[0].help
    reading = read_bank(UNREAD, name="terms.md", recipe=recipe)
    assert (reading.findings, reading.answered, reading.unanswered) == ((), 2, 0)


def test_the_findings_it_quotes_are_worded_like_that() -> None:
    quoted = re.findall(r"^\| `([^`]+)`", section_of(IMPORTING, "When something is not read"), re.M)
    broken = "### 1. Which is a view?\n\na) one\nb) two\n\n**Answer: d**\n\n### 2. Which is a copy?\n"
    found = [one.message for text in ("Tensors.\n", broken) for one in read_bank(text, name="a.md").findings]
    assert sorted(quoted) == sorted(found)


def test_every_format_is_named() -> None:
    named = text_of(DOCS / "formats.md").lower().replace("moodle gift and moodle xml", "gift moodle-xml")
    for foreign in IMPORT_FORMATS:
        assert foreign.name.split("-")[0].split("_")[0] in named, foreign.name
