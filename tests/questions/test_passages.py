"""What belongs to no question: every line of a document is in exactly one class, and the largest passages are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questions import Reading, read_bank
from questions.passages import Passage, main_passages
from questions.report import unused_text

FIXTURES = Path(__file__).parent / "fixtures"

PARTS = st.sampled_from(
    (
        *("# Interview questions", "## Basics", "### License", "Intro", "-----", "More text here.", "- [What?](#what)"),
        *("### 1. What is a view?", "### 2. What is a copy?", "**Answer:** A tensor.", "It shares memory.", ""),
        *("- What is a leaf?", "1. What is `x`?", "   a) one", "   b) two", "## Answer Key", "1. b", "2. a", "", ""),
        *(
            "```",
            "<details><summary>Answer</summary>",
            "</details>",
            "| Question | Answer |",
            "|---|---|",
            "| A? | b |",
        ),
        *("[⬆ Back to top](#top)", "What is a stride?", "Explain dropout.", "---", "title: Views", "Q: Why?", "A: So."),
    )
)
DOCUMENTS = st.lists(PARTS, max_size=40).map("\n".join)


def documents() -> list[str]:
    cases = [case for file in sorted(FIXTURES.glob("*.md")) for case in file.read_text("utf-8").split("\n----\n")]
    return [case.partition("\n")[2].partition("....\n")[0] for case in cases]


def classes(reading: Reading) -> dict[int, list[str]]:
    """Returns the classes of each line that is not blank."""
    lines = {number: list[str]() for number, line in enumerate(reading.source.lines, 1) if line.strip()}
    asked = [(one.place.line, one.place.end_line) for one in reading.bank.questions]
    named = [(one.span.line, one.span.end_line) for one in reading.findings if one.skipped]
    unused = [(one.first, one.last) for one in reading.unused]
    of_questions = {n for first, last in (*asked, *reading.keys) for n in range(first, last + 1)}
    of_findings = {n for first, last in named for n in range(first, last + 1)} - of_questions
    for number, found in lines.items():
        found += ["question"] * (number in of_questions) + ["finding"] * (number in of_findings)
        found += ["unused" for first, last in unused if first <= number <= last]
    return lines


def in_one_class(reading: Reading) -> None:
    assert {number: found for number, found in classes(reading).items() if len(found) != 1} == {}
    for passage in reading.unused:
        assert reading.source.line(passage.first).strip() and reading.source.line(passage.last).strip()


@settings(max_examples=150)
@given(DOCUMENTS)
def test_every_line_of_a_document_is_in_one_class(text: str) -> None:
    in_one_class(read_bank(text, name="any.md"))


def test_every_line_of_the_fixtures_is_in_one_class() -> None:
    found = set[str]()
    for document in documents():
        reading = read_bank(document, name="case.md")
        in_one_class(reading)
        found.update(*classes(reading).values())
    assert found == {"question", "finding", "unused"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{\n"title": "T",\n"questions": [\n{"question": "What?", "answer": "A."},\n{"other": 1}\n]\n}\n'),
        ("a.csv", "question,answer\nWhat is it?,A.\n,\n"),
        ("a.gift", "// note\n\n::T:: What? {=a ~b}\n\ntext alone\n"),
        ("a.yaml", "- question: What?\n  answer: A.\n- note: x\n"),
        (
            "a.tex",
            "\\documentclass{exam}\n\\begin{document}\nHi.\n\\begin{questions}\n\\question What?\n\\end{questions}\n",
        ),
    ],
)
def test_every_line_of_data_is_in_one_class(name: str, text: str) -> None:
    in_one_class(read_bank(text, name=name))


DOCUMENT = """\
---
title: Views
---

# Introduction

Read this first.

## Contents

- [What is a view?](#views)

## Views

### 1. What is a view?

A tensor that shares memory.

[⬆ Back to top](#top)

### 2. What is a copy?

New memory.

### 3. What is a stride?

A step.

---

## License

MIT.

Or another one.
"""


def test_the_largest_passages_are_named_by_their_headings() -> None:
    assert unused_text(read_bank(DOCUMENT, name="a.md").unused) == 'lines 1–13 ("Introduction") and 29–35 ("License")'


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("# Quiz\n\n## Views\n\n### 1. What is a view?\nA.\n\n### 2. What is a copy?\nB.\n", ""),
        ("Read me.\n\n## 1. What is a view?\nA.\n\n## 2. What is a copy?\nB.\n", 'line 1 ("Read me.")'),
        ("## Left\n\n## Quiz\n\n### 1. What is a view?\nA.\n\n### 2. What is a copy?\nB.\n", 'lines 1–3 ("Left")'),
        ("- [A](#a)\n- [B](#b)\n\n## 1. What is a view?\nA.\n\n## 2. What is a copy?\nB.\n", ""),
        ("<!-- x -->\n<div>\n\n## 1. What is a view?\nA.\n\n## 2. What is a copy?\nB.\n", ""),
        (
            "\n".join(f"## Part {n}\n\nText.\n\n### Q{n}. What is it?\n\nIt.\n" for n in range(9)),
            'lines 1–3 ("Part 0"), 9–11 ("Part 1") and 7 more parts',
        ),
    ],
    ids=["sections", "text", "a heading of nothing", "contents", "tags", "many"],
)
def test_structure_is_not_named(text: str, named: str) -> None:
    reading = read_bank(text, name="a.md")
    assert reading.answered
    assert unused_text(reading.unused) == named


def test_what_is_not_named_is_listed_all_the_same() -> None:
    reading = read_bank("# Quiz\n\n## 1. What is a view?\nA.\n\n# Memory\n\n## 2. What is a copy?\nB.\n", name="a.md")
    assert [(one.first, one.last, one.title, one.minor) for one in reading.unused] == [
        (1, 1, "Quiz", True),
        (6, 6, "Memory", True),
    ]
    assert main_passages(reading.unused) == ((), 0)


def test_a_list_of_keys_belongs_to_its_questions() -> None:
    text = "## 1. Which?\n\na) x\nb) y\n\n## 2. Which one?\n\na) x\nb) y\n\n## Answer Key\n\n1. a\n2. b\n"
    reading = read_bank(text, name="a.md")
    assert (reading.answered, reading.keys, reading.unused) == (2, ((11, 15),), ())


def test_a_header_of_data_is_structure() -> None:
    reading = read_bank("question,answer\nWhat is it?,A.\nWhat is that?,B.\n", name="a.csv")
    assert [(one.first, one.last, one.minor) for one in reading.unused] == [(1, 1, True)]


def test_the_largest_are_named_in_line_order() -> None:
    passages = [Passage(first, last, "T", minor=False) for first, last in ((1, 2), (5, 9), (20, 20), (30, 40))]
    assert main_passages(passages) == ((passages[1], passages[3]), 2)
