"""Boards: how ties are broken, and that the order of rows does not matter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from service.domain.standings import MemberTotals, rank_members, rank_most_improved, select_rookies

START = datetime(2026, 6, 1, tzinfo=UTC)

standings = st.builds(
    MemberTotals,
    member_key=st.uuids().map(str),
    name=st.sampled_from(["Ada", "ada", "Bo", "Chen", "Dina"]),
    points=st.integers(0, 4),
    right=st.sampled_from([0.0, 1.0, 2.0]),
    answered=st.integers(2, 3),
    seconds=st.sampled_from([10.0, 20.0]),
)
boards = st.lists(standings, max_size=9, unique_by=lambda row: row.member_key)


def row(name: str, points: int, right: float = 1, answered: int = 2, seconds: float = 60) -> MemberTotals:
    return MemberTotals(name.lower(), name, points, right, answered, seconds)


def places(*rows: MemberTotals) -> list[tuple[int, str]]:
    return [(line.rank, line.name) for line in rank_members(rows)]


def test_points_come_first() -> None:
    assert places(row("Ada", 10), row("Bo", 30, right=0), row("Chen", 20)) == [(1, "Bo"), (2, "Chen"), (3, "Ada")]


def test_then_accuracy_then_time() -> None:
    assert places(
        row("Slow", 10, seconds=90), row("Sloppy", 10, right=1, answered=3, seconds=5), row("Fast", 10, seconds=30)
    ) == [(1, "Fast"), (2, "Slow"), (3, "Sloppy")]


def test_equals_share_a_rank_and_the_next_number_is_left_out() -> None:
    assert places(row("Dina", 5), row("chen", 10), row("Bo", 10), row("Ada", 20)) == [
        (1, "Ada"),
        (2, "Bo"),
        (2, "chen"),
        (4, "Dina"),
    ]


def test_thirds_added_in_another_order_are_the_same_accuracy() -> None:
    one, other = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
    assert one != other
    assert [place for place, _ in places(row("Ada", 5, one, 3), row("Bo", 5, other, 3))] == [1, 1]


def test_members_without_points_are_not_ranked() -> None:
    assert places(row("Idle", 0, right=0, answered=0), row("Wrong", 0, right=0), row("Ada", 1)) == [(1, "Ada")]
    assert places(row("Fined", -5)) == []
    assert row("Idle", 0, right=0, answered=0).accuracy == 0


def test_an_empty_board() -> None:
    assert rank_members([]) == []


@given(boards.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_the_order_of_rows_is_irrelevant(both: tuple[list[MemberTotals], list[MemberTotals]]) -> None:
    rows, mixed = both
    assert rank_members(mixed) == rank_members(rows)


@given(boards)
def test_a_rank_is_one_more_than_the_number_strictly_better(rows: list[MemberTotals]) -> None:
    def merit(standing: MemberTotals) -> tuple[int, float, float]:
        return -standing.points, -standing.accuracy, standing.seconds

    board = rank_members(rows)
    assert sorted(line.member_key for line in board) == sorted(
        standing.member_key for standing in rows if standing.points > 0
    )
    for line in board:
        assert line.rank == 1 + sum(merit(standing) < merit(line.totals) for standing in rows)
    shown = [(line.rank, line.name.casefold(), line.name) for line in board]
    assert shown == sorted(shown)


def test_rookies_are_those_whose_first_answer_is_recent() -> None:
    rows = [row("Ada", 10), row("Bo", 5), row("Chen", 7)]
    first = {"ada": START - timedelta(days=400), "bo": START, "chen": START + timedelta(days=2)}
    assert [r.name for r in select_rookies(rows, first, START)] == ["Bo", "Chen"]
    assert select_rookies(rows, {}, START) == []


def test_most_improved_by_share_right_the_greatest_gain_first() -> None:
    before = [row("Ada", 1, 1, 4), row("Bo", 1, 2, 4), row("Chen", 1, 4, 4), row("Dina", 1, 0, 4)]
    after = [row("Ada", 1, 2, 4), row("Bo", 1, 4, 4), row("Chen", 1, 3, 4), row("Dina", 1, 0, 4)]
    assert [(found.name, found.gain) for found in rank_most_improved(before, after)] == [("Bo", 0.5), ("Ada", 0.25)]


def test_who_improved_alike_shares_a_rank() -> None:
    before = [row(name, 1, 1, 4) for name in ("Ada", "Bo", "Chen", "Dina")]
    after = [row("Ada", 1, 4, 4), row("Bo", 1, 2, 4), row("Chen", 1, 2, 4), row("Dina", 1, 1, 4)]
    assert [(found.rank, found.name) for found in rank_most_improved(before, after)] == [
        (1, "Ada"),
        (2, "Bo"),
        (2, "Chen"),
    ]


def test_one_lucky_answer_does_not_count_as_progress() -> None:
    before, after = [row("Ada", 0, 0, 3)], [row("Ada", 9, 2, 2)]
    assert rank_most_improved(before, after) == []
    assert [found.gain for found in rank_most_improved(before, after, least_answered=2)] == [1.0]
    assert rank_most_improved([], after, least_answered=0) == []
