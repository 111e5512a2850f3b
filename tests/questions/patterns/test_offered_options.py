"""Options that documents offer without letters: bullets, check boxes with a letter above a program, `+` and `-`."""

from __future__ import annotations

from textwrap import dedent

import pytest

from questions import Question, Reading, read_bank

TOPICS = ("strides", "views", "dtypes", "broadcasting", "hooks", "streams")


def read(text: str, name: str = "d.md") -> Reading:
    reading = read_bank(dedent(text), name=name)
    assert reading.unaccounted() == ()
    return reading


def shown(question: Question) -> str:
    return " ".join(f"{'+' if option.right else '-'}{option.text}" for option in question.options)


def test_short_bullets_below_every_question_are_options_without_a_key_and_no_answer() -> None:
    rows = [
        f"{n}. Which of these is about {topic}?\n- north\n- south\n- east\n- west" for n, topic in enumerate(TOPICS, 1)
    ]
    reading = read("\n".join(rows))
    assert len(reading.bank.questions) == len(TOPICS)
    assert {(one.kind, shown(one), one.answer) for one in reading.bank.questions} == {
        ("choice", "-north -south -east -west", None)
    }
    assert [found.code for found in reading.findings] == ["Q101"] * len(TOPICS)


@pytest.mark.parametrize(
    "bullets",
    [
        "- It is stored once.\n- It is read often.\n- It is freed late.",
        "- size: how many\n- stride: how far\n- offset: from where",
        "- **one**\n- **two**\n- **three**",
    ],
)
def test_bullets_that_say_something_stay_the_answer(bullets: str) -> None:
    rows = [f"{n}. What do you know of {topic}?\n{bullets}" for n, topic in enumerate(TOPICS, 1)]
    reading = read("\n".join(rows))
    assert {(one.kind, bool(one.answer)) for one in reading.bank.questions} == {("open", True)}


def test_bullets_of_different_number_stay_the_answer() -> None:
    rows = [f"{n}. What belongs to {topic}?\n" + "- part\n" * n for n, topic in enumerate(TOPICS, 1)]
    assert {one.kind for one in read("\n".join(rows)).bank.questions} == {"open"}


def test_bold_bullets_among_others_are_the_key_and_quotes_between_them_explain() -> None:
    rows = [
        f"1 - We have seen {topic} in this lesson. There is more to know.\n\nWhat is true of {topic}?\n\n"
        f"- nothing\n- __it copies {topic}__\n\n> Right! It has memory of its own.\n\n- __it is fast__\n- it is old\n"
        for topic in TOPICS
    ]
    reading = read("\n".join(f"## Lesson {n}\n\n{row}" for n, row in enumerate(rows, 1)))
    assert len(reading.bank.questions) == len(TOPICS)
    first = reading.bank.questions[0]
    assert first.prompt.startswith("We have seen strides") and first.prompt.endswith("What is true of strides?")
    assert (first.kind, shown(first)) == ("choice", "-nothing +it copies strides +it is fast -it is old")
    assert "memory of its own" in first.why


BOXED = """\
    #### Q1. Which call copies?

    - [ ] view
    - [x] clone

    #### Q2. Which program prints 4?

    - [x] A

    <!---->

        print(2 + 2)
        print()

    - [ ] B

    <!---->

        print(2 + 3)

    #### Q3. What is left?

    - [ ] a

    ```text
    one
    ```

    - [ ] b

    nothing at all

    - [x] c:

    ```text
    two
    ```

    #### Q4. Which of these is fast?

        x = 1

    - [ ] `one`
    - [ ] `two`

    See also:

    1.  [a page](https://example.org/a)

    #### Q5. Which is slow?

    - [x] one
    - [ ] two
"""


def test_a_letter_in_a_box_stands_for_what_is_below_it() -> None:
    _, program, left, unkeyed, _ = read(BOXED).bank.questions
    assert shown(program) == "+print(2 + 2)\nprint() -print(2 + 3)"
    assert shown(left) == "-```text\none\n``` -nothing at all +```text\ntwo\n```"
    assert (shown(unkeyed), unkeyed.answer) == ("-`one` -`two`", None), "a list of options answers nothing"


