"""What is printed about a document, as whole texts."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from questions import Finding, Span, read_bank
from questions.report import finding_github, finding_text, reading_text, readings_json, summary, total_text
from questions.source import open_source

SOURCE, _ = open_source("# Title\n\n- [ ] `(4, 1)`\n\tA\t値 bad\n" + "word " * 40 + "end\n\n", "bank.md")


def finding(line: int, column: int, end: int, **more: str) -> Finding:
    span = Span(line, column, line, end)
    return Finding("Q203", "error", "wrong option `a` has no reason", span, **more)  # type: ignore[arg-type]


WHOLE = finding(3, 7, 15, label="this one", note="it was kept", help="add ` — ` and a reason")

CASES = {
    "everything": (
        WHOLE,
        """\
error[Q203]: wrong option `a` has no reason
 --> bank.md:3:7
  |
3 | - [ ] `(4, 1)`
  |       ^^^^^^^^ this one
  = note: it was kept
  = help: add ` — ` and a reason
""",
    ),
    "only a message": (
        finding(1, 1, 8),
        """\
error[Q203]: wrong option `a` has no reason
 --> bank.md:1:1
  |
1 | # Title
  | ^^^^^^^
""",
    ),
    "tabs and wide characters": (
        finding(4, 4, 5),
        """\
error[Q203]: wrong option `a` has no reason
 --> bank.md:4:4
  |
4 |     A   値 bad
  |         ^^
""",
    ),
    "a long line": (
        finding(5, 201, 204),
        """\
error[Q203]: wrong option `a` has no reason
 --> bank.md:5:201
  |
5 | …word word word word word word end
  |                                ^^^
""",
    ),
    "an empty line": (
        finding(6, 1, 1, help="write something"),
        """\
error[Q203]: wrong option `a` has no reason
 --> bank.md:6:1
  = help: write something
""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_finding_is_printed(name: str) -> None:
    found, expected = CASES[name]
    assert finding_text(found, SOURCE).plain == expected


def test_a_finding_in_color_says_the_same() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, color_system="standard", soft_wrap=True, highlight=False)
    console.print(finding_text(WHOLE, SOURCE), end="")
    assert out.getvalue() == (
        "\x1b[1;31merror[Q203]\x1b[0m\x1b[1m: wrong option `a` has no reason\x1b[0m\n"
        "\x1b[34m --> \x1b[0mbank.md:3:7\n"
        "\x1b[34m  |\x1b[0m\n"
        "\x1b[34m3 | \x1b[0m- [ ] `(4, 1)`\n"
        "\x1b[34m  | \x1b[0m\x1b[1;31m      ^^^^^^^^ this one\x1b[0m\n"
        "\x1b[34m  = \x1b[0m\x1b[1mnote: \x1b[0mit was kept\n"
        "\x1b[34m  = \x1b[0m\x1b[1mhelp: \x1b[0madd ` — ` and a reason\n"
    )


def test_a_character_that_moves_the_cursor_is_not_printed() -> None:
    source, _ = open_source("a\x1b[2Jb\u202ec", "bank.md")
    text = finding_text(finding(1, 1, 2), source).plain
    assert "\x1b" not in text and "\u202e" not in text


def test_a_finding_for_github() -> None:
    source, _ = open_source("# a", "a,b.md")
    assert finding_github(finding(1, 3, 4, note="10 %", help="do it"), source) == (
        "::error file=a%2Cb.md,line=1,endLine=1,col=3,title=Q203::wrong option `a` has no reason%0A10 %25%0Ado it"
    )
    note = Finding("Q005", "note", "no questions recognized", Span(1, 1, 1, 2))
    assert finding_github(note, source).startswith("::notice ")


DOCUMENT = """\
### 1. What is a view?
**Answer:** a

### 2. What is a copy?
**Answer:**

# Exercises

- What is a leaf?
"""

PRINTED = """\
warning[Q101]: the question has no answer
 --> d.md:4:1
  |
4 | ### 2. What is a copy?
  | ^^^^^^^^^^^^^^^^^^^^^^ asked here
  = note: it is kept but never asked
  = help: write the answer below the question

warning[Q006]: this looks like a question but was not read as one
 --> d.md:9:1
  |
9 | - What is a leaf?
  | ^^^^^^^^^^^^^^^^^
  = note: it was read as study text
  = help: write it like the other questions of the document

d.md: 2 questions, 1 skipped: line 9 · 1 answered, 1 unanswered · heading
 = read: 2 headings `###` with numbers: a label, a fold or marked options answer them
"""


def test_a_document_is_printed() -> None:
    assert reading_text(read_bank(DOCUMENT, name="d.md")).plain == PRINTED


def test_the_total_is_printed() -> None:
    readings = [read_bank(DOCUMENT, name="d.md"), read_bank("text", name="e.md")]
    assert total_text(readings).plain == "\ntotal: 2 documents, 1 answered, 1 unanswered, 2 warnings, 1 note\n"


def test_a_summary_counts_in_words() -> None:
    assert summary(read_bank("## 1. What is it?\na\n", name="a.md")) == "1 question"
    assert summary(read_bank("", name="a.md")) == "0 questions"
    two = "## 1. What is it?\na\n\n# More\n\nWho?\n\nWhy?\n"
    assert summary(read_bank(two, name="a.md")) == "1 question, 2 skipped: lines 6, 8"


def test_a_program_gets_the_same_as_json() -> None:
    data = json.loads(readings_json([read_bank(DOCUMENT, name="d.md")]))
    assert (data["answered"], data["unanswered"]) == (1, 1)
    (document,) = data["documents"]
    assert document["dialects"] == ["heading"]
    assert document["questions"][0] == {
        "id": "what-is-a-view",
        "kind": "open",
        "answered": True,
        "level": None,
        "line": 1,
        "end_line": 2,
    }
    assert [found["code"] for found in document["findings"]] == ["Q101", "Q006"]
    assert document["findings"][1]["span"] == {"line": 9, "column": 1, "end_line": 9, "end_column": 18}
