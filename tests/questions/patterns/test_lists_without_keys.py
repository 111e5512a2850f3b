"""Lists below questions that are options, although no key says which is right, and lists that a task is about."""

from __future__ import annotations

from questions import read_bank
from tests.questions.formats.readings import read_as

ASKED = (
    ("Hangisi bir yığın değildir?", ("liste", "ağaç", "yığın")),
    ("Hangisi belleği paylaşır?", ("view", "clone", "copy")),
    ("Yığın diziyle yapılabilir.", ("Evet", "Hayır")),
    ("Kuyruk diziyle yapılabilir.", ("Evet", "Hayır")),
    ("Aşağıdakilerden hangisi doğrudur?", ("bir", "iki", "üç")),
    ("Hangisi bir döngüdür?", ("for", "if", "def")),
    ("Terimi kim buldu?", ("Ali", "Veli", "Can")),
    ("Hangileri sıralama yöntemidir?", ("quick", "merge", "bubble")),
    ("Hangisi en hızlıdır?", ("O(1)", "O(n)", "O(n²)")),
)


def test_lists_below_what_mostly_asks_to_choose_are_options_and_no_answers() -> None:
    text = "".join(f"- {asked}\n" + "".join(f"    - {one}\n" for one in items) + "\n" for asked, items in ASKED)
    found = read_bank(text, name="sorular.md").bank.questions
    assert len(found) == len(ASKED)
    assert [one.answered for one in found] == [False] * len(ASKED)
    assert [len(one.options) for one in found] == [len(items) for _, items in ASKED]


def test_the_statements_that_a_task_is_about_are_part_of_it() -> None:
    text = (
        "# Fragen\n\n1. Erläutern Sie eine Sicht.\n2. Bewerten Sie folgende Aussagen:\n   1. Eine Sicht kopiert.\n"
        "   2. Eine Kopie teilt.\n3. Was kopiert ein Klon?\n4. Was teilt eine Sicht?\n"
    )
    found = read_bank(text, name="fragen.md").bank.questions
    assert [one.answered for one in found] == [False] * 4
    assert found[1].prompt.endswith("2. Eine Kopie teilt.")


def test_a_word_behind_the_number_of_an_option_tells_that_it_is_right() -> None:
    text = "".join(
        f"# Part {n}\n\nWhat does this print?\n\n```python\nprint({n})\n```\n\n1.\n<pre>\n{n}{n}\n</pre>\n\n"
        f"2. (doğru)\n<pre>\n{n}\n</pre>\n\n3. an error\n\n"
        for n in (1, 2, 3, 4)
    )
    found = read_bank(text, name="quiz.md").bank.questions
    assert [[one.right for one in question.options] for question in found] == [[False, True, False]] * 4
    assert found[0].options[1].text == "<pre>\n1\n</pre>"


def test_bold_items_mark_right_options_between_line_breaks() -> None:
    text = "".join(
        f"### Question {n}\n\nWhat does call {n} do? Check all that apply.\n\n* run\n* **copy {n}**\n* **own**\n\n"
        "> It owns memory.\n<br>\n\n"
        for n in (1, 2, 3, 4, 5)
    )
    assert read_as("quiz.md", text)[0] == (
        "What does call 1 do? Check all that apply. | - run | + copy 1 | + own | why > It owns memory."
    )