def test_a_number_that_is_an_option_is_no_mark() -> None:
    text = """\
        - question: How many dimensions has a matrix?
          answers:
            - {answer: 3, is_correct: false}
            - {answer: 2, is_correct: true}
            - {answer: 1, is_correct: false}
        - question: Is a vector one?
          answers:
            - {answer: true, is_correct: false}
            - {answer: false, is_correct: true}
        """
    numbers, truth = read(text, "d.yaml").bank.questions
    assert shown(numbers) == "-3 +2 -1"
    assert [option.right for option in truth.options] == [False, True]


PLUS_MINUS = """\
Which of these copy?
+ clone
+ contiguous, sometimes
- view
(it shares the memory)
- t

A tensor has shape (2, 3).
How many numbers does it hold?
+ 6
- 5

What frees it?
+ del
"""


def test_plus_and_minus_say_what_is_right() -> None:
    more = "Which is a dtype?\n- list\n+ bool\n"
    reading = read(PLUS_MINUS + more, "d.txt")
    assert reading.bank.dialects == ("plus-minus",)
    first, second, third, _ = reading.bank.questions
    assert shown(first) == "+clone +contiguous, sometimes -view -t"
    assert first.options[2].reason == "it shares the memory"
    assert second.prompt.startswith("A tensor has shape (2, 3).") and second.prompt.endswith("does it hold?")
    assert (third.options, third.answer) == ((), "del")


def test_lists_in_markdown_and_prose_are_not_plus_and_minus() -> None:
    for text in (
        "# Notes\n\n" + PLUS_MINUS,
        "Shopping\n+ milk\n+ bread\nWork\n+ mail\n+ calls\n",
        "What?\n- a\n- b\nWhy?\n- c\n- d\n",
    ):
        assert "plus-minus" not in read(text, "d.txt").bank.dialects


TO_CHOOSE = (
    "{} を1つ選びなさい。",
    "Which of the following is about {}?",
    "Wählen Sie aus, was zu {} gehört.",
    "Choisissez la bonne réponse sur {}.",
    "Elige la respuesta sobre {}.",
    "Выберите, что относится к {}.",
    "Wybierz to, co dotyczy {}.",
    "{}에 맞는 것을 고르시오.",
)


@pytest.mark.parametrize("asks", TO_CHOOSE)
def test_numbers_below_what_asks_to_choose_are_options_behind_a_program_too(asks: str) -> None:
    rows = [
        f"### Question {n}: {asks.format(topic)}\n\n```python\nlook({n})\n```\n\nshows\n\n"
        "1. north\n2. south\n3.\n```\neast\n```\n"
        for n, topic in enumerate(TOPICS, 1)
    ]
    reading = read("\n".join(rows))
    assert len(reading.bank.questions) == len(TOPICS)
    assert {(shown(one), one.answer) for one in reading.bank.questions} == {
        ("-north -south -```\neast\n```", None),
    }
    assert all("look(" in one.prompt and one.prompt.endswith("shows") for one in reading.bank.questions)
    assert [found.code for found in reading.findings] == ["Q101"] * len(TOPICS)


def test_what_stands_below_one_that_asks_to_choose_among_them_is_no_answer_in_another_form_either() -> None:
    rows = [f"### {n}. Which of these is about {topic}?\n\n1. north\n2. south\n" for n, topic in enumerate(TOPICS, 1)]
    rows += ["### 7. Which of these lines fails?\n\n```python\none()  # 1\ntwo()  # 2\n```\n"]
    last = read("\n".join(rows)).bank.questions[-1]
    assert (last.answer, last.options) == (None, ()) and "two()" in last.prompt


def test_as_many_short_numbered_lines_below_every_question_are_options_without_a_key() -> None:
    rows = [
        f"## Frage {n}\n\nWas ist {topic}?\n\n1. ein Wert\n2. eine Form\n3. ein Typ\n"
        for n, topic in enumerate(TOPICS, 1)
    ]
    questions = read("\n".join(rows)).bank.questions
    assert len(questions) == len(TOPICS)
    assert {(shown(one), one.answer) for one in questions} == {("-ein Wert -eine Form -ein Typ", None)}


