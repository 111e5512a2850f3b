"""Documents in which nothing has a usual form: questions below words with numbers, behind numbers without a period, and
above lists with one item in emphasis."""

from __future__ import annotations

import pytest

from questions import Reading, read_bank

NAMES = ("view", "leaf", "stride", "clone", "graph")


def read(text: str) -> Reading:
    """Reads a text; each of its lines is accounted for."""
    reading = read_bank(text, name="a.txt")
    assert reading.unaccounted() == ()
    return reading


def prompts(text: str) -> list[str]:
    """Returns the questions of a text."""
    return [question.prompt for question in read(text).bank.questions]


@pytest.mark.parametrize("word", ["Question", "Pregunta", "Frage #", "Вопрос"])
def test_a_word_with_a_number_alone_begins_a_question(word: str) -> None:
    text = "\n\n".join(f"{word} {at}\nThe error of a {name}\nby: Ada" for at, name in enumerate(NAMES, 1))
    assert prompts(text.replace("# ", "#")) == [f"The error of a {name}\nby: Ada" for name in NAMES]


def test_words_whose_numbers_do_not_count_begin_nothing() -> None:
    text = "\n\n".join(f"Question {at}\nThe error of a {name}" for at, name in zip((1, 2, 4, 5, 6), NAMES, strict=True))
    assert prompts(text) == []


def test_a_number_needs_no_period() -> None:
    lines = [f"{at} ¿Qué es un {name}?" for at, name in enumerate(NAMES, 1)]
    assert prompts("\n".join(("Para practicar", *lines))) == [f"¿Qué es un {name}?" for name in NAMES]


def test_numbers_before_what_asks_nothing_are_numbers() -> None:
    assert prompts("\n".join(f"{at} boxes of the {name}" for at, name in enumerate(NAMES, 1))) == []


LISTED = (*NAMES, "shape", "device", "kernel", "buffer", "module")
LISTS = "\n\n".join(f"The name of a {name}:\n\n- a number\n- **_the {name}_**\n- none of these" for name in LISTED)


def test_the_only_item_in_emphasis_of_each_list_is_the_right_option() -> None:
    reading = read(LISTS)
    assert [one.prompt for one in reading.bank.questions] == [f"The name of a {name}:" for name in LISTED]
    options = [[(option.text, option.right) for option in one.options] for one in reading.bank.questions]
    assert options == [[("a number", False), (f"the {name}", True), ("none of these", False)] for name in LISTED]
    assert {one.code for one in reading.findings} == {"Q107"}


def test_what_is_behind_the_last_list_is_not_part_of_its_question() -> None:
    *keyed, last = read(LISTS + "\n\nThe name of a loop:\n\n- a number\n- a list\n").bank.questions
    assert len(keyed) == len(LISTED)
    assert not last.answered
    assert last.prompt.startswith("The name of a loop:")


@pytest.mark.parametrize("text", [LISTS.replace("**_", "").replace("_**", ""), LISTS.replace("a number", "**one**")])
def test_lists_without_one_item_in_emphasis_have_no_options(text: str) -> None:
    assert read(text).bank.questions == ()


def test_what_is_read_otherwise_keeps_its_form() -> None:
    numbered = "\n".join(f"{at} What is a {name}?" for at, name in enumerate(NAMES, 1))
    assert prompts(f"{numbered}\n\n**Q:** What is a loop?\n\n**A:** A cycle.\n") == ["What is a loop?"]


def test_lines_that_all_ask_are_questions_without_answers() -> None:
    lines = [f"What is a {name} for?\nExplain the {name} to me." for name in NAMES]
    assert prompts("\n".join(lines)) == "\n".join(lines).split("\n")
    korean = [f"{name}은 왜 필요한가요?\n{name}에 대해 설명해줘." for name in NAMES]
    assert prompts("\n".join(korean)) == "\n".join(korean).split("\n")


@pytest.mark.parametrize(
    "line", ["Some words about it.\nAnd some more.", "# A title", "- an item", "| a cell |"], ids=str.split
)
def test_other_lines_among_them_are_no_questions(line: str) -> None:
    asked = "\n".join(f"What is a {name}?" for name in NAMES[:3])
    assert all(line.split("\n")[0] not in one for one in prompts(f"{asked}\n{line}\n{asked}"))


def test_a_tab_before_each_number_is_left_out() -> None:
    lines = [f"\t{at}.\tWhat is a {name}?\n\t\tA. a copy\n\t\tB. a part" for at, name in enumerate(NAMES, 1)]
    found = read("Test\n\n" + "\n".join(lines)).bank.questions
    assert [one.prompt for one in found] == [f"What is a {name}?" for name in NAMES]
    assert [option.text for option in found[0].options] == ["a copy", "a part"]


def test_numbers_in_parts_below_titles_with_their_number_begin_questions() -> None:
    lines = ("1 Views", *(f"1.{at} What is a {name}?" for at, name in enumerate(NAMES, 1)), "", "2 Graphs")
    below = ("2.1 What is a node?", "2.3 Kinds of edges and how they differ")
    assert prompts("\n".join((*lines, *below))) == [
        *(f"What is a {name}?" for name in NAMES),
        "What is a node?",
        "Kinds of edges and how they differ",
    ]


@pytest.mark.parametrize(
    ("asked", "numbers"), [("What is it?", ("1.1", "1.3", "1.2", "1.4", "1.5")), ("The view", ("1.1", "1.2", "1.3"))]
)
def test_numbers_in_parts_that_do_not_ascend_or_do_not_ask_begin_nothing(asked: str, numbers: tuple[str, ...]) -> None:
    assert prompts("\n".join(f"{number} {asked}" for number in (*numbers, *numbers))) == []


def test_a_line_of_signs_ends_a_list_of_questions() -> None:
    asked = [f"What is a {name}?" for name in (*NAMES, *LISTED[5:])]
    text = "\n".join((*asked, "", "=====", "A view shares memory with its base."))
    assert prompts(text) == asked
