"""The bank commands as their users type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from questions import read_bank
from questions.cli import bank_command
from questions.export import FORMATS

OLD = """---
bank: some
---

# tensors/memory

## strides · value · mid

What is `x.stride()`?

### Answer

`(3, 1)`

### Why

Strides count elements.

### Proof

```python
assert True
```
"""
NEW = OLD.replace("(3, 1)", "(1, 3)") + OLD.partition("# tensors/memory\n")[2].replace("strides ·", "other ·")


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    file = tmp_path / "some.md"
    file.write_text(OLD, encoding="utf-8")
    return file


def run(*words: object) -> Result:
    return CliRunner().invoke(bank_command, [str(word) for word in words])


def test_a_list_has_a_line_for_each_question(bank: Path) -> None:
    result = run("list", bank)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].split() == [
        "strides", "value", "mid", "tensors/memory", "What", "is", "x.stride()?",
    ]  # fmt: skip
    assert result.stdout.endswith("1 question\n")


def test_a_list_marks_what_has_no_answer(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_text("### 1. What is a view?\n**Answer:** It shares memory.\n\n### 2. What is a copy?\n", "utf-8")
    first, second, total = run("list", file).stdout.splitlines()
    assert first.endswith("What is a view?") and second.endswith("What is a copy?  [no answer]")
    assert total == "2 questions, 1 without an answer"


def test_the_shipped_bank_is_listed_where_none_is_named() -> None:
    result = run("list", "--kind", "code", "--level", "principal", "--format", "json")

    found = json.loads(result.stdout)
    assert len(found) > 10
    assert {(one["kind"], one["level"]) for one in found} == {("code", "principal")}


def test_a_question_is_shown_whole_and_raw_is_read_back(bank: Path) -> None:
    shown, raw = run("show", "strides", bank), run("show", "strides", bank, "--raw")

    assert "Strides count elements." in shown.stdout
    assert f"{bank.name}" in shown.stdout.replace("\n", "")
    (question,) = read_bank(raw.stdout, name="raw.md").bank.questions
    assert (question.id, question.answer) == ("strides", "(3, 1)")


def test_an_unknown_id_is_refused_with_those_that_are_near(bank: Path) -> None:
    result = run("show", "stride", bank)

    assert result.exit_code == 2
    assert "no question has the id stride: did you mean strides?" in result.stderr


def test_counts_are_printed_for_people_and_programs(bank: Path) -> None:
    assert "1 question, including 0 families; 1 with a proof" in run("stats", bank).stdout
    assert json.loads(run("stats", bank, "--format", "json").stdout)["topics"] == {"tensors/memory": 1}


def test_one_family_is_counted_as_one(tmp_path: Path) -> None:
    file = tmp_path / "b.md"
    file.write_text(
        "---\nbank: b\n---\n\n# t\n\n## a · value · mid\n\nWhat?\n\n### Draw\n\n"
        "```python\ndef draw(rng):\n    pass\n```\n"
    )
    assert "1 question, including 1 family (*)" in run("list", file).stdout
    assert "1 question, including 1 family; 1 with a proof" in run("stats", file).stdout


def test_two_editions_are_compared(bank: Path, tmp_path: Path) -> None:
    (tmp_path / "new.md").write_text(NEW, encoding="utf-8")
    result = run("diff", bank, tmp_path / "new.md")

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "+ other",
        "~ strides: answer",
        "1 added, 0 removed, 1 changed, 0 unchanged",
    ]
    assert run("diff", bank, bank).exit_code == 0


@pytest.mark.parametrize("format", FORMATS)
def test_every_export_is_written_where_it_was_wished(bank: Path, tmp_path: Path, format: str) -> None:
    file = tmp_path / f"out{FORMATS[format].suffix}"  # type: ignore[index]
    result = run("export", format, bank, "-o", file)

    assert result.exit_code == 0
    assert "1 question\n" in result.stdout
    (question,) = read_bank(file.read_bytes(), name=file.name).bank.questions
    assert "x.stride()" in question.prompt


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["list", "--kind", "riddle"], "one of"),
        (["list", "no-such-file.md"], "no-such-file.md"),
        (["export", "pdf"], "one of"),
        (["explain", "Q999"], "unknown finding Q999"),
        (["check", "--format", "xml", "x.md"], "text, json or github"),
    ],
)
def test_what_cannot_be_done_says_why(words: list[str], said: str) -> None:
    result = run(*words)

    assert result.exit_code == 2
    assert said in result.stderr


def test_a_code_is_explained() -> None:
    assert "a duplicate number" in run("explain", "q303").stdout
