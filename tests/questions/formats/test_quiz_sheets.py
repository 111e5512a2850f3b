"""Spreadsheets of quiz programs: repeated names of columns, keys that name a column, and gaps to fill in."""

from __future__ import annotations

from questions import read_bank
from questions.model import Question

SHARES, STRIDE, LEAVES = "What does a view share?", "What is a stride?", "Which tensors are leaves?"


def read(text: str) -> tuple[Question, ...]:
    return read_bank(text, name="a.csv").bank.questions


def options(question: Question) -> str:
    return " | ".join(f"{'*' * option.right}{option.text}" for option in question.options)


def test_columns_of_the_same_name_are_options() -> None:
    one, two, three = read(
        "Type,Title,Correct,Choice,Choice,Choice\n"
        f"MCQ,{SHARES},2,its name,its storage,its size\n"
        f"MCQ,{STRIDE},1,a step,a copy,\n"
        f'MCQ,{LEAVES},"1,3",inputs,sums,parameters\n'
    )
    assert options(one) == "its name | *its storage | its size"
    assert options(two) == "*a step | a copy"
    assert options(three) == "*inputs | sums | *parameters"


def test_several_columns_for_answers_are_options_where_another_has_the_key() -> None:
    one, two = read(f"Question,Answer,Answer,Correct\n{SHARES},its name,its storage,B\n{STRIDE},a step,a copy,A\n")
    assert [options(one), options(two)] == ["its name | *its storage", "*a step | a copy"]


def test_several_columns_for_answers_without_a_key_are_no_options() -> None:
    found = read(f"Question,Answer,Answer\n{SHARES},its storage,its memory\n{STRIDE},a step,steps\n")
    assert [(one.options, one.answer) for one in found] == [((), "its storage"), ((), "a step")]


def test_a_key_that_names_the_column_of_an_option() -> None:
    one, two = read(
        f"Question;Answer A;Answer B;Correct\n{SHARES};its name;its storage;Answer B\n{STRIDE};a step;a copy;answer a\n"
    )
    assert [options(one), options(two)] == ["its name | *its storage", "*a step | a copy"]


def test_a_gap_is_filled_in_with_one_of_the_options() -> None:
    header = "Question Text,Question Type,Option 1,Option 2,Option 3,Correct Answer"
    one, two, three = read(
        f"{header}\n{SHARES},Multiple Choice,its name,its storage,its size,2\n"
        f'Views share their …,Fill-in-the-Blank,storage,memory,,\n{LEAVES},Checkbox,inputs,sums,parameters,"1,3"\n'
    )
    assert options(one) == "its name | *its storage | its size"
    assert (two.prompt, two.options) == ("Views share their …", ())
    assert (two.answer or "").startswith("storage") and "memory" in (two.answer or "")
    assert options(three) == "*inputs | sums | *parameters"


DATED = [f"2004/03/{day:02},What is number {day} in a list of tensors?,It is the tensor {day}." for day in range(1, 9)]


def test_dates_are_no_sums_that_ask() -> None:
    found = read("\n".join(DATED))
    assert [(one.prompt, one.answer) for one in found] == [tuple(row.split(",")[1:]) for row in DATED]


def test_unknown_names_above_dates_or_questions_are_a_header() -> None:
    for header in ("day,what,said", "first,second,third"):
        assert [one.prompt for one in read("\n".join([header, *DATED]))] == [row.split(",")[1] for row in DATED]
    undated = [row.partition(",")[2] for row in DATED]
    assert [one.prompt for one in read("\n".join(["this,that", *undated]))] == [row.split(",")[0] for row in undated]


def test_unknown_names_above_dates_alone_are_a_header() -> None:
    rows = [row.replace("What is number", "Name the number").replace("?", "") for row in DATED]
    assert [one.prompt for one in read("\n".join(["day,first,second", *rows]))] == [row.split(",")[1] for row in rows]


def test_names_of_original_questions() -> None:
    rows = [
        f"{number}\tquiz\t{asked}\t{said}"
        for number, (asked, said) in enumerate([(SHARES, "storage"), (STRIDE, "a step")])
    ]
    text = "\n".join(["qid\tcompetition\toriginal_question\toriginal_answer", *rows])
    for name in ("a.tsv", "a.txt"):
        assert [one.answer for one in read_bank(text, name=name).bank.questions] == ["storage", "a step"]


def test_options_of_gaps_in_a_sheet_without_keys_are_no_answers() -> None:
    rows = ["Views share …,Fill in the blank,storage,nothing", f"{LEAVES},Multiple choice,inputs,sums"]
    found = read("\n".join(["Question,Type,Option 1,Option 2", *rows]))
    assert not any(one.answered for one in found)


def test_gaps_to_fill_in_by_a_choice_stay_unanswered_without_a_key() -> None:
    found = read(
        "Question,Type,Option 1,Option 2,Correct\nViews share …,Fill in the blank (multiple choice),storage,nothing,\n"
        f"{STRIDE},Multiple choice,a step,a copy,1\n{SHARES},Multiple choice,its name,its storage,2\n"
    )
    assert [one.answered for one in found] == [False, True, True]


def test_numbers_of_those_who_were_right_and_wrong_are_no_options() -> None:
    found = read(f"Question,Correct,Incorrect\n{SHARES},12,3\n{STRIDE},7,8\n{LEAVES},15,0\n")
    assert [one.options for one in found] == [()] * 3


def test_the_advice_in_a_template_of_quizizz_is_named_and_its_numbers_are_those_of_columns() -> None:
    text = (
        "Question Text,Question Type,Option 1,Option 2,Option 3,Correct Answer,Time in seconds,Answer explanation\n"
        "Text of the question,(default is Multiple Choice),Text for option 1,Text for option 2,"
        "Text for option 3 (optional),The correct option choice (between 1-5).,Time in seconds (optional),"
        "Explanation for the answer (optional)\n"
        'Which are views?,Checkbox,transpose,clone,narrow,"1,3",30,\n'
        "What copies?,Multiple Choice,view,clone,leaf,2,30,It does.\n"
    )
    reading = read_bank(text, name="quiz.csv")
    assert [[one.text for one in each.options if one.right] for each in reading.bank.questions] == [
        ["transpose", "narrow"],
        ["clone"],
    ]
    assert [one.span.line for one in reading.findings if one.skipped] == [2]


def test_the_numbers_of_columns_count_before_remarks_too() -> None:
    text = (
        "Question - max 120 characters,Answer 1 - max 75 characters,Answer 2 - max 75 characters,"
        "Answer 3 - max 75 characters,Correct answer(s) - choose at least one\n"
        'Which are views?,transpose,clone,narrow,"1,2"\nWhat copies?,view,clone,leaf,2\n'
    )
    questions = read_bank(text, name="quiz.csv").bank.questions
    assert [[one.text for one in each.options if one.right] for each in questions] == [
        ["transpose", "clone"],
        ["clone"],
    ]


def test_alternatives_have_a_correct_one() -> None:
    text = "question;alternative 1;alternative 2;alternative 3;correct alternative\nWhat copies?;clone;view;leaf;1\n"
    (question,) = read_bank(text, name="quiz.csv").bank.questions
    assert [one.right for one in question.options] == [True, False, False]
