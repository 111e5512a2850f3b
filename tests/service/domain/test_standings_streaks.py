"""Streaks by example and by property: what adds, what breaks, what a freeze saves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.standings import Attendance, FreezePolicy, Streak, compute_streak

LETTERS: dict[str, Attendance] = {"a": "answered", "m": "missed", "e": "excused"}
SHIPPED = FreezePolicy()
NO_FREEZES = FreezePolicy(cap=0)

histories = st.lists(st.sampled_from(list(LETTERS.values())), max_size=80)
policies = st.builds(FreezePolicy, cap=st.integers(0, 3), earn_every=st.integers(1, 9))


def after(letters: str, freezes: FreezePolicy = SHIPPED) -> Streak:
    """Returns the streak after rounds written as a(nswered), m(issed), e(xcused)."""
    return compute_streak([LETTERS[letter] for letter in letters], freezes)


@pytest.mark.parametrize(
    ("letters", "current", "best"),
    [
        ("", 0, 0),
        ("aaa", 3, 3),
        ("aam", 0, 2),
        ("aama", 1, 2),
        ("aeea", 2, 2),
        ("eee", 0, 0),
        ("m", 0, 0),
        ("aaamaa", 2, 3),
    ],
)
def test_without_freezes(letters: str, current: int, best: int) -> None:
    assert after(letters, NO_FREEZES) == Streak(current, best, 0, 0)


def test_a_freeze_is_earned_by_the_seventh_round_and_saves_the_streak() -> None:
    assert after("aaaaaa").freezes_left == 0
    assert after("aaaaaaa") == Streak(7, 7, 1, 0)
    assert after("aaaaaaam") == Streak(7, 7, 0, 1)
    assert after("aaaaaaama") == Streak(8, 8, 0, 1)
    assert after("aaaaaaamm") == Streak(0, 7, 0, 1)


def test_freezes_are_capped() -> None:
    assert after("a" * 70).freezes_left == 2
    assert after("a" * 70 + "mmm") == Streak(0, 70, 0, 2)


def test_no_freeze_is_spent_where_there_is_no_streak() -> None:
    saved = after("aaaaaaamm" + "m" * 5 + "aaaaaaa")
    assert saved == Streak(7, 7, 1, 1)
    two = FreezePolicy(cap=2, earn_every=1)
    assert after("aammm" + "mm", two) == Streak(0, 2, 0, 2)


def test_a_break_restarts_the_count_towards_a_freeze() -> None:
    assert after("aaaaaam" + "aaaaaa").freezes_left == 0
    assert after("aaaaaam" + "aaaaaaa").freezes_left == 1


@given(histories, policies, st.data())
def test_excused_rounds_change_nothing(history: list[Attendance], freezes: FreezePolicy, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(history)))
    assert compute_streak([*history[:place], "excused", *history[place:]], freezes) == compute_streak(history, freezes)


@given(histories, policies)
def test_bounds(history: list[Attendance], freezes: FreezePolicy) -> None:
    found = compute_streak(history, freezes)
    answered = history.count("answered")
    assert 0 <= found.current <= found.best <= answered
    assert 0 <= found.freezes_left <= freezes.cap
    assert found.used <= min(history.count("missed"), answered // freezes.earn_every)
    assert found.freezes_left + found.used <= answered // freezes.earn_every


@given(histories, policies)
def test_answering_adds_one(history: list[Attendance], freezes: FreezePolicy) -> None:
    before, then = compute_streak(history, freezes), compute_streak([*history, "answered"], freezes)
    assert then.current == before.current + 1
    assert then.best == max(before.best, then.current)


@given(histories, policies)
def test_missing_takes_a_freeze_or_the_streak(history: list[Attendance], freezes: FreezePolicy) -> None:
    before, then = compute_streak(history, freezes), compute_streak([*history, "missed"], freezes)
    if before.current and before.freezes_left:
        assert then == Streak(before.current, before.best, before.freezes_left - 1, before.used + 1)
    else:
        assert then == Streak(0, before.best, before.freezes_left, before.used)


@given(histories)
def test_restoring_a_missed_round_never_lowers_the_best(history: list[Attendance]) -> None:
    restored: list[Attendance] = ["excused" if round_ == "missed" else round_ for round_ in history]
    assert compute_streak(restored).best >= compute_streak(history).best
    assert compute_streak(restored).current == history.count("answered")


@pytest.mark.parametrize(("cap", "earn_every"), [(-1, 7), (2, 0)])
def test_an_impossible_policy_is_rejected(cap: int, earn_every: int) -> None:
    with pytest.raises(ValueError, match="a cap of 0 turns freezes off"):
        FreezePolicy(cap, earn_every)
