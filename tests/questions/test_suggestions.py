"""Findings that help: the word that was probably meant, the caret below it, and one finding for one mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from questions import read_bank
from questions.cli import bank_command
from questions.report import finding_text

VALUE = "---\nbank: b\ntitle: B\n---\n\n{heading}\n\nWhat is 1 + 1?\n\n### {part}\n\n`2`\n"
CODE = """---
bank: b
title: B
---

## one · code · mid

Write `one()`.

### Starter

def one(): ...

### Reference

```python
def one():
    return 1
```
"""
OPEN = """---
bank: b
title: B
---

## two · output · mid

What does it print?

### Program

```python
print(2)

### Output

2
"""


@pytest.mark.parametrize(
    ("heading", "part", "word", "meant"),
    [
        ("## sum · valeu · mid", "Answer", "valeu", "value"),
        ("## sum · value · seniour", "Answer", "seniour", "senior"),
        ("## sum · value · mid", "Anwser", "Anwser", "Answer"),
    ],
)
def test_the_word_that_was_meant_is_suggested_below_the_wrong_one(
    heading: str, part: str, word: str, meant: str
) -> None:
    reading = read_bank(VALUE.format(heading=heading, part=part), name="a.md")
    (finding,) = [finding for finding in reading.findings if finding.severity == "error"]
    lines = finding_text(finding, reading.source).plain.splitlines()
    line = next(index for index, text in enumerate(lines) if word in text and " | " in text)
    assert lines[line + 1].index("^") == lines[line].index(word) and lines[line + 1].count("^") == len(word)
    assert finding.help == f"did you mean `{meant}`?"


def test_an_unknown_word_gets_the_list_of_words() -> None:
    reading = read_bank(VALUE.format(heading="## sum · xyz · mid", part="Answer"), name="a.md")
    assert reading.findings[0].help == "the kinds are choice, value, output, code, open"


def test_a_missing_fence_is_one_finding_and_other_mistakes_stay() -> None:
    errors = [one for one in read_bank(CODE, name="a.md").findings if one.severity == "error"]
    assert [one.code for one in errors if one.part == "Starter"] == ["Q115"]
    assert "Q121" not in {one.code for one in errors} and "Q118" not in {one.code for one in errors}
    assert [one.part for one in errors if one.code == "Q221"] == ["Cases"]


def test_an_open_fence_is_called_that_and_nothing_else() -> None:
    errors = [one for one in read_bank(OPEN, name="a.md").findings if one.severity == "error"]
    assert [(one.code, one.message, one.span.line) for one in errors] == [("Q003", "the fence is never closed", 12)]
    closed = OPEN.replace("print(2)\n", "print(2)\n```\n")
    assert "Q003" not in {one.code for one in read_bank(closed, name="a.md").findings}


def test_nothing_found_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "picture.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    for arguments, status, said in (
        (["stats", str(tmp_path / "empty")], 2, "there is no document in"),
        (["list", str(tmp_path / "picture.md")], 1, "this is a PNG picture, not a document with questions"),
        (["list", "--topic", "tensors/memori"], 1, "did you mean `tensors/memory`?"),
        (["list", "--match", "no such words"], 1, "no question matches"),
    ):
        result = CliRunner().invoke(bank_command, arguments)
        assert result.exit_code == status and said in result.output, arguments
    result = CliRunner().invoke(bank_command, ["show", "strides-of-a-transpos"])
    assert result.exit_code == 2 and "did you mean" in result.output
    result = CliRunner().invoke(bank_command, ["list", "--kind", "choise"])
    assert result.exit_code == 2 and "did you mean `choice`?" in result.output
