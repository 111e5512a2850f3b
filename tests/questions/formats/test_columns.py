"""Tables without a header: which column asks, which are options, which is the key."""

from __future__ import annotations

import pytest

from questions.formats.tables.columns import (
    find_key,
    has_header,
    holds_texts,
    infer_cards,
    infer_columns,
    infer_roles,
    past_labels,
    repeats_labels,
)

TABLES: dict[str, tuple[list[str], str]] = {
    "a question and an answer": (["What is it?,a", "Who is it?,b"], "column 1 asks, 2 is the answer"),
    "numbers as answers": (["What is it?,1", "Who is it?,2", "Why?,3"], "column 1 asks, 2 is the answer"),
    "numbers that go up and down": (
        ["How many bits?,8", "How many sides?,6", "How many days?,365", "How many hours?,24", "How many months?,12"],
        "column 1 asks, 2 is the answer",
    ),
    "sums in order": (["1+1,2", "1+2,3", "1+3,4", "1+4,5", "1+5,6"], "column 1 asks, 2 is the answer"),
    "sums": (["3+4,7", "5*6,30"], "column 1 asks, 2 is the answer"),
    "gaps": (["Fill ___ in,a", "Put ___ there,b"], "column 1 asks, 2 is the answer"),
    "tabs": (
        ["Which copies?\tview\tclone\tB", "Which shares?\tview\tclone\tA"],
        "column 1 asks, 2 to 3 are options, 4 is the key",
    ),
    "bars and numbers": (
        ["Which copies?|view|clone|slice|2", "Which shares?|view|clone|copy|1"],
        "column 1 asks, 2 to 4 are options, 5 is the key",
    ),
    "several letters": (
        ["Which?,view,clone,AB", "Who?,view,clone,A"],
        "column 1 asks, 2 to 3 are options, 4 is the key",
    ),
    "the text of an option": (
        ["What?,view,view clone,view", "Who?,a,b,a"],
        "column 1 asks, 2 to 3 are options, 4 is the key",
    ),
    "numbers from 0": (
        ["Which?,view,clone,0", "Who?,view,clone,1"],
        "column 1 asks, 2 to 3 are options, 4 is the key",
    ),
    "a letter that no option has": (["Which?,view,clone,C", "Who?,view,clone,A"], "column 1 asks, 2 to 4 are options"),
    "a number that no option has": (["Which?,view,clone,3", "Who?,view,clone,1"], "column 1 asks, 2 to 4 are options"),
    "a topic before": (
        [
            "Nets,Which copies?,view,clone,B",
            "Nets,Which shares?,view,clone,A",
            "Nets,Which adds?,add,sub,A",
            "Ops,Which subtracts?,add,sub,B",
        ],
        "column 2 asks, 3 to 4 are options, 5 is the key, 1 is the topic",
    ),
    "a time limit beside the options": (
        [
            "Which copies?,view,clone,30,B",
            "Which shares?,view,clone,30,A",
            "Which adds?,add,sub,30,A",
            "Which subs?,add,sub,30,B",
        ],
        "column 1 asks, 2 to 3 are options, 5 is the key",
    ),
    "an explanation behind the key": (
        ["Which copies?,view,clone,slice,B,since it copies", "Which shares?,view,clone,copy,A,since it shares"],
        "column 1 asks, 2 to 4 are options, 5 is the key",
    ),
    "a level and a state behind the answer": (
        ["Who wrote it?,Ada,0,False,2", "What is it?,A view,0,False,0", "Who ran it?,Bob,2,True,1"],
        "column 1 asks, 2 is the answer",
    ),
    "true and false as options": (
        ["Is it a view?,True,False,A", "Is it a copy?,True,False,B", "Is it one?,True,False,B"],
        "column 1 asks, 2 to 3 are options, 4 is the key",
    ),
    "pages beside texts that do not ask": (
        [f"N{at},A name,It is a text of number {at}.,{at * 7 % 40}" for at in range(6)],
        "",
    ),
    "addresses": (
        [f"Ada {at};ada.number{at}@example.org;19{at};Country of {at}" for at in range(10, 16)],
        "",
    ),
    "texts of at least 15 characters": (
        ["fifteen letters,short", "fifteen others!,tiny"],
        "column 1 asks, 2 is the answer",
    ),
    "shorter texts": (["fourteen signs,short", "fourteen other,tiny"], ""),
    "words": (["a,b", "c,d"], ""),
    "numbers": (["1,2", "3,4"], ""),
    "nothing": ([], ""),
    "one column": (["What is it?", "Who is it?"], ""),
    "rows of other lengths": (["What is it?,a", "x"], ""),
    "questions in the last column": (["Answer is here,What is it?", "And here,Who is it?"], ""),
}


