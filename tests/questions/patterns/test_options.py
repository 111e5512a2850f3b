"""Options and keys in the text of a question."""

from __future__ import annotations

import pytest

from questions.patterns.options.choices import ChoiceParts, find_choice
from questions.patterns.options.search import bullets_in, options_in

LETTERS = "Which?\n\na) one\nb) two\nc) three"


def shown(choice: ChoiceParts | None) -> str:
    if choice is None:
        return ""
    return " ".join(f"{option.id}{'+' * option.right}:{option.text}" for option in choice.options)


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("b", "b"),
        ("B.", "b"),
        ("**b**", "b"),
        ("(b) because", "b"),
        ("b) two", "b"),
        ("Option B", "b"),
        ("The correct answer is b.", "b"),
        ("two", "b"),
        ("A, C", "ac"),
        ("a and c", "ac"),
    ],
)
def test_a_key_names_options_of_the_document(key: str, right: str) -> None:
    choice = find_choice(LETTERS, key, labeled=True)
    assert choice is not None and choice.prompt == "Which?" and not choice.problems
    assert "".join(option.id for option in choice.options if option.right) == right


@pytest.mark.parametrize("answer", ["A tensor is an array.", "It depends.", "a) 1 b) 2 c) 3", "a's type"])
def test_prose_is_not_an_option_key(answer: str) -> None:
    assert find_choice(LETTERS, answer, labeled=True) is None


def test_letters_without_a_key_are_options_of_an_unanswered_question() -> None:
    choice = find_choice(LETTERS, "", labeled=True)
    assert shown(choice) == "a:one b:two c:three"
    assert shown(find_choice("Which?", "a) one\nb) two", labeled=False)) == "a:one b:two"


def test_a_letter_names_an_option_by_its_label_in_any_order() -> None:
    choice = find_choice("Which?\n\nd) x\nb) y\na) z\nc) a", "C", labeled=True)
    assert shown(choice) == "d:x b:y a:z c+:a"
    assert shown(find_choice("Which?\n\n- d\n- b\n- a\n- c", "C", labeled=True)) == ""


@pytest.mark.parametrize(
    ("prompt", "answer", "code"),
    [
        (LETTERS, "d", "Q105"),
        ("Which?\n- [x] one\n- [ ] two", "b", "Q106"),
        ("Which?\n- [x] one\n- [x] two", "a", "Q106"),
    ],
)
def test_a_key_that_cannot_be_leaves_the_question_unanswered(prompt: str, answer: str, code: str) -> None:
    choice = find_choice(prompt, answer, labeled=True)
    assert choice is not None
    assert [problem.code for problem in choice.problems] == [code]
    assert not any(option.right for option in choice.options)


def test_marks_say_what_is_right() -> None:
    assert shown(find_choice("", "- [ ] one\n- [x] two", labeled=False)) == "a:one b+:two"
    assert shown(find_choice("", "a) one\nb) two ✅", labeled=False)) == "a:one b+:two"
    assert shown(find_choice("", "a) one\nb) two (correct)", labeled=False)) == "a:one b+:two"


def test_a_single_bold_option_is_right_with_a_finding_that_it_is_a_guess() -> None:
    choice = find_choice("", "a) one\n**b) two**\nc) three", labeled=False)
    assert shown(choice) == "a:one b+:two c:three"
    assert choice is not None and [problem.code for problem in choice.problems] == ["Q107"]


def test_the_key_below_unlabeled_options_gives_the_reason() -> None:
    choice = find_choice("Which?", "a) one\nb) two\n\nAnswer: b\n\nIt is even.", labeled=False)
    assert choice is not None and (shown(choice), choice.why) == ("a:one b+:two", "It is even.")


def test_no_options_in_a_program_nor_out_of_order() -> None:
    assert options_in(["```", "a) one", "b) two", "```"]) is None
    assert options_in(["a) one", "c) two"]) is None
    assert options_in(["- [ ] to do"] * 21) is None


def test_bullets_are_options_only_if_the_answer_is_one_of_them() -> None:
    prompt = "Which?\n\n- one\n- two"
    assert bullets_in(prompt.split("\n")) is not None
    assert shown(find_choice(prompt, "two", labeled=True)) == "a:one b+:two"
    assert find_choice(prompt, "both", labeled=True) is None
