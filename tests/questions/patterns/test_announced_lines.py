"""Documents of lines without any mark whose name or title says that they are questions."""

from __future__ import annotations

from questions import read_bank

ASKED = [
    "What is a view",
    "what does a hook return",
    "how many dimensions has a scalar",
    "shape of a batch - what comes first",
    "leaves and the graph",
    "which call copies a tensor?",
    "why is a gradient added",
    "explain the graph of a module",
    "where is the state of an optimizer",
    "when is memory freed",
    "state of a module",
    "what is a stride",
]


def prompts(text: str, name: str) -> list[str]:
    return [one.prompt for one in read_bank(text, name=name).bank.questions]


def test_each_line_between_those_that_ask_is_a_question() -> None:
    assert prompts("\n".join(ASKED), "questions.txt") == ASKED
    assert prompts("\n".join(["Questions of the exam", *ASKED]), "week3.txt") == ASKED


def test_lines_that_nothing_announces_are_no_questions() -> None:
    assert prompts("\n".join(ASKED), "week3.txt") == []


def test_titles_in_such_a_document_are_no_questions() -> None:
    text = "\n".join(["Tensors:", *ASKED[:4], "", "Modules:", *ASKED[4:], ""])
    assert prompts(text, "questions.txt") == ASKED


def test_lines_without_the_end_of_a_sentence_are_titles_where_questions_have_one() -> None:
    asked = [f"Explain the role of part {n} of a module." for n in range(5)] + [f"What is part {n}?" for n in range(5)]
    shown = ["The exam is oral.", "Part one", *asked[:5], "Run the first part.", "Part two", *asked[5:]]
    assert prompts("\n".join(shown), "exam-questions.txt") == [*asked[:5], "Run the first part.", *asked[5:]]


def test_notes_under_such_a_name_stay_unread() -> None:
    text = "\n".join(f"The loss of run {n} fell slowly and the batch was small" for n in range(20))
    assert prompts(text, "questions.txt") == []
