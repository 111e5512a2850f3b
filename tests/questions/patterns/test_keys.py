"""Keys and labels: a letter behind a word alone, in bold that never ends, or in brackets within the question."""

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


@pytest.mark.parametrize(
    "key",
    [
        "Ans b",
        "Answer  B",
        "Antwort b)",
        "Réponse (B)",
        "Ответ B",
        "答案B",
        "정답 B",
        "The correct answer is B",
        "Ans B.",
    ],
)
def test_a_word_and_the_letter_alone_are_the_key_behind_a_program_without_a_fence(key: str) -> None:
    rows = [
        f"{n}.What is printed for {topic}?\nclass Box\n{{\n    int size = {n};\n}}\n\na. 3\nb. 4\n\n{key}\n"
        for n, topic in enumerate(TOPICS, 1)
    ]
    reading = read("\n".join(rows), name="quiz.txt")
    assert [(shown(one), one.answer) for one in reading.bank.questions] == [("-3 +4", None)] * len(TOPICS)
    assert all("int size" in one.prompt for one in reading.bank.questions)


def test_a_word_and_several_letters_alone_are_the_key() -> None:
    for key in ("Answers A, C", "答案 AC", "Antworten A & C"):
        question = read(f"### 1. Which are views?\n\nA. slice\nB. clone\nC. transpose\n\n{key}\n").bank.questions[0]
        assert shown(question) == "+slice -clone +transpose"


def test_lines_that_begin_alike_and_go_on_with_letters_are_no_keys() -> None:
    reading = read("**Q:** Which is longer?\n\nAnswer A\nAnswer B\n\n**A:** The first.\n")
    (question,) = reading.bank.questions
    assert question.answer == "The first."


def test_a_key_in_bold_that_never_ends_is_read() -> None:
    rows = [
        f"### {n}. What is {topic}?\n\na) a size\nb) a view\nc) a hook\n\n**Answer: b) It looks at what is there\n"
        for n, topic in enumerate(TOPICS, 1)
    ]
    questions = read("\n".join(rows)).bank.questions
    assert {(shown(one), one.why) for one in questions} == {("-a size +a view -a hook", "It looks at what is there")}


FORMS = (
    ("Question", "Option", "Correct Answer", "Motivation"),
    ("Pregunta", "Opción", "Respuesta correcta", "Motivo"),
    ("Frage", "Option", "Richtige Antwort", "Grund"),
    ("Вопрос", "Вариант", "Правильный ответ", "Причина"),
    ("Soal", "Pilihan", "Jawaban", "Alasan"),
    ("题目", "选项", "正确答案", "原因"),
)


@pytest.mark.parametrize(("asks", "option", "key", "why"), FORMS)
def test_prompts_behind_a_label_need_not_ask_and_a_list_in_an_explanation_ends_at_the_next(
    asks: str, option: str, key: str, why: str
) -> None:
    prompts = ("In this layer, data is called:", "A switch", "Which of these forwards?", "The mask is ___")
    rows = [
        f"{asks} {n}\n{asks}: {prompt}\n{option} A: a frame.\n{option} B: a bit.\n{key}: B\n{why}: Two reasons.\n"
        f"1. It is small: one or zero.\n2. It is the last: nothing is below.\n"
        for n, prompt in enumerate(prompts, 1)
    ]
    for between in ("", "\n"):
        reading = read(between.join(rows), name="quiz.txt")
        questions = reading.bank.questions
        assert [(one.prompt, one.number, shown(one)) for one in questions] == [
            (prompt, str(n), "-a frame. +a bit.") for n, prompt in enumerate(prompts, 1)
        ]
        assert all(one.why.endswith("nothing is below.") for one in questions)
        assert reading.findings == ()


def test_a_line_with_a_label_in_an_item_is_a_part_of_it_where_it_is_the_only_one() -> None:
    rows = [f"## What is {topic}?\n\n- a look at what is stored\n- a copy\n" for topic in TOPICS]
    questions = read("\n".join([*rows[:-1], f"{rows[-1]}Question: none\n"])).bank.questions
    assert len(questions) == len(TOPICS)
    assert questions[-1].answer == "- a look at what is stored\n- a copy\nQuestion: none"


EXAM = """\
    一、单选题
    1{mark}张量的步长是（B）
    A. 形状
    B. 距离
    C. 类型
    2{mark}视图（ A ）内存，因此很快。
    A. 共享
    B. 复制
    C. 删除
    二、多选题
    1{mark}会复制的有（AC）
    A. clone
    B. view
    C. contiguous
"""