@pytest.mark.parametrize("name", TABLES)
def test_columns_are_known_by_what_is_in_them(name: str) -> None:
    lines, reading = TABLES[name]
    table = infer_columns(lines)
    assert (table.explain() if table else "") == reading


def test_a_row_of_other_length_in_ten_changes_nothing() -> None:
    rows = [f"What is thing {number}?,a{number}" for number in range(9)]
    assert infer_columns([*rows, "x"]) is not None
    assert infer_columns([*rows[:8], "x"]) is None


@pytest.mark.parametrize(("width", "read"), [(30, True), (31, False)])
def test_a_table_has_at_most_30_columns(width: int, read: bool) -> None:
    rows = [",".join([f"What is thing {number}?", *(f"o{number}{at}" for at in range(width - 1))]) for number in (1, 2)]
    assert (infer_columns(rows) is not None) is read


def test_a_header_with_unknown_names_is_seen_by_the_key_below_it() -> None:
    rows = ["No,Frog,Alpha,Beta,Key", "1,Which copies?,view,clone,B", "2,Which shares?,view,clone,A"]
    table = infer_columns([*rows, "3,Which adds?,add,sub,A"])
    assert table is not None and table.headed
    assert table.explain() == "column 2 asks, 3 to 4 are options, 5 is the key"


@pytest.mark.parametrize(
    ("rows", "headed"),
    [
        ([["Key", "x"], ["1", "a"], ["2", "b"], ["3", "c"]], True),
        ([["Key", "x"], ["A", "a"], ["B", "b"], ["C", "c"]], True),
        ([["Key", "x"], ["1", "a"], ["2", "b"]], False),  # too few rows
        ([["K", "x"], ["1", "a"], ["2", "b"], ["3", "c"]], False),  # a letter may be a key
        ([["12", "x"], ["1", "a"], ["2", "b"], ["3", "c"]], False),
        ([["Key", "x"], ["one", "a"], ["two", "b"], ["three", "c"]], False),
        ([["Key", "What is it?"], ["1", "a"], ["2", "b"], ["3", "c"]], False),  # it asks
        # Above questions, it is a header unless what stands beside it may be an answer.
        ([["Thema", "Text"], ["a?", "one two"], ["b?", "one two"], ["c?", "one two"]], True),  # a known name
        ([["Aihe", "Selite"], ["a?", "one two three"], ["b?", "one two three"], ["c?", "one two three"]], True),
        ([["Aihe", "Selite"], ["a?", "one"], ["b?", "two"], ["c?", "three"]], True),  # the only capital letter
        ([["Aihe", "A"], ["a?", "1"], ["b?", "2"], ["c?", "3"]], False),
        ([["Aihe", "Nro"], ["a?", "1"], ["b?", "2"], ["c?", "3"]], True),
        ([["View", "shared memory here"], ["a?", "one two three"], ["b?", "one two"], ["c?", "one two"]], False),
        ([["View", "shared"], ["a?", "one"], ["b?", "two"], ["c?", "three"]], False),
        ([["View", "Shared"], ["a?", "One"], ["b?", "Two"], ["c?", "Three"]], False),
    ],
)
def test_a_header_is_a_word_above_numbers_or_letters(rows: list[list[str]], headed: bool) -> None:
    assert has_header(rows) is headed


CARDS = ["view;shared memory", "copy;new memory", "leaf;of user", "stride;a step", "rank;a number"]


