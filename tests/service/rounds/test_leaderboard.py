"""Boards: which ledger entries count, who is left out, and whose streak is shown."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import text

from service.rounds import leaderboard
from service.rounds.leaderboard import BoardQuery
from service.store import privacy
from service.store.tables import Season, StreakGrace
from service.wire import Board, BoardRow, NoSeason, NotFound, PeriodUnsuitable, Where
from tests.service.refusals import refused
from tests.service.scenes import Stage, question

MONDAY, TUESDAY, WEDNESDAY = date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)
OTHER = Where(channel="random", name="#random")


def lines(board: Board) -> list[tuple[int, str, int]]:
    return [(row.rank, row.name, row.points) for row in board.rows]


async def test_a_board_ranks_by_points_and_says_how_right_everybody_was(stage: Stage) -> None:
    ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
    await stage.bank(question())
    schedule = await stage.schedule(ada)
    round_ = await stage.round(schedule, WEDNESDAY)
    for member, points, credit in ((ada, 5, 0.5), (bo, 10, 1.0)):
        await stage.answer(member, round_, credit=credit)
        await stage.points(member, points, round_=round_, credit=credit)
    board = await leaderboard.get_board(stage.session, ada, stage.now)
    assert board.rows == (
        BoardRow(rank=1, name="Bo", points=10, answered=1, accuracy=1.0, streak=1),
        BoardRow(rank=2, name="Ada", points=5, answered=1, accuracy=0.5, streak=1, me=True),
    )
    assert (board.title, board.scope, board.total, board.mine) == ("This week", "channel", 2, board.rows[1])


async def test_rookies_are_those_whose_first_answer_here_fell_into_the_period(stage: Stage) -> None:
    ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
    await stage.bank(question())
    schedule = await stage.schedule(ada)
    last_week, today = await stage.round(schedule, date(2026, 2, 24)), await stage.round(schedule, WEDNESDAY)
    await stage.points(ada, 10, round_=last_week, credit=1.0)
    for member in (ada, bo):
        await stage.points(member, 10, round_=today, credit=1.0)
    week = await leaderboard.get_board(stage.session, bo, stage.now, BoardQuery(contest="rookies"))
    assert (lines(week), week.contest, week.total) == ([(1, "Bo", 10)], "rookies", 1)
    month = await leaderboard.get_board(stage.session, bo, stage.now, BoardQuery(contest="rookies", period="month"))
    assert lines(month) == [(1, "Bo", 10)]
    with refused(PeriodUnsuitable(contest="rookies")):
        await leaderboard.get_board(stage.session, bo, stage.now, BoardQuery(contest="rookies", period="all"))


async def test_who_turns_out_to_have_answered_before_is_no_rookie_any_more(stage: Stage) -> None:
    """Points of an older round come late where code is judged after the close, or a key is corrected."""
    dee, ada, bo, cy = [await stage.caller(name) for name in ("Dee", "Ada", "Bo", "Cy")]
    await stage.bank(question())
    schedule = await stage.schedule(ada)
    weeks_ago, today = await stage.round(schedule, date(2026, 2, 10)), await stage.round(schedule, WEDNESDAY)
    everybody, rookies = BoardQuery(period="all"), BoardQuery(contest="rookies")
    await stage.points(dee, 1, round_=weeks_ago)
    for member, points in ((dee, 20), (ada, 10), (bo, 5)):
        await stage.points(member, points, round_=today)
    assert (await leaderboard.get_board(stage.session, cy, stage.now, everybody)).total == 3
    board = await leaderboard.get_board(stage.session, cy, stage.now, rookies)
    assert lines(board) == [(1, "Ada", 10), (2, "Bo", 5)]
    for member in (ada, cy):
        await stage.points(member, 7, round_=weeks_ago)
    board = await leaderboard.get_board(stage.session, cy, stage.now, rookies)
    assert (lines(board), board.total) == ([(1, "Bo", 5)], 1)


async def test_who_improved_is_seen_against_the_period_before(stage: Stage) -> None:
    ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
    await stage.bank(question())
    schedule = await stage.schedule(ada)
    for day, credits in (
        (date(2026, 2, 23), (0.0, 1.0)), (date(2026, 2, 24), (0.0, 1.0)), (date(2026, 2, 25), (1.0, 1.0)),
        (MONDAY, (1.0, 1.0)), (TUESDAY, (1.0, 0.0)), (WEDNESDAY, (1.0, 1.0)),
    ):  # fmt: skip
        round_ = await stage.round(schedule, day)
        for member, credit in zip((ada, bo), credits, strict=True):
            await stage.points(member, round(10 * credit), round_=round_, credit=credit)
    board = await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(contest="improved"))
    assert [(row.rank, row.name, round(row.gain or 0, 3), row.accuracy) for row in board.rows] == [
        (1, "Ada", 0.667, 1.0)
    ]
    assert board.mine is not None
    assert board.mine.gain == board.rows[0].gain
    other = await leaderboard.get_board(stage.session, bo, stage.now, BoardQuery(contest="improved"))
    assert (other.mine, other.total) == (None, 1)
    for period in ("all", "season"):
        with refused(PeriodUnsuitable(contest="improved")):
            await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(contest="improved", period=period))


async def test_a_late_answer_of_the_period_before_changes_who_improved(stage: Stage) -> None:
    ada = await stage.caller("Ada")
    await stage.bank(question())
    schedule = await stage.schedule(ada)
    for number, credit in ((23, 0.0), (24, 0.0), (25, 1.0)):
        await stage.points(ada, 5, round_=await stage.round(schedule, date(2026, 2, number)), credit=credit)
    for day in (MONDAY, TUESDAY, WEDNESDAY):
        await stage.points(ada, 10, round_=await stage.round(schedule, day), credit=1.0)

    async def gains() -> list[float]:
        board = await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(contest="improved"))
        return [round(row.gain or 0, 3) for row in board.rows]

    assert await gains() == [0.667]
    await stage.points(ada, 10, round_=await stage.round(schedule, date(2026, 2, 26)), credit=1.0)
    assert await gains() == [0.5]


async def test_my_own_line_is_there_even_when_i_am_not_among_the_first(stage: Stage) -> None:
    ada = await stage.caller("Ada")
    for index in range(5):
        await stage.points(await stage.caller(f"Member {index}"), 10 + index)
    await stage.points(ada, 1)
    board = await leaderboard.get_board(
        stage.session, await stage.caller("Ada", where=None), stage.now, BoardQuery(limit=2)
    )
    assert lines(board) == [(1, "Member 4", 14), (2, "Member 3", 13)]
    assert board.mine is not None
    assert (board.mine.rank, board.mine.me, board.total) == (6, True, 6)


@pytest.mark.parametrize(
    ("period", "points"), [("day", 1), ("week", 11), ("month", 111), ("all", 1111)], ids=lambda value: str(value)
)
async def test_a_period_holds_the_rounds_that_opened_in_it(stage: Stage, period: str, points: int) -> None:
    ada = await stage.caller()
    await stage.bank(question())
    schedule = await stage.schedule(ada)
    for day, each in ((WEDNESDAY, 1), (MONDAY, 10), (date(2026, 3, 1), 100), (date(2026, 2, 28), 1000)):
        await stage.points(ada, each, round_=await stage.round(schedule, day))
    board = await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(period=period))  # type: ignore[arg-type]
    assert lines(board) == [(1, "Ada", points)]


async def test_a_day_begins_at_midnight_where_the_schedule_is(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.schedule(ada, zone="Pacific/Auckland")
    board = await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(period="day"))
    assert board.since == datetime(2026, 3, 4, 11, tzinfo=UTC)
    assert board.until == datetime(2026, 3, 5, 11, tzinfo=UTC)


async def test_days_are_those_of_utc_where_there_is_no_schedule(stage: Stage) -> None:
    board = await leaderboard.get_board(stage.session, await stage.caller(), stage.now, BoardQuery(period="day"))
    assert board.since == datetime(2026, 3, 4, tzinfo=UTC)


async def test_a_hidden_member_is_left_out_and_the_ranks_close_up(stage: Stage) -> None:
    ada, bo, chen = [await stage.caller(name, where=None) for name in ("Ada", "Bo", "Chen")]
    for member, points in ((ada, 30), (bo, 20), (chen, 10)):
        await stage.points(member, points)
    await privacy.set_hidden(stage.session, bo.member_id, True)
    board = await leaderboard.get_board(stage.session, bo, stage.now)
    assert lines(board) == [(1, "Ada", 30), (2, "Chen", 10)]
    assert (board.mine, board.total) == (None, 2)


async def test_a_channel_has_its_own_rounds_and_the_adjustments_of_those_who_answered_there(stage: Stage) -> None:
    ada, bo = await stage.caller("Ada"), await stage.caller("Bo", where=OTHER)
    await stage.bank(question())
    here, there = await stage.schedule(ada), await stage.schedule(bo)
    await stage.points(ada, 10, round_=await stage.round(here, MONDAY))
    await stage.points(bo, 20, round_=await stage.round(there, MONDAY))
    await stage.points(ada, 100)
    await stage.points(bo, 100)
    assert lines(await leaderboard.get_board(stage.session, ada, stage.now)) == [(1, "Ada", 110)]
    everywhere = await stage.caller("Ada", where=None)
    assert lines(await leaderboard.get_board(stage.session, everywhere, stage.now)) == [
        (1, "Bo", 120),
        (2, "Ada", 110),
    ]


async def test_a_topic_includes_subtopics_in_any_case(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(
        question("views"), question("grad", topic="autograd"), question("near", topic="tensors/memory-format")
    )
    schedule = await stage.schedule(ada)
    for day, key, points in ((MONDAY, "views", 1), (TUESDAY, "grad", 10), (WEDNESDAY, "near", 100)):
        await stage.points(ada, points, round_=await stage.round(schedule, day, key))
    for topic, points in (("tensors", 101), ("Tensors/Memory", 1), ("autograd/", 10)):
        board = await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(topic=topic))
        assert lines(board) == [(1, "Ada", points)], topic
    with refused(NotFound(what="topic", name="tens", similar=("tensors",))):
        await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(topic="tens"))


async def test_a_topic_without_rounds_has_an_empty_board(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("grad", topic="autograd"))
    board = await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(topic="autograd"))
    assert (board.rows, board.topic) == ((), "autograd")


async def test_a_correction_moves_the_sums_and_counts_no_round_twice(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question())
    round_ = await stage.round(await stage.schedule(ada), MONDAY)
    await stage.points(ada, 4, round_=round_, credit=0.4)
    await stage.points(ada, 6, round_=round_, credit=0.6, seconds=None)
    (row,) = (await leaderboard.get_board(stage.session, ada, stage.now)).rows
    assert (row.points, row.answered, row.accuracy) == (10, 1, 1.0)


async def test_the_board_of_the_season_begins_with_it_and_needs_one(stage: Stage) -> None:
    ada = await stage.caller("Ada", where=None)
    with refused(NoSeason()):
        await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(period="season"))
    stage.session.add(Season(workspace_id=ada.workspace_id, name="Spring", starts_at=stage.now))
    await stage.points(ada, 5)
    await stage.points(ada, 50, at=stage.now - timedelta(seconds=1))
    board = await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(period="season"))
    assert (board.title, lines(board)) == ("Spring", [(1, "Ada", 5)])


async def test_a_reveals_leaderboard_is_the_channels_week_without_a_marked_row(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question())
    schedule = await stage.schedule(ada)
    await stage.points(ada, 10, round_=await stage.round(schedule, MONDAY))
    await stage.points(ada, 90, round_=await stage.round(schedule, date(2026, 2, 27)))
    assert ada.channel_id is not None
    (row,) = await leaderboard.get_top(stage.session, ada.channel_id, stage.now)
    assert (row.name, row.points, row.me) == ("Ada", 10, False)


class TestStreaks:
    """Streaks over a schedule's own rounds."""

    DAYS = tuple(date(2026, 3, day) for day in range(2, 7))

    async def test_a_miss_breaks_it_and_the_rounds_before_the_first_answer_do_not_count(self, stage: Stage) -> None:
        ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
        await stage.bank(question())
        schedule = await stage.schedule(ada)
        rounds = [await stage.round(schedule, day) for day in self.DAYS]
        for round_ in rounds[3:]:
            await stage.answer(ada, round_)
        for round_ in rounds[:2]:
            await stage.answer(bo, round_)
        streaks = await leaderboard.load_schedule_streaks(stage.session, schedule.id, [ada.member_id, bo.member_id])
        assert [(streaks[each.member_id].current, streaks[each.member_id].best) for each in (ada, bo)] == [
            (2, 2),
            (0, 2),
        ]

    async def test_skipped_and_restored_rounds_and_one_still_open_break_nothing(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question())
        schedule = await stage.schedule(ada)
        first, restored = [await stage.round(schedule, day) for day in self.DAYS[:2]]
        await stage.round(schedule, self.DAYS[2], None, skipped="the service was down")
        last = await stage.round(schedule, self.DAYS[3])
        await stage.round(schedule, self.DAYS[4], closed=False)
        for round_ in (first, last):
            await stage.answer(ada, round_)
        stage.session.add(StreakGrace(round_id=restored.id, member_id=ada.member_id))
        await stage.session.flush()
        streaks = await leaderboard.load_schedule_streaks(stage.session, schedule.id, [ada.member_id])
        assert streaks[ada.member_id].current == 2

    async def test_the_rounds_of_slots_count_in_order_and_neither_extra_nor_skipped_ones(self, stage: Stage) -> None:
        ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
        await stage.bank(question())
        schedule, other = await stage.schedule(ada), await stage.schedule(ada)
        second, first = [await stage.round(schedule, day) for day in (self.DAYS[1], self.DAYS[0])]
        extra = await stage.round(schedule, self.DAYS[1], number=1)
        await stage.round(schedule, self.DAYS[2], None, skipped="the service was down")
        running = await stage.round(schedule, self.DAYS[3], closed=False)
        elsewhere = await stage.round(other, self.DAYS[0])
        for round_ in (first, extra, elsewhere):
            await stage.answer(ada, round_)
        stage.session.add(StreakGrace(round_id=second.id, member_id=bo.member_id))
        await stage.session.flush()
        people = [ada.member_id, bo.member_id]
        found = await stage.session.execute(
            text("select * from list_attendance(:schedules, :people)"), {"schedules": [schedule.id], "people": people}
        )
        assert {(kind, owner): (rounds, running) for kind, owner, rounds, running in found} == {
            ("asked", schedule.id): ([first.id, second.id, running.id], [running.id]),
            ("answered", ada.member_id): ([first.id, extra.id, elsewhere.id], None),
            ("excused", bo.member_id): ([second.id], None),
        }
        streaks = await leaderboard.load_schedule_streaks(stage.session, schedule.id, people)
        assert [(streaks[member].current, streaks[member].best) for member in people] == [(0, 1), (0, 0)]

    async def test_of_several_schedules_the_longest_running_one_shows(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question())
        for days in (self.DAYS[:1], self.DAYS[:3]):
            schedule = await stage.schedule(ada)
            for day in days:
                await stage.answer(ada, await stage.round(schedule, day))
        await stage.points(ada, 1)
        everywhere = await stage.caller("Ada", where=None)
        (row,) = (await leaderboard.get_board(stage.session, everywhere, stage.now)).rows
        assert row.streak == 3

    async def test_streaks_of_no_members_are_empty(self, stage: Stage) -> None:
        schedule = await stage.schedule(await stage.caller())
        assert await leaderboard.load_schedule_streaks(stage.session, schedule.id, []) == {}
