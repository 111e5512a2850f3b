"""Key points are the answer's own words, each to be understood alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.keypoints import MOST, key_points_of


def test_the_items_of_lists_come_first() -> None:
    answer = "Two **kinds**:\n\n- a view,\n  which shares\n  - its storage too\n- a copy\n\n1. more of it\n"
    assert key_points_of(answer) == ("A view, which shares", "Its storage too", "A copy", "More of it")


def test_a_label_is_kept_if_it_names_something_and_dropped_if_it_only_names_a_kind() -> None:
    answer = "* **View**: Shares the storage. Fast.\n* **Fix**: Call `contiguous()` first.\n* Not so:\n"
    assert key_points_of(answer) == ("**View**: Shares the storage. Fast.", "Call `contiguous()` first.")


def test_a_table_of_two_columns_gives_names_and_what_they_mean() -> None:
    answer = (
        "### Common\n\n| Loss | Use |\n|---|---|\n| `BCELoss` | Binary âœ… classes |\n| 1. **MSELoss** | Regression |\n"
    )
    assert key_points_of(answer) == ("`BCELoss`: Binary classes", "**MSELoss**: Regression")


def test_a_wider_table_becomes_a_list_with_headings() -> None:
    answer = "| Mode | Dropout | Grads |\n|---|---|---|\n| `train()` | Active | Computed |\n"
    assert key_points_of(answer) == ("`train()`: Dropout Active, Grads Computed",)


def test_emphasized_key_points_are_preferred() -> None:
    plain = " ".join(f"Sentence {name} says nothing much." for name in ("one", "two", "three", "four", "five"))
    points = key_points_of(f"{plain} But here the **storage is shared** by both. The **dtype** is kept.")
    assert len(points) == 4
    assert points[-1] == "The **dtype** is kept."


@pytest.mark.parametrize(
    ("prompt", "answer", "points"),
    [
        (
            "What is `torch.compile` and how does it work?",
            "* It captures the program into a graph.\n* They are fused.",
            ("`torch.compile` captures the program into a graph.",),
        ),
        # Two things are compared: `it` may be either.
        (
            "What is the difference between a view and a copy?",
            "- It shares the storage.\n- Copies own it.",
            ("Copies own it.",),
        ),
        ("", "- It shares the storage.\n- Copies own theirs.", ("Copies own theirs.",)),
        # Another sentence came between: `it` may be what that one speaks of.
        (
            "What is a leaf?",
            "The graph is built first. It has nodes. A leaf has no history.",
            ("The graph is built first.", "A leaf has no history."),
        ),
    ],
)
def test_a_pronoun_becomes_the_subject_only_where_that_is_meant(
    prompt: str, answer: str, points: tuple[str, ...]
) -> None:
    assert key_points_of(answer, prompt) == points


@pytest.mark.parametrize(
    "noise",
    [
        "However, for standard training loops, this is a trap.",
        "**This is a classic gotcha!**",
        "Interviewers love this question.",
        "Be careful with the word parallel here.",
        "It's a trick question that many miss.",
        "That is where the trap lies for many.",
        "Most people get this one wrong the first time.",
        "Remember this for the next interview.",
    ],
)
def test_remarks_about_the_question_are_no_key_points(noise: str) -> None:
    assert key_points_of(f"A view shares the storage of its base. {noise} A copy owns its storage alone.") == (
        "A view shares the storage of its base.",
        "A copy owns its storage alone.",
    )
    assert key_points_of(noise) == ()


@pytest.mark.parametrize(
    "fact",
    [
        "The trap handler of the kernel runs first.",
        "Gradient clipping catches exploding gradients early.",
        "The kernel trick maps inputs to a larger space.",
        "Careful initialization keeps the variance of activations.",
        "The model asks the question encoder for a vector.",
    ],
)
def test_facts_with_such_words_are_kept(fact: str) -> None:
    assert key_points_of(fact) == (fact,)


def test_examples_code_lead_ins_and_dates_are_left_out() -> None:
    answer = (
        "Introduced in PyTorch 2.0.\n\nThe rules are:\n\nFor example, two match. Shapes align from the right.\n\n"
        "```python\nx = 1\n```\n\n    - Examples: `.view()`, `.t()`\n\n`(3, 4)` + `(3, 4)` -> `(6, 4)`. Is that so?\n"
    )
    assert key_points_of(answer) == ("Shapes align from the right.",)


def test_points_are_few_and_different() -> None:
    assert key_points_of("\n".join(f"- point number {number}" for number in range(20))) == tuple(
        f"Point number {number}" for number in range(MOST)
    )
    assert key_points_of("- a point\n- a point\n") == ("A point",)
    assert key_points_of("```\nx\n```") == ()
    assert key_points_of("") == ()


def test_an_answer_of_a_word_is_its_own_point() -> None:
    assert key_points_of("Paris") == ("Paris",)


@given(
    st.lists(
        st.sampled_from(["- a **b**.", "c so. D is", "", "  e", "1. f", "```", "| a | b |", "It is x.", "â€"]),
        max_size=12,
    )
)
def test_nothing_is_invented(lines: list[str]) -> None:
    answer = "\n".join(lines)
    said = set(re.findall(r"\w+", answer.lower()))
    for point in key_points_of(answer, "What is `q`?"):
        assert set(re.findall(r"\w+", point.lower())) <= said | {"q"}
