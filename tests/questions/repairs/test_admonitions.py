"""Admonitions of MkDocs that fold the answer to a question."""

from __future__ import annotations

import pytest

from questions import read_bank


def test_admonitions_named_question_fold_an_answer_whatever_their_title() -> None:
    titles = ('What is `torch.tensor("x")` for?', "Explain hooks", 'Why is "x" no tensor?')
    text = "".join(f'??? question "{title}"\n    It is {n}.\n\n' for n, title in enumerate(titles))
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [(title, f"It is {n}.") for n, title in enumerate(titles)]


@pytest.mark.parametrize("title", ['success "Solution"', 'success "Show answer"', "solution"])
def test_a_block_in_a_list_item_answers_it(title: str) -> None:
    text = "## Knowledge check\n\n" + "\n".join(
        f"{at}. What is a view of kind {at}?\n\n    ??? {title}\n\n        It shares memory:\n\n        - always\n"
        for at in range(1, 4)
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.number, one.answer) for one in questions] == [(n, "It shares memory:\n\n- always") for n in "123"]


def test_another_block_in_a_list_item_stays_as_it_is() -> None:
    text = "".join(f'{at}. What is a view?\n\n    !!! tip "Note"\n\n        It shares.\n\n' for at in range(1, 4))
    assert "!!! tip" in (read_bank(text, name="a.md").bank.questions[0].answer or "")
