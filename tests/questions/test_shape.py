"""Labels, numbers, levels and what reads as a question."""

from __future__ import annotations

import pytest

from questions.blocks import content_column, dedent
from questions.wording.labels import label_of
from questions.wording.stems import level_of, level_under, numbered, reads_as_question, unbold


@pytest.mark.parametrize(
    ("line", "role", "rest"),
    [
        ("**Answer:**", "answer", ""),
        ("**Answer:** because", "answer", "because"),
        ("**Answer**: because", "answer", "because"),
        ("**Answer** : because", "answer", "because"),
        ("*Answer*: because", "answer", "because"),
        ("***Answer:*** because", "answer", "because"),
        ("__A:__ because", "answer", "because"),
        ("A: because", "answer", "because"),
        ("A3: because", "answer", "because"),
        ("ANSWER: because", "answer", "because"),
        ("**Answer 12:** because", "answer", "because"),
        ("**Expected answer:** because", "answer", "because"),
        ("*Discussion*: because", "answer", "because"),
        ("**Solution**", "answer", ""),
        ("    *   *Answer*: because", "answer", "because"),
        ("**Q:** why", "question", "why"),
        ("**Q1.** why", "question", "why"),
        ("Q: why", "question", "why"),
        ("**Question 3:** why", "question", "why"),
    ],
)
def test_labels(line: str, role: str, rest: str) -> None:
    label = label_of(line)
    assert label is not None
    assert (label.role, line[label.end :]) == (role, rest)


@pytest.mark.parametrize(
    "line",
    [
        "Solution: `GradScaler`.",
        "**Answers** vary",
        "**Solution** is near",
        "A tensor: an array",
        "Answering: hard",
        "**View**: shares",
        "Explanation: none",
        "a:b",
        "**A tensor:** x",
        "*Answer: x",
        "",
    ],
)
def test_prose_is_no_label(line: str) -> None:
    assert label_of(line) is None


@pytest.mark.parametrize(
    ("heading", "number", "rest"),
    [
        ("12. What?", "12", "What?"),
        ("12) What?", "12", "What?"),
        ("12: What?", "12", "What?"),
        ("12\\. What?", "12", "What?"),
        ("Q3. What?", "3", "What?"),
        ("Question 3: What?", "3", "What?"),
        ("1.2 What?", "1.2", "What?"),
        ("1.2. What?", "1.2", "What?"),
        ("**4. What?**", "4", "What?"),
        ("**4.** What?", "4", "What?"),
        ("1.5x faster", "", "1.5x faster"),
        ("2D tensors", "", "2D tensors"),
        ("What?", "", "What?"),
        ("**4. What** is it?", "4", "**What** is it?"),
        ("12.", "", "12."),
        ("2026-01-01", "", "2026-01-01"),
    ],
)
def test_numbers(heading: str, number: str, rest: str) -> None:
    assert numbered(heading) == (number, rest)


@pytest.mark.parametrize(
    "text",
    [
        "What is it",
        "What is a view?",
        'Who said "why?"',
        "What is a View? Give examples.",
        "Explain the concept of rank.",
        "Reflect on the tensor as an interface.",
        "`x.t()`: what does it **do**?",
        "Difference between a and b?",
        "Does it copy???",
        "Really???? Or not?",
    ],
)
def test_questions_read_as_such(text: str) -> None:
    assert reads_as_question(text) is (text != "What is it")


@pytest.mark.parametrize(
    "text",
    [
        "Tensors",
        "Autograd (Automatic Differentiation)",
        "`nn.Module`",
        "Design patterns",
        "Custom Autograd Functions",
        "a?b",
        "W????? nodes run the pods",
        "c?????? (L???? G?????)",
        "A running ??? is a process",
    ],
)
def test_titles_do_not(text: str) -> None:
    assert not reads_as_question(text)


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("Mid Level", "mid"),
        ("mid-level questions", "mid"),
        ("Senior", "senior"),
        ("**Principal Level**", "principal"),
        ("Staff engineer", "principal"),
        ("Advanced Topics", None),
        ("Hard disks", None),
        ("Junior", "mid"),
        ("Beginner", "mid"),
        ("🔴 Hard", "senior"),
        ("初级", "mid"),
        ("Basics", None),
        ("", None),
    ],
)
def test_levels(text: str, level: str | None) -> None:
    assert level_of(text) == level


def test_the_innermost_heading_that_names_a_level_counts() -> None:
    assert level_under(("Senior", "Mid Level", "Tensors")) == "mid"
    assert level_under(("Tensors",)) is None


def test_surrounding_bold_is_removed() -> None:
    assert unbold("**What?** ") == "What?"
    assert unbold("**a** and **b**") == "**a** and **b**"
    assert unbold("__What is **x**?__") == "What is **x**?"
    assert unbold("****") == "****"


def test_columns() -> None:
    assert content_column("  1.  **a**") == 6
    assert content_column("* *a*") == 2
    assert content_column("- 2) a") == 5
    assert content_column("**a**") == 0
    assert (dedent("      a", 4), dedent(" a", 4), dedent("\ta", 4), dedent("a", 0)) == ("  a", "a", "a", "a")
