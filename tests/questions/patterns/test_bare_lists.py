"""Lists of questions without answers, points behind questions, and lines that recur in answers."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.wording.stems import question_line

BARE = [
    "What is a view?",
    "What is a stride?",
    "What is a storage?",
    "How does `cat` join tensors?",
    "Why is a copy slow?",
    "When is a tensor contiguous?",
    "What is a leaf?",
]


def items(texts: list[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1)) + "\n"


def read(text: str) -> list[tuple[str, str | None]]:
    return [(one.prompt, one.answer) for one in read_bank(text, name="a.md").bank.questions]


def test_what_a_few_items_add_to_their_question_is_no_answer() -> None:
    more = [f"{BARE[0]} Compare it with a copy!", f"{BARE[1]} Explain how it is used in a view."]
    found = read(items([*more, *BARE[2:]]))
    assert found == [(one, None) for one in (*more, *BARE[2:])] or [answer for _, answer in found] == [None] * 7
    assert "Explain how it is used" in found[1][0]


def test_statements_behind_questions_stay_answers() -> None:
    said = [f"{BARE[0]} It shares the memory.", f"{BARE[1]} A step in memory, counted in elements."]
    assert [answer for _, answer in read(items([*said, *BARE[2:]]))][:2] == [
        "It shares the memory.",
        "A step in memory, counted in elements.",
    ]


def test_in_a_list_with_answers_a_rest_that_asks_is_an_answer() -> None:
    found = read(items([f"{one} It depends on the memory, as the text says." for one in BARE]))
    assert all(answer and answer.startswith("It depends") for _, answer in found)


def test_a_line_between_items_without_answers_is_a_title() -> None:
    text = items(BARE[:4]) + "Memory and copies\n" + "\n".join(f"{n}. {one}" for n, one in enumerate(BARE[4:], 5))
    found = read(text + "\n")
    assert found == [(one, None) for one in BARE]


def test_a_sentence_below_an_item_is_still_its_answer() -> None:
    text = items(BARE[:4]) + "It copies them.\n" + "\n".join(f"{n}. {one}" for n, one in enumerate(BARE[4:], 5))
    assert ("How does `cat` join tensors?", "It copies them.") in read(text + "\n")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("What is a view? (2 points)", "What is a view?"),
        ("3. What is a view? [1.5 pts]", "What is a view?"),
        ("(1 point)", ""),
        ("Was ist das? (3 Punkte)", "Was ist das?"),
        ("什么是视图？（5分）", "什么是视图？"),
        ("How many (2 points) are there?", "How many (2 points) are there?"),
        ("Which are (x, y)", "Which are (x, y)"),
        ("- 4. What is a view?", "What is a view?"),
        ("- 4 views", "- 4 views"),
        ("-4. What is left?", "-4. What is left?"),
        ("What is (2 pointers)", "What is (2 pointers)"),
    ],
)
def test_points_behind_and_a_dash_before_a_question_are_no_part_of_it(line: str, text: str) -> None:
    assert question_line(line).text == text


def test_headings_that_are_a_number_and_points_ask_below() -> None:
    parts = [
        f"### {n} ({n} points)\n\n{one}\n\n- A. it copies\n- B. it shares\n- C. neither\n"
        for n, one in enumerate(BARE, 1)
    ]
    found = read_bank("# Test on tensors\n\n" + "\n".join(parts), name="a.md").bank.questions
    assert [one.prompt for one in found] == BARE
    assert all(len(one.options) == 3 and not one.answered for one in found)


def test_the_same_bold_line_in_several_answers_asks_nothing() -> None:
    parts = [
        f"## Part {one}\n\nSome text.\n\n**Why does it matter?**\n\nIt is faster.\n\n- one\n- two\n" for one in "abc"
    ]
    assert read("# Guide\n\n" + "\n".join(parts)) == []


def test_bold_lines_that_differ_still_ask() -> None:
    parts = [f"## Part {n}\n\n**{one}**\n\nIt is faster.\n" for n, one in enumerate(BARE)]
    assert len(read("# Guide\n\n" + "\n".join(parts))) == len(BARE)


def test_many_brackets_take_linear_time() -> None:
    """In quadratic time it would not end before the limit of a test."""
    many = 1_000_000
    assert question_line("What? " + "(2 " * many + "(2 points)").text.startswith("What?")
    assert question_line("What? " + " " * many + "(2 points)").text == "What?"


MISSING = """Topics
1. What is a view?
2. What is a copy? Say why. 3. How is it made?
4. What is a leaf?