@pytest.mark.parametrize(
    ("lines", "cards"),
    [
        (CARDS, True),
        ([line.replace(";", "|") for line in CARDS], True),
        ([f"{line};" for line in CARDS], True),  # an empty cell for tags
        ([*(f"{line};" for line in CARDS), "batch;examples;net"], False),  # no longer empty
        (CARDS[:4], False),  # too few
        ([*CARDS[:4], CARDS[0]], False),  # a front twice
        ([CARDS[0]] * 5, False),
        ([*CARDS, "alone"], False),
        ([*CARDS * 0, "a;1", "b;2", "c;3", "d;4", "e;5"], False),  # letters and numbers
        ([f"{line.split(';')[0]};same text" for line in CARDS], False),  # a category
    ],
)
def test_rows_of_different_texts_are_cards(lines: list[str], cards: bool) -> None:
    table = infer_cards(lines)
    assert (table.explain() if table else "") == ("column 1 asks, 2 is the answer" if cards else "")


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (["one", "two"], True),
        (["one", "??"], True),
        (["one", "2"], False),
        (["x", "y"], False),
        ([], False),
        (["same"] * 3, False),
        (["a word"] * 2 + ["another"], True),
        ([*["word"] * 9, *(f"w{n}x" for n in range(5))], True),
    ],
)
def test_texts_have_words_that_differ(cells: list[str], texts: bool) -> None:
    assert holds_texts(cells) is texts


OPTIONS = [["What?", "view", "clone", "x"], ["Who?", "add", "sub", "y"], ["Why?", "one", "two", "z"]]


@pytest.mark.parametrize(
    ("keys", "rows", "found"),
    [
        (["clone", "add", "two"], 3, 3),
        (["clone", "add"], 2, 3),
        (["clone"], 1, None),  # one row shows nothing
        (["B", "A", "B"], 3, 3),
        (["B", "A"], 2, None),  # letters need three rows
        (["1", "2", "1"], 3, None),  # numbers may be anything
        (["clone", "other", "two"], 3, None),
    ],
)
def test_a_key_with_an_unknown_name_repeats_an_option(keys: list[str], rows: int, found: int | None) -> None:
    table = [[*row[:3], key] for row, key in zip(OPTIONS[:rows], keys, strict=True)]
    assert find_key(table, [3], [1, 2]) == found
    assert find_key(table, [3], [1]) is None
    assert find_key([[*row, row[3]] for row in table], [3, 4], [1, 2]) is None


def test_options_beside_their_labels_are_the_options() -> None:
    roles = [("question", 0), ("option", 0), ("", 0), ("option", 1), ("", 0)]
    rows = [["What?", "(1)", "view", "(2)", "clone"], ["Who?", "(1)", "add", "(2)", "sub"]]
    three = [*rows, ["Why?", "(1)", "one", "(2)", "two"]]
    assert past_labels(roles, three) == [("question", 0), ("", 0), ("option", 0), ("", 0), ("option", 1)]
    assert past_labels(roles, rows) == roles  # too few rows
    assert past_labels(roles, []) == roles
    assert past_labels(roles, [*three[:2], ["Why?", "(1)", "one", "(3)", "two"]]) == roles  # no label
    known = [*roles[:2], ("why", 0), *roles[3:]]
    assert past_labels(known, three) == known  # the columns beside are something else
    assert past_labels(roles[:3], [row[:3] for row in three]) == roles[:3]  # one option is no row of them


@pytest.mark.parametrize(
    ("one", "two", "repeated"),
    [
        (["What?", "A", "view", "B", "clone"], ["Who?", "A", "add", "B", "sub"], True),
        (["What?", "(1)", "view", " 2. ", "clone"], ["Who?", "(1)", "add", "2.", "sub"], True),
        (["What?", "A", "view", "B", "clone"], ["Who?", "A", "add", "C", "sub"], False),
        (["What?", "one", "two"], ["Who?", "one", "two"], False),
        (["What?", "①", "②"], ["Who?", "①", "②"], True),
    ],
)
def test_labels_in_two_rows_show_that_neither_is_a_header(one: list[str], two: list[str], repeated: bool) -> None:
    assert repeats_labels(one, two) is repeated


def test_all_options_in_one_cell_need_a_key() -> None:
    rows = [["Which copies?", "A. view\nB. clone", "B"], ["Which shares?", "A. view\nB. clone", "A"]]
    assert infer_roles(rows) == (("question", 0), ("options", 0), ("correct", 0))
    assert infer_roles([[*row[:2], "x"] for row in rows]) == ()


