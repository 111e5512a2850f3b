"""Tables with a column of topics and one of questions."""

from __future__ import annotations

import pytest

from questions import read_bank

ASKED = ["What is a view? How is it copied?", "What is a leaf?", "Why is a graph kept?", "How do hooks run?"]


@pytest.mark.parametrize("column", ["Topic", "Category", "Тема"])
def test_questions_beside_their_topics_are_read_without_answers(column: str) -> None:
    rows = "\n".join(f"| part {n} | {asked} |" for n, asked in enumerate(ASKED))
    questions = read_bank(f"## Exam\n\n| {column} | Questions |\n| --- | --- |\n{rows}\n", name="a.md").bank.questions
    assert [(one.prompt, one.answered) for one in questions] == [(asked, False) for asked in ASKED]


def test_how_many_questions_a_topic_has_asks_nothing() -> None:
    rows = "\n".join(f"| part {n} | {n} |" for n in range(5))
    assert read_bank(f"| Topic | Questions |\n| --- | --- |\n{rows}\n", name="a.md").bank.questions == ()
