"""Mastery of topics: it finds what is weak, is unsure of few answers, and its ranges hold what they promise."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from service.domain.difficulty import GRID, Difficulty, Scale
from service.domain.mastery import (
    LEAST_ANSWERS,
    TOPIC_SPREAD,
    WIDEST,
    Mastery,
    TopicAnswer,
    estimate_team,
    estimate_topics,
    weigh_ability,
)

EVEN = Difficulty(0.0, 0.3)


def answers(topic: str, right: int, of: int, difficulty: Difficulty = EVEN) -> list[TopicAnswer]:
    return [TopicAnswer(topic, difficulty, float(number < right)) for number in range(of)]


def by_topic(found: tuple[Mastery, ...]) -> dict[str, Mastery]:
    return {one.topic: one for one in found}


def test_the_weak_topic_comes_first_and_is_known_to_be_weak() -> None:
    found = estimate_topics([*answers("autograd", 3, 15), *answers("tensors", 14, 15)], 0.9)
    assert [one.topic for one in found] == ["autograd", "tensors"]
    assert found[0].is_weak and not found[1].is_weak
    assert found[0].high < found[1].low
    assert (found[0].answers, found[0].right) == (15, 0.2)


def test_few_answers_say_nothing_and_more_narrow_the_range() -> None:
    few, more, many = (estimate_topics(answers("a", count // 2, count), 0.9)[0] for count in (4, 12, 60))
    assert not few.is_known and few.answers < LEAST_ANSWERS
    assert many.is_known and many.high - many.low < more.high - more.low < few.high - few.low


@pytest.mark.parametrize(
    ("count", "low", "high", "known"),
    [
        (LEAST_ANSWERS, 0.3, 0.7, True),
        (LEAST_ANSWERS - 1, 0.3, 0.7, False),
        (LEAST_ANSWERS, 0.25, 0.25 + WIDEST, False),
    ],
)
def test_a_topic_is_known_from_the_least_number_of_answers_on(count: int, low: float, high: float, known: bool) -> None:
    assert Mastery("a", count, 0.5, 0.5, low, high).is_known is known


def test_the_ability_is_weighed_after_years_of_answers() -> None:
    """Products of thousands of chances are smaller than any number of the machine."""
    weights = weigh_ability(answers("a", 3000, 6000), 0.9)
    assert weights.sum() == pytest.approx(1)
    assert weights @ np.array(GRID) == pytest.approx(0, abs=0.05)


def test_a_hard_question_got_wrong_says_less_than_an_easy_one() -> None:
    hard = estimate_topics(answers("a", 5, 10, Difficulty(1.5, 0.3)), 0.9)
    easy = estimate_topics(answers("a", 5, 10, Difficulty(-1.5, 0.3)), 0.9)
    same = [TopicAnswer("a", EVEN, 0.0)]
    assert (
        weigh_ability([*answers("a", 5, 10, Difficulty(1.5, 0.3))], 0.9) @ np.array(GRID)
        > weigh_ability([*answers("a", 5, 10, Difficulty(-1.5, 0.3))], 0.9) @ np.array(GRID) + 0.8
    )
    assert hard[0].right == easy[0].right and hard[0].middle < easy[0].middle
    assert estimate_topics(same, 0.9)[0].middle < 0.5


def test_questions_whose_difficulty_is_in_doubt_say_less() -> None:
    found = []
    for error in (0.0, 1.0, 2.0):
        many = answers("known", 28, 30, Difficulty(0.0, error))
        found.append(by_topic(estimate_topics([*many, TopicAnswer("new", EVEN, 0.0)], 0.9))["known"].middle)
    assert found == sorted(found, reverse=True) and found[0] > found[-1] + 0.05


def test_other_topics_speak_where_there_is_one_answer() -> None:
    strong = by_topic(estimate_topics([*answers("known", 28, 30), *answers("new", 0, 1)], 0.9))["new"]
    weak = by_topic(estimate_topics([*answers("known", 5, 30), *answers("new", 0, 1)], 0.9))["new"]
    assert strong.middle > weak.middle + 0.2


def test_ranges_of_eighty_percent_hold_the_truth_in_about_eighty_percent() -> None:
    draw = random.Random(1)
    within = total = 0
    for _ in range(120):
        ability, given, true = draw.gauss(0, 0.9), [], {}
        for topic in ("a", "b", "c"):
            own = ability + draw.gauss(0, TOPIC_SPREAD)
            levels = [draw.gauss(0, 0.8) for _ in range(12)]
            chances = [1 / (1 + math.exp(level - own)) for level in levels]
            true[topic] = sum(chances) / len(chances)
            pairs = zip(levels, chances, strict=True)
            given += [TopicAnswer(topic, Difficulty(b, 0.1), float(draw.random() < p)) for b, p in pairs]
        for topic, one in by_topic(estimate_topics(given, 0.9)).items():
            within += one.low < true[topic] < one.high
            total += 1
    assert 0.73 < within / total < 0.88


def test_a_team_is_known_by_the_questions_of_a_topic() -> None:
    scale = Scale(spread=1.0, item_spread=0.5)
    middle, low, high = estimate_team(scale, "a", [Difficulty(0.0, 0.2)] * 2)
    narrow = estimate_team(scale, "a", [Difficulty(0.0, 0.2)] * 20)
    assert middle == pytest.approx(0.5) and low < 0.5 < high
    assert low < narrow[1] < narrow[2] < high


def test_a_range_is_the_mode_of_what_is_probable_and_its_curvature() -> None:
    """Of one topic, only the sum of the two parts of an ability matters: normal with both variances together."""
    given, spread = answers("a", 3, 4, Difficulty(0.4, 0.0)), 1.1
    grid = np.linspace(-4, 4, 800_001)
    right = 1 / (1 + np.exp(0.4 - grid))
    logs = 3 * np.log(right) + np.log(1 - right) - grid**2 / (2 * (spread**2 + TOPIC_SPREAD**2))
    best = int(logs.argmax())
    step = grid[1] - grid[0]
    error = 1 / math.sqrt(-(logs[best + 1000] - 2 * logs[best] + logs[best - 1000]) / (1000 * step) ** 2)
    ends = [1 / (1 + math.exp(0.4 - grid[best] - z * error)) for z in (-1.281552, 0.0, 1.281552)]
    (found,) = estimate_topics(given, spread)
    assert [found.low, found.middle, found.high] == pytest.approx(ends, abs=1e-4)


@pytest.mark.parametrize("spread", [0.5, 1.2])
def test_before_any_answer_an_ability_is_spread_as_those_of_all(spread: float) -> None:
    weights = weigh_ability((), spread)
    assert math.sqrt(float(weights @ np.array(GRID) ** 2)) == pytest.approx(spread, abs=0.02)


def test_no_answers_and_hostile_answers() -> None:
    assert estimate_topics([], 0.9) == ()
    (one,) = estimate_topics(answers("", 500, 500), 0.3)
    assert 0.5 < one.low <= one.middle <= one.high <= 1
