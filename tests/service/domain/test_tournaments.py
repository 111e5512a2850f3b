"""Rules of tournaments: balanced teams, best results, pairs of a bracket and the table."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.tournaments import (
    MemberDay,
    TeamDay,
    balance_teams,
    count_stages,
    decide_pair,
    may_pick,
    pair_teams,
    rank_bracket,
    rank_table,
    smallest_team,
    sum_best,
)


def test_only_the_best_members_count_and_answering_never_harms() -> None:
    results = [MemberDay(10, 1.0, 30.0), MemberDay(-6, 0.0, 5.0), MemberDay(8, 1.0, 50.0), MemberDay(20, 2.0, 10.0)]
    assert sum_best(results, 2) == TeamDay(30, 3.0, 2, 20.0)
    assert sum_best(results, 4) == TeamDay(38, 4.0, 4, 23.75)
    assert sum_best([MemberDay(-6, 0.0, 5.0)], 3) == TeamDay(0, 0.0, 1, 5.0)
    assert sum_best([], 3) == TeamDay()
    assert sum_best([MemberDay(5, 0.0)], 3) == TeamDay(5, 0.0, 1, None)


@given(st.lists(st.floats(0, 100), min_size=2, max_size=40), st.integers(2, 8), st.integers())
def test_random_teams_are_even_in_size_and_in_strength(strengths: list[float], count: int, seed: int) -> None:
    worth = dict(enumerate(strengths))
    teams = balance_teams(worth, [[] for _ in range(count)], str(seed))
    assert sorted(itertools.chain(*teams)) == sorted(worth)
    sizes = [len(team) for team in teams]
    assert max(sizes) - min(sizes) <= 1
    if len(worth) % count == 0:
        sums = [sum(worth[member] for member in team) for team in teams]
        assert max(sums) - min(sums) <= max(strengths) - min(strengths) + 1e-6


def test_equal_members_are_spread_by_the_seed() -> None:
    worth = dict.fromkeys(range(8), 1.0)
    assert balance_teams(worth, [[], []], "a") == balance_teams(worth, [[], []], "a")
    assert len({str(balance_teams(worth, [[], []], str(seed))) for seed in range(20)}) > 5


def test_added_members_fill_the_smallest_teams_and_then_the_weakest() -> None:
    assert balance_teams({5: 9.0, 6: 1.0}, [[1, 2], [3], []], "x", {1: 1.0, 2: 1.0, 3: 1.0}) == [[1, 2], [3, 6], [5]]
    assert smallest_team({1: 3, 2: 2, 3: 2}) == 2
    assert may_pick(1, {1: 2, 2: 2}) and not may_pick(1, {1: 3, 2: 2})


@pytest.mark.parametrize(
    ("teams", "pairs"),
    [
        (2, [(1, 2)]),
        (3, [(1, None), (2, 3)]),
        (4, [(1, 4), (2, 3)]),
        (5, [(1, None), (2, None), (3, None), (4, 5)]),
        (6, [(1, None), (2, None), (3, 6), (4, 5)]),
    ],
)
def test_the_best_seeds_have_byes_and_the_others_meet_best_against_worst(
    teams: int, pairs: list[tuple[int, int | None]]
) -> None:
    assert pair_teams(list(range(1, teams + 1))) == pairs


@given(st.integers(2, 40))
def test_a_bracket_without_ties_ends_after_its_stages(teams: int) -> None:
    left, stages = list(range(teams)), 0
    while len(left) > 1:
        pairs = pair_teams(left)
        met = [team for pair in pairs for team in pair if team is not None]
        assert sorted(met) == sorted(left)
        left = sorted(first for first, _ in pairs)
        stages += 1
    assert stages == count_stages(teams)


def test_a_pair_is_decided_by_points_then_accuracy_then_time_and_otherwise_both_go_on() -> None:
    base = TeamDay(20, 2.0, 2, 30.0)
    assert decide_pair(base, TeamDay(19, 2.0, 2, 1.0)) == "first"
    assert decide_pair(base, TeamDay(20, 2.0, 3, 1.0)) == "first"
    assert decide_pair(base, TeamDay(20, 2.0, 2, 29.0)) == "second"
    assert decide_pair(base, TeamDay(20, 2.0, 2, None)) == "first"
    assert decide_pair(base, base) == "both"
    assert decide_pair(TeamDay(), TeamDay()) == "both"


def test_a_table_counts_wins_of_each_day_then_points_and_shares_what_is_equal() -> None:
    days = [
        {1: TeamDay(10, 1, 1, 5.0), 2: TeamDay(5, 1, 1, 5.0), 3: TeamDay(5, 1, 1, 5.0)},
        {1: TeamDay(0), 2: TeamDay(100, 1, 1, 5.0), 3: TeamDay(100, 1, 1, 5.0)},
    ]
    table = rank_table([1, 2, 3], days)
    # On the first day 1 beats both; on the second it loses to both. 2 and 3 tie twice.
    assert [(row.team, row.rank, row.table, row.points) for row in table] == [
        (2, 1, 4, 105),
        (3, 1, 4, 105),
        (1, 3, 4, 10),
    ]
    assert [(row.rank, row.table) for row in rank_table([1, 2], [])] == [(1, 0), (1, 0)]


def test_a_bracket_ranks_by_the_stage_that_was_reached() -> None:
    places = rank_bracket([1, 2, 3, 4], {1: 1, 2: 3, 3: 2, 4: 1}, [{2: TeamDay(7), 1: TeamDay(9)}])
    assert [(row.team, row.rank, row.points) for row in places] == [(2, 1, 7), (3, 2, 0), (1, 3, 9), (4, 3, 0)]
