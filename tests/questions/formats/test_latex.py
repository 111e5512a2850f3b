"""Exams in LaTeX: the `exam` class, exercise environments, lists that ask; texts as Markdown, and what is named."""

from __future__ import annotations

import pytest

from questions import Question, Reading, read_bank

EXAM = r"""\documentclass[addpoints]{exam}
\newcommand{\mine}[1]{\question #1} % \question Is this one?
\begin{document}
\begin{questions}
\question[2] Which call \emph{copies} \texttt{x\_1} in 50\% of cases?
\begin{choices}
  \choice \verb|view| % it shares
  \CorrectChoice \lstinline{clone}
  \choice none of them
\end{choices}
\question Explain what a ``stride'' is.
\begin{solution}[2in]
The step between elements, na\"ively.
\end{solution}
\question Let $A$ be square.
\begin{parts}
\part[3] What is $A^T$?
\begin{solution} The transpose. \end{solution}
\part Its trace is a \fillin[sum][1in].
\end{parts}
\newpage
Pages may turn between questions.
\question Pick one.
\begin{oneparchoices}\choice one \choice two\end{oneparchoices}
\begin{solution} B. \end{solution}
\end{questions}
\end{document}
"""
BODY = "\\documentclass{article}\n\\begin{document}\n%s\n\\end{document}\n"


def read(body: str) -> Reading:
    """Reads the body of a document; each of its lines is accounted for."""
    reading = read_bank(BODY.replace("%s", body), name="a.tex")
    assert reading.unaccounted() == ()
    return reading


def one(body: str) -> Question:
    """Reads the only question of a document."""
    (question,) = read(body).bank.questions
    return question


def offered(question: Question) -> list[tuple[str, bool]]:
    """Returns the options of a question."""
    return [(option.text, option.right) for option in question.options]


def test_the_exam_class_is_read() -> None:
    reading = read_bank(EXAM, name="a.tex")
    copies, stride, transpose, trace, pick = reading.bank.questions
    assert copies.prompt == "Which call *copies* `x_1` in 50% of cases?"
    assert offered(copies) == [("`view`", False), ("`clone`", True), ("none of them", False)]
    assert (copies.place.line, copies.place.end_line) == (5, 10)
    assert (stride.prompt, stride.answer) == (
        "Explain what a “stride” is.",
        "The step between elements, naïvely.",
    )
    assert (transpose.prompt, transpose.answer) == ("Let $A$ be square.\n\nWhat is $A^T$?", "The transpose.")
    assert (trace.prompt, trace.answer) == ("Let $A$ be square.\n\nIts trace is a ____.", "sum")
    assert offered(pick) == [("one", False), ("two", True)]
    assert reading.unaccounted() == ()
    assert reading.findings == ()


def test_nothing_before_the_document_begins_is_read() -> None:
    preamble = "\\documentclass{exam}\n\\question Old?\n"
    body = "\\begin{document}\n\\begin{questions}\n\\question What is one?\n\\end{questions}\n\\end{document}\n"
    assert [one.prompt for one in read_bank(preamble + body, name="a.tex").bank.questions] == ["What is one?"]


def test_exercises_and_the_solution_below_them_are_read() -> None:
    question = one(
        "\\begin{exercise}[Views]\nShow that a view shares memory.\n\\begin{enumerate}\n\\item Prove it for slices.\n"
        "\\item Prove it for rows.\n\\end{enumerate}\n\\end{exercise}\n\\begin{solution}\nBoth keep the storage.\n"
        "\\end{solution}"
    )
    assert question.prompt == (
        "**Views**\n\nShow that a view shares memory.\n\n1. Prove it for slices.\n2. Prove it for rows."
    )
    assert question.answer == "Both keep the storage."


def test_parts_with_answers_of_their_own_are_questions() -> None:
    questions = read(
        "\\begin{problem}Given is a row.\n\\begin{enumerate}\n\\item Is it a view? \\answer{yes}\n"
        "\\item Is it a copy? \\answer{no}\n\\end{enumerate}\n\\end{problem}"
    ).bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        ("Given is a row.\n\nIs it a view?", "yes"),
        ("Given is a row.\n\nIs it a copy?", "no"),
    ]


