"""What is said about a question: intervals, discrimination, and no verdict from few answers."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.item_statistics import (
    MIN_ANSWERS,
    Item,
    Picks,
    compute_contrast,
    find_problem,
    known_discrimination,
    wilson_interval,
)
from tests.service.simulated_answers import AMBIGUOUS, BROKEN, EASY, GOOD, HARD, items_of, simulate


@pytest.mark.parametrize(
    ("right", "count", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_intervals_are_those_of_the_literature(right: int, count: int, low: float, high: float) -> None:
    interval = wilson_interval(right / count, count)
    assert [interval.low, interval.high] == pytest.approx([low, high], abs=1e-4)


@given(st.integers(1, 500).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count))))
def test_an_interval_holds_the_share_and_narrows_with_more_answers(given: tuple[int, int]) -> None:
    right, count = given
    few, many = wilson_interval(right / count, count), wilson_interval(right / count, 4 * count)
    assert 0 <= few.low <= right / count + 1e-9 and right / count - 1e-9 <= few.high <= 1
    assert many.high - many.low < few.high - few.low
    assert wilson_interval(0.0, 0) == type(few)(0.0, 1.0)


scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.9, 1.0]), min_size=8, max_size=20)


@given(scores, scores)
def test_a_contrast_is_the_correlation_of_the_choice_with_the_scores(first: list[float], second: list[float]) -> None:
    sums = [Picks(len(each), len(each), sum(each), sum(x * x for x in each)) for each in (first, second)]
    found = compute_contrast(*sums)
    if len(set(first + second)) == 1:
        assert found is None
    else:
        chose = [1.0] * len(first) + [0.0] * len(second)
        assert found == pytest.approx(statistics.correlation(chose, first + second), abs=1e-6)


@given(st.integers(0, MIN_ANSWERS - 1), st.floats(0, 1), st.floats(-1, 1))
def test_few_answers_say_nothing(count: int, right: float, discrimination: float) -> None:
    item = Item(count, right, discrimination, count, Picks(0), Picks(count), Picks(0))
    assert find_problem(item) is None and known_discrimination(item) is None


def test_a_question_with_just_enough_answers_is_judged() -> None:
    wrong = Item(MIN_ANSWERS, 0.0, None, 0, Picks(0), Picks(MIN_ANSWERS), Picks(0))
    assert find_problem(wrong) is not None


def test_a_misconception_of_weak_members_is_no_wrong_key() -> None:
    right, wrong = Picks(8, 8, 8 * 0.8, 8 * 0.65), Picks(40, 40, 40 * 0.4, 40 * 0.18)
    assert find_problem(Item(60, 8 / 60, 0.3, 60, right, wrong, right)) == "hard"
    strong = Picks(40, 40, 40 * 0.8, 40 * 0.65)
    weak = Picks(8, 8, 8 * 0.4, 8 * 0.18)
    assert find_problem(Item(60, 8 / 60, 0.0, 60, weak, strong, weak)) == "broken"


def test_over_many_simulated_teams_bad_questions_are_found_and_good_ones_left_alone() -> None:
    teams = [{id_: find_problem(item) for id_, item in items_of(simulate(seed)).items()} for seed in range(20)]
    for item, allowed, least in (
        (BROKEN, ["broken"], 19),
        (AMBIGUOUS, ["ambiguous", "broken"], 16),
        (EASY, ["easy"], 20),
        (HARD, ["hard"], 19),
    ):
        assert sum(team[item.id] in allowed for team in teams) >= least, item.id
    assert not any(team[item.id] in ("broken", "ambiguous") for team in teams for item in GOOD)


def test_without_other_answers_only_a_wrong_option_of_the_majority_is_suspicious() -> None:
    def chosen(wrong: int) -> Item:
        return Item(30, 0.1, None, 0, Picks(3), Picks(wrong), Picks(30 - wrong))

    assert find_problem(chosen(26)) == "broken"
    assert find_problem(chosen(17)) == "hard"


def test_few_or_one_sided_answers_have_no_contrast() -> None:
    def picks(compared: int, score: float) -> Picks:
        return Picks(compared + 3, compared, compared * score, compared * score**2)

    assert compute_contrast(picks(7, 0.9), picks(7, 0.2)) is None, "one answer too few"
    assert compute_contrast(picks(8, 0.9), picks(7, 0.2)) == pytest.approx(1.0)
    assert compute_contrast(picks(20, 0.9), picks(0, 0.2)) is None
    assert compute_contrast(picks(0, 0.9), picks(20, 0.2)) is None


def test_a_low_share_of_few_answers_is_not_surely_hard() -> None:
    def answered(count: int) -> Item:
        return Item(count, 0.25, None, 0, None, None, None)

    assert [find_problem(answered(count)) for count in (12, 100)] == [None, "hard"]


@pytest.mark.parametrize(("right", "problem"), [(0.25, "hard"), (0.26, None), (0.89, None), (0.9, "easy")])
def test_many_answers_show_a_question_that_is_too_hard_or_too_easy(right: float, problem: str | None) -> None:
    assert find_problem(Item(1000, right)) == problem


@pytest.mark.parametrize(("discrimination", "problem"), [(-0.405, None), (-0.446, "broken")])
def test_a_negative_discrimination_must_be_beyond_chance(discrimination: float, problem: str | None) -> None:
    """Of 15 answers, the interval of 90% lies below 0 from a correlation of -0.442 on: atanh(0.442) = 1.645 / √12."""
    assert find_problem(Item(15, 0.6, discrimination, 15)) == problem


@pytest.mark.parametrize(
    ("rated", "liked", "problem"),
    [(4, 0, None), (5, 0, "disliked"), (10, 2, None), (10, 1, "disliked"), (40, 13, "disliked")],
)
def test_a_question_is_disliked_once_most_surely_dislike_it(rated: int, liked: int, problem: str | None) -> None:
    """The upper end of the Wilson interval of 2 in 10 is 0.51, of 1 in 10 it is 0.40, of 13 in 40 it is 0.48."""
    assert find_problem(Item(0, 0.0, rated=rated, liked=liked)) == problem
    assert find_problem(Item(40, 0.6, rated=rated, liked=liked)) == problem
