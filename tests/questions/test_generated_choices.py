"""Choices made from prose: one right option, three that answer other questions, or no choice and the reason."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions import Question, read_path
from questions.generated_choices import ASKED, LONGEST, SHORTEST, SUFFIX, generate_choices
from questions.model import GENERATED_TAG, SourceLocation
from questions.similarity import NEAR_DUPLICATE, similarity_of
from tests.external import SEEDS, needs_seeds

PROSE = {
    "What is a hash table?": "A hash table maps each key to a bucket by a number computed from it.",
    "What is a mutex?": "A mutex is a lock that only one thread can hold at any time.",
    "What is a decorator?": "A decorator is a callable that takes another callable and returns a replacement.",
    "What is a coroutine?": "A coroutine can be suspended at an `await` and resumed later by the event loop.",
    "What is a checksum?": "A checksum detects damaged files by summing up every byte twice.",
    "What is a tuple?": "A tuple never changes after it was made, so that dictionaries accept it.",
}


def asked(prompt: str, answer: str, **more: object) -> Question:
    number = len(prompt)
    made = Question(
        prompt.lower().replace(" ", "-"), "open", prompt, SourceLocation("doc.md", number, number + 2), answer
    )
    return dataclasses.replace(made, **more)  # type: ignore[arg-type]


def bank(**more: str) -> list[Question]:
    return [asked(prompt, answer) for prompt, answer in {**PROSE, **more}.items()]


def reason_of(questions: list[Question], prompt: str) -> str:
    ids = {question.id: question.prompt for question in questions}
    return next(refused.reason for refused in generate_choices(questions).refused if ids[refused.id] == prompt)


def test_a_choice_is_of_the_bank_and_marked() -> None:
    questions = [dataclasses.replace(one, license="CC0-1.0", tags=("python",), topic="python") for one in bank()]
    forms = generate_choices(questions)
    assert len(forms.choices) >= 4
    one = next(made for made in forms.choices if "mutex" in made.prompt)
    original = next(question for question in questions if "mutex" in question.prompt)
    assert one.id == original.id + SUFFIX
    assert one.kind == "choice" and one.answer is None and one.answered
    assert one.prompt.startswith(original.prompt) and ASKED in one.prompt
    assert (one.place, one.license, one.topic) == (original.place, original.license, original.topic)
    assert one.tags == ("python", GENERATED_TAG)
    assert one.why == original.answer


def test_the_subject_is_taken_out_of_every_option_alike() -> None:
    for made in generate_choices(bank()).choices:
        subject = made.prompt.partition("?")[0].rpartition(" ")[2]
        assert len(made.options) == 4 and sum(option.right for option in made.options) == 1
        assert all(option.text.startswith("It ") for option in made.options)
        assert all(subject not in option.text for option in made.options)


def test_a_wrong_option_says_which_question_it_answers() -> None:
    answers = {answer: prompt for prompt, answer in PROSE.items()}
    for made in generate_choices(bank()).choices:
        for option in made.options:
            prompt = next(prompt for answer, prompt in answers.items() if answer.endswith(option.text[3:]))
            assert option.right == made.prompt.startswith(prompt)
            assert option.reason == ("" if option.right else f"This answers: {prompt}")


def test_two_things_compared_are_one_of_them() -> None:
    questions = bank(
        **{"What is the difference between a list and an array?": "- **List**: Holds objects of any type by reference."}
    )
    made = next(one for one in generate_choices(questions).choices if "list" in one.prompt)
    assert next(option.text for option in made.options if option.right) == (
        "One of them holds objects of any type by reference."
    )
    assert all(option.text.startswith("One of them ") for option in made.options)


def test_a_reason_stands_alone_among_reasons() -> None:
    because = {
        "Why is quicksort fast?": "Quicksort is fast because every pass runs through adjacent memory cells.",
        "Why do threads wait?": "Threads wait because another holder owns the lock at that moment.",
        "Why are floats inexact?": "Floats are inexact because most decimal fractions have no finite binary form.",
        "Why does recursion crash?": "Recursion may crash because every open call keeps its frame on the stack.",
    }
    made = generate_choices([asked(prompt, answer) for prompt, answer in because.items()]).choices
    assert made
    assert all(option.text.startswith("Because ") for one in made for option in one.options)


@pytest.mark.parametrize(
    ("prompt", "answer", "reason"),
    [
        ("What is a mutex made of?", "```c\nint lock;\n```", "no sentence of its answer can be understood alone"),
        ("What is a pointer?", "It depends.", "no sentence of its answer can be understood alone"),
        (
            "What is a heap?",
            "A heap is a heap-shaped tree whose every heap node is ordered.",
            "name the subject of the question",
        ),
        ("Explain why a queue blocks.", "Every consumer has to take one element out first.", "only minor sentences"),
    ],
)
def test_a_doubtful_sentence_is_refused(prompt: str, answer: str, reason: str) -> None:
    assert reason in reason_of(bank(**{prompt: answer}), prompt)


def test_a_sentence_that_could_be_right_is_not_used_as_a_wrong_option() -> None:
    twin = "What makes a lock a lock?"
    questions = bank(**{twin: "A lock is a thing only one thread can hold at any time."})
    for made in generate_choices(questions).choices:
        if "mutex" in made.prompt:
            assert not any("lock a lock" in option.reason for option in made.options)


def test_too_small_a_bank_has_none() -> None:
    few = bank()[:3]
    assert not generate_choices(few).choices
    assert len(generate_choices(few).refused) == 3


def test_only_answered_prose_is_analyzed() -> None:
    questions = [*bank(), asked("What?", "x", kind="value"), asked("Who is?", "")]
    forms = generate_choices(questions)
    assert {refused.id for refused in forms.refused} | {made.id.removesuffix(SUFFIX) for made in forms.choices} == {
        question.id for question in bank()
    }


@given(st.randoms(use_true_random=False))
def test_the_order_of_the_bank_changes_nothing(rng: random.Random) -> None:
    questions = bank()
    known = {made.id: made for made in generate_choices(questions).choices}
    rng.shuffle(questions)
    assert {made.id: made for made in generate_choices(questions).choices} == known


def made_by_the_rules(questions: Sequence[Question]) -> int:
    """Checks every choice made of the questions; returns how many those are."""
    by_id = {question.id: question for question in questions}
    forms = generate_choices(questions)
    for made in forms.choices:
        original = by_id[made.id.removesuffix(SUFFIX)]
        lengths = [len(option.text) for option in made.options]
        assert min(lengths) >= SHORTEST and max(lengths) <= LONGEST + 20
        assert len({option.id for option in made.options}) == 4
        for option in made.options:
            if not option.right:
                other = option.reason.removeprefix("This answers: ")
                found = [q for q in by_id.values() if " ".join(q.prompt.split()) == other]
                assert found and all(similarity_of(original, q) < NEAR_DUPLICATE for q in found)
    return len(forms.choices)


def test_choices_keep_the_rules() -> None:
    assert made_by_the_rules(bank()) >= 4


@needs_seeds
def test_the_documents_give_choices_that_keep_the_rules() -> None:
    readings = [reading for reading in read_path(SEEDS) if reading.bank.name[:3].isdigit()]
    assert [made_by_the_rules(reading.bank.questions) for reading in readings] == [5, 27, 0, 0, 3]