@pytest.mark.parametrize(
    "asks",
    [
        "How do you reset {}?",
        "Name three parts of {}.",
        "Wie setzt man {} zurück?",
        "Comment remettre {} à zéro ?",
        "Как сбросить {}?",
        "如何重置{}？",
        "{} はどのように戻しますか？",
    ],
)
def test_numbered_steps_and_lists_that_were_asked_for_stay_the_answer(asks: str) -> None:
    rows = [
        f"### {n}. {asks.format(topic)}\n\n1. open it\n2. set it\n3. close it\n" for n, topic in enumerate(TOPICS, 1)
    ]
    questions = read("\n".join(rows)).bank.questions
    assert {one.answer for one in questions} == {"1. open it\n2. set it\n3. close it"}


def test_numbered_lists_of_different_length_or_of_sentences_stay_the_answer() -> None:
    lists = ["".join(f"{n}. part\n" for n in range(1, count)) for count in (3, 4, 5, 6, 7, 8)]
    said = ["1. It is read.\n2. It is kept.\n3. It is freed.\n"] * len(TOPICS)
    for below in (lists, said):
        rows = [f"### {n}. What is {topic}?\n\n{below[n - 1]}" for n, topic in enumerate(TOPICS, 1)]
        assert {one.kind for one in read("\n".join(rows)).bank.questions} == {"open"}


def test_letters_behind_a_program_and_a_sentence_are_options_and_no_answer() -> None:
    rows = [
        f"### {n}. What is true of {topic}?\n\n```python\nlook({n})\n```\n\nOf this program it is true that:\n\n"
        "- A. it ends\n- B. it fails\n- C. it waits\n"
        for n, topic in enumerate(TOPICS, 1)
    ]
    questions = read("\n".join(rows)).bank.questions
    assert {(shown(one), one.answer) for one in questions} == {("-it ends -it fails -it waits", None)}
    assert all(one.prompt.endswith("it is true that:") for one in questions)
    # Without a program, the sentence may begin the answer.
    prose = "There is much to say of it. " * 5
    rows = [f"### {n}. What is {topic}?\n\n{prose}\n\nA. one\nB. two\nC. three\n" for n, topic in enumerate(TOPICS, 1)]
    assert {one.kind for one in read("\n".join(rows)).bank.questions} == {"open"}


def test_a_list_below_a_question_about_the_following_is_what_to_choose_from() -> None:
    text = (
        "# Quiz\n\n1. What is a view?\n\n1. The author lists two views. Which of the following is NOT one of them?\n"
        "   * It shares memory with its base.\n   * It copies.\n   * It has strides of its own.\n\n"
        "1. True / False: a view was always a tensor.\n"
    )
    reading = read_bank(text, name="a.md")
    assert [[option.text for option in one.options] for one in reading.bank.questions] == [
        [],
        ["It shares memory with its base.", "It copies.", "It has strides of its own."],
        ["True", "False"],
    ]
    assert reading.answered == 0


def test_one_request_to_select_and_one_list_of_two_truths_show_that_lists_are_options() -> None:
    lists = [("one way to do it.", "another way.", "a third."), ("True.", "False.")]
    lists += [("with a view.", "with a clone.", "with a leaf.", "with a hook.", "with none.")]
    asked = ("How is it shared?", "It is shared by a view.", "Which ways are there? (Select TWO.)")
    text = "".join(
        f"### {n}. {one}\n" + "".join(f"- {option}\n" for option in options) + "\n---\n\n"
        for n, (one, options) in enumerate(zip((*asked, "Why?"), (*lists, lists[0]), strict=True), 1)
    )
    questions = read_bank(f"# Quiz\n\n{text}", name="a.md").bank.questions
    assert [len(one.options) for one in questions] == [3, 2, 5, 3]
