"""Podiums, topics and confidence as pictures: heights, ranges and marks match their numbers, and names fit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.cards import Card, Picture, Podium, PodiumPlace, Small, Table
from bot.core.text.sprints import podium_card
from bot.core.text.words import CONFIDENCE_WORDS
from bot.pictures.charts import MARGIN, WIDTH
from bot.pictures.figures import draw_podium, draw_ranges
from bot.pictures.service import drawings_of, with_pictures
from bot.pictures.spec import Drawing, PodiumDrawing, PodiumStep, RangeRow, RangesDrawing, as_data, from_data
from bot.pictures.worker import draw
from service.wire import SprintPodium
from tests.bot.pictures.pixels import BAR, TRACK, count, longest_run, margins_clear, pixels_of
from tests.bot.pictures.test_charts import NAMES
from tests.bot.samples import PNG, SPRINT_STANDINGS

MOST_BYTES = 100 * 1024
TOPICS = Table(
    ("Topic", "Answers", "Right", "You know"),
    (("autograd", "24", "42 %", "35–61 %"), ("optimizers", "3", "100 %", "too few answers")),
    "Topics, weakest first",
    shows="topics",
)
CONFIDENCE = Table(
    ("You said", "Answers", "Right", "In the long run"),
    ((CONFIDENCE_WORDS["guess"], "20", "30 %", "15–52 %"), (CONFIDENCE_WORDS["sure"], "20", "90 %", "70–97 %")),
    "How sure you were",
    shows="confidence",
)


def podium(*steps: tuple[int, str]) -> bytes:
    return draw_podium(PodiumDrawing(tuple(PodiumStep(rank, name, "5 points") for rank, name in steps)))


def ranges(*rows: RangeRow) -> bytes:
    return draw_ranges(RangesDrawing("Topics", rows))


def test_the_winner_stands_highest_and_those_who_share_a_rank_stand_level() -> None:
    alone = count(pixels_of(podium((1, "Ann"))), BAR)
    assert count(pixels_of(podium((1, "Ann"), (2, "Bob"), (3, "Cy"))), BAR) == alone
    third = count(pixels_of(podium((1, "Ann"), (2, "Bob"), (3, "Cy"))), TRACK)
    level = count(pixels_of(podium((1, "Ann"), (2, "Bob"), (2, "Cy"))), TRACK)
    assert level > third > 0
    assert count(pixels_of(podium((1, "Ann"), (1, "Bob"))), BAR) > 1.9 * alone


@pytest.mark.parametrize("width", [0.1, 0.25, 0.5])
def test_a_range_is_as_wide_as_its_uncertainty(width: float) -> None:
    pixels = pixels_of(ranges(RangeRow("autograd", 0.1, "10 %", (0.3, 0.3 + width))))
    assert longest_run(pixels, BAR) == pytest.approx(2 * (WIDTH - 2 * MARGIN) * width, abs=3)


def test_without_enough_answers_there_is_no_range() -> None:
    assert count(pixels_of(ranges(RangeRow("autograd", 1.0, "too few answers"))), BAR) == 0


@settings(max_examples=12)
@given(NAMES, st.integers(1, 3), st.floats(0, 1))
def test_nothing_is_drawn_over_the_edge(name: str, rank: int, share: float) -> None:
    assert margins_clear(pixels_of(podium((1, name), (rank, name), (3, name))))
    row = RangeRow(name, share, "50 % of 20 right", (share / 2, (1 + share) / 2), (0.8, 1.0))
    assert margins_clear(pixels_of(ranges(row, row)))


def test_pictures_are_small_and_the_same_each_time() -> None:
    rows = tuple(RangeRow(f"topic {n}", n / 8, "you know 35–61 %, 42 % of 24 right", (0.35, 0.61)) for n in range(8))
    steps = tuple(PodiumStep(rank, name, "1,290 points") for rank, name in ((1, "Ann"), (2, "Bob"), (3, "Cy")))
    drawings: tuple[Drawing, ...] = (RangesDrawing("Topics", rows), PodiumDrawing(steps))
    for drawing in drawings:
        first = draw(drawing)
        assert draw(drawing) == first and len(first) <= MOST_BYTES


def test_a_podium_is_drawn_as_its_card_says_and_keeps_its_words() -> None:
    card = podium_card(SprintPodium(asked=2, total=5, players=16, standings=SPRINT_STANDINGS, unnamed=12))
    (drawing,) = drawings_of(card)
    assert isinstance(drawing, PodiumDrawing)
    best = [one for one in SPRINT_STANDINGS if one.rank <= 3]
    assert [(step.rank, step.score) for step in drawing.steps] == [(one.rank, f"{one.points} points") for one in best]
    picture, words, *_ = with_pictures(card, {drawing: PNG}).blocks
    assert isinstance(picture, Picture) and isinstance(words, Podium) and "🥇" in words.markdown
    for one in best:
        assert f"place {one.rank}, " in picture.alt and f"{one.points} points" in picture.alt


def test_nobody_on_the_podium_is_no_picture() -> None:
    assert drawings_of(podium_card(SprintPodium(asked=2, total=5, players=0))) == ()


def test_topics_are_drawn_with_the_range_that_the_table_names() -> None:
    (drawing,) = drawings_of(Card("Me", "s", (TOPICS,)))
    assert isinstance(drawing, RangesDrawing)
    assert [(row.label, row.right, row.known) for row in drawing.rows] == [
        ("autograd", 0.42, (0.35, 0.61)),
        ("optimizers", 1.0, None),
    ]
    picture, legend = with_pictures(Card("Me", "s", (TOPICS,)), {drawing: PNG}).blocks
    assert isinstance(picture, Picture) and isinstance(legend, Small)
    for words in ("autograd", "you know 35–61 %", "42 % of 24 right", "too few answers"):
        assert words in picture.alt


def test_confidence_is_drawn_beside_what_it_pays_for() -> None:
    (drawing,) = drawings_of(Card("Me", "s", (CONFIDENCE,)))
    assert isinstance(drawing, RangesDrawing)
    guess, sure = drawing.rows
    assert guess.expected == (0.0, 2 / 3) and sure.expected == (0.8, 1.0)
    assert sure.known == (0.7, 0.97) and sure.note == "90 % of 20 right"
    assert from_data(json.loads(json.dumps(as_data(drawing)))) == drawing


def test_one_place_is_a_podium_too() -> None:
    card = Card("t", "s", (Podium("**Ann** wins", (PodiumPlace(1, "Ann", "1 point"),)),))
    assert drawings_of(card) == (PodiumDrawing((PodiumStep(1, "Ann", "1 point"),)),)
