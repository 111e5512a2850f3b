"""What a document leaves unread is named by its line, also where other questions of it were read."""

from __future__ import annotations

import pytest

from questions import Finding, read_bank
from questions.report import summary
from questions.unread import MOST_NAMED
from tests.calls import calls_of

TITLES = ("a view", "a stride", "a leaf", "a clone")
READ = "# Quiz\n\n" + "".join(
    f"### {n}. What is {title}?\n**Answer:** The page about {title} says it.\n\n" for n, title in enumerate(TITLES, 1)
)
"""Four questions in fourteen lines."""
BELOW = READ.count("\n") + 1


def unread(text: str, name: str = "quiz.md") -> list[Finding]:
    """Returns the findings about what looks like a question; the four others are read in any case."""
    reading = read_bank(text, name=name)
    assert [one.answered for one in reading.bank.questions[:4]] == [True] * 4
    assert reading.unaccounted() == ()
    return [one for one in reading.findings if one.code == "Q006"]


def lines(text: str) -> list[int]:
    return [one.span.line - BELOW for one in unread(text)]


@pytest.mark.parametrize(
    "asked",
    [
        "ما هو الموتر؟",
        "Τι είναι ένας τανυστής;",
        "Τι είναι ένας τανυστής\u037e",
        "Ի՞նչ է տենզորը։",
        "ቴንሰር ምንድን ነው፧",
        "テンソルとは何ですか",
        "张量是什么？",
        "What is a tensor?",
    ],
)
def test_a_line_that_asks_in_any_script_is_named(asked: str) -> None:
    assert lines(f"{READ}## Notes\n\n{asked}\n") == [2]


@pytest.mark.parametrize(
    "said", ["Ένας τανυστής είναι πίνακας.", "Տենզորը զանգված է։", "テンソルは配列です。", "Keep this; it is short;"]
)
def test_a_line_that_states_in_any_script_is_not(said: str) -> None:
    assert unread(f"{READ}## Notes\n\n{said}\n") == []


@pytest.mark.parametrize(
    ("title", "tasks"),
    [
        ("Pytania", ["wyjaśnij pojęcie gradientu", "opisz funkcję straty w sieci", "rola optymalizatora"]),
        ("Ejercicios", ["Implementa una capa lineal", "Explica la función de pérdida"]),
        ("Homework", ["Derive the loss of the model.", "A plot of the loss."]),
    ],
)
def test_tasks_below_a_heading_that_announces_them_are_named(title: str, tasks: list[str]) -> None:
    listed = "".join(f"- {task}\n" for task in tasks)
    named = lines(f"{READ}## {title}\n\n{listed}")
    if title == "Homework":
        assert named == []  # one task alone may be a step of something else
    else:
        assert named == list(range(2, 2 + len(tasks)))


@pytest.mark.parametrize("form", ["- [ ] {n}. {task}", "- [x] {n}) {task}", "- {n}. {task}"])
@pytest.mark.parametrize("title", ["Nivel básico (3 ejercicios)", "Exercises", "Questions"])
def test_numbered_items_below_such_a_heading_are_named_whatever_they_say(form: str, title: str) -> None:
    tasks = ["A calculator for tensors", "Crear un modelo lineal", "Program that counts leaves"]
    listed = "".join(form.format(n=n, task=task) + "\n" for n, task in enumerate(tasks, 1))
    reading = read_bank(f"# Notes\n\n## {title}\n\n{listed}", name="notes.md")
    named = [one for one in reading.findings if one.code == "Q005" and one.note.endswith(": 5, 6, 7")]
    assert len(reading.bank.questions) == 3 or named


@pytest.mark.parametrize("title", ["Examples", "The problem", "Setup"])
def test_numbered_items_below_other_headings_are_not(title: str) -> None:
    listed = "- [ ] 1. A linear model\n- [ ] 2. A tree of depth two\n- [ ] 3. A small network\n"
    (finding,) = read_bank(f"# Notes\n\n## {title}\n\n{listed}", name="notes.md").findings
    assert finding.note == "the whole document was read as study text"


