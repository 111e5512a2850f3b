"""What every import format does with options, short answers, numbers, pairs, ids and tags."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.formats.draft import literal_of, topic_of
from tests.questions.formats.readings import all_asked, found


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("5", "5"),
        ("+5", "5"),
        ("-5", "-5"),
        ("\N{MINUS SIGN}5", "-5"),
        ("5.", "5."),
        ("5.0", "5.0"),
        (".5", ".5"),
        ("1e3", "1e3"),
        ("1E-3", "1E-3"),
        (" `7` ", "7"),
        ("(1, 2)", "(1, 2)"),
        ("[1, [2, None]]", "[1, [2, None]]"),
        ("[True]", "[True]"),
        ("()", "()"),
        (f"({'1,' * 249})", f"({'1,' * 249})"),
        (f"[{'1,' * 249}1]", None),  # 501 characters
        ("1e999", None),  # infinite
        ("1e1000", None),
        ("5e", None),
        ("0x10", None),
        ("1_000", None),
        ("2j", None),
        ("{1}", None),
        ("[1,", None),
        ("(1, 'a')", None),
        ("[f()]", None),
        ("x", None),
        ("", None),
    ],
)
def test_only_numbers_and_lists_of_numbers_are_compared_exactly(text: str, literal: str | None) -> None:
    assert literal_of(text) == literal


@pytest.mark.parametrize(
    ("names", "topic"),
    [
        (["Science: Computers"], "science/computers"),
        (["top/tensors"], "top/tensors"),
        (["A\x1fB", "C"], "a/b/c"),
        (["Ünïcode & more"], "unicode-more"),
        (["//a//", ""], "a"),
        (["日本"], ""),
    ],
)
def test_names_become_a_path_in_the_topic_tree(names: list[str], topic: str) -> None:
    assert topic_of(*names) == topic


def with_options(*options: str, key: str) -> str:
    return f'question,options,correct\nWhat?,"{"|".join(options)}",{key}\n'


TWICE = "2-2 Q607 two options are the same | `{}` was imported once | change or remove one"
MANY = "2-2 Q607 there are too many options | {} | keep 26 or fewer"


@pytest.mark.parametrize(
    ("options", "asked", "finding"),
    [
        (["one", "key", "one"], "What? | - one | + key", TWICE.format("one")),
        (["one", "*one*", "key"], "What? | - one | + key", TWICE.format("one")),
        (["*key*", "one", "key"], "What? | - one | + key", TWICE.format("key")),
        (["one", "key", "One"], "What? | - one | + key | - One", ""),
        (["<b>", "key"], "What? | - `<b>` | + key", ""),
        (["<b>x</b>", "key"], "What? | - <b>x</b> | + key", ""),
        (["x" * 70, "x" * 70, "key"], f"What? | - {'x' * 70} | + key", TWICE.format("x" * 60)),
        (["one", "x" * 20_000, "key"], f"What? | - one | - {'x' * 20_000} | + key", ""),
        (
            ["one", "x" * 20_001, "key"],
            "What? | - one | + key",
            "2-2 Q607 an option is empty or too long | it was left out | write its text",
        ),
    ],
)
def test_each_text_is_offered_once(options: list[str], asked: str, finding: str) -> None:
    reading = read_bank(with_options(*options, key="key"), name="a.csv")
    assert all_asked(reading) == [asked]
    assert found(reading) == ([finding] if finding else [])


@pytest.mark.parametrize(
    ("count", "findings"),
    [
        (26, []),
        (27, [MANY.format("`o26` was left out")]),
        (28, [MANY.format("`o26` was left out"), MANY.format("`o27` was left out")]),
    ],
)
def test_a_question_has_at_most_26_options(count: int, findings: list[str]) -> None:
    reading = read_bank(with_options(*(f"o{number}" for number in range(count)), key="o0"), name="a.csv")
    (question,) = reading.bank.questions
    assert [option.id for option in question.options] == list("abcdefghijklmnopqrstuvwxyz")
    assert found(reading) == findings


@pytest.mark.parametrize(("count", "named"), [(200, 174), (201, 175), (250, 175)])
def test_of_very_many_options_only_200_are_looked_at(count: int, named: int) -> None:
    reading = read_bank(with_options(*(f"o{number}" for number in range(count)), key="o0"), name="a.csv")
    assert len(reading.findings) == named
    assert (MANY.format("only the first 200 were imported") in found(reading)) == (count > 200)


@pytest.mark.parametrize(
    ("answer", "point"),
    [
        *((code, f"`{code}`") for code in ("x.y", "f(x)", "a_b", "_x", "v2", "a<b", "a/b", "a-b", "1)2", "a:", "x+")),
        *((text, text) for text in ("plain", "two words", "two x.y", ".x", "`a.b`")),
    ],
)
def test_an_answer_that_looks_like_code_is_matched_as_code(answer: str, point: str) -> None:
    (question,) = read_bank(f"question,answer\nWhat?,{answer}\n", name="a.csv").bank.questions
    assert (question.answer, question.key_points) == (answer, (point,))


def test_programs_in_the_prompt_and_in_the_answer_are_kept_as_programs() -> None:
    text = 'question,answer\n"```py\nx\n```","~~~\ny\n~~~"\n'
    (question,) = read_bank(text, name="a.csv").bank.questions
    assert [(block.text, block.language, block.line) for block in question.code_blocks] == [
        ("x", "py", 2),
        ("y", "", 2),
    ]


def test_a_tag_that_names_a_level_is_the_level() -> None:
    text = 'question,answer,tags\nWhat?,a,"senior,x  y,x y,mid,"\n'
    (question,) = read_bank(text, name="a.csv").bank.questions
    assert (question.tags, question.level) == (("x y",), "mid")


# Ids

NO_ID = (
    "2-2 Q612 this is not a valid id | `{}` was replaced by an id made from the prompt"
    " | use lower-case words and numbers joined by hyphens"
)


@pytest.mark.parametrize("id", ["a", "a-b", "7", "a" * 80])
def test_an_id_of_the_author_is_kept(id: str) -> None:
    reading = read_bank(f"// [id:{id}]\nWhat is it? {{=a}}\n", name="a.gift")
    assert [question.id for question in reading.bank.questions] == [id]
    assert found(reading) == []


@pytest.mark.parametrize("id", ["Bad Id", "a--b", "-a", "a_b", "a" * 81])
def test_an_invalid_id_is_replaced_and_named(id: str) -> None:
    reading = read_bank(f"// [id:{id}]\nWhat is it? {{=a}}\n", name="a.gift")
    assert [question.id for question in reading.bank.questions] == ["what-is-it"]
    assert found(reading) == [NO_ID.format(id[:60])]
    assert reading.findings[0].severity == "note"


# Pairs

SPLIT = (
    "1-1 Q608 a matching question was split into {} choices |  "
    "| nothing to do; or ask for the whole assignment in one question"
)


def pairs(*sides: tuple[str, str], id: str = "") -> str:
    head = f"// [id:{id}] " if id else ""
    return head + "\n" * bool(id) + "M? {" + " ".join(f"={left} -> {right}" for left, right in sides) + "}"


def test_each_left_side_asks_among_all_right_sides_in_alphabetical_order() -> None:
    reading = read_bank(pairs(("a", "B"), ("c", "a"), ("d", "B"), ("", "z"), ("q", "")), name="a.gift")
    assert all_asked(reading) == [
        "M?\n\na | - a | + B | - z",
        "M?\n\nc | + a | - B | - z",
        "M?\n\nd | - a | + B | - z",
    ]
    assert found(reading) == [SPLIT.format(3)]


def test_the_questions_of_pairs_have_numbered_ids() -> None:
    reading = read_bank(pairs(("a", "b"), ("c", "d"), id="my-id"), name="a.gift")
    assert [question.id for question in reading.bank.questions] == ["my-id-1", "my-id-2"]
    assert {question.number for question in reading.bank.questions} == {""}


def test_pairs_without_left_sides_are_a_question_without_an_answer() -> None:
    reading = read_bank(pairs(("", "b"), ("", "c")), name="a.gift")
    assert all_asked(reading) == ["M?\n\n- b\n- c"]
    assert [finding.code for finding in reading.findings] == ["Q604"]


@pytest.mark.parametrize("count", [26, 27, 30])
def test_every_pair_up_to_26_keeps_its_right_side(count: int) -> None:
    sides = [(f"l{number}", f"r{count - number:02}") for number in range(count)]
    reading = read_bank(pairs(*sides), name="a.gift")
    assert len(reading.bank.questions) == 26
    for question, (_, right) in zip(reading.bank.questions, sides, strict=False):
        assert len(question.options) == 26
        assert [option.text for option in question.options if option.right] == [right]
    many = "1-1 Q606 there are too many pairs | only the first 26 were imported | split the question"
    assert found(reading) == ([many] if count > 26 else []) + [SPLIT.format(26)]


# Numbers

TOLERANCE = "1-1 Q606 tolerances are not supported | Accepted: {}. only {} is accepted | ask for an exact result"


@pytest.mark.parametrize(
    ("written", "number", "accepted"),
    [
        ("5", "5", ""),
        ("4.0:0", "4.0", ""),
        ("5:", "5", ""),
        ("5:0.1", "5", "4.9 to 5.1"),
        ("5:-1", "5", "4 to 6"),
        ("1..2", "1.5", "1 to 2"),
        ("1 .. 3", "2", "1 to 3"),
        ("2..2", "2", ""),
        ("0.1..0.4", "0.25", "0.1 to 0.4"),
        ("-3..-1", "-2", "-3 to -1"),
        ("1e20..3e20", "2e+20", "1e+20 to 3e+20"),
        ("1e-20:1e-21", "1e-20", "9e-21 to 1.1e-20"),
        ("0.00000000000001:0.00000000000001", "0.00000000000001", "0 to 0.00000000000002"),
        ("1e15:1", "1e15", "999999999999999 to 1000000000000001.0"),
    ],
)
def test_a_number_is_asked_exactly_and_its_tolerance_explained(written: str, number: str, accepted: str) -> None:
    reading = read_bank(f"N? {{#{written}}}", name="a.gift")
    why = f" | why Accepted: {accepted}." if accepted else ""
    assert all_asked(reading) == [f"N? | = {number}{why}"]
    assert [question.kind for question in reading.bank.questions] == ["value"]
    assert found(reading) == ([TOLERANCE.format(accepted, number)] if accepted else [])


@pytest.mark.parametrize("written", ["2..1", "5:x", "x", "x..5", "1..x", "(1, 2)"])
def test_what_is_no_number_is_no_answer(written: str) -> None:
    reading = read_bank(f"N? {{#{written}}}", name="a.gift")
    assert all_asked(reading) == ["N?"]
    assert found(reading) == [
        "1-1 Q604 the question has no answer | it is kept but never asked | write the answer",
        f"1-1 Q606 the answer is not a number | it says `{written}` | write `#5`, `#5:0.1` or `#1..5`",
    ]


def test_several_numbers_are_accepted_and_the_first_is_shown() -> None:
    assert all_asked(read_bank("N? {#=5:0 =6 =5}", name="a.gift")) == ["N? | = 5 | why Also accepted: 6"]