ASKS = ["What is one?", "What is two?", "What is three?", "What is four?", "What is five?"]
ONE, TWO = ["a1", "b1", "c1", "d1", "e1"], ["f1", "g1", "h1", "i1", "j1"]
KEYS = ["B", "A", "A", "B", "B"]


@pytest.mark.parametrize(
    ("columns", "roles"),
    [
        ([ONE[:4], TWO[:4], ["x"] * 4], "question option option -"),  # a category
        ([ONE[:4], TWO[:4], ["", "", "", "x"]], "question option option -"),  # most cells are empty
        ([ONE[:4], TWO[:4], ["", "", "y", "x"]], "question option option option"),
        ([["yes", "no", "yes", "yes"]], "question answer"),  # the only other column, whatever is in it
        ([["7"] * 4], "question answer"),
        ([ONE[:4], TWO[:4], KEYS[:4], ["s", "s", "t", "t"]], "question option option correct topic"),
        ([ONE[:4], TWO[:4], KEYS[:4], ["s", "u", "t", "t"]], "question option option correct -"),
        ([ONE[:4], TWO[:4], KEYS[:4], ["1", "1", "2", "2"]], "question option option correct -"),
        ([ONE[:3], TWO[:3], KEYS[:3], ["s", "s", "t"]], "question option option correct -"),
        ([ONE[:4], TWO[:4], ["30", "20", "10", "40"], KEYS[:4]], "question option option - correct"),  # seconds
        ([ONE[:3], TWO[:3], ["s1", "s2", "x"], KEYS[:3]], "question option option option correct"),
        ([list("1234"), list("5678"), ["30"] * 4, KEYS[:4]], "question option option - correct"),
        ([list("123"), list("567"), ["30"] * 3, KEYS[:3]], "question option option option correct"),
        ([list("1234"), list("5678"), ["30", "30", "31", "31"], KEYS[:4]], "question option option option correct"),
    ],
)
def test_other_columns_are_topics_settings_or_nothing(columns: list[list[str]], roles: str) -> None:
    rows = list(zip(ASKS[: len(columns[0])], *columns, strict=True))
    assert " ".join(role or "-" for role, _ in infer_roles(rows)) == roles


@pytest.mark.parametrize(
    ("rows", "roles"),
    [
        (["one,a1", "Which two?,b1", "three,c1"], "question answer"),  # a third asks
        (["one,a1", "Which two?,b1", "three,c1", "four,d1"], ""),
        (["a1,What is one?,b1", "c1,What is two?,d1"], "- question answer"),
        (["1,What is one?", "2,What is two?"], ""),
        (["What is one?,"], ""),
        (["What is one?,7"], "question answer"),
        (["What is one?,7,8"], ""),  # numbers of one row are no options
        (["What is one?,x,y"], "question option option"),
    ],
)
def test_the_question_is_the_column_that_asks(rows: list[str], roles: str) -> None:
    assert " ".join(role or "-" for role, _ in infer_roles([row.split(",") for row in rows])) == roles


@pytest.mark.parametrize(("unlike", "key"), [(0, "correct"), (1, "correct"), (2, "topic")])
def test_a_key_names_an_option_in_nine_of_ten_rows(unlike: int, key: str) -> None:
    rows = [(f"What is {n}?", f"a{n}", f"b{n}", "x" if n < unlike else "A") for n in range(10)]
    assert infer_roles(rows)[-1] == (key, 0)


def test_only_the_first_300_rows_are_looked_at() -> None:
    rows = [f"What is {n}?,a{n}" for n in range(300)]
    assert infer_columns([*rows, *["x"] * 100]) is not None
    assert infer_columns([*rows[:299], *["x"] * 100]) is not None
    assert infer_columns([*["x"] * 100, *rows]) is None


@pytest.mark.parametrize("rows", [["What is it?,12", "Who is it?,14", "Why?,14", "Which is it?,30", "Where?,31"]])
def test_numbers_that_ascend_are_no_answers(rows: list[str]) -> None:
    assert infer_columns(rows) is None
    assert infer_cards(rows) is None
    assert infer_columns([*rows[:4], "Where?,3"]) is not None
