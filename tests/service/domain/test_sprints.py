"""The rules of sprints: which questions are asked, points for speed, and shared ranks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.selection import Candidate
from service.domain.sprints import SprintScore, pick_questions, rank_scores, sprint_points

TOPICS = ("autograd", "tensors", "nn")
CANDIDATES = [
    Candidate(id=f"{topic}-{n}", topic=topic, level="mid", kind="choice") for topic in TOPICS for n in range(4)
]


def topics_of(ids: list[str]) -> list[str]:
    return sorted(id_.rpartition("-")[0] for id_ in ids)


def test_questions_come_from_different_topics_and_are_the_same_for_the_same_seed() -> None:
    picked = pick_questions(CANDIDATES, 6, "a")
    assert picked == pick_questions(CANDIDATES[::-1], 6, "a") != pick_questions(CANDIDATES, 6, "b")
    assert topics_of(picked) == sorted([*TOPICS, *TOPICS]) and len(set(picked)) == 6


def test_only_a_topic_is_asked_if_it_is_named_and_only_what_a_moment_suffices_for() -> None:
    code = Candidate(id="code-0", topic="nn", level="mid", kind="code")
    assert topics_of(pick_questions([*CANDIDATES, code], 9, "a", "nn")) == ["nn"] * 4
    assert len(pick_questions([*CANDIDATES, code], 99, "a")) == len(CANDIDATES)


def test_what_was_asked_least_comes_first_and_what_is_avoided_last() -> None:
    asked = {one.id: 1 for one in CANDIDATES if not one.id.endswith("-0")}
    assert set(pick_questions(CANDIDATES, 3, "a", times_asked=asked)) == {f"{topic}-0" for topic in TOPICS}
    avoided = [f"{topic}-0" for topic in TOPICS]
    picked = pick_questions(CANDIDATES, len(CANDIDATES), "a", times_asked=asked, avoided=avoided)
    assert set(picked[-3:]) == set(avoided) and len(picked) == len(CANDIDATES)


@pytest.mark.parametrize(
    ("credit", "ms", "points"),
    [
        (1, 0, 100),
        (1, -5, 100),
        (1, 3000, 100),
        (1, 3340, 99),
        (1, 11_500, 75),
        (1, 19_825, 51),
        (1, 19_835, 50),
        (1, 20_000, 50),
        (1, 99_000, 50),
        (0.5, 0, 25),
        (0, 0, 0),
    ],
)
def test_points_fall_with_time_down_to_those_of_a_right_answer(credit: float, ms: int, points: int) -> None:
    assert sprint_points(credit, ms, 20) == points


def test_with_little_time_a_quarter_of_it_is_for_thinking() -> None:
    assert [sprint_points(1, ms, 4) for ms in (0, 1000, 2500, 4000)] == [100, 100, 75, 50]


@pytest.mark.parametrize(("credit", "seconds"), [(-0.1, 20), (1.1, 20), (float("nan"), 20), (1, 0), (1, -1)])
def test_impossible_points_are_rejected(credit: float, seconds: int) -> None:
    with pytest.raises(ValueError, match="sprint points"):
        sprint_points(credit, 0, seconds)


def test_ranks_go_by_points_then_right_answers_then_time_and_are_shared() -> None:
    def score(id_: int, points: int, right: int, ms: int) -> SprintScore:
        return SprintScore(id_, f"member {id_}", points, right, ms)

    scores = [
        *(score(1, 90, 1, 500), score(2, 90, 2, 900), score(3, 120, 1, 900), score(4, 90, 2, 800)),
        *(score(5, 90, 2, 900), score(6, 0, 0, 1), score(7, 10, 1, 1)),
    ]
    assert [(rank, one.member_id) for rank, one in rank_scores(scores)] == [
        *((1, 3), (2, 4), (3, 2), (3, 5), (5, 1), (6, 7)),
    ]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2)), max_size=8))
def test_a_rank_counts_those_who_are_better(given_: list[tuple[int, int, int]]) -> None:
    scores = [SprintScore(n, str(n), *each) for n, each in enumerate(given_)]
    for rank, one in rank_scores(scores):
        better = [other for other in scores if other.points and _merit(other) < _merit(one)]
        assert rank == len(better) + 1


def _merit(score: SprintScore) -> tuple[int, int, int]:
    return -score.points, -score.right, score.ms
