"""A season of 200 simulated members: difficulties are found, rounds come to about 70% right, and practice pays."""

from __future__ import annotations

from statistics import fmean

import pytest

from tests.simulated_season import (
    Season,
    choose_at_random,
    choose_by_calibration,
    choose_by_level,
    distance,
    practice_together,
)


@pytest.fixture(scope="module")
def season() -> Season:
    """The season of 120 days, chosen by calibrated difficulty."""
    return Season(1, every=7).play(choose_by_calibration)


@pytest.mark.slow
def test_true_difficulties_are_recovered(season: Season) -> None:
    asked, never = season.recovered(season.asked), season.recovered(season.never_asked)
    assert (asked.items, never.items) == (120, 180)
    assert asked.correlation > 0.93 and asked.error < 0.27 and 0.88 < asked.covered <= 1
    # Only known from practice and from their level and topic.
    assert never.correlation > 0.8 and never.error < 0.5 and 0.88 < never.covered <= 1


def test_rounds_come_to_about_seventy_per_cent_right(season: Season) -> None:
    by_chance = Season(1, every=120).play(choose_at_random)
    assert abs(fmean(season.shares[14:]) - 0.7) < 0.04 < abs(fmean(by_chance.shares[14:]) - 0.7)
    assert distance(season.shares) < 0.06 < 0.1 < distance(by_chance.shares)


def test_a_strong_team_without_practice_gets_harder_questions() -> None:
    strong = Season(1, strength=1.8, practice=False, every=7, members=60, days=70)
    chosen = strong.play(choose_by_calibration)
    by_level = Season(1, strength=1.8, practice=False, every=70, members=60, days=70).play(choose_by_level)
    assert abs(fmean(chosen.shares[14:]) - 0.7) < abs(fmean(by_level.shares[14:]) - 0.7) - 0.02


def test_due_cards_teach_more_than_as_many_random_ones() -> None:
    due, any_card = (practice_together(20, 6, by_fsrs=by_fsrs) for by_fsrs in (True, False))
    assert due.reviews < any_card.reviews
    assert due.now > any_card.now + 0.03 and due.later > any_card.later + 0.03
