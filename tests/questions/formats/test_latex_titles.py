"""LaTeX sections whose titles have the numbers of questions, `Q1.2 Explain …`, and titles of parts."""

from __future__ import annotations

from questions import Reading, read_bank

START = "\\documentclass{article}\n\\begin{document}\n"
NOTES = (
    "\\section{Disclaimer}\nNo guarantee.\n\\part{Week 1}\n"
    "\\section{Q1.1 Explain what a stride is. [5]}\nSteps between elements:\n"
    "\\begin{enumerate}\n\\item Compute the size of a row.\n\\item Multiply it.\n\\end{enumerate}\n"
    "\\section{Q1.2 Why are views cheap? [10]}\nThey share memory.\n\\part{Week 2}\n"
    "\\section{Q2.1 Seeds and workers [5 pts]}\nEach worker has its own.\n"
)


def read(body: str) -> Reading:
    reading = read_bank(f"{START}{body}\\end{{document}}\n", name="notes.tex")
    assert reading.unaccounted() == ()
    return reading


def test_titles_with_numbers_of_questions_are_questions_and_the_lists_below_them_answer() -> None:
    reading = read(NOTES)
    assert [one.prompt for one in reading.bank.questions] == [
        "Explain what a stride is.",
        "Why are views cheap?",
        "Seeds and workers",
    ]
    first, second, third = reading.bank.questions
    assert "Multiply it." in (first.answer or "")
    assert (second.answer, third.answer) == ("They share memory.", "Each worker has its own.")
    assert reading.findings == ()


def test_a_long_title_without_a_number_among_them_is_named() -> None:
    reading = read(NOTES + "\\section{Assuming one GPU, write down how gradients are added}\nSum them.\n")
    assert len(reading.bank.questions) == 3
    assert [(one.code, one.span.line) for one in reading.findings] == [("Q006", 17)]


def test_titles_are_found_where_no_list_is_in_the_document() -> None:
    body = "".join(f"\\section{{Q{n} Explain topic {n} in detail.}}\nBecause of {n}.\n" for n in (1, 2, 3))
    assert [one.answer for one in read(body).bank.questions] == [f"Because of {n}." for n in (1, 2, 3)]


def test_the_title_of_a_part_ends_an_answer_and_a_part_of_a_question_stays_one() -> None:
    reading = read(NOTES)
    assert [one.section for one in reading.bank.questions] == [("Week 1",), ("Week 1",), ("Week 2",)]
    exam = read(
        "\\begin{questions}\n\\question Say it.\n\\begin{parts}\n\\part{} What is a view?\n"
        "\\begin{solution}A window.\\end{solution}\n\\end{parts}\n\\end{questions}\n"
    )
    (question,) = exam.bank.questions
    assert (question.prompt, question.answer) == ("Say it.\n\nWhat is a view?", "A window.")


SECTIONS = ("Cos'è una vista?", "Descrivere una foglia in dettaglio", "Elencare e descrivere i passi", "Dtype e stride")


def test_sections_of_an_included_file_that_mostly_set_tasks_are_questions() -> None:
    text = "".join(f"\\section{{{title}}}\nThe tensor has one.\n\\subsection{{Pregi}}\nFast.\n\n" for title in SECTIONS)
    reading = read_bank(text, name="QA1-10.tex")
    assert [one.prompt for one in reading.bank.questions] == list(SECTIONS[:3])
    assert all(one.answer and one.answer.startswith("The tensor has one.") for one in reading.bank.questions)
    assert [one.span.line for one in reading.findings if one.code == "Q006"] == [16]


def test_sections_that_only_set_tasks_are_study_text() -> None:
    text = "".join(f"\\section{{Write the loop {n} times}}\nIt runs.\n\n" for n in range(4))
    assert read_bank(text, name="chapter.tex").bank.questions == ()