def test_lists_that_ask_are_read_with_marked_options() -> None:
    which, true = read(
        "\\begin{enumerate}\n\\item \\pts{2} Which is it?\n\\\\ \\textbf{A}\\hspace{1in} this\n"
        "\\\\ \\correct{B}\\hspace{1in}that\n\\item \\pts{1} \\textbf{TRUE} or \\correct{FALSE}: a view copies.\n"
        "\\end{enumerate}"
    ).bank.questions
    assert (which.prompt, offered(which)) == ("Which is it?", [("this", False), ("that", True)])
    assert true.prompt == "**TRUE** or **FALSE**: a view copies."
    assert offered(true) == [("TRUE", False), ("FALSE", True)]


def test_sections_with_the_number_of_a_question_are_read() -> None:
    question = one(
        "\\section*{Exercise 3: Strides}\nSay what they are.\n\\subsection*{Solution}\nSteps.\n\\section{End}\nx"
    )
    assert (question.prompt, question.answer) == ("**Strides**\n\nSay what they are.", "Steps.")
    assert (question.place.line, question.place.end_line) == (3, 6)


def test_sections_whose_titles_ask_are_answered_by_their_text() -> None:
    reading = read(
        "\\section{What is a view?}\nIt shares.\n\\subsection{Note}\nAlways.\n\\section{What is $x^2$?}\nA square.\n"
        "\\section{Why copy at all?}\nTo change it.\n\\section{End}\nx"
    )
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [
        ("What is a view?", "It shares.\n\n**Note**\n\nAlways."),
        ("What is $x^2$?", "A square."),
        ("Why copy at all?", "To change it."),
    ]
    assert [(one.code, one.span.line) for one in reading.findings] == [("Q006", 11)]


def test_code_and_formulas_stay_as_they_are() -> None:
    question = one(
        "\\question What is printed?\n\\begin{lstlisting}[language=Python]\n  x = 7 % 4  # \\question\n  print(x)\n"
        "\\end{lstlisting}\nUse \\[ x_1 * y \\] or $a*b$, 2*3.\n\\begin{solution}\\begin{verbatim}\n3\n\\end{verbatim}"
        "\\end{solution}"
    )
    assert question.prompt == (
        "What is printed?\n\n```\nx = 7 % 4  # \\question\nprint(x)\n```\n\nUse\n\n$$\nx_1 * y\n$$\n\nor $a*b$, 2\\*3."
    )
    assert question.answer == "```\n3\n```"


def test_what_is_not_known_is_named_by_its_line() -> None:
    reading = read(
        "\\question What is it?\n\\foo{bar} or \\baz\n\\includegraphics{a.png}\n\\begin{tabular}{l}x\\end{tabular}"
    )
    named = [(one.code, one.span.line, one.message) for one in reading.findings if one.code != "Q604"]
    assert named == [
        ("Q606", 4, "`\\foo` is not a known command"),
        ("Q606", 4, "`\\baz` is not a known command"),
        ("Q609", 5, "a picture was not imported"),
        ("Q606", 6, "`\\begin{tabular}` is not a known command"),
    ]
    assert "\\foo{bar} or \\baz" in reading.bank.questions[0].prompt


def test_marks_that_no_options_fit_are_named() -> None:
    reading = read("\\question Rows: \\correct{one} \\textbf{two}\n\nColumns: \\textbf{one} \\correct{two}")
    (question,) = reading.bank.questions
    assert question.prompt == "Rows: **one** **two**\n\nColumns: **one** **two**"
    assert not question.answered
    assert "the marks of right answers were not read" in [one.message for one in reading.findings]


@pytest.mark.parametrize(
    "body",
    [
        "\\section{Views}\nIt shares.\n\\begin{itemize}\n\\item It is cheap.\n\\item It is shared.\n\\end{itemize}",
        "\\begin{enumerate}\n\\item Open the file.\n\\item Read it.\n\\item Close it.\n\\end{enumerate}",
        "\\begin{definition}A \\emph{stride} a step\\end{definition}\n\\begin{itemize}\\item one\\end{itemize}",
        "\\begin{verbatim}\n\\question Is this one?\n\\end{verbatim}\n\\begin{itemize}\\item one\\end{itemize}",
        "\\newcommand{\\ask}[1]{\\question #1?}\\begin{itemize}\\item one\\end{itemize}",
        "% \\question Is this one?\n\\begin{itemize}\\item one\\end{itemize}",
    ],
)
def test_a_document_that_is_no_exam_has_no_questions(body: str) -> None:
    reading = read(body)
    assert reading.bank.questions == ()
    assert [one.code for one in reading.findings] == ["Q005"]


