"""Lists in which questions and tasks alternate, and lists that only name what follows."""

from __future__ import annotations

from questions import read_bank


def test_tasks_among_questions_of_a_list_are_questions() -> None:
    asked = ["¿Qué es una vista?", "Mencione tres vistas.", "¿Dónde está la copia? Señale por qué.", "Defina una hoja."]
    asked += ["¿Cuándo se copia?", "¿Quién la hizo?", "Indique dos hojas y su nombre.", "¿Cuántas hay?"]
    text = "\n".join(f"{at}. {one}" for at, one in enumerate(asked, 1))
    questions = read_bank(text, name="a.txt").bank.questions
    assert [(one.prompt, one.answered) for one in questions] == [(one, False) for one in asked]


def test_entries_below_a_heading_for_contents_ask_nothing() -> None:
    listed = "- Where we left off\n- What I did\n- How I can go on\n- What is next\n"
    text = f"# Notes\n\n## TOC\n\n{listed}\n## What I did\n\nIt.\n"
    assert "Where we left off" not in [one.prompt for one in read_bank(text, name="a.md").bank.questions]
