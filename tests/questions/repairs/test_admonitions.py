"""Admonitions of MkDocs that fold the answer to a question."""

from __future__ import annotations

from questions import read_bank


def test_admonitions_named_question_fold_an_answer_whatever_their_title() -> None:
    titles = ('What is `torch.tensor("x")` for?', "Explain hooks", 'Why is "x" no tensor?')
    text = "".join(f'??? question "{title}"\n    It is {n}.\n\n' for n, title in enumerate(titles))
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [(title, f"It is {n}.") for n, title in enumerate(titles)]
