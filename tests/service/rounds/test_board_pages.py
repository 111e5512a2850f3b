"""A look at a board that is kept takes one statement, and never shows a board of another time, place or workspace."""

from __future__ import annotations

import dataclasses
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import update

from service.rounds import leaderboard
from service.rounds.board_keys import COMPARABLE_PERIODS
from service.rounds.leaderboard import BoardQuery
from service.store import members, schedules
from service.store.board_pages import PageWanted, look_at_board
from service.store.tables import Chat, Identity, Schedule, Season
from service.wire import Contest, Period, Where
from tests.service.scenes import Stage, question
from tests.service.statements import counted

TUESDAY, WEDNESDAY = date(2026, 3, 3), date(2026, 3, 4)
OTHER = Where(channel="random", name="#random")


@pytest.mark.parametrize("period", ["day", "week", "month", "season", "all"])
async def test_a_second_look_takes_one_statement(stage: Stage, period: Period) -> None:
    ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
    await stage.bank(question())
    schedule = await stage.schedule(ada)
    stage.session.add(Season(workspace_id=ada.workspace_id, name="Spring", starts_at=stage.now - timedelta(days=2)))
    round_ = await stage.round(schedule, WEDNESDAY)
    for member in (ada, bo):
        await stage.answer(member, round_)
        await stage.points(member, 10, round_=round_)
    contests: list[Contest] = ["points"]
    contests += ["rookies"] if period != "all" else []
    contests += ["improved"] if period in COMPARABLE_PERIODS else []
    for caller in (ada, dataclasses.replace(ada, channel_id=None)):
        for topic in ("", "tensors"):
            for contest in contests:
                query = BoardQuery(period=period, topic=topic, contest=contest)
                first = await leaderboard.get_board(stage.session, caller, stage.now, query)
                with counted() as sent:
                    second = await leaderboard.get_board(stage.session, caller, stage.now, query)
                assert len(sent) == 1 or (not first.total and topic), (query, sent)
                assert second == first


async def test_a_reveals_board_takes_one_statement_after_the_workspace_is_found(stage: Stage) -> None:
    ada = await stage.caller("Ada")
    assert ada.channel_id is not None
    await stage.bank(question())
    await stage.points(ada, 3, round_=await stage.round(await stage.schedule(ada), WEDNESDAY))
    first = await leaderboard.get_top(stage.session, ada.channel_id, stage.now)
    with counted() as sent:
        assert await leaderboard.get_top(stage.session, ada.channel_id, stage.now) == first
    assert len(first) == 1
    assert len(sent) == 2


async def test_after_a_change_of_the_zone_days_are_those_of_the_new_one(stage: Stage) -> None:
    """Both boards hold this moment. The one of the old zone opened first, or last."""
    ada = await stage.caller("Ada", where=None)
    await stage.bank(question())
    schedule = await stage.schedule(await stage.caller("Ada"), zone="UTC")
    await stage.points(ada, 2, at=stage.now - timedelta(hours=11))
    day = BoardQuery(period="day")
    found: dict[str, tuple[int, int]] = {}
    for zone in ("UTC", "America/New_York", "UTC", "America/New_York"):
        schedule.spec = {**schedule.spec, "zone": zone}
        await stage.session.flush()
        board = await leaderboard.get_board(stage.session, ada, stage.now, day)
        assert board.since is not None
        assert found.setdefault(zone, (board.since.hour, board.total)) == (board.since.hour, board.total)
    assert found == {"UTC": (0, 1), "America/New_York": (5, 0)}


async def test_a_board_left_by_an_earlier_season_is_not_taken_for_this_one(stage: Stage) -> None:
    ada = await stage.caller("Ada", where=None)
    spring = Season(workspace_id=ada.workspace_id, name="Spring", starts_at=stage.now - timedelta(days=9))
    stage.session.add(spring)
    await stage.points(ada, 2, at=stage.now - timedelta(days=5))
    season = BoardQuery(period="season")
    assert (await leaderboard.get_board(stage.session, ada, stage.now, season)).total == 1
    spring.ends_at = stage.now - timedelta(days=1)
    await stage.session.flush()
    stage.session.add(Season(workspace_id=ada.workspace_id, name="Summer", starts_at=stage.now - timedelta(hours=1)))
    await stage.session.flush()
    board = await leaderboard.get_board(stage.session, ada, stage.now, season)
    assert (board.title, board.total) == ("Summer", 0)


async def test_the_board_of_last_week_is_not_shown_this_week(stage: Stage) -> None:
    ada = await stage.caller("Ada", where=None)
    await stage.points(ada, 2)
    assert (await leaderboard.get_board(stage.session, ada, stage.now)).total == 1
    assert (await leaderboard.get_board(stage.session, ada, stage.now + timedelta(days=7))).total == 0
    assert (await leaderboard.get_board(stage.session, ada, stage.now)).total == 1


