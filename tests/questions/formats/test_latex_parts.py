"""Parts of LaTeX documents in files of their own, and paragraphs that answer items of a list."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import read_as

ITEMS = (
    ("What does a view share?", "A view shares the storage of its \\textbf{base}.\n\n        Both see a change."),
    ("Write the formula of a mean.\\\\", "The mean of $x$ is defined by:\n        $$ \\frac{1}{n} \\sum x_i $$"),
    ("Which call copies?", "The call \\texttt{clone} copies all of it."),
)
CHAPTER = "\\section{Control questions}\n\\begin{itemize}\n%s\\end{itemize}\n"


def chapter(items: tuple[tuple[str, str], ...] = ITEMS) -> str:
    return CHAPTER % "".join(f"    \\item {asked}\n\n        {said}\n\n" for asked, said in items)


def test_a_chapter_that_a_document_includes() -> None:
    assert read_as("chapter.tex", chapter()) == [
        "What does a view share? | = A view shares the storage of its **base**.\n\nBoth see a change.",
        "Write the formula of a mean. | = The mean of $x$ is defined by:\n\n$$\n\\frac{1}{n} \\sum x_i\n$$",
        "Which call copies? | = The call `clone` copies all of it.",
    ]
    reading = read_bank(chapter(), name="chapter.tex")
    assert (reading.bank.dialects, reading.unaccounted()) == (("latex",), ())


@pytest.mark.parametrize(
    "said", ["Why is that so?", "\\begin{verbatim}\nprint(x)\n\\end{verbatim}", "Explain your answer in a sentence."]
)
def test_what_asks_or_is_a_program_alone_belongs_to_the_question(said: str) -> None:
    questions = read_bank(chapter(tuple((asked, said) for asked, _ in ITEMS)), name="chapter.tex").bank.questions
    assert len(questions) == 3 and not any(one.answer for one in questions)


def test_a_list_that_mostly_does_not_ask_is_no_exam() -> None:
    told = tuple((asked.replace("?", "."), said) for asked, said in ITEMS)
    assert read_bank(chapter((*told, ITEMS[0])), name="chapter.tex").bank.questions == ()


def test_the_braces_of_latex_are_no_answers_in_gift() -> None:
    text = "\\section{Sets}\nWhat is $\\mathcal{X} = \\{=1, 2\\}$?\nAnd what is a set of one {\n=x\n}\n"
    assert "gift" not in read_bank(text, name="sets.tex").bank.dialects


PROOFS = r"""\documentclass{article}
\begin{document}
\begin{enumerate}
  \item (20\%) Which of these orders are complete? Why?
    \begin{enumerate}
      \item The set of natural numbers.
        \begin{proof}
          No: it has no upper bound.
        \end{proof}
      \item The set with a greatest element.
        \begin{proof}%s
          Yes.
          \begin{enumerate}
            \item Zero is the least element.
          \end{enumerate}
        \end{proof}
    \end{enumerate}
  \item (10\%) Find a monotonic function which is not continuous.
    \begin{proof}
      The successor is one.
    \end{proof}
\end{enumerate}
\end{document}
"""


def test_proofs_answer_where_one_says_that_it_is_an_answer() -> None:
    questions = read_bank(PROOFS.replace("%s", "[Answer]"), name="exam.tex").bank.questions
    assert [(one.prompt.split("\n")[-1], one.answer) for one in questions] == [
        ("The set of natural numbers.", "No: it has no upper bound."),
        ("The set with a greatest element.", "Yes.\n\n1. Zero is the least element."),
        ("(10%) Find a monotonic function which is not continuous.", "The successor is one."),
    ]


def test_other_proofs_are_no_answers() -> None:
    first, last = read_bank(PROOFS.replace("%s", "[Proof of Zorn]"), name="exam.tex").bank.questions
    assert (first.answer, last.answer) == (None, None)


def test_questions_with_solutions_in_a_file_that_a_document_includes() -> None:
    text = r"""\section{Tensors}
\begin{question}[subtitle = Views]
  Show that a view shares its memory.
\end{question}
\begin{solution}
  Its storage is that of its base.
\end{solution}
"""
    assert read_as("tensors.tex", text) == [
        "**Views**\n\nShow that a view shares its memory. | = Its storage is that of its base."
    ]
    assert not read_bank(text.replace("solution", "figure"), name="tensors.tex").bank.questions
