"""Lists below what asks to choose, in which a sign says of each item whether it is right."""

from __future__ import annotations

import pytest

from tests.questions.formats.readings import read_as

ASKED = "Which of these share memory?", "Which of these are optimizers?"
CHOICES = [f"{ASKED[0]} | + view | - clone | + transpose", f"{ASKED[1]} | + Adam | - ReLU | + SGD"]


@pytest.mark.parametrize(
    ("title", "right", "wrong"),
    [
        ("## {}", "- ✅ {}", "- ❌ {}"),
        ("## {}", "✓ {}", "✗ {}"),
        ("**{}**", "- {} ✓", "- {} ✗"),
        ("1. {}", "   * ✔️ {}", "   * ✖️ {}"),
        ("### {}", "- ^{}", "- {}"),
        ("1. {}", "- ^ {}", "- {}"),
    ],
)
def test_signs_before_all_items_are_check_boxes(title: str, right: str, wrong: str) -> None:
    lists = (("view", "clone", "transpose"), ("Adam", "ReLU", "SGD"))
    text = "\n".join(
        f"{title.format(asked)}\n\n{right.format(one)}\n{wrong.format(two)}\n{right.format(three)}\n"
        for asked, (one, two, three) in zip(ASKED, lists, strict=True)
    )
    assert read_as("quiz.md", text) == CHOICES


@pytest.mark.parametrize(
    "text",
    [
        # What to do and what not to do is an answer.
        "## How do you log?\n\n- ✅ by level\n- ❌ by print\n\n## How do you name?\n\n- ✅ fully\n- ❌ by letter\n",
        # Powers and footnotes.
        "## What is it?\n\n- ^1 the first\n- the second\n\n## And this?\n\n- a power\n- another\n",
        "## Which of these copy?\n\n```\n- ✓ clone\n- ✗ view\n```\n\n## Which of these run?\n\n```\n✓ a\n✗ b\n```\n",
    ],
)
def test_other_signs_are_part_of_an_answer(text: str) -> None:
    assert all(" = " in one for one in read_as("quiz.md", text))