@pytest.mark.parametrize("mark", ["、", ". ", "．"])
def test_letters_in_brackets_within_the_question_are_the_key_and_a_section_with_a_chinese_number_ends_it(
    mark: str,
) -> None:
    reading = read(EXAM.format(mark=mark), name="exam.txt")
    assert [(one.prompt, shown(one), one.answer) for one in reading.bank.questions] == [
        ("张量的步长是（  ）", "-形状 +距离 -类型", None),
        ("视图（  ）内存，因此很快。", "+共享 -复制 -删除", None),
        ("会复制的有（  ）", "+clone -view +contiguous", None),
    ]
    assert [one.section for one in reading.bank.questions] == [("一、单选题",), ("一、单选题",), ("二、多选题",)]


def bracketed(keys: list[str]) -> Reading:
    rows = [f"{n}. The part named {n} is ({key})\n\nA. one\nB. two\nC. three\n" for n, key in enumerate(keys, 1)]
    return read("\n".join(rows), name="exam.txt")


def test_letters_in_plain_brackets_are_the_key_in_a_document_of_them_only() -> None:
    questions = bracketed(["B", "A", "A, C", "C", "B"]).bank.questions
    assert [shown(one) for one in questions[:3]] == ["-one +two -three", "+one -two -three", "+one -two +three"]
    assert questions[0].prompt == "The part named 1 is (  )"
    for keys in (["B"] * 4, ["B", "B", "B", "B", "B", "x", "x"]):
        # Too few of them, or too many with something else there.
        reading = bracketed(keys)
        assert len(reading.bank.questions) == len(keys) and reading.answered == 0


@pytest.mark.parametrize("key", ["D", "CA", "BB"])
def test_letters_in_brackets_that_name_no_option_or_are_out_of_order_are_no_key(key: str) -> None:
    reading = bracketed(["B", "A", "C", "C", "B", "A", "B", "A", key])
    assert [one.answered for one in reading.bank.questions] == [True] * 8 + [False]
    assert reading.bank.questions[-1].prompt.endswith(f"({key})")


def test_brackets_say_nothing_where_questions_have_keys_of_their_own() -> None:
    rows = [f"{n}. 张量（A）的{n}是什么？\nA. 一\nB. 二\n\n" + "答案：B\n" * (n < 5) for n in range(1, 7)]
    questions = read("\n".join(rows), name="exam.txt").bank.questions
    assert [one.answered for one in questions] == [True] * 4 + [False] * 2


def test_an_indented_heading_whose_number_goes_on_is_no_part_of_the_options_above_it() -> None:
    reading = read(
        "### 3. Which is fixed?\n- a) a size\n- b) a view\n\n  **Answer:** b)\n\n  ---\n\n"
        "  ### 4. Which one moves?\n- a) a hook\n- b) a stream\n\n  **Answer:** a)\n\n  ---\n\n"
        " ### 5. Which is last?\n  - a) a type\n  - b) a device\n\n  **Answer:** b)\n"
    )
    assert [(one.number, one.prompt, shown(one)) for one in reading.bank.questions] == [
        ("3", "Which is fixed?", "-a size +a view"),
        ("4", "Which one moves?", "+a hook -a stream"),
        ("5", "Which is last?", "-a type +a device"),
    ]
    assert reading.findings == ()


def test_an_indented_heading_with_another_number_stays_in_its_item() -> None:
    rows = [f"### {n}. What is {topic}?\n\n- a look\n\n  ### 9 parts\n\n  more\n" for n, topic in enumerate(TOPICS, 1)]
    questions = read("\n".join(rows)).bank.questions
    assert [one.answer for one in questions] == ["- a look\n\n  ### 9 parts\n\n  more"] * len(TOPICS)


@pytest.mark.parametrize("letters", ["abc", "ABC"])
def test_letters_alone_before_the_last_lines_are_options_if_the_answer_is_one_of_them(letters: str) -> None:
    rows = [
        f"{n}. Which belongs to {topic}?\n"
        + "".join(f"{one} {what}\n" for one, what in zip(letters, WHAT, strict=True))
        for n, topic in enumerate(TOPICS, 1)
    ]
    reading = read("\n".join(f"{row}Ans {letters[1]}\n" for row in rows), name="quiz.txt")
    assert [(shown(one), one.answer) for one in reading.bank.questions] == [("-size() +view() -hook()", None)] * 6
    assert all("Ans" not in one.prompt for one in reading.bank.questions)
    # `C` may be the name of a language.
    question = read("**Q:** Which language is older?\n\na look tells\n\n**A:** C\n").bank.questions[0]
    assert (question.answer, question.options) == ("C", ())


WHAT = ("size()", "view()", "hook()")


