"""Documents made to hurt: deep, long, unclosed and repetitive. None fails, and twice the text takes twice the work."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from questions import Reading, read_bank
from tests.calls import calls_of

SHAPES: dict[str, Callable[[int], str]] = {
    "headings": lambda n: "".join(f"# {i}. What is {i}?\nx\n" for i in range(n)),
    "stairs of headings": lambda n: "\n".join("#" * (i % 6 + 1) + f" What {i}?" for i in range(n)),
    "open fences": lambda n: "```\n\n" * n,
    "open marks": lambda n: "`a [b *c <d \\text{ " * n,
    "one question again and again": lambda n: "Q: what?\nA: x\n" * n,
    "bold lines": lambda n: "**What is it?**\n\nx\n\n" * n,
    "one list for each question": lambda n: "".join(f"{i}. What is it?\n\nx\n\n" for i in range(n)),
    "items that ask": lambda n: "".join(f"- What is {i}? It is {i}\n" for i in range(n)),
    "items in lists of topics": lambda n: "".join(f"- Topic {i}\n  - What is {i}?\n    - It\n" for i in range(n)),
    "labels in paragraphs of their own": lambda n: "".join(f"**Q:** What is {i}?\n\n**A:** It.\n\n" for i in range(n)),
    "headings that recur": lambda n: "".join(f"## {i}. What?\n\n### Why is it so?\n\nx\n\n" for i in range(n)),
    "a table of contents": lambda n: (
        "".join(f"- What is {i}?\n" for i in range(n)) + "".join(f"\n## What is {i}?\n\nx\n" for i in range(n))
    ),
    "stray marks behind fences": lambda n: "# 1. What?\n" + '```\nx\n```"\n' * n,
    "lines in bold": lambda n: "**What is**\n" * n,
    "boxes": lambda n: "# 1. What?\n" + "- [ ] x\n" * n,
    "first options": lambda n: "# 1. What?\n" + "a) x\n" * n,
    "options": lambda n: "What is it?\n\na) x\n\nb) y\n\nAnswer: a\n\n" * n,
    "folds in folds": lambda n: "<details><summary>What?</summary>\n" * n + "</details>\n" * n,
    "folds without an end": lambda n: "<details><summary>" * n,
    "shortcodes without an end": lambda n: "{{< spoiler >}}\nWhat is it?\n" * n,
    "blocks without an end": lambda n: "{% details Answer %}\n" * n,
    "directives without an end": lambda n: ":::details Answer\nx\n" * n,
    "callouts that ask above a program": lambda n: "> [!question] What is it?\n> x\n" * n + "> ```",
    "numbers of an exam dump": lambda n: "Question #1 Topic 1\nWhat?\nA. x Most Voted\nB. y\nB (9%) A (5%)\n" * n,
    "titles of keys": lambda n: "Answers\n1. A\n2. B\n" * n,
    "numbers in brackets": lambda n: "".join(f"（{i}）什么？\n" for i in range(n)),
    "options that name statements": lambda n: "1. 什么？\n" + "①一\n②二\nA. ①\n" * n,
    "breaks": lambda n: "<details><summary>What is it?</summary>" + "<br>" * n + "x</details>",
    "a table": lambda n: "| Question | Answer |\n|---|---|\n" + "| What is it? | x |\n" * n,
    "labels under headings": lambda n: "Q: what?\n" + "## a\n\n## b\nAnswer: x\n\n" * n,
    "answer headings": lambda n: "## 1. What?\n## Answer\n" * n,
    "front matter": lambda n: "---\nquestions:\n" + "  - what?\n" * n + "---\n",
    "items in items": lambda n: "- " * n + "a",
    "quotes in quotes": lambda n: ">" * n + "a",
    "one line": lambda n: "word? " * n,
    "options in HTML": lambda n: "".join(
        f"## Question {i}\nWhich of these?\n<ul><b><li>x</b><li>y</ul>\n\n" for i in range(n)
    ),
    "one list in HTML": lambda n: "## Question 1\nWhich of these?\n<ul>" + "<b><li>x" * n + "</ul>\n",
    "check marks": lambda n: "".join(f"{i}. It is\n    - ✅ x\n    - y\n    - z\n" for i in range(n)),
    "parts of a task": lambda n: "## Task 1\n\nx\n\n" + "### a) Explain what it is here\n\nx\n\n" * n,
    "lists without numbers": lambda n: "? What\n\n- ? a\n- ? b\n\n" * 6 * n,
    "tasks": lambda n: "".join(
        f"## Task {i}\n\n### a) Explain what it is\n\n### b) Explain why it is\n\nx\n" for i in range(n)
    ),
    "an exam": lambda n: "".join(
        f"### Question {i}\n\nx\n\nx:\n\nA) I <br>\nB) II <br>\nC) both <br>\n\n" for i in range(n)
    ),
    "parts below labels in bold": lambda n: "".join(
        f"**Question {i} (2 pts)** - x\n\na) What is it?\nb) Why is it so?\nc) Find it\n\n" for i in range(n)
    ),
    "one item with many parts": lambda n: "1) What?\nx\n2) What?\n" + "".join(f"2.{i}) What? x\n" for i in range(n)),
    "headings with letters": lambda n: "".join(f"## {i}. X\n### {i}a. What is it?\nx\n" for i in range(n)),
    "lists that tell to choose": lambda n: "".join(f"{i}. What? (Select TWO.)\n   - x\n   - y\n" for i in range(n)),
    "native options": lambda n: "## a · choice\n\nWhat?\n\n" + "- [ ] x — y\n" * n,
}


def calls(text: str) -> int:
    """Counts the functions called to read a text."""
    readings: list[Reading] = []
    count = calls_of(lambda: readings.append(read_bank(text, name="long.md")))
    assert readings[0].unaccounted() == ()
    return count


@pytest.mark.slow
@pytest.mark.parametrize("name", SHAPES)
def test_twice_the_text_takes_twice_the_work(name: str) -> None:
    read_bank(SHAPES[name](240), name="long.md")  # so that what is cached of words is so for both
    assert calls(SHAPES[name](240)) < 2.4 * calls(SHAPES[name](120)) + 2000


@pytest.mark.parametrize("name", SHAPES)
def test_thousands_of_anything_that_is_quickly_parsed_are_read(name: str) -> None:
    text = SHAPES[name](4_000)
    if len(text) < 50_000:
        assert read_bank(text, name="long.md").unaccounted() == ()


def test_a_list_below_a_question_of_another_list_is_read_once() -> None:
    text = "2. **What is a copy?**\n* What is a leaf? A tensor made by the user."
    (question,) = read_bank(text, name="a.md").bank.questions
    assert (question.place.line, question.place.end_line) == (1, 2)
