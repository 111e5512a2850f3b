"""The rules of a duel: which question comes next, what a member scored, and who won."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from service.domain.duels import (
    QUESTION_SECONDS,
    QUESTIONS,
    Score,
    Turn,
    closes_at,
    decide_winner,
    draw_by_seed,
    next_number,
    score_turns,
)
from service.wire import DuelWinner
from tests.conftest import MONDAY

ENDS = MONDAY + timedelta(hours=24)
SECOND = timedelta(seconds=1)
LIMIT = timedelta(seconds=QUESTION_SECONDS)


def answered(number: int, *, after: timedelta = SECOND, correct: bool = True) -> Turn:
    return Turn(number, MONDAY, MONDAY + after, correct)


@pytest.mark.parametrize(
    ("turns", "now", "number"),
    [
        ([], MONDAY, 1),
        ([Turn(1, MONDAY)], MONDAY + LIMIT, 1),
        ([Turn(1, MONDAY)], MONDAY + LIMIT + SECOND, 2),
        ([answered(1)], MONDAY, 2),
        ([answered(1), Turn(2, MONDAY)], MONDAY, 2),
        ([answered(number) for number in range(1, QUESTIONS)], MONDAY, QUESTIONS),
        ([answered(number) for number in range(1, QUESTIONS + 1)], MONDAY, None),
        ([answered(1)], ENDS - SECOND, 2),
        ([answered(1)], ENDS, None),
        ([answered(1), Turn(2, ENDS - SECOND)], ENDS, 2),
        ([answered(1), Turn(2, ENDS - SECOND)], ENDS + SECOND, None),
    ],
)
def test_the_next_question(turns: list[Turn], now: datetime, number: int | None) -> None:
    assert next_number(turns, ENDS, now) == number


def test_a_question_closes_after_its_time_or_with_the_duel() -> None:
    assert closes_at(MONDAY, ENDS) == MONDAY + LIMIT
    assert closes_at(ENDS - SECOND, ENDS) == ENDS


def test_a_score_counts_the_whole_time_for_what_was_not_answered() -> None:
    turns = [answered(1, after=3 * SECOND), answered(2, after=1.5 * SECOND, correct=False), Turn(3, MONDAY)]
    missing = (QUESTIONS - 2) * QUESTION_SECONDS * 1000
    assert score_turns(turns) == Score(correct=1, ms=4500 + missing, answered=2)
    assert score_turns([]) == Score(correct=0, ms=QUESTIONS * QUESTION_SECONDS * 1000, answered=0)


@pytest.mark.parametrize(
    ("challenger", "opponent", "winner"),
    [
        (Score(2, 9000, 5), Score(1, 1000, 5), "challenger"),
        (Score(1, 1000, 5), Score(2, 9000, 5), "opponent"),
        (Score(2, 5000, 5), Score(2, 6000, 5), "challenger"),
        (Score(2, 6000, 5), Score(2, 5000, 5), "opponent"),
        (Score(2, 5100, 5), Score(2, 5400, 5), "draw"),
        (Score(2, 599_700, 5), Score(2, 599_700, 5), "draw"),
        (Score(0, 1000, 5), Score(0, 9000, 5), "draw"),
        (Score(0, 1000, 1), Score(0, 9000, 0), "draw"),
        (Score(0, 9000, 0), Score(0, 1000, 1), "draw"),
        (Score(0, 9000, 0), Score(0, 9000, 0), None),
    ],
)
def test_who_won(challenger: Score, opponent: Score, winner: DuelWinner | None) -> None:
    assert decide_winner(challenger, opponent) == winner


def test_a_draw_by_seed_is_the_same_in_any_order_and_another_for_another_seed() -> None:
    one = draw_by_seed(range(100), "a", 5)
    assert one == draw_by_seed(reversed(range(100)), "a", 5) and len(set(one)) == 5
    assert one != draw_by_seed(range(100), "b", 5)
    assert sorted(draw_by_seed("abc", "a", 5)) == ["a", "b", "c"]
