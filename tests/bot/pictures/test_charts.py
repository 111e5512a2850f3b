"""Charts as pictures: bars, heights, ranges and marks match their numbers, and names fit."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.cards import Card, Charted, Picture, Small, Table, as_data, from_data
from bot.core.charts import (
    BoardChart,
    BoardPlace,
    ChoiceBar,
    DigestChart,
    DistributionChart,
    Drawing,
    HeatmapChart,
    HeatWeek,
    MeasuredChart,
    PodiumChart,
    PodiumPlace,
    RangeRow,
    RangesChart,
    Week,
    WeeksChart,
)
from bot.core.text import boards, members, notices
from bot.core.text.sprints import podium_card
from bot.pictures.canvas import MARGIN, WIDTH, drawable, fitted, width_of
from bot.pictures.charts import (
    draw_board,
    draw_digest,
    draw_distribution,
    draw_heatmap,
    draw_measured,
    draw_podium,
    draw_progress,
    draw_ranges,
)
from bot.pictures.illustration import drawings_of, with_pictures
from bot.pictures.worker import draw
from service.wire import SprintPodium
from tests.bot.pictures.fullest import FULLEST
from tests.bot.pictures.pixels import BAR, TRACK, count, longest_run, margins_clear, pixels_of
from tests.bot.samples import CALIBRATION, HISTORY, ME, PNG, QUIET_WEEK, SPEED, SPRINT_STANDINGS, WEEK

MOST_BYTES = 100_000
SURE = ME.model_copy(update={"topics": (), "weeks": (), "calibration": CALIBRATION})
KNOWN = ME.model_copy(update={"weeks": ()})
NAMES = st.one_of(
    st.text(max_size=80),
    st.sampled_from(
        ["שלום עולם", "مرحبا بالعالم", "田中太郎", "👩\u200d💻", "$x^2$", r"$\frac{$", "e" + "\u0301" * 20]
    ),
    st.just("W" * 300),
)


def place(name: str = "Ann", points: int = 10, mine: bool = False) -> BoardPlace:
    return BoardPlace(1, name, points, "100%", 7, mine)


def board(*places: BoardPlace) -> bytes:
    return draw_board(BoardChart(places))


def podium(*steps: tuple[int, str]) -> bytes:
    return draw_podium(PodiumChart(tuple(PodiumPlace(rank, name, "5 points") for rank, name in steps)))


def ranges(*rows: RangeRow) -> bytes:
    return draw_ranges(RangesChart("Topics", rows, "What it means."))


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
    weeks = (Week("2 Mar", 40, 4, "75%"), Week("9 Mar", 0, 0, ""))
    pixels = pixels_of(draw_progress(WeeksChart(weeks)))
    assert margins_clear(pixels)
    assert count(pixels[: 2 * (48 + 30)], BAR) > 0
    assert count(pixels[2 * (48 + 30) :], BAR) == 0


def test_the_winner_stands_highest_and_those_who_share_a_rank_stand_level() -> None:
    alone = count(pixels_of(podium((1, "Ann"))), BAR)
    assert count(pixels_of(podium((1, "Ann"), (2, "Bob"), (3, "Cy"))), BAR) == alone
    third = count(pixels_of(podium((1, "Ann"), (2, "Bob"), (3, "Cy"))), TRACK)
    level = count(pixels_of(podium((1, "Ann"), (2, "Bob"), (2, "Cy"))), TRACK)
    assert level > third > 0
    assert count(pixels_of(podium((1, "Ann"), (1, "Bob"))), BAR) > 1.9 * alone


@pytest.mark.parametrize("width", [0.1, 0.25, 0.5])
def test_a_range_is_as_wide_as_its_uncertainty(width: float) -> None:
    pixels = pixels_of(ranges(RangeRow("autograd", 0.1, "10%", (0.3, 0.3 + width))))
    assert longest_run(pixels, BAR) == pytest.approx(2 * (WIDTH - 2 * MARGIN) * width, abs=3)


def test_without_enough_answers_there_is_no_range() -> None:
    assert count(pixels_of(ranges(RangeRow("autograd", 1.0, "too few answers"))), BAR) == 0


@settings(max_examples=12)
@given(NAMES, st.integers(1, 3), st.floats(0, 1))
def test_nothing_is_drawn_over_the_edge(name: str, rank: int, share: float) -> None:
    assert margins_clear(pixels_of(podium((1, name), (rank, name), (3, name))))
    row = RangeRow(name, share, "50% of 20 right", (share / 2, (1 + share) / 2), (0.8, 1.0))
    assert margins_clear(pixels_of(ranges(row, row)))
    assert margins_clear(pixels_of(draw_digest(DigestChart(10**9, 3, row, (row,)))))


@pytest.mark.parametrize("drawing", FULLEST.values(), ids=FULLEST)
def test_pictures_are_small_and_the_same_each_time(drawing: Drawing) -> None:
    first = draw(drawing)
    assert draw(drawing) == first and len(first) <= MOST_BYTES


def test_a_podium_is_drawn_as_its_card_says_and_keeps_its_words() -> None:
    card = podium_card(SprintPodium(asked=2, total=5, players=16, standings=SPRINT_STANDINGS, unnamed=12))
    (drawing,) = drawings_of(card)
    assert isinstance(drawing, PodiumChart)
    best = [one for one in SPRINT_STANDINGS if one.rank <= 3]
    assert [(step.rank, step.score) for step in drawing.places] == [(one.rank, f"{one.points} points") for one in best]
    picture, words, *_ = with_pictures(card, {drawing: PNG}).blocks
    assert isinstance(picture, Picture) and isinstance(words, Charted) and "🥇" in words.markdown
    for one in best:
        assert f"place {one.rank}, " in picture.alt and f"{one.points} points" in picture.alt


def test_nobody_on_the_podium_is_no_picture() -> None:
    assert drawings_of(podium_card(SprintPodium(asked=2, total=5, players=0))) == ()


def test_topics_are_drawn_with_their_numbers() -> None:
    """The numbers are those of the service, not those that the table rounds to whole percent."""
    (drawing,) = drawings_of(members.me_card(KNOWN))
    assert isinstance(drawing, RangesChart)
    assert [(row.label, row.value, row.known) for row in drawing.rows] == [
        ("autograd", 0.5, (0.38, 0.63)),
        ("tensors", 0.75, None),
    ]
    _, picture, legend = with_pictures(members.me_card(KNOWN), {drawing: PNG}).blocks
    assert isinstance(picture, Picture) and isinstance(legend, Small)
    for words in ("autograd", "you know 38–63%", "50% of 14 right", "too few answers"):
        assert words in picture.alt


def test_confidence_is_drawn_beside_what_it_pays_for() -> None:
    (drawing,) = drawings_of(members.me_card(SURE))
    assert isinstance(drawing, RangesChart)
    guess, think, sure = drawing.rows
    assert (guess.expected, think.expected, sure.expected) == ((0.0, 2 / 3), (2 / 3, 0.8), (0.8, 1.0))
    assert sure.known == (0.6, 0.98) and sure.note == "90% of 10 right"
    assert from_data(json.loads(json.dumps(as_data(drawing)))) == drawing


def test_a_speed_board_is_drawn_with_its_error_and_keeps_its_table() -> None:
    """The scale ends at a round number; the reference is drawn beside the answers."""
    card = boards.speed_card(SPEED)
    (drawing,) = drawings_of(card)
    assert isinstance(drawing, MeasuredChart)
    assert drawing.ticks == ("0", "500 ms", "1,000 ms", "1,500 ms", "2,000 ms")
    assert [row.known for row in drawing.rows] == [(0.0016, 0.001655), (0.6, 0.65), (0.0017, 0.0018)]
    assert drawing.rows[1].note == "you · place 2 · 1,234 ms (1,200–1,300)" and drawing.rows[2].label == "Reference"
    picture, table, legend, *_ = with_pictures(card, {drawing: PNG}).blocks
    assert isinstance(picture, Picture) and isinstance(table, Table) and isinstance(legend, Small)
    assert "place 2 · 1,234 ms (1,200–1,300)" in picture.alt and "96%" in legend.markdown


def test_a_speed_board_draws_the_first_places_and_the_readers_own() -> None:
    ann = SPEED.rows[1]
    many = (SPEED.rows[0],) * 30
    (drawing,) = drawings_of(boards.speed_card(SPEED.model_copy(update={"rows": (*many, ann), "by": "memory"})))
    assert isinstance(drawing, MeasuredChart)
    assert [row.label for row in drawing.rows[-2:]] == ["Ann", "Reference"]
    assert len(drawing.rows) == boards.MEASURED_PLACES + 2 and drawing.ticks[-1] == "80 MiB"


@pytest.mark.parametrize("width", [0.01, 0.2])
def test_an_error_is_seen_however_small(width: float) -> None:
    row = RangeRow("Ann", 0.5, "5 ms", (0.5 - width / 2, 0.5 + width / 2))
    pixels = pixels_of(draw_measured(MeasuredChart("softmax", (row,), ("0", "10 ms"), "")))
    assert count(pixels, BAR) > 0 and margins_clear(pixels)


def test_the_days_of_a_member_are_drawn_and_said() -> None:
    card = members.me_card(SURE.model_copy(update={"calibration": ()}), HISTORY)
    (drawing,) = drawings_of(card)
    assert isinstance(drawing, HeatmapChart)
    assert [week.days for week in drawing.weeks] == [
        ("blank", "right", "blank", "missed", "blank"),
        ("part", "blank", "blank", "blank", "blank"),
        ("blank",) * 5,
        ("blank", "blank", "answered"),
    ]
    _, picture, words = with_pictures(card, {drawing: PNG}).blocks
    assert isinstance(picture, Picture) and isinstance(words, Charted)
    assert picture.alt == (
        "Heatmap of the last 4 weeks. week of 9 Feb: 1 missed, 1 right; week of 16 Feb: 1 partly right; "
        "week of 23 Feb: no question; week of 2 Mar: 1 answered."
    )
    assert "You answered 4 of 5 questions." in words.markdown


def test_a_new_member_has_no_heatmap() -> None:
    card = members.me_card(SURE.model_copy(update={"calibration": ()}), HISTORY.model_copy(update={"days": ()}))
    assert drawings_of(card) == ()


def test_the_better_a_day_the_more_is_filled() -> None:
    filled = {
        level: count(pixels_of(draw_heatmap(HeatmapChart((HeatWeek("2 Mar", (level,) * 5),), ()))), BAR)
        for level in ("blank", "missed", "part", "right")
    }
    assert filled["blank"] == filled["missed"] < filled["part"] < filled["right"]


def test_a_digest_is_drawn_as_its_card_says() -> None:
    card = notices.digest_notice(WEEK)
    (drawing,) = drawings_of(card)
    assert drawing == DigestChart(
        12,
        10,
        RangeRow("stride-view", 0.222, "22% right of 9 answers"),
        (RangeRow("autograd/hooks", 0.41, "41% of 12 right, the team 30–55%", (0.3, 0.55)),),
    )
    picture, words, _ = with_pictures(card, {drawing: PNG}).blocks
    assert isinstance(picture, Picture) and isinstance(words, Charted)
    for said in ("12 members answered, 10 the week before", "stride-view", "22%", "autograd/hooks", "30–55%"):
        assert said in picture.alt
    assert drawings_of(notices.digest_notice(QUIET_WEEK)) == ()


def test_participation_is_drawn_as_a_share_of_the_better_week() -> None:
    half = longest_run(pixels_of(draw_digest(DigestChart(5, 10, None, ()))), BAR)
    assert half == pytest.approx(2 * (WIDTH - 2 * MARGIN), abs=3)
    more, fewer = (count(pixels_of(draw_digest(DigestChart(10, n, None, ()))), BAR) for n in (10, 5))
    assert fewer == pytest.approx(0.75 * more, rel=0.02)


def test_one_place_is_a_podium_too() -> None:
    card = Card("t", "s", (Charted("**Ann** wins", PodiumChart((PodiumPlace(1, "Ann", "1 point"),))),))
    assert drawings_of(card) == (PodiumChart((PodiumPlace(1, "Ann", "1 point"),)),)
