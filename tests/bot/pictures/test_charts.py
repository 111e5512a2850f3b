"""Leaderboards, distributions and weeks as pictures: names fit, and bars match their numbers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.charts import BoardChart, BoardPlace, ChoiceBar, DistributionChart, Week, WeeksChart
from bot.pictures.charts import WIDTH, draw_board, draw_distribution, draw_progress, drawable, fitted, width_of
from tests.bot.pictures.pixels import BAR, TRACK, count, longest_run, margins_clear, pixels_of

NAMES = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        ["שלום עולם", "مرحبا بالعالم", "田中太郎", "👩\u200d💻", "$x^2$", r"$\frac{$", "e" + "\u0301" * 20]
    ),
    st.just("W" * 300),
)


def place(name: str = "Ann", points: int = 10, mine: bool = False) -> BoardPlace:
    return BoardPlace(1, name, points, "100 %", 7, mine)


def board(*places: BoardPlace) -> bytes:
    return draw_board(BoardChart(places))


def test_the_same_board_gives_the_same_bytes() -> None:
    assert board(place(), place("Bob", 5)) == board(place(), place("Bob", 5))
    assert board(place(), place("Bob", 5)) != board(place(), place("Bob", 6))


def test_a_board_is_twice_as_large_as_it_is_shown() -> None:
    ten = pixels_of(board(*(place(str(n)) for n in range(10))))
    assert ten.shape[1] == 2 * WIDTH


def test_a_bar_is_as_long_as_its_points() -> None:
    whole = longest_run(pixels_of(board(place(points=100))), BAR)
    pixels = pixels_of(board(place(points=100), place("Bob", 25)))
    second = pixels[2 * (10 + 46 + 20) : 2 * (10 + 46 + 34)]
    assert longest_run(pixels, BAR) == whole
    assert longest_run(second, BAR) == pytest.approx(whole / 4, abs=2)


@pytest.mark.parametrize("points", [0, -5])
def test_no_points_no_bar(points: int) -> None:
    pixels = pixels_of(board(place(points=points)))
    assert count(pixels, BAR) == 0
    assert count(pixels, TRACK) > 0


def test_the_readers_row_stands_in_a_frame_and_is_named() -> None:
    mine, other = pixels_of(board(place(mine=True))), pixels_of(board(place()))
    assert count(mine, BAR) > count(other, BAR)
    assert (mine != other).any()


@settings(max_examples=12)
@given(NAMES, st.integers(-(10**6), 10**7), st.booleans())
def test_no_name_is_drawn_over_the_edge(name: str, points: int, mine: bool) -> None:
    assert margins_clear(pixels_of(board(place(name, points, mine))))


@settings(max_examples=50)
@given(NAMES, st.integers(20, 400))
def test_a_name_is_as_wide_as_its_room_at_most(name: str, room: int) -> None:
    assert width_of(fitted(name, room)) <= room


def test_a_character_no_font_has_is_a_square_one_for_what_people_call_a_character() -> None:
    assert drawable("a\U000f0000b") == "a□b"
    assert drawable("👩‍💻") in ("□", "👩")
    assert drawable("❤️ 1️⃣") == "❤ 1"
    assert drawable("e" + "\u0301" * 20) == "e" + "\u0301" * 3
    assert drawable("שלום Zoë مرحبا Иван") == "שלום Zoë مرحبا Иван"


def test_right_and_wrong_differ_by_hatching_not_by_color() -> None:
    right = pixels_of(draw_distribution(DistributionChart((ChoiceBar("a", 1, 1.0, "right"),))))
    wrong = pixels_of(draw_distribution(DistributionChart((ChoiceBar("a", 1, 1.0, "wrong"),))))
    assert longest_run(right, BAR) == 2 * (WIDTH - 32)
    # Hatched: many short strokes where the other is full, apart from the frame's two lines.
    assert count(wrong, BAR) < count(right, BAR) / 2


CHOICES = st.builds(ChoiceBar, NAMES, st.integers(0, 10**5), st.floats(0, 1), st.sampled_from(["right", "wrong", ""]))


@settings(max_examples=8)
@given(st.lists(CHOICES, min_size=1, max_size=10))
def test_any_answers_are_drawn_within_the_edges(choices: list[ChoiceBar]) -> None:
    assert margins_clear(pixels_of(draw_distribution(DistributionChart(tuple(choices)))))


def test_a_week_without_answers_has_its_row_and_no_bar() -> None:
    weeks = (Week("2 Mar", 40, 4, "75 %"), Week("9 Mar", 0, 0, ""))
    pixels = pixels_of(draw_progress(WeeksChart(weeks)))
    assert margins_clear(pixels)
    assert count(pixels[: 2 * (48 + 30)], BAR) > 0
    assert count(pixels[2 * (48 + 30) :], BAR) == 0
