"""Calibration: it recovers known difficulties, shrinks where little is known, and says how sure it is."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from questions.model import Level
from service.domain.calibration import (
    LEAST_SPREAD,
    MOST_SPREAD,
    Fit,
    Item,
    Response,
    calibrate,
    even_audience,
    expected_shares,
)
from service.domain.difficulty import (
    BASE_ERROR,
    GRID,
    LEVEL_ERROR,
    TOPIC_ERROR,
    Difficulty,
    Scale,
    level_prior,
)

LEVELS: tuple[Level, ...] = ("mid", "senior", "principal")


@dataclass(frozen=True)
class Truth:
    items: list[Item]
    difficulties: list[float]
    abilities: list[float]

    def answers(self, draw: random.Random, asked: Sequence[int], share: float) -> list[Response]:
        """Lets each member answer this share of these items."""
        return [
            Response(member, item, float(draw.random() < logistic(ability - self.difficulties[item])))
            for member, ability in enumerate(self.abilities)
            for item in asked
            if draw.random() < share
        ]


def logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value))


def draw_truth(draw: random.Random, members: int, items: int) -> Truth:
    """Draws difficulties whose levels are harder than the model assumes, and members around 0."""
    topics = [draw.gauss(0, 0.4) for _ in range(6)]
    base = {"mid": -0.6, "senior": 0.1, "principal": 0.9}
    known = [Item(LEVELS[number % 3], f"topic {number % 6}") for number in range(items)]
    values = [base[item.level or "mid"] + topics[number % 6] + draw.gauss(0, 0.7) for number, item in enumerate(known)]
    abilities = [draw.gauss(0, 1) for _ in range(members)]
    mean = sum(abilities) / members
    return Truth(known, values, [ability - mean for ability in abilities])


def test_difficulties_are_recovered_although_members_are_absent() -> None:
    draw = random.Random(1)
    truth = draw_truth(draw, members=150, items=90)
    fit = calibrate(truth.items, truth.answers(draw, range(60), 0.6))
    assert _correlation(fit, truth, range(60)) > 0.96
    assert _error(fit, truth, range(60)) < 0.27
    # Items that nobody answered are predicted by their level and topic.
    assert _correlation(fit, truth, range(60, 90)) > 0.6
    assert fit.answers[:60] == tuple(fit.answers[:60]) and set(fit.answers[60:]) == {0}


def test_the_intervals_hold_what_they_promise() -> None:
    within = total = 0
    for seed in range(12):
        draw = random.Random(seed)
        truth = draw_truth(draw, members=60, items=40)
        fit = calibrate(truth.items, truth.answers(draw, range(30), 0.7))
        for found, value in zip(fit.difficulties, truth.difficulties, strict=True):
            within += abs(found.value - value) < 1.96 * found.error
            total += 1
    assert 0.92 < within / total < 0.98


def test_an_item_with_few_answers_stays_near_its_level() -> None:
    draw = random.Random(2)
    truth = draw_truth(draw, members=80, items=30)
    many = truth.answers(draw, range(29), 0.8)
    fit = calibrate(truth.items, [*many, Response(0, 29, 0.0), Response(1, 29, 0.0)])
    predicted = calibrate(truth.items, many).difficulties[29]
    assert predicted.value < fit.difficulties[29].value < predicted.value + 1.0
    assert fit.difficulties[29].error > 2 * fit.difficulties[0].error


def test_without_answers_levels_say_what_they_always_said() -> None:
    fit = calibrate([Item(level, "") for level in LEVELS], [])
    shares = expected_shares(even_audience(), [Difficulty(one.value, 0.0) for one in fit.difficulties])
    assert shares == pytest.approx([0.75, 0.65, 0.55], abs=0.01)
    assert fit.members == () and fit.scale == Scale(levels={}, topics={})


def test_the_error_of_a_team_is_that_of_its_questions_and_of_their_spread() -> None:
    draw = random.Random(3)
    truth = Truth([Item("mid", "views")] * 12, [draw.gauss(0.5, 1.2) for _ in range(12)], [0.0] * 20)
    fit = calibrate(truth.items, truth.answers(draw, range(12), 0.8))
    # With one level and one topic, the covariance of the three parts has a closed form (Sherman and Morrison).
    known = sum(1 / (fit.scale.item_spread**2 + one.error**2) for one in fit.difficulties)
    priors = BASE_ERROR**2 + LEVEL_ERROR**2 + TOPIC_ERROR**2
    expected = BASE_ERROR**2 - known * BASE_ERROR**4 / (1 + known * priors)
    assert fit.scale.base_error == pytest.approx(math.sqrt(expected), rel=1e-6)


def test_a_strong_team_makes_unasked_questions_easier() -> None:
    items = [Item("mid", "a") for _ in range(20)] + [Item("principal", "b")]
    strong = [Response(member, item, float(item % 10 > 0)) for member in range(20) for item in range(20)]
    assert calibrate(items, strong).difficulties[20].value < level_prior("principal") - 0.4


def test_a_topic_that_a_team_does_not_know_is_expected_to_be_hard() -> None:
    items = [Item("mid", "known" if number < 12 else "unknown") for number in range(24)]
    answers = [
        Response(member, item, float(item < 11 and (member + item) % 5 > 0))
        for member in range(30)
        for item in [*range(11), *range(12, 23)]
    ]
    fit = calibrate(items, answers)
    assert fit.difficulties[23].value > fit.difficulties[11].value + 0.5


def test_partial_credit_lies_between_right_and_wrong() -> None:
    items = [Item("mid", "a")] * 3
    answers = [Response(member, item, (0.0, 0.5, 1.0)[item]) for member in range(30) for item in range(3)]
    hard, between, easy = (one.value for one in calibrate(items, answers).difficulties)
    assert hard > between + 0.5 > easy + 1.0


def test_abilities_are_found_and_kept_as_distributions() -> None:
    draw = random.Random(3)
    truth = draw_truth(draw, members=60, items=60)
    fit = calibrate(truth.items, truth.answers(draw, range(60), 0.9))
    assert fit.abilities.shape == (60, len(GRID)) and np.allclose(fit.abilities.sum(axis=1), 1)
    means = fit.abilities @ np.array(GRID)
    assert np.corrcoef(means, truth.abilities)[0, 1] > 0.9
    assert fit.scale.spread == pytest.approx(1.0, abs=0.25)


def test_the_spread_of_abilities_is_bounded() -> None:
    items = [Item("mid", "a")] * 40
    apart = [Response(member, item, float(member % 2)) for member in range(200) for item in range(40)]
    alike = [Response(member, item, float((member + item) % 2)) for member in range(200) for item in range(40)]
    assert calibrate(items, apart).scale.spread == MOST_SPREAD == 2.0
    assert calibrate(items, alike).scale.spread == LEAST_SPREAD == 0.3


def test_expected_shares_average_over_the_audience_and_the_doubt() -> None:
    draw = random.Random(4)
    audience = even_audience(1.2)
    for known in (Difficulty(0.8, 0.3), Difficulty(-1.5, 0.9)):
        (share,) = expected_shares(audience, [known])
        drawn = [logistic(draw.gauss(0, 1.2) - draw.gauss(known.value, known.error)) for _ in range(20_000)]
        assert share == pytest.approx(sum(drawn) / len(drawn), abs=0.012)


def test_expected_shares_are_close_to_the_integral_over_a_large_doubt() -> None:
    """For a member at ability 0. The usual approximation is within 0.004 of the integral; one with 9 or 7 instead of 8
    is 0.006 off."""
    audience = (np.abs(np.array(GRID)) < 1e-9).astype(np.float64)
    assert audience.sum() == 1
    doubt = np.linspace(-8, 8, 4001)
    weights = np.exp(-0.5 * doubt**2) / np.exp(-0.5 * doubt**2).sum()
    for value in (-1.0, -2.0, 2.0):
        (share,) = expected_shares(audience, [Difficulty(value, 1.5)])
        assert share == pytest.approx(float(weights @ (1 / (1 + np.exp(value + 1.5 * doubt)))), abs=0.005)


def test_hostile_answers_give_finite_numbers() -> None:
    items = [Item(None, ""), Item("mid", "a")]
    for credit in (0.0, 1.0):
        fit = calibrate(items, [Response(member, item, credit) for member in range(300) for item in range(2)])
        assert all(math.isfinite(one.value) and 0 < one.error < 2 for one in fit.difficulties)


def _correlation(fit: Fit, truth: Truth, which: range) -> float:
    found = [fit.difficulties[number].value for number in which]
    return float(np.corrcoef(found, [truth.difficulties[number] for number in which])[0, 1])


def _error(fit: Fit, truth: Truth, which: range) -> float:
    away = [fit.difficulties[number].value - truth.difficulties[number] for number in which]
    return math.sqrt(sum(each * each for each in away) / len(away))
