"""Columns beside questions and options: numbers of rows, percentages of credit, and texts under an unknown name."""

from __future__ import annotations

from questions import read_bank
from tests.questions.formats.readings import all_asked, messages, read_as

KEYS = (3, 1, 4, 2, 4, 1)


def test_numbers_of_rows_behind_a_key_are_no_option() -> None:
    rows = [f"What is {n} mm?,a {n},b {n},c {n},d {n},{key},{n}" for n, key in enumerate(KEYS, 1)]
    text = "\n".join([*rows, ",,,,,,7", ",,,,,,8"])
    asked = read_as("a.csv", text)
    assert len(asked) == len(KEYS)
    assert asked[0] == "What is 1 mm? | - a 1 | - b 1 | + c 1 | - d 1"
    assert asked[2] == "What is 3 mm? | - a 3 | - b 3 | - c 3 | + d 3"


def test_percentages_behind_each_option_say_which_are_right() -> None:
    head = "questionText,answer1,fraction,answer2,fraction,answer3,fraction\n"
    text = head + "Which copies?,view,0,clone,100,alias,-50\nWhich two copy?,clone,50,view,0,tolist,50\n"
    assert read_as("a.csv", text) == [
        "Which copies? | - view | + clone | - alias",
        "Which two copy? | + clone | - view | + tolist",
    ]
    partly = head + "Which copies?,view,20,clone,40,alias,\nWhich adds?,add,100,cat,,mul,\n"
    assert not any(one.options for one in read_bank(partly, name="a.csv").bank.questions)


STATED = "id,content,answer,kind\n1,What copies?,clone,short\n2,Name of the sum,add,short\n3,What shares?,view,short\n"
STATED += "4,What is it called?,stride,short\n5,How to join,cat,short\n"


def test_rows_with_nothing_but_a_number_hide_no_column() -> None:
    text = STATED + "".join(f"{number}\n" for number in range(6, 12))
    reading = read_bank(text, name="a.csv")
    assert all_asked(reading)[1] == "Name of the sum | = add" and len(reading.bank.questions) == 5
    assert messages(reading) == ["Q613 the table has no column for the question: column 2 asks"]


def test_numbers_that_count_from_one_twice_are_no_ids() -> None:
    text = STATED.replace("content", "question") + "1,What is one?,a,short\n2,What is two?,b,short\n"
    reading = read_bank(text, name="a.csv")
    assert len(reading.bank.questions) == 7 and messages(reading) == []


def test_a_few_lines_are_cards_where_the_name_of_the_document_says_so() -> None:
    text = "**view**\tshares memory\n**clone**\tcopies it\nstride\tthe step in memory\n"
    assert read_as("anki.txt", text)[1] == "**clone** | = copies it"
    assert read_bank(text, name="notes.txt").bank.questions == ()
    assert read_bank(text + "a line without a back\n", name="anki.txt").bank.questions == ()


LISTED = """q,opts,ans_idx
Which copies?,"[""view"", ""clone, deep""]",1
Which adds?,"['add', 'cat']",0
Which joins?,"[""add"", ""cat""]",1
"""


def test_lists_of_programs_in_cells_are_options() -> None:
    assert read_as("a.csv", LISTED) == [
        "Which copies? | - view | + clone, deep",
        "Which adds? | + add | - cat",
        "Which joins? | - add | + cat",
    ]


def test_breaks_of_html_part_the_options_of_a_cell() -> None:
    text = "question,options,answer\nWhich copies?,a) view<br/>b) clone,b) clone\nWhich adds?,a) add<br>b) cat,a) add\n"
    assert read_as("a.csv", text) == ["Which copies? | - view | + clone", "Which adds? | + add | - cat"]


def test_single_quotes_around_cells() -> None:
    text = "question,answer,level\n'Which copies, and how?',clone,easy\nWhich adds?,'add, or +',easy\n"
    text += "Which joins?,cat,easy\n"
    assert read_as("a.csv", text) == [
        "Which copies, and how? | = clone",
        "Which adds? | = add, or +",
        "Which joins? | = cat",
    ]
    apostrophes = "question,answer\nWhat's one?,'tis a\nWhat's two?,'twas b\n"
    assert read_as("a.csv", apostrophes) == ["What's one? | = 'tis a", "What's two? | = 'twas b"]


def test_a_mapping_of_letters_in_a_cell_holds_the_options() -> None:
    text = 'question,options,answer\nWhich copies?,"{""A"":""view"",""B"":""clone, deep""}",B\n'
    text += 'A view copies.,"{""A"":""True"",""B"":""False""}",False\nWhich _____ adds?,{},add\n'
    assert read_as("a.csv", text) == [
        "Which copies? | - view | + clone, deep",
        "A view copies. | - True | + False",
        "Which _____ adds? | = add",
    ]


TERMS = "Тема,Слово для перевода,Вариант 1,Вариант 2,Вариант 3,Номер правильного ответа (от 1 до 3)\n"


def test_the_only_texts_beside_options_and_a_key_are_the_questions() -> None:
    text = TERMS + "".join(f"Медицина,Tool {n},нож {n},пила {n},игла {n},{n % 3 + 1}\n" for n in range(1, 8))
    assert read_as("a.csv", text)[1] == "Tool 2 | - нож 2 | - пила 2 | + игла 2"
    two = text.replace("Тема,", "Заметка,")
    for number, word in enumerate(("первая", "вторая", "третья", "иная", "ещё одна", "другая", "последняя"), 1):
        two = two.replace(f"Медицина,Tool {number},", f"{word} заметка,Tool {number},")
    assert read_bank(two, name="a.csv").bank.questions == ()
