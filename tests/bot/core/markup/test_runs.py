"""Runs of text in one style, and how long texts, code and tables are split to a size."""

from __future__ import annotations

import pytest

from bot.core.markup import parse
from bot.core.markup.plain import Style
from bot.core.markup.runs import (
    StyledRun,
    code_parts,
    runs_of,
    split_runs,
    table_parts,
    table_text,
    units,
    visible,
    words,
)
from bot.core.markup.tree import Align, Paragraph

PLAIN, BOLD, ITALIC, STRIKE, CODE = Style.PLAIN, Style.BOLD, Style.ITALIC, Style.STRIKE, Style.CODE


def runs(markdown: str) -> list[tuple[str, Style]]:
    (block,) = parse(markdown).blocks
    assert isinstance(block, Paragraph)
    return [(run.text, run.style) for run in runs_of(block.children)]


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), ("abc", 3), ("é", 1), ("日本", 2), ("😀", 2), ("\ud800", 1), ("e\u0301", 2)]
)
def test_the_length_of_a_text_is_counted_as_chat_clients_do(text: str, count: int) -> None:
    assert units(text) == count


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a", True),
        (" a ", True),
        ("·", True),
        ("e\u0301", True),
        ("", False),
        (" \n\t", False),
        ("\u200b", False),  # zero width
        ("\u0301", False),  # a mark on nothing
        ("\u20dd", False),
        ("\x07", False),
        ("\u200b x", True),
    ],
)
def test_a_text_of_spaces_and_invisible_characters_shows_nothing(text: str, shown: bool) -> None:
    assert visible(text) is shown


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        (
            "a **b *c*** ~~d~~ `e`",
            [("a ", PLAIN), ("b ", BOLD), ("c", BOLD | ITALIC), (" ", PLAIN), ("d", STRIKE), (" ", PLAIN), ("e", CODE)],
        ),
        ("**`a`**", [("a", BOLD | CODE)]),
        ("a\\\nb", [("a", PLAIN), ("\n", PLAIN), ("b", PLAIN)]),
        ("**a\\\nb**", [("a", BOLD), ("\n", PLAIN), ("b", BOLD)]),
        ("a ![b](c)d", [("a bd", PLAIN)]),  # texts in one style are one run
        ("$x^2$ a", [("x² a", PLAIN)]),
        ("*$x^2$*", [("x²", ITALIC)]),
        ("\\(\\begin{align}a\\\\b\\end{align}\\)", [("a; b", PLAIN)]),
        ("a $$x$$ b", [("a ", PLAIN), ("\n", PLAIN), ("x", PLAIN), ("\n", PLAIN), (" b", PLAIN)]),
        ("**a $$x$$**", [("a ", BOLD), ("\n", PLAIN), ("x", BOLD)]),
        ("\u200b", []),
        ("**\u200b**", []),
    ],
)
def test_marks_become_styles_and_formulas_lines(markdown: str, found: list[tuple[str, Style]]) -> None:
    assert runs(markdown) == found


def test_a_formula_on_its_own_has_no_empty_lines_around_it() -> None:
    assert runs("$$\n\\begin{align}a\\\\b\\end{align}\n$$") == [("a", PLAIN), ("\n", PLAIN), ("b", PLAIN)]


def test_what_is_struck_out_is_said_in_words() -> None:
    assert words([StyledRun("a "), StyledRun("b", STRIKE | BOLD), StyledRun("c", BOLD)]) == "a [struck out: b]c"


def split(room: int, *texts: str | StyledRun) -> list[list[str]]:
    given = [text if isinstance(text, StyledRun) else StyledRun(text) for text in texts]
    return [[run.text for run in part] for part in split_runs(given, lambda run: len(run.text), room)]


@pytest.mark.parametrize(
    ("room", "texts", "parts"),
    [
        (10, ["one two"], [["one two"]]),
        (10, ["one two th"], [["one two th"]]),  # just the room
        (12, ["one two three four"], [["one two"], ["three four"]]),
        (10, ["one two", "three"], [["one two"], ["three"]]),
        (12, ["one two", "three"], [["one twothree"]]),
        (4, ["one two"], [["one"], ["two"]]),
        (10, ["abcdefghij"], [["abcdefghij"]]),  # a word that just fits
        (10, ["abcdefghijk"], [["abcdef"], ["ghijk"]]),  # parts of a word leave room
        (10, ["a", "\n", "b"], [["a", "\n", "b"]]),
        (10, ["   "], []),
        (10, [], []),
    ],
)
def test_texts_are_split_between_words(room: int, texts: list[str], parts: list[list[str]]) -> None:
    assert split(room, *texts) == parts


def test_runs_in_other_styles_stay_apart() -> None:
    assert split(10, StyledRun("one"), StyledRun("two", BOLD)) == [["one", "two"]]
    assert split(5, StyledRun("one"), StyledRun("two", BOLD)) == [["one"], ["two"]]


def test_a_word_is_split_between_graphemes_and_a_huge_grapheme_anywhere() -> None:
    assert split(5, "e\u0301" * 4) == [["e\u0301" * 2], ["e\u0301" * 2]]
    assert [len(part[0]) for part in split(10, "e" + "\u0301" * 20)] == [6]  # marks alone show nothing


@pytest.mark.parametrize(
    ("source", "room", "parts"),
    [
        ("a\nb", 4, ["a\nb"]),
        ("a\nb", 3, ["a", "b"]),
        ("a\n\nb", 5, ["a\n\nb"]),
        ("abcd\nef", 5, ["abcd", "ef"]),
        ("abcde", 6, ["abcde"]),
        ("abcde", 5, ["abcd", "e"]),  # a line needs room for its end
        ("abcdefgh\ni", 5, ["abcd", "efgh", "i"]),
        ("", 5, [""]),
    ],
)
def test_code_is_split_between_lines(source: str, room: int, parts: list[str]) -> None:
    assert code_parts(source, len, room) == parts


ROWS = [["n", "w"], ["1", "a"], ["2", "b"], ["3", "c"], ["4", "d"]]
ALIGNS = [Align.LEFT, Align.RIGHT]


def test_a_table_is_set_in_lines_with_a_rule_below_its_header() -> None:
    assert table_text(ROWS[:2], ALIGNS) == "n │ w\n──┼──\n1 │ a"
    assert table_text([["name", "x"], ["a", "12"]], ALIGNS) == "name │  x\n─────┼───\na    │ 12"


def test_a_table_that_fits_is_one_part_and_each_part_of_a_longer_one_has_the_header() -> None:
    whole = table_text(ROWS, ALIGNS)
    assert table_parts(ROWS, ALIGNS, len, len(whole) + 1) == [whole]
    assert all(part.startswith("n │ w") for room in range(20, 50) for part in table_parts(ROWS, ALIGNS, len, room))
    assert table_parts(ROWS, ALIGNS, len, len(whole) - 1) == [
        table_text(ROWS[:3], ALIGNS),
        table_text([ROWS[0], *ROWS[3:]], ALIGNS),
    ]
    assert len(table_parts(ROWS, ALIGNS, len, 20)) == 4


def test_a_row_that_does_not_fit_is_split_as_code() -> None:
    parts = table_parts([["n"], ["x" * 30]], [Align.LEFT], len, 20)
    assert all(len(part) <= 20 for part in parts)
    assert "".join(parts).count("x") == 30


def test_a_table_is_at_most_56_columns_wide() -> None:
    text = table_text([["a", "b"], ["x" * 60, "y"]], [Align.LEFT, Align.LEFT])
    assert max(map(len, text.split("\n"))) == 56
