"""Similarity: rewordings are found, different questions are not, and many are compared within seconds."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.model import Option, Question, SourceLocation
from questions.reader import read_path
from questions.similarity import (
    MAX_MATCHES,
    NEAR_DUPLICATE,
    Index,
    fingerprint_of,
    fingerprint_similarity,
    similarity_of,
)
from tests.calls import calls_of
from tests.external import SEEDS, needs_seeds
from tests.questions.shipped import read_shipped_bank


def question(prompt: str, answer: str | None = None, id_: str = "q", **more: object) -> Question:
    return Question(id_, "open", prompt, SourceLocation("a.md", 1, 1), answer, **more)  # type: ignore[arg-type]


VOCABULARY = ("strides", "view", "copy", "cat", "float16", "bfloat16", "memory", "how", "x.t()", "3", "4", "largest")
words = st.lists(st.sampled_from(VOCABULARY))
texts = st.one_of(words.map(" ".join), st.text(max_size=40))
asked = st.builds(question, texts, st.none() | texts, program=st.sampled_from(["", "x = 1", "x = 2", "print(x.t())"]))


@given(asked, asked)
def test_likeness_is_a_share_and_the_same_either_way(one: Question, other: Question) -> None:
    score = similarity_of(one, other)
    assert 0 <= score <= 1
    assert score == pytest.approx(similarity_of(other, one))


@given(asked)
def test_a_question_is_identical_to_itself_at_any_position(one: Question) -> None:
    assert (
        similarity_of(one, replace(one, id="else", place=SourceLocation("b.md", 9, 9), number="7", section=("More",)))
        == 1
    )


plain = st.lists(st.text("abcdefghij", min_size=2, max_size=8), min_size=1, max_size=9)
MARKS = ("**{}**", "*{}*", "`{}`", "_{}_", "{},", "({})", '"{}"', "# {}", "{}?", "{}.", "~~{}~~")


@given(plain, st.data())
def test_case_punctuation_and_marks_make_no_difference(said: list[str], data: st.DataObject) -> None:
    marks = [data.draw(st.sampled_from(MARKS)) for _ in said]
    cases = [data.draw(st.sampled_from((str.lower, str.upper, str.title))) for _ in said]
    marked = " ".join(mark.format(case(word)) for word, mark, case in zip(said, marks, cases, strict=True))
    assert similarity_of(question(" ".join(said)), question(marked)) == 1


@pytest.mark.parametrize(
    ("asking", "one", "other"),
    [
        ("How many bytes does an element of a `{}` tensor take?", "float16", "bfloat16"),
        ("What is `7 {} 2` in Python, as a number?", "//", "%"),
        ("How large is the output of a convolution with stride 2 and kernel {}?", "3", "5"),
        ("Which dtype does `torch.{}(values)` give a list of ints?", "tensor", "Tensor"),
        ("Does `x.{}(1)` write in place and keep the storage?", "add_", "mul_"),
        ("Does `x.{}(1)` write in place and keep the storage?", "add", "add_"),
    ],
)
def test_names_numbers_and_operators_tell_questions_apart(asking: str, one: str, other: str) -> None:
    assert similarity_of(question(asking.format(one)), question(asking.format(other))) < NEAR_DUPLICATE


def test_what_is_printed_is_asked_of_the_program() -> None:
    def printing(program: str) -> Question:
        return question("What does this print?", program=program)

    assert (
        similarity_of(printing("import torch\nprint(torch.ones(3).sum())"), printing("print(len('abc'))"))
        < NEAR_DUPLICATE
    )
    one = "x = torch.arange(6)\nfor row in x.view(2, 3):\n    print(row.sum())"
    assert similarity_of(printing(one), printing(one + "  # by row")) == 1
    assert similarity_of(printing(one), printing(one.replace("x.view", "x.reshape").replace("2", "1"))) < NEAR_DUPLICATE


def test_options_are_part_of_what_is_asked_in_any_order_and_the_right_one_is_not() -> None:
    options = (Option("a", "This", True), Option("b", "That", False))
    one = question("Which?", options=options)
    assert similarity_of(one, replace(one, options=options[::-1])) == 1
    assert (
        similarity_of(one, replace(one, options=tuple(replace(option, right=not option.right) for option in options)))
        == 1
    )
    assert similarity_of(one, replace(one, options=(*options, Option("c", "None of both", False)))) < 1


def test_the_same_question_without_its_answer_is_the_same_question() -> None:
    prompt = "When does `view` fail and `reshape` not?"
    assert similarity_of(question(prompt), question(prompt, "When the strides do not allow it.")) == 1


def test_other_scripts_are_compared_by_their_letters() -> None:
    assert similarity_of(question("张量的步幅是什么意思"), question("张量的步幅是什么")) >= NEAR_DUPLICATE
    assert similarity_of(question("张量的步幅是什么"), question("如何移动模型到显卡")) < NEAR_DUPLICATE


def found_among(asked: list[Question]) -> set[frozenset[str]]:
    index = Index((one.id, fingerprint_of(one)) for one in asked)
    return {frozenset((one.id, like.key)) for one in asked for like in index.similar_to(one.id)}


@pytest.mark.slow
def test_the_index_finds_what_comparing_each_with_each_finds() -> None:
    asked = list(read_shipped_bank().questions)
    prints = {one.id: fingerprint_of(one) for one in asked}
    pairs = {
        frozenset((a, b))
        for a, b in combinations(prints, 2)
        if fingerprint_similarity(prints[a], prints[b]) >= NEAR_DUPLICATE
    }
    assert found_among(asked) == pairs


def test_the_most_alike_come_first_and_few_are_named() -> None:
    asked = [question(f"What does `stride` mean for a view {'and its base ' * n}?", id_=str(n)) for n in range(9)]
    likes = Index((one.id, fingerprint_of(one)) for one in asked).similar_to("1")
    assert len(likes) == MAX_MATCHES
    assert all(NEAR_DUPLICATE <= like.score < 1 for like in likes)
    assert [like.score for like in likes] == sorted((like.score for like in likes), reverse=True)


REWORDED = (
    ("What is the difference between `from_numpy` and `tensor`?", "Explain how `tensor` differs from `from_numpy`."),
    ("How do you stack tensors along a new dimension?", "How can tensors be stacked along a new dimension?"),
    ("Why must gradients be cleared before each step?", "Why do we have to clear the gradients before every step?"),
    ("What does pinned memory (`pin_memory=True`) do?", "What is pinned memory, `pin_memory=True`?"),
    ("How is an out-of-memory error on the GPU debugged?", "How do you debug an out-of-memory error on a GPU?"),
    ("Explain broadcasting and its rules.", "What is broadcasting, and what are its rules?"),
    ("What is the difference between `eval()` and `no_grad()`?", "`no_grad()` or `eval()`: what is the difference?"),
    ("How does `DataParallel` work?", "Describe how `DataParallel` works."),
    ("How does `DistributedDataParallel` work?", "Describe how `DistributedDataParallel` works."),
)


def test_rewordings_are_found_and_nothing_else() -> None:
    asked = []
    for place, (one, other) in enumerate(REWORDED):
        asked += [question(one, id_=f"{place}a"), question(other, id_=f"{place}b")]
    assert found_among(asked) == {frozenset((f"{place}a", f"{place}b")) for place in range(len(REWORDED))}


@needs_seeds
def test_the_five_documents_ask_these_questions_twice() -> None:
    asked = [
        replace(one, id=f"{file.name[:3]}:{one.number}:{one.prompt[:24]}")
        for file in sorted(SEEDS.glob("*.txt"))
        for one in read_path(file)[0].bank.questions
    ]
    twice = {" = ".join(sorted(key.rpartition(":")[0] for key in pair)) for pair in found_among(asked)}
    assert twice == {
        "000:5 = 002:5",
        "000:10 = 001:22",
        "000:11 = 003:3",
        "000:16 = 001:42",
        "000:8 = 001:15",
        "001:5 = 003:2",
        "001:7 = 003:3",
        "002:4 = 003:",
        "002:9 = 003:1",
        "003: = 003:2",
    }


def test_the_work_grows_with_the_number_of_questions_and_not_with_its_square() -> None:
    dice = random.Random(1)
    known = ["".join(dice.choices("abcdefghijklmnop", k=6)) for _ in range(5000)]

    def made(number: int) -> Question:
        return question(" ".join(dice.choices(known, k=9)), " ".join(dice.choices(known, k=12)), str(number))

    def work(tenth: int) -> int:
        asked = [made(number) for number in range(9 * tenth)]
        asked += [replace(one, id=f"{one.id}, again") for one in asked[:tenth]]
        assert found_among(asked) == {frozenset((f"{n}", f"{n}, again")) for n in range(tenth)}
        return calls_of(lambda: found_among(asked))

    assert work(100) < 3 * work(50)