Models
5. The model of a layer, with its equation
6. The model of a loss, with its equation

7. What is a stride?
8. What is a hook?
"""


def test_lines_with_numbers_that_are_missing_among_the_questions_are_named() -> None:
    reading = read_bank(MISSING, name="a.txt")
    assert [one.place.line for one in reading.bank.questions] == [2, 3, 4, 10, 11]
    named = [(one.span.line, one.severity, one.skipped) for one in reading.findings if one.code == "Q006"]
    assert named == [(3, "note", False), (7, "warning", True), (8, "warning", True)]


def test_numbers_that_the_questions_have_are_not_named() -> None:
    text = MISSING.replace("3. How", "How").replace("5. The", "2. The").replace("6. The", "8. The")
    assert "Q006" not in {one.code for one in read_bank(text, name="a.txt").findings}


COUNTED = "".join(
    f"## Part {part}\n\n{2 * part - 1}. What is {part}?\n{2 * part}. Uses of {part}\n\n" for part in (1, 2, 3)
)
CODED = "".join(f"## (P{number}) Models of kind {number}\n\nThe text.\n\n" for number in range(1, 5))


# Question, type, options and key, one a line and without words for them.
BETWEEN_NUMBERS = (
    "3\nWhat is a view?\n0\nShared memory\nNew memory\n1\nA stride is a step.\n2\n1\nWhich one copies?\n0\nclone\n"
    "view\nexpand\n1\nWho frees the graph?\n0\nbackward\nforward\n2\n"
)
TASKS = (
    "# Задачи для собеседований\n\n## Своя точка входа\n\nТребуется изменить её.\n\n"
    "## Сколько чисел можно составить из семи единиц?\n\nНеобходимо показать подсчёт.\n\n"
    "## Битовый парсер\n\nОписать архитектуру.\n"
)
UNMARKED = "# Interview questions\n\n## What a monad is\n\nA type.\n\n## Functors\n\nOthers.\n"
KOREAN = "### 웹개발\nweb과 internet의 차이\n프로그래밍이란?\nSSR과 CSR의 차이\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (COUNTED, "3, 4, 8, 9, 13, 14"),
        (CODED, "1, 5, 9, 13"),
        (BETWEEN_NUMBERS, "2, 7, 10, 16"),
        (TASKS, "3, 7, 11"),
        (UNMARKED, "3"),
        (KOREAN, "3"),
    ],
)
def test_what_a_document_counts_is_named_where_nothing_was_read(text: str, lines: str) -> None:
    reading = read_bank(text, name="a.md")
    assert reading.bank.questions == ()
    (finding,) = reading.findings
    assert finding.note.endswith(f"these lines look like questions: {lines}")


@pytest.mark.parametrize(
    "text",
    [
        COUNTED.replace("?", ""),
        CODED.replace("(P", "(see "),
        BETWEEN_NUMBERS.replace("?", "."),
        UNMARKED.replace("Interview questions", "Notes on types"),
    ],
)
def test_steps_and_chapters_are_not_named(text: str) -> None:
    (finding,) = read_bank(text, name="a.md").findings
    assert "look like questions" not in finding.note


def test_questions_in_records_without_labels_are_named() -> None:
    asked = ("What frees a graph?", "Name of the mean loss:", "Which one sums?", "Which one sorts?", "What shuffles?")
    records = (f"{n}\nT1\n{text}\none\ntwo\n3\nB\n" for n, text in enumerate(asked, 1))
    note = read_bank("".join(records), name="records.txt").findings[-1].note
    assert note.endswith("these lines look like questions: 3, 10, 17, 24, 31")


def test_items_below_a_title_of_exercises_are_named() -> None:
    text = "= Exerciții\n\n. O regulă a jocului.\n\n== Sarcini de lucru\n\n. Instalează-l.\n. Creează altul.\n"
    note = read_bank(text, name="tasks.md").findings[-1].note
    assert note.endswith("these lines look like questions: 7, 8")


def test_paragraphs_with_letters_are_named_also_where_they_wrap() -> None:
    text = (
        "# Notes\n\na. What does `view`\n   return?\n\nb. … and `clone`, which makes\n   a copy?\n\nc. Both of them\n"
    )
    note = read_bank(text, name="notes.md").findings[-1].note
    assert note.endswith("these lines look like questions: 3, 6, 9")


def test_statements_to_choose_from_answer_none_of_many_questions() -> None:
    asked = [f"{n}. What does call {n} of the module return?" for n in range(1, 28)]
    choice = "28. Which of the following statements is true?\n    - A view copies.\n    - A view shares memory."
    questions = read_bank("\n".join((*asked, choice)), name="list.md").bank.questions
    assert len(questions) == 28
    assert not any(question.answered for question in questions)
    assert "A view copies" in questions[27].prompt


def paragraphs(texts: list[str]) -> str:
    return "# Interview questions\n\n" + "\n\n".join(texts) + "\n"


ASKING = [*BARE, "What is a hook?", "What is a graph?", "What is a batch?", "What is a seed?", "What is a dtype?"]


def test_tasks_between_paragraphs_that_only_ask_are_no_answers() -> None:
    tasks = ["Explain the difference between a view and a copy.", "Describe how autograd frees a graph."]
    texts = [*ASKING[:4], tasks[0], *ASKING[4:8], tasks[1], *ASKING[8:]]
    assert read(paragraphs(texts)) == [(one, None) for one in texts]


def test_a_line_between_such_paragraphs_may_answer_itself() -> None:
    inside = "Is a transpose a copy? No, a view"
    texts = [*ASKING[:4], inside, *ASKING[4:]]
    assert [prompt for prompt, _ in read(paragraphs(texts))] == texts


def test_a_bold_title_between_such_paragraphs_is_no_answer() -> None:
    texts = [*ASKING[:4], "**Graphs**", *ASKING[4:]]
    assert read(paragraphs(texts)) == [(one, None) for one in ASKING]


def test_a_task_below_a_question_stays_an_answer_where_questions_have_answers() -> None:
    told = "Compute both and compare their storage."
    texts = [text for one in ASKING for text in (one, told)]
    assert all(answer == told for _, answer in read(paragraphs(texts)))


def test_bullets_in_the_answer_to_a_numbered_item_are_no_questions() -> None:
    text = (
        "1. What is a view?\n\nAns: A tensor that shares memory.\n\n- Reading is free\n\nIt has the same storage.\n\n"
        "- Writing changes both\n\n2. What is a leaf?\n\nAns: A tensor without history.\n\n3. What is a hook?\n\n"
        "Ans: A function.\n\n- Forward hooks\n\nThey see the input.\n\n4. What is a stride?\n\nAns: A step.\n"
    )
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.number, one.prompt) for one in questions] == [
        ("1", "What is a view?"),
        ("2", "What is a leaf?"),
        ("3", "What is a hook?"),
        ("4", "What is a stride?"),
    ]
    assert (questions[0].answer or "").endswith("- Writing changes both")
    assert (questions[2].answer or "").endswith("They see the input.")


def test_a_statement_after_an_abbreviation_of_true_or_false_asks() -> None:
    text = "".join(
        f"{n}. What is {topic}?\n\n    A. one\n    **B. two**\n    C. three\n\n" for n, topic in enumerate("abcd", 1)
    )
    statement = "T/F: Suppose you resize a view. Then its storage is copied, to hold all elements of the new shape."
    one = text.partition("2. ")[0]
    prompt, answer = read(f"# Quiz\n\n{text}# Next\n\n{one}2. {statement}\n\n    **False**\n")[-1]
    assert (prompt, (answer or "").strip()) == (statement, "**False**")