def test_a_key_below_a_numbered_question_of_several_lines_is_no_part_of_what_it_asks() -> None:
    reading = read("1. Select the forms\nof a view\nAnswer: the first\n2. What is a view?\nAnswer: a look\n")
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [
        ("Select the forms\nof a view", "the first"),
        ("What is a view?", "a look"),
    ]


def test_the_key_below_the_last_options_of_a_list_ends_before_a_question_in_another_form() -> None:
    text = "1. Which is it?\nA size\nB view\nC hook\n\nAns C\n\n2.A view is\nA small\nB fast\nC here\n\nAns B\n\n"
    text += (
        "3. Who asks?\nA one\nB two\nC all\n\nAns A\n\n"
        + " " * 20
        + "Part 2\n1.A hook is\nA red\nB blue\nC green\n\nAns C\n"
    )
    reading = read(text, name="quiz.txt")
    assert [(one.prompt, shown(one)) for one in reading.bank.questions] == [
        ("Which is it?", "-size -view +hook"),
        ("A view is", "-small +fast -here"),
        ("Who asks?", "+one -two -all"),
        ("A hook is", "-red -blue +green"),
    ]


@pytest.mark.parametrize("key", ["Option 2: view() looks", "Option 2", "2", "(2)", "2. view() looks", "view() looks"])
def test_the_number_of_an_option_is_the_key_below_a_word_for_options(key: str) -> None:
    text = "## Question 1\nWhich of these shares storage?\n\n**Options:**\n1. clone() copies\n2. view() looks\n"
    question = read(
        f"{text}3. tolist() lists\n\n**Answer:** {key}\n\n*Explanation:* It has no storage.\n"
    ).bank.questions[0]
    assert (question.prompt, shown(question)) == (
        "Which of these shares storage?",
        "-clone() copies +view() looks -tolist() lists",
    )


@pytest.mark.parametrize("key", ["2", "Option 4", "2. clone() copies", "view() looks"])
def test_a_number_is_no_key_where_nothing_says_that_the_list_has_options(key: str) -> None:
    question = read(
        f"## Question 1\nHow many of these copy?\n1. clone() copies\n2. view() looks\n\n**Answer:** {key}\n"
    )
    assert (question.bank.questions[0].answer, question.bank.questions[0].options) == (key, ())


@pytest.mark.parametrize(
    ("key", "right"),
    [
        ("**a, b, c, e - one, two, three and five**", "abce"),
        ("a, e", "ae"),
        ("a, e, f", "aef"),
        ("a e c", "ac"),
        ("a, b e c", "abc"),
        ("(a) y (c)", "ac"),
    ],
)
def test_a_letter_that_is_also_a_word_for_and_is_a_letter_behind_a_comma(key: str, right: str) -> None:
    options = "".join(f"{letter}) part {letter}\n" for letter in "abcdef")
    (question,) = read(f"### 1. Which parts are right?\n\n{options}\n**Answer:** {key}\n").bank.questions
    assert "".join(option.id for option in question.options if option.right) == right


def test_check_boxes_with_a_backslash_before_each_bracket_are_check_boxes() -> None:
    text = "#### Q{n}. A view shares ...\n\n- \\[ ] strides\n- \\[x] storage\n- \\[ ] hooks\n\n"
    questions = read("".join(text.format(n=n) for n in (1, 2, 3))).bank.questions
    assert [shown(one) for one in questions] == ["-strides +storage -hooks"] * 3
    assert "\\[" not in questions[0].prompt


def test_a_sentence_that_demands_more_is_no_answer_in_a_list_without_answers() -> None:
    asked = [f"+ How are {topic} kept?" for topic in TOPICS]
    more = ("Explain why.", "Assuming they are sorted, write a function to find one.", "")
    rows = [*(f"{line} {demand}".strip() for line, demand in zip(asked, more, strict=False)), *asked[3:]]
    reading = read("\n".join(rows) + "\n+ What is a leaf?\nHow is a leaf made in a graph?\n")
    assert [one.answer for one in reading.bank.questions] == [None] * 7
    assert reading.bank.questions[0].prompt == "How are strides kept? Explain why."
    assert reading.bank.questions[6].prompt.endswith("How is a leaf made in a graph?")


def test_a_demand_is_an_answer_where_the_others_are_answered_in_their_line() -> None:
    said = [f"Reset the {topic}." for topic in TOPICS[:5]] + ["Write a test."]
    rows = [f"- What do I do with {topic}? {text}" for topic, text in zip(TOPICS, said, strict=True)]
    assert [one.answer for one in read("\n".join(rows)).bank.questions] == said


