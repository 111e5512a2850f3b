"""Labels of questions with a remark before their colon, and folds whose answer is a link."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.repairs.labels import with_bare_labels
from questions.source import Source

PROMPTS = ["What is a view in this library?", "Find all leaves of a tree.", "How do hooks run twice in a row?"]


@pytest.mark.parametrize(
    "label", ["Question(done) :", "**Q (easy):**", "**Question** (2 points):", "- **Question (level 2):**"]
)
def test_remarks_are_not_part_of_prompts(label: str) -> None:
    text = "\n".join(f"{label} {prompt}\n\nAnswer: It shares memory.\n" for prompt in PROMPTS)
    questions = read_bank(text, name="a.md").bank.questions
    assert [one.prompt for one in questions] == PROMPTS
    assert all(one.answered for one in questions)


def test_labels_with_a_remark_belong_to_those_without() -> None:
    labels = ["Question :", "Question(done) :", "Question(done - in part) :"]
    text = "\n".join(f"{label} {prompt}\n" for label, prompt in zip(labels, PROMPTS, strict=True))
    assert [one.prompt for one in read_bank(text, name="a.md").bank.questions] == PROMPTS


@pytest.mark.parametrize("part", ["a", "iv", "12"])
def test_letters_and_numbers_in_labels_name_parts(part: str) -> None:
    source = Source("a.md", tuple(f"Question ({part}): {prompt}" for prompt in PROMPTS))
    assert with_bare_labels(source) is source


def test_a_link_in_a_sentence_of_a_fold_is_no_answer() -> None:
    fold = (
        "<details><summary>Building for another site?</summary>\n\nTry [views](https://example.com), which works.\n\n"
    )
    assert read_bank(f"# Notes\n\n{fold}</details>\n", name="a.md").bank.questions == ()


def test_a_link_alone_answers_a_fold_that_asks() -> None:
    text = """# Losses

??? question "Why is there a logarithm in it?"

    [What is a logarithm?](https://example.com/logarithm)

??? question "How do entropy and chance relate?"

    One is the mean of the other.
"""
    questions = read_bank(text, name="a.md").bank.questions
    assert [one.prompt for one in questions] == ["Why is there a logarithm in it?", "How do entropy and chance relate?"]


def test_folds_that_list_links_are_contents() -> None:
    fold = "<details><summary>What is in this part?</summary>\n\n- [Views](#views)\n- [Leaves](#leaves)\n\n</details>\n"
    assert read_bank(f"# Notes\n\n{fold}", name="a.md").bank.questions == ()