def test_lines_that_ask_outside_questions_are_named() -> None:
    reading = read(
        "But what is a copy, then?\n\\textbf{Problem 4.} Compute it.\n\\begin{itemize}\n\\item One.\n"
        "\\item Is it two?\n\\item Three.\n\\end{itemize}"
    )
    (finding,) = reading.findings
    assert finding.note.endswith("these lines look like questions: 3, 4, 7")
    reading = read("\\question What is it?\n\\section{Other}\nBut what is a copy, then?")
    assert [one.span.line for one in reading.findings if one.code == "Q006"] == [5]


def test_markdown_with_commands_is_no_latex() -> None:
    text = "### 1. What does `\\begin{document}` do?\n**Answer:** It begins.\n\n```tex\n\\item x\n```\n"
    assert read_bank(text, name="a.md").bank.dialects == ("heading",)
    assert read_bank(text, name="a.txt").bank.dialects == ("heading",)


def exam(body: str) -> list[Question]:
    """Returns the questions in the body of an exam."""
    questions = f"\\begin{{questions}}\n{body}\n\\end{{questions}}"
    text = f"\\documentclass{{exam}}\n\\begin{{document}}\n{questions}\n\\end{{document}}"
    return list(read_bank(text, name="a.tex").bank.questions)


def test_every_command_of_the_exam_class_that_begins_a_question_or_a_part_is_known() -> None:
    solved = r"\begin{solution}Yes.\end{solution}"
    questions = exam(
        f"\\question Is one odd?\n{solved}\n\\bonusquestion Is two even?\n{solved}\n"
        f"\\titledquestion{{Three}} Is it odd?\n{solved}\n\\question Given is a row.\n\\begin{{parts}}\n"
        f"\\part Is it a view?\n{solved}\n\\bonuspart In C:\n\\begin{{subparts}}\n\\subpart Of a slice:\n"
        f"\\begin{{subsubparts}}\n\\subsubpart Is it a copy?\n{solved}\n\\subsubpart Is it one?\n{solved}\n"
        "\\end{subsubparts}\n\\end{subparts}\n\\end{parts}"
    )
    assert [one.prompt.split("\n\n")[-1].removeprefix("Three ") for one in questions] == [
        "Is one odd?",
        "Is two even?",
        "Is it odd?",
        "Is it a view?",
        "Is it a copy?",
        "Is it one?",
    ]
    assert questions[-1].prompt == "Given is a row.\n\nIn C:\n\nOf a slice:\n\nIs it one?"


def test_every_command_that_begins_an_option_is_known() -> None:
    (lower,) = exam("\\question Which?\n\\begin{choices}\n\\choice this\n\\correctchoice that\n\\end{choices}")
    (tasks,) = exam(
        "\\question Which?\n\\begin{tasks}(2)\n\\task this\n\\task that\n\\end{tasks}\n"
        "\\begin{solution}B\\end{solution}"
    )
    assert offered(lower) == offered(tasks) == [("this", False), ("that", True)]


@pytest.mark.parametrize("name", ["enumerate", "compactenum", "enumerate*", "inparaenum"])
def test_lists_that_count_keep_their_numbers(name: str) -> None:
    question = one(
        f"\\begin{{exercise}}Do this:\n\\begin{{{name}}}\n\\item Slice it.\n\\item Copy it.\n\\end{{{name}}}\n"
        "\\end{exercise}\n\\begin{solution}Both.\\end{solution}"
    )
    assert question.prompt == "Do this:\n\n1. Slice it.\n2. Copy it."


def test_lists_in_lists_are_indented() -> None:
    inner = "\\begin{itemize}\n\\item In C.\n\\end{itemize}"
    question = one(
        f"\\begin{{exercise}}Do this:\n\\begin{{enumerate}}\n\\item Slice it.\n{inner}\n\\item Copy it.\n"
        "\\end{enumerate}\n\\end{exercise}\n\\begin{solution}Both.\\end{solution}"
    )
    assert question.prompt == "Do this:\n\n1. Slice it.\n\n  - In C.\n\n2. Copy it."


@pytest.mark.parametrize("name", ["equation", "equation*", "displaymath", "math"])
def test_a_formula_in_an_environment_is_shown_without_it(name: str) -> None:
    (question,) = exam(
        f"\\question What is\n\\begin{{{name}}} 1 + 1 \\end{{{name}}}\n\\begin{{solution}}2\\end{{solution}}"
    )
    assert question.prompt == "What is\n\n$$\n1 + 1\n$$"