TASKS = (
    ("Given the list below, print its largest element.", "xs = [3, 2**5, 8.0*10**3]", True),
    ("以下のように変数が定義されている。変数x,yの和を標準出力に出力せよ。", "x = 12\n# the second\ny = 30", True),
    ("Given a list, print its largest element.", "print(max(xs))", False),
    ("Given nothing, create the list of the first even numbers.", "xs = [0, 2, 4]", False),
    ("Write the shape of a batch.", "shape = (32, 3)", False),
    ("Given a list, write the largest element into x.", "x = max(xs)", False),
)


@pytest.mark.parametrize(("task", "program", "given"), TASKS)
def test_values_that_a_task_is_given_are_no_answer(task: str, program: str, given: bool) -> None:
    first = "1. Write a function that sorts a list.\n\n```python\ndef f(xs):\n    return sorted(xs)\n```\n"
    third = "3. Write a function that copies a list.\n\n```python\ndef g(xs):\n    return list(xs)\n```\n"
    text = f"# Exercises\n\n{first}\n2. {task}\n\n```python\n{program}\n```\n\n{third}"
    question = read(text).bank.questions[1]
    assert (question.answer is None) is given
    assert (program in question.prompt) is given


EXPLAINED = """QUESTION 1
What does a view share?
A. its name
B. its storage
Answer: B
{label} Both see a change.

QUESTION 2
Which two are leaves? (Choose two.)
A. inputs
B. sums
C. parameters
Answer: AC
{label} They have no function.

QUESTION 3
What is a stride?
A. a step
B. a copy
Answer: A
{label} It counts elements.
"""


@pytest.mark.parametrize(
    "label", ["Explanation:", "**Explanation:**", "Explanation/Reference:", "*Rationale:*", "Erklärung:", "【解析】"]
)
def test_an_explanation_loses_its_label(label: str) -> None:
    questions = read_bank(EXPLAINED.replace("{label}", label), name="a.md").bank.questions
    assert [one.why for one in questions] == ["Both see a change.", "They have no function.", "It counts elements."]


def test_an_empty_explanation_of_a_dump_is_none() -> None:
    text = EXPLAINED.replace("{label} They have no function.", "Explanation/Reference:").replace(
        "{label}", "Explanation:"
    )
    assert [one.why for one in read_bank(text, name="a.md").bank.questions][1] == ""


def test_the_tag_of_a_card_is_no_part_of_its_answer() -> None:
    cards = [
        ("What does a view share?", "Its storage."),
        ("What is a stride?", "A step."),
        ("What is a leaf?", "An input."),
    ]
    text = "".join(f"- {asked} #card\n\t- {answer}\n" for asked, answer in cards)
    found = read_bank(text, name="a.md").bank.questions
    assert [(one.prompt, (one.answer or "").strip("- ")) for one in found] == cards


@pytest.mark.parametrize(
    ("sentence", "right"),
    [
        ("**My answer is B**", "b"),
        ("The correct answer is C.", "c"),
        ("So the answers are A and C", "ac"),
        ("**Answers are: A, B**", "ab"),
        ("The answer is a view", ""),
        ("The answer is F", ""),
        ("The answer is not B", ""),
    ],
)
def test_a_sentence_below_the_options_may_name_the_right_ones(sentence: str, right: str) -> None:
    options = "• A: clone\n\n• B: view\n\n• C: repeat\n"
    topics = ("shares memory", "copies", "is fast")
    text = "# Test\n\n" + "".join(f"Which call {topic}?\n\n{options}\n{sentence}\n\n" for topic in topics)
    for question in read_bank(text, name="a.md").bank.questions:
        assert [(one.id, one.text) for one in question.options] == [("a", "clone"), ("b", "view"), ("c", "repeat")]
        assert "".join(one.id for one in question.options if one.right) == right


def test_years_as_options_are_no_list_of_keys() -> None:
    asked = "".join(
        f"Question {n}\nIn which year did view {n} appear?\nA. {year}\nB. {year + 1}\nC. {year + 2}\nD. {year + 3}\n"
        "Answer: B\n\n"
        for n, year in ((1, 1955), (2, 1958), (3, 1999))
    )
    questions = read_bank(asked, name="a.md").bank.questions
    assert [[option.text for option in one.options if option.right] for one in questions] == [
        ["1956"],
        ["1959"],
        ["2000"],
    ]


def test_the_number_of_questions_shows_that_a_line_is_the_title_of_a_part() -> None:
    asked = "Question {}\nWhich call copies?\nA. view\nB. clone\nC. expand\nAnswer: B\n\n"
    text = f"Part 1 – Calls (2 questions)\n\n{asked.format(1)}{asked.format(2)}Part 2 – Views (1 question)\n\n"
    questions = read_bank(text + asked.format(3), name="a.md").bank.questions
    assert [(one.answered, one.why) for one in questions] == [(True, "")] * 3
