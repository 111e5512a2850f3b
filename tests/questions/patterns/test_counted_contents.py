"""Numbered headings, of which only some ask, where the table of contents names all of them."""

from __future__ import annotations

from questions import read_bank

TITLES = [
    "What is a view?",
    "View vs copy",
    "Leaf vs root",
    "What are hooks?",
    "Strides",
    "How do loops end?",
    "Steps vs epochs",
    "What is a batch?",
    "Seeds",
    "Shapes and sizes",
]
LIST = "".join(f"{at}. [{title}](#{at})\n" for at, title in enumerate(TITLES, 1))
PARTS = "### Description\n\nIt is told here.\n\n### Example\n\n* Keep it short\n* Use names\n\n"


def sections(titles: list[str]) -> str:
    return "".join(f"## {at}. {title}\n\n{PARTS}" for at, title in enumerate(titles, 1))


def test_numbered_headings_that_the_contents_name_are_questions() -> None:
    labeled = (
        "## 11. Scenarios\n\n### Scenario 1: Slow views\n\n**Question:** Why is it slow?\n\n**Answer:** It is long.\n"
    )
    text = f"# Interview questions\n\n## Contents\n\n{LIST}\n{sections(TITLES)}{labeled}"
    *questions, last = read_bank(text, name="a.md").bank.questions
    assert [one.prompt for one in questions] == TITLES
    assert all(one.answer and one.answer.startswith("### Description") for one in questions)
    assert (last.prompt, last.answer) == ("Why is it slow?", "It is long.")


def test_without_a_title_that_announces_questions_they_are_chapters() -> None:
    text = f"# Views in depth\n\n## Contents\n\n{LIST}\n{sections(TITLES)}"
    assert "View vs copy" not in [one.prompt for one in read_bank(text, name="a.md").bank.questions]
