"""Lists in which questions and tasks alternate, and lists that only name what follows."""

from __future__ import annotations

import pytest

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


def test_text_that_asks_below_a_label_with_a_topic_is_no_answer() -> None:
    tasks = {
        "Number formats": "**Instructions**: Convert the number into hexadecimal.\n\n```python\nnumber = 254\n```",
        "Overfitting": "*Scenario:* Suppose the loss rises on new data. How would you find the cause?",
        "Loops": "Given the following code, write the output.\n\n```python\nprint(1)\n```",
    }
    text = "".join(f"### Question {n}: {topic}\n{task}\n\n---\n\n" for n, (topic, task) in enumerate(tasks.items(), 1))
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.title or one.prompt.partition("\n")[0], one.answer) for one in questions] == [
        (topic, None) for topic in tasks
    ]
    assert all(one.prompt.endswith(task) for one, task in zip(questions, tasks.values(), strict=True))


def test_text_that_tells_below_a_label_with_a_topic_answers() -> None:
    text = "".join(
        f"### Question {n}: {topic}\n\nIt is told here.\n\n" for n, topic in enumerate(("Views", "Leaves"), 1)
    )
    assert [one.answer for one in read_bank(text, name="a.md").bank.questions] == ["It is told here."] * 2


def test_a_title_in_bold_between_lists_that_begin_anew_is_no_answer() -> None:
    parts = ("**Open questions:**", "**Coding:**", "**Design:**")
    asked = (
        ("Explain what a view is. What does it share?", "Discuss leaves and roots."),
        ("Implement a linear layer. Explain each step.",),
        ("Design a service for embeddings.",),
    )
    lists = ("\n\n".join(f"{n}. **{one}**" for n, one in enumerate(items, 1)) for items in asked)
    text = "\n\n".join(f"{title}\n\n{items}" for title, items in zip(parts, lists, strict=True))
    questions = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [(one, None) for items in asked for one in items]


def test_a_task_among_numbered_questions_with_options_is_a_question() -> None:
    offered = "".join(f"{n}. What is number {n}?\n   - A) one\n   - B) two\n   - C) three\n\n" for n in (1, 2, 3))
    text = f"# Test\n\n{offered}4. Simplify the expression $2x + x$.\n\n5. Mostly harmless.\n"
    assert [one.number for one in read_bank(text, name="a.md").bank.questions] == ["1", "2", "3", "4"]


TOPICS = ("What does it share?", "Explain how it copies.", "Describe the steps. What is a leaf? (Of the graph).")


@pytest.mark.parametrize("indent", ["\t", "  "])
def test_items_that_ask_behind_their_topic(indent: str) -> None:
    asked = "".join(f"* **Topic {n}:** {text}\n{indent}It is so.\n{indent}And so.\n\n" for n, text in enumerate(TOPICS))
    questions = read_bank(f"# Oral exam\n\n{asked}", name="oral.md").bank.questions
    assert [one.prompt for one in questions] == [f"**Topic {n}:** {text}" for n, text in enumerate(TOPICS)]
    assert {one.answer for one in questions} == {"It is so.\nAnd so."}


def test_items_that_describe_a_term_ask_nothing() -> None:
    text = "# Notes\n\n" + "".join(f"* **Term {n}**: how to work with others\n  Every day.\n" for n in range(4))
    assert read_bank(text, name="notes.md").bank.questions == ()


ASKED = [f"What is a view of kind {at}?" for at in range(14)]
TOLD = [
    "Compare views and copies.",
    "Describe a leaf.",
    "Explain strides.",
    "Contrast a leaf and a root.",
    "Discuss hooks and how they run.",
    "Implement a view of a view.",
]


def test_tasks_between_questions_without_answers_are_questions() -> None:
    lines = [line for at, asked in enumerate(ASKED) for line in (asked, *TOLD[at : at + 1])]
    text = "Memory\n" + "\n\n".join(lines[:6]) + "\n\nGraphs\n" + "\n\n".join(lines[6:]) + "\n"
    questions = read_bank(text, name="a.txt").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [(line, None) for line in lines]


def test_text_that_sets_no_task_between_questions_answers_them() -> None:
    text = "\n\n".join(line for asked in ASKED for line in (asked, "It is a tensor that shares memory."))
    questions = read_bank(text, name="a.txt").bank.questions
    assert {one.answer for one in questions} == {"It is a tensor that shares memory."}


def test_a_bold_number_alone_begins_a_question_among_others() -> None:
    text = "".join(f"**{at}.** What is a leaf of kind {at}?\n\nA tensor.\n\n" for at in range(1, 5))
    text += "**5.**\n\n* i. What is a root?\n\nThe last one.\n\n* ii. Why so?\n\nIt is.\n\n"
    text += "**6.** What is a hook?\n\nA call.\n"
    questions = read_bank(text, name="a.md").bank.questions
    assert [one.number for one in questions] == ["1", "2", "3", "4", "5", "6"]
    assert "What is a root?" in questions[4].prompt
    assert questions[3].answer == "A tensor."


def test_among_many_headings_that_ask_one_with_a_task_is_a_question() -> None:
    titles = [f"Why does model {at} fail?" for at in range(12)]
    titles[4:4] = ["Your model fails on weekends. Walk me through your search.", "Define an agent without big words."]
    text = "".join(f"# {title}\n\nIt is told here.\n\n" for title in titles) + "# More to read\n\nA book.\n"
    assert [one.prompt for one in read_bank(text, name="a.md").bank.questions] == titles


def test_bullets_without_a_number_answer_those_with_one() -> None:
    asked = [f"* {at}.What is a hook of kind {at}?\n* It is called at step {at}.\n" for at in range(1, 7)]
    asked[2] = "* 3.What is a view?\n  A tensor.\n"
    questions = read_bank("## Interview questions\n" + "\n".join(asked), name="a.md").bank.questions
    assert [one.number for one in questions] == ["1", "2", "3", "4", "5", "6"]
    assert [one.answer for one in questions[:3]] == [
        "* It is called at step 1.",
        "* It is called at step 2.",
        "A tensor.",
    ]


def test_an_answer_guide_answers_the_question_above() -> None:
    text = "# Run it as another user\n\nWhat changes are needed?\n\n## Answer guide\n\n- Name a user.\n"
    (question,) = read_bank(text, name="a.md").bank.questions
    assert question.prompt.endswith("What changes are needed?")
    assert (question.answer or "").startswith("- Name a user.")
