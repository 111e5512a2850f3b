"""LaTeX documents whose tasks begin with a bold number and whose answers begin with a bold word."""

from __future__ import annotations

import pytest

from questions import read_bank

HEAD = "\\documentclass{article}\n\\begin{document}\n\\subsection*{Week 5}\n"
TASKS = (
    ("Show that a view shares memory.", "It has the \\emph{same} pointer."),
    ("Let $f$ be a hook. Prove that it runs once.", "Suppose that it runs twice.\n\nThen it is called twice."),
    ("Which of these copies?\n\n$(a)$ a clone\n\n$(b)$ a view", "$(a)$ does."),
)


def _homework(number: str = "\\textbf{%d.}", answer: str = "\\textbf{Proof.}") -> str:
    body = "".join(f"    {number % at} {one}\n\n{answer} {two}\n\n" for at, (one, two) in enumerate(TASKS, 1))
    return f"{HEAD}{body}\\section*{{References}}\nNone.\n\\end{{document}}\n"


@pytest.mark.parametrize("number", ["\\textbf{%d.}", "\\noindent\\textbf{Problem %d.}", "{\\bf %d)}"])
@pytest.mark.parametrize("answer", ["\\textbf{Proof.}", "\\textit{Solution:}", "\\textbf{Answer}:"])
def test_bold_numbers_begin_tasks_and_bold_words_their_answers(number: str, answer: str) -> None:
    questions = read_bank(_homework(number, answer), name="a.tex").bank.questions
    assert [one.prompt.split("\n")[0] for one in questions] == [one.split("\n")[0] for one, _ in TASKS]
    assert questions[0].answer == "It has the *same* pointer."
    assert questions[2].answer == "$(a)$ does."


def test_theorems_with_proofs_are_no_questions() -> None:
    text = _homework()
    for (asked, _), said in zip(TASKS, ["All views share.", "A hook is a call.", "A clone is a copy."], strict=True):
        text = text.replace(asked, said)
    assert read_bank(text, name="a.tex").bank.questions == ()


def test_numbers_that_do_not_count_from_1_are_no_tasks() -> None:
    text = _homework().replace("\\textbf{2.}", "\\textbf{7.}")
    assert read_bank(text, name="a.tex").bank.questions == ()


def test_one_task_may_have_no_answer_yet() -> None:
    text = _homework().replace("\\textbf{Proof.} $(a)$ does.", "")
    assert [one.answered for one in read_bank(text, name="a.tex").bank.questions] == [True, True, False]
