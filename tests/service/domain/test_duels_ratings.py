"""Ratings after matches: who goes up, by how much each side moves, and what members see."""

from __future__ import annotations

import pytest

from service.domain.duels import Rating, rate_match


def test_the_first_rating_is_a_thousand() -> None:
    assert (Rating(), Rating().shown) == (Rating(25.0, 25.0 / 3.0), 1000)
    assert Rating(26.0, 8.0).shown == 1080


def test_the_winner_rises_as_far_as_an_equal_loser_falls() -> None:
    won, lost = rate_match(Rating(), Rating(), "first")
    assert won.mu - 25 == pytest.approx(25 - lost.mu) and won.mu > 25
    assert won.sigma == pytest.approx(lost.sigma) and won.sigma < Rating().sigma
    assert rate_match(Rating(), Rating(), "second") == (lost, won)


def test_a_draw_of_equals_moves_neither_and_makes_both_surer() -> None:
    one, other = rate_match(Rating(), Rating(), "draw")
    assert one.mu == pytest.approx(25) and other.mu == pytest.approx(25)
    assert one.sigma == pytest.approx(other.sigma) and one.sigma < Rating().sigma


def test_a_draw_brings_unequal_members_closer() -> None:
    strong, weak = rate_match(Rating(30.0, 4.0), Rating(20.0, 4.0), "draw")
    assert strong.mu < 30 and weak.mu > 20
