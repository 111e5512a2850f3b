"""Practice cards are JSON-ready and deterministic, with FSRS's due dates."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.rounds.practice import new_card, rating_for, review_card
from service.wire import Rating

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
RATINGS: tuple[Rating, ...] = ("again", "hard", "good")

reviews = st.lists(st.tuples(st.sampled_from(RATINGS), st.integers(0, 5000)), min_size=1, max_size=12)


def practiced(*ratings: Rating) -> tuple[dict[str, Any], datetime]:
    """Reviews a card each time it is due."""
    card, due = new_card(NOW), NOW
    for rating in ratings:
        card, due = review_card(card, rating, due)
    return card, due


def test_a_new_card_is_due_at_once() -> None:
    assert datetime.fromisoformat(new_card(NOW)["due"]) == NOW
    assert new_card(NOW) == new_card(NOW)


def test_a_better_rating_is_due_later() -> None:
    learnt, at = practiced("good", "good")
    dues = [review_card(learnt, rating, at)[1] for rating in RATINGS]
    assert dues == sorted(set(dues))
    assert dues[0] - at == timedelta(days=1), "nobody is back in ten minutes"
    assert dues[2] - at > timedelta(days=2)


def test_intervals_grow_while_it_is_known_and_fall_when_it_is_not() -> None:
    known: list[Rating] = ["good"] * 5
    moments = [practiced(*known[:n])[1] for n in range(2, 6)]
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert gaps == sorted(set(gaps))
    card, due = practiced(*known)
    assert review_card(card, "again", due)[1] - due == timedelta(days=1)


@given(reviews)
def test_cards_survive_json_and_the_same_reviews_give_the_same_card(done: list[tuple[Rating, int]]) -> None:
    direct, stored, now = new_card(NOW), new_card(NOW), NOW
    for rating, minutes in done:
        now += timedelta(minutes=minutes)
        direct, due = review_card(direct, rating, now)
        stored, again = review_card(json.loads(json.dumps(stored)), rating, now)
        assert due == again > now
        assert due.tzinfo == UTC
    assert direct == stored == json.loads(json.dumps(direct))


def test_the_card_reviewed_is_left_alone() -> None:
    card = new_card(NOW)
    before = copy.deepcopy(card)
    review_card(card, "good", NOW)
    assert card == before


def test_another_zone_names_the_same_instant() -> None:
    tokyo = NOW.astimezone(timezone(timedelta(hours=9)))
    assert new_card(tokyo) == new_card(NOW)
    assert review_card(new_card(NOW), "good", tokyo) == review_card(new_card(NOW), "good", NOW)


@pytest.mark.parametrize(
    ("share", "rating"), [(0.0, "again"), (0.49, "again"), (0.5, "hard"), (0.99, "hard"), (1.0, "good")]
)
def test_the_rating_of_an_answer(share: float, rating: Rating) -> None:
    assert rating_for(share) == rating


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_outside_its_bounds_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="lies between 0 and 1"):
        rating_for(share)


@pytest.mark.parametrize("broken", [{}, {"card_id": 1}, {**new_card(NOW), "state": 9}, {**new_card(NOW), "due": None}])
def test_a_malformed_card_is_rejected_with_a_fix(broken: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="start it again with new_card"):
        review_card(broken, "good", NOW)
