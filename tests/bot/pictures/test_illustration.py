"""What of a card is drawn, and that nothing it says is lost by that."""

from __future__ import annotations

import json
from datetime import date

import pytest

from bot.core.cards import Bar, Bars, Block, Card, Picture, Small, Text, as_data, from_data
from bot.core.charts import (
    BoardChart,
    DistributionChart,
    Drawing,
    FormulaDrawing,
    WeeksChart,
)
from bot.core.markup.tree import Math
from bot.core.text import boards, members
from bot.pictures.illustration import drawings_of, with_pictures
from bot.pictures.legibility import reads_badly
from tests.bot.samples import CROWD, CROWDED, EVIL, GALLERY, ME, PNG

MATRIX = r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}"


def card_of(*blocks: Block) -> Card:
    return Card("Title", "s", blocks)


def drawn(card: Card) -> tuple[Block, ...]:
    return with_pictures(card, dict.fromkeys(drawings_of(card), PNG)).blocks


def test_a_board_is_drawn_as_its_table_says() -> None:
    card = boards.board_card(CROWDED)
    (drawing,) = drawings_of(card)
    assert isinstance(drawing, BoardChart)
    assert [(place.rank, place.points, place.streak, place.mine) for place in drawing.places] == [
        (row.rank, row.points, row.streak, row.me) for row in CROWD
    ]


def test_a_boards_alt_text_has_every_number_and_the_line_below_the_points() -> None:
    picture, line, *_ = drawn(boards.board_card(CROWDED))
    assert isinstance(picture, Picture)
    assert isinstance(line, Small)
    for row in CROWD:
        assert f"{row.points:,} points" in picture.alt
        assert f"streak {row.streak}" in picture.alt
        assert f"{row.points:,}" in line.markdown
    assert f"{EVIL}\u200e: " in picture.alt
    assert "(you)" in picture.alt
    assert EVIL not in line.markdown


def test_more_than_ten_places_are_named_as_more() -> None:
    row = CROWDED.rows[0]
    rows = tuple(row.model_copy(update={"rank": n}) for n in range(1, 13))
    _, line, *_ = drawn(boards.board_card(CROWDED.model_copy(update={"rows": rows})))
    assert isinstance(line, Small)
    assert line.markdown.endswith("… and 2 more")


def test_any_other_table_stays_a_table() -> None:
    for name in ("topics", "privacy", "help", "verdict wrong", "schedules"):
        said = GALLERY[name]
        assert isinstance(said, Card)
        assert drawings_of(said) == ()


def test_a_distribution_is_drawn_with_its_words() -> None:
    bars = Bars((Bar("`view` copies", 2, 2 / 3, "right"), Bar("*No*", 1, 1 / 3, "wrong")))
    (drawing,) = drawings_of(card_of(bars))
    assert isinstance(drawing, DistributionChart)
    assert [(choice.label, choice.count, choice.mark) for choice in drawing.choices] == [
        ("view copies", 2, "right"),
        ("No", 1, "wrong"),
    ]
    assert drawn(card_of(bars)) == (
        Picture(PNG, "Answers: 2 (67%) right: view copies\u200e; 1 (33%) wrong: No\u200e"),
        Small("2 (67%) right: view copies\u200e · 1 (33%) wrong: No\u200e"),
    )


def test_weeks_are_drawn_with_their_numbers() -> None:
    weeks = ((date(2026, 3, 2), 40, 4, 0.75), (date(2026, 3, 9), 0, 0, 0.0))
    card = members.me_card(ME.model_copy(update={"weeks": weeks, "topics": ()}))
    (drawing,) = drawings_of(card)
    assert isinstance(drawing, WeeksChart)
    _, picture, line = drawn(card)
    said = "Points by week. 2 Mar: 40 points, 4 answers, 75% right; 9 Mar: 0 points, 0 answers."
    assert picture == Picture(PNG, said)
    assert line == Small("Points: 2 Mar 40 · 9 Mar 0")


def test_a_hard_formula_on_its_own_line_becomes_a_picture_in_its_place() -> None:
    card = card_of(Text(f"With\n\n$${MATRIX}$$\n\nwhat is $x^2$?\n\n- a\n- b"))
    assert drawings_of(card) == (FormulaDrawing((MATRIX,)),)
    before, picture, after = drawn(card)
    assert before == Text("With\n\n")
    assert picture == Picture(PNG, f"Formula: [ 1 2; 3 4 ] (in LaTeX: {MATRIX})")
    assert after == Text("what is $x^2$?\n\n- a\n- b")


def test_a_hard_formula_within_text_is_drawn_below_it() -> None:
    text = Text(f"Is ${MATRIX}$ the same as $\\frac{{\\frac{{a}}{{b}}}}{{c}}$?")
    words, picture = drawn(card_of(text))
    assert words == text
    assert isinstance(picture, Picture)
    assert picture.alt.startswith("Formulas: ")


def test_what_was_not_drawn_stays_as_it_was() -> None:
    matrix, board = Text(f"$${MATRIX}$$"), boards.board_card(CROWDED).blocks[0]
    card = card_of(matrix, Text("and"), Bars((Bar("a", 1, 1.0, "right"),)), board)
    bars = next(one for one in drawings_of(card) if isinstance(one, DistributionChart))
    assert with_pictures(card, {}).blocks == card.blocks
    assert with_pictures(card, {bars: PNG}).blocks[:2] == (matrix, Text("and"))


def test_a_link_defined_elsewhere_in_the_text_is_not_lost() -> None:
    text = f"See [it][1].\n\n$${MATRIX}$$\n\n[1]: https://pytorch.org"
    words, picture = drawn(card_of(Text(text)))
    assert words == Text(text)
    assert isinstance(picture, Picture)


@pytest.mark.parametrize("name", [name for name, said in GALLERY.items() if isinstance(said, Card)])
def test_every_drawing_crosses_to_the_process_that_draws(name: str) -> None:
    said = GALLERY[name]
    assert isinstance(said, Card)
    found: tuple[Drawing, ...] = drawings_of(said)
    assert tuple(from_data(json.loads(json.dumps(as_data(drawing)))) for drawing in found) == found


@pytest.mark.parametrize(
    ("source", "display", "hard"),
    [
        (MATRIX, False, True),
        (r"x^2 + y_1 \le \alpha", True, False),
        (r"\hat{y} = \sigma(Wx + b)", True, False),
        (r"\frac{1}{2}", True, False),
        (r"\frac{a+b}{c+d}", True, True),
        (r"\frac{a+b}{c+d}", False, False),
        (r"\frac{\frac{a}{b}}{c}", False, True),
        (r"\sum_{i=1}^n x_i", False, False),
        (r"\sum_{i=1}^n x_i", True, True),
        (r"\sum_{i \in S}^{N_k} x_i", False, True),
        (r"\lim_{x \to 0} f(x)", True, True),
        (r"e^{x_i}", False, False),
        (r"e^{x_i}", True, True),
        (r"p_\theta(x)", True, False),
    ],
)
def test_which_formulas_are_hard_to_read_as_unicode(source: str, display: bool, hard: bool) -> None:
    assert reads_badly(Math(source, display)) == hard