async def test_boards_of_periods_that_begin_together_are_not_taken_for_one_another(stage: Stage) -> None:
    ada = await stage.caller("Ada")
    monday = datetime(2026, 6, 1, 12, tzinfo=UTC)
    await stage.points(ada, 2, at=monday)
    periods: tuple[Period, ...] = ("day", "week", "month")
    for channel in (ada.channel_id, None):
        found = set()
        for period in periods:
            caller = dataclasses.replace(ada, channel_id=channel)
            await leaderboard.get_board(stage.session, caller, monday, BoardQuery(period=period))
            wanted = PageWanted(ada.workspace_id, channel, "", period, "points", ada.member_id, 10)
            page = await look_at_board(stage.session, wanted, monday)
            assert page is not None
            found.add(page.board_id)
        assert len(found) == len(periods)


async def test_a_board_is_read_within_its_workspace_only(stage: Stage) -> None:
    ada, eve = await stage.caller("Ada"), await stage.caller("Eve", workspace="elsewhere")
    await stage.points(ada, 2)
    mine = PageWanted(ada.workspace_id, ada.channel_id, "", "week", "points", ada.member_id, 10)
    await leaderboard.get_board(stage.session, ada, stage.now)
    page = await look_at_board(stage.session, mine, stage.now)
    assert page is not None
    stranger = dataclasses.replace(mine, workspace_id=eve.workspace_id)
    assert await look_at_board(stage.session, stranger, stage.now) is None
    assert await look_at_board(stage.session, stranger, stage.now, page.board_id) is None
    assert await look_at_board(stage.session, mine, stage.now, page.board_id) == page


async def test_a_channels_board_has_the_streaks_of_the_schedules_that_post_there(stage: Stage) -> None:
    """A schedule that was removed and one that posts elsewhere only do not count; one that is shared with it does."""
    ada = await stage.caller("Ada")
    other = await stage.caller("Ada", where=OTHER)
    await stage.bank(question())
    assert ada.channel_id is not None
    elsewhere = await stage.schedule(other)
    days = [TUESDAY - timedelta(days=number) for number in range(5)]
    for day in days:
        await stage.answer(ada, await stage.round(elsewhere, day))
    own = await stage.schedule(ada)
    await stage.answer(ada, await stage.round(own, TUESDAY))
    removed = await stage.schedule(ada)
    for day in days[:3]:
        await stage.answer(ada, await stage.round(removed, day))
    await stage.points(ada, 1, round_=await stage.round(own, WEDNESDAY))

    async def streak() -> int:
        return (await leaderboard.get_board(stage.session, ada, stage.now)).rows[0].streak

    assert await streak() == 3
    await stage.session.execute(update(Schedule).where(Schedule.id == removed.id).values(removed_at=stage.now))
    assert await streak() == 0, "the round of Wednesday was missed"
    await schedules.add_channel(stage.session, elsewhere, ada.channel_id, stage.now)
    assert await streak() == 5


async def test_of_several_ids_on_a_platform_the_oldest_is_shown(stage: Stage) -> None:
    ada = await stage.caller("Ada", where=None)
    for number in range(3):
        chat = Chat(
            workspace_id=ada.workspace_id, platform="discord", external_id=f"guild {number}", created_at=stage.now
        )
        stage.session.add(chat)
        await stage.session.flush()
        stage.session.add(
            Identity(
                workspace_id=ada.workspace_id, chat_id=chat.id, member_id=ada.member_id,
                external_id=f"ada-{9 - number}", name="Ada",
            )
        )  # fmt: skip
        await stage.session.flush()
    await stage.points(ada, 1)
    (row,) = (await leaderboard.get_board(stage.session, ada, stage.now)).rows
    assert row.discord == "ada-9"
    assert await members.list_ids_on(stage.session, "discord", [ada.member_id]) == {ada.member_id: "ada-9"}
    assert await members.list_ids_on(stage.session, "slack", [ada.member_id]) == {}


async def test_each_place_and_topic_keeps_its_own_board_whichever_opened_last(stage: Stage) -> None:
    ada, other = await stage.caller("Ada"), await stage.caller("Ada", where=OTHER)
    everywhere = dataclasses.replace(ada, channel_id=None)
    await stage.bank(question("views"), question("grad", topic="autograd"))
    home, elsewhere = await stage.schedule(ada), await stage.schedule(other)
    await stage.points(ada, 1, round_=await stage.round(home, WEDNESDAY, "views"))
    await stage.points(ada, 2, round_=await stage.round(home, TUESDAY, "grad"))
    await stage.points(ada, 4, round_=await stage.round(elsewhere, WEDNESDAY, "views"))
    await stage.points(ada, 8, round_=await stage.round(elsewhere, TUESDAY, "grad"))
    expected = [
        (ada, "", 3), (ada, "tensors", 1), (ada, "autograd", 2),
        (other, "", 12), (other, "tensors", 4), (other, "autograd", 8),
        (everywhere, "", 15), (everywhere, "tensors", 5), (everywhere, "autograd", 10),
    ]  # fmt: skip
    for order in (expected, expected, expected[::-1]):
        for caller, topic, points in order:
            board = await leaderboard.get_board(stage.session, caller, stage.now, BoardQuery(topic=topic))
            assert [row.points for row in board.rows] == [points], (caller.channel_id, topic)
    day = await leaderboard.get_board(stage.session, ada, stage.now, BoardQuery(period="day"))
    week = await leaderboard.get_board(stage.session, ada, stage.now)
    assert (day.rows[0].points, week.rows[0].points) == (1, 3)
