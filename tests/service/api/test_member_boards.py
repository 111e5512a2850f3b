"""Boards and seasons through the client."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from service.client import ServiceRefused
from service.wire import NoSeason, QuestionPost, SeasonTooShort, Where
from tests.conftest import Clock
from tests.service.api.test_member_members import played
from tests.service.daily_channel import DAILY, DailyChannel, choice
from tests.service.refusals import refused


async def test_a_channels_board_and_the_workspaces(daily: DailyChannel, clock: Clock) -> None:
    await played(daily, clock, "Ada", "Bo")
    board = await daily.client.board(daily.who("Ada"), DAILY)
    assert [(row.rank, row.name, row.points, row.me) for row in board.rows] == [
        (1, "Ada", 10, True),
        (1, "Bo", 10, False),
    ]
    assert (board.scope, board.since) == ("channel", datetime(2026, 3, 2, tzinfo=UTC))
    elsewhere = Where(channel="random", name="#random")
    assert (await daily.client.board(daily.who("Ada"), elsewhere)).rows == ()
    everywhere = await daily.client.board(daily.who("Ada"), None, period="all", limit=1)
    assert (everywhere.scope, len(everywhere.rows), everywhere.total) == ("workspace", 1, 2)


async def test_a_season_is_played_and_archived(daily: DailyChannel, clock: Clock) -> None:
    boss, ada = daily.who("Boss", admin=True), daily.who("Ada")
    with refused(NoSeason()):
        await daily.client.board(ada, None, period="season")
    await daily.client.season_start(boss, "e1", "Spring")
    await played(daily, clock, "Ada")
    board = await daily.client.board(ada, DAILY, period="season")
    assert (board.title, [row.points for row in board.rows]) == ("Spring", [10])
    ended = await daily.client.season_end(boss, "e2")
    assert [(row.name, row.points, row.streak) for row in ended.archive] == [("Ada", 10, 1)]
    assert await daily.client.season_end(boss, "e2") == ended
    (listed,) = await daily.client.season_list(ada)
    assert (listed.name, listed.archive[0].me) == ("Spring", True)


async def test_a_question_that_is_open_when_its_season_ends_counts_in_it(daily: DailyChannel, clock: Clock) -> None:
    boss = daily.who("Boss", admin=True)
    await daily.client.season_start(boss, "e1", "Spring")
    await daily.bank(choice("views"), choice("grad"))
    await daily.schedule()
    clock.advance(hours=1)
    ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(ref, "a", "Ada")
    clock.advance(minutes=1)
    ended = await daily.client.season_end(boss, "e2")
    assert (ended.final, ended.archive) == (False, ())
    clock.advance(minutes=1)
    assert (await daily.client.season_start(boss, "e3", "Summer")).final
    assert await daily.client.season_end(boss, "e2") == ended
    clock.advance(hours=8)
    await daily.ticked()
    board = await daily.client.board(daily.who("Ada"), DAILY, period="season")
    assert (board.title, board.rows) == ("Summer", ())
    summer, spring = await daily.client.season_list(boss)
    assert (spring.name, spring.final, spring.ends_at) == ("Spring", True, ended.ends_at)
    assert [(row.name, row.points) for row in spring.archive] == [("Ada", 10)]
    assert summer.ends_at is None

    clock.advance(hours=16)
    ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(ref, "a", "Bo")
    clock.advance(hours=8)
    await daily.ticked()
    board = await daily.client.board(daily.who("Ada"), DAILY, period="season")
    assert [(row.name, row.points) for row in board.rows] == [("Bo", 10)]
    assert (await daily.client.season_list(boss))[1] == spring


async def test_a_season_waits_for_no_question_that_was_open_before_it_began(daily: DailyChannel, clock: Clock) -> None:
    boss = daily.who("Boss", admin=True)
    await daily.bank(choice("views"))
    await daily.schedule()
    clock.advance(hours=1)
    await daily.ticked()
    clock.advance(minutes=1)
    await daily.client.season_start(boss, "e1", "Spring")
    clock.advance(minutes=1)
    assert (await daily.client.season_end(boss, "e2")).final


async def test_of_seasons_started_at_the_same_moment_one_runs(daily: DailyChannel, clock: Clock) -> None:
    boss = daily.who("Boss", admin=True)
    await daily.client.season_start(boss, "e0", "Winter")
    clock.advance(days=1)
    names = ("Spring", "Summer", "Autumn")
    starts = (daily.client.season_start(boss, f"start {name}", name) for name in names)
    results = await asyncio.gather(*starts, return_exceptions=True)
    refused = [result for result in results if isinstance(result, BaseException)]
    assert all(
        isinstance(refusal, ServiceRefused) and isinstance(refusal.refusal, SeasonTooShort) for refusal in refused
    )
    running = [season.name for season in await daily.client.season_list(boss) if season.ends_at is None]
    assert len(running) == len(results) - len(refused) == 1