def test_remarks_with_numbers_that_set_no_task_are_not() -> None:
    assert unread(f"{READ}# More questions\n\n1. The answers are short.\n2. Two of them agree in part.\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "## Homework\n\nInstructions:\n\n- Write the name on each page\n- Explain each step briefly\n",
        "## Setup\n\n- Create a new environment\n- Implement the smallest model\n",
        "## Questions\n\n- [Explain the loss](#loss) of a model\n- [Describe the data](#data) in words\n",
    ],
)
def test_instructions_and_steps_are_not_tasks(text: str) -> None:
    assert unread(f"{READ}{text}") == []


@pytest.mark.parametrize(
    "form", ["#### {n}) Flow of gradients\nThey flow back.", "Q{n} What is a graph", "{n}. Is it?"]
)
def test_what_goes_on_with_the_next_numbers_within_an_answer_is_named(form: str) -> None:
    text = "\n\n".join(form.format(n=number) for number in (5, 6))
    found = unread(f"{READ}{text}\n")
    assert [one.span.line - BELOW for one in found] == [0, len(form.split("\n")) + 1]
    assert {one.note for one in found} == {f"it was read as part of the question on line {BELOW - 3}"}


@pytest.mark.parametrize(
    "inside",
    [
        "1. Is it fast?\n2. Is it small?",  # what answers counts from 1
        "5. It is fast.\n6. It is small.",
        "#### 7) Flow\nBack.",
        "#### 4) Flow\nBack.",
        "```\nQ5 What is a graph\n```",
    ],
)
def test_other_numbers_within_an_answer_are_not(inside: str) -> None:
    assert unread(f"{READ}{inside}\n") == []


PART = "The loop has a part.\nWhat does step {n} of it do?\nIt is short."
"""Three lines, of which the second asks."""


def parts(count: int) -> str:
    return "## Notes\n\n" + "\n\n".join(PART.format(n=n) for n in range(count)) + "\n"


def test_no_more_than_some_are_named_one_by_one() -> None:
    found = unread(READ + parts(MOST_NAMED + 5))
    first = BELOW + 3 + 4 * MOST_NAMED
    assert [one.span.line for one in found] == list(range(BELOW + 3, first + 1, 4))
    assert found[-1].message == f"5 more places look like questions but were not read, lines {first}–{first + 16}"


def test_one_more_than_that_is_named_as_the_others_are() -> None:
    found = unread(READ + parts(MOST_NAMED + 1))
    assert len({one.message for one in found}) == 1
    assert len(found) == MOST_NAMED + 1


@pytest.mark.parametrize(
    ("more", "named"),
    [(0, "76, 80"), (1, "76, 80, 84"), (2, "76, 80 and 2 more, lines 84–88"), (5, "76, 80 and 5 more, lines 84–100")],
)
def test_no_more_than_some_are_named_where_nothing_was_read(more: int, named: str) -> None:
    (finding,) = read_bank(parts(MOST_NAMED + more), name="notes.md").findings
    assert finding.code == "Q005"
    assert finding.note.endswith(named)


def test_the_summary_counts_what_was_named() -> None:
    reading = read_bank(f"{READ}## Notes\n\nWhat is this?\n\nWhat is that?\n", name="quiz.md")
    assert summary(reading) == f"4 questions, 2 skipped: lines {BELOW + 2}, {BELOW + 4}"


def test_the_time_to_find_them_grows_with_the_document() -> None:
    def calls(count: int) -> int:
        asked = "".join(f"#### {n}) Part of {n}\nText.\n\n- Is it?\n\n" for n in range(5, 5 + count))
        return calls_of(lambda: read_bank(f"{READ}{asked}", name="quiz.md"))

    assert calls(400) < 2.5 * calls(200)
