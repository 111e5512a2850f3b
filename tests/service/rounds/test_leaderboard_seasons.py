"""Seasons: one at a time, each with a final board that does not change."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from service.rounds import leaderboard
from service.store import ledger, privacy
from service.store.tables import Season
from service.wire import NoSeason, SeasonNameTaken, SeasonTooShort, SeasonView, TextNeeded
from tests.service.refusals import refused
from tests.service.scenes import NOON, Stage


def archived(view: SeasonView) -> list[tuple[int, str, int]]:
    return [(row.rank, row.name, row.points) for row in view.archive]


async def test_a_season_begins_now_and_has_no_end_yet(stage: Stage) -> None:
    ada = await stage.caller()
    view = await leaderboard.start_season(stage.session, ada, " Spring ", stage.now)
    assert (view.name, view.starts_at, view.ends_at, view.archive) == ("Spring", NOON, None, ())
    assert await leaderboard.list_seasons(stage.session, ada) == (view,)


async def test_the_board_is_archived_when_a_season_ends(stage: Stage) -> None:
    ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
    await stage.points(ada, 100, at=NOON - timedelta(days=1))
    await leaderboard.start_season(stage.session, ada, "Spring", stage.now)
    await stage.points(ada, 5)
    await stage.points(bo, 7)
    stage.now += timedelta(days=30)
    ended = await leaderboard.end_season(stage.session, ada, stage.now)
    assert (ended.ends_at, archived(ended)) == (stage.now, [(1, "Bo", 7), (2, "Ada", 5)])
    assert [row.me for row in ended.archive] == [False, True]
    await stage.points(ada, 50, at=NOON)
    assert await leaderboard.list_seasons(stage.session, ada) == (ended,)


async def test_starting_one_ends_the_one_that_runs(stage: Stage) -> None:
    ada = await stage.caller()
    await leaderboard.start_season(stage.session, ada, "Spring", stage.now)
    await stage.points(ada, 5)
    stage.now += timedelta(days=30)
    await leaderboard.start_season(stage.session, ada, "Summer", stage.now)
    summer, spring = await leaderboard.list_seasons(stage.session, ada)
    assert (summer.name, summer.ends_at) == ("Summer", None)
    assert (spring.name, spring.ends_at, archived(spring)) == ("Spring", stage.now, [(1, "Ada", 5)])


async def test_who_hides_is_left_out_of_the_past_and_ties_stay_ties(stage: Stage) -> None:
    ada, bo, chen, dina = [await stage.caller(name) for name in ("Ada", "Bo", "Chen", "Dina")]
    await leaderboard.start_season(stage.session, ada, "Spring", stage.now)
    for member, points in ((ada, 30), (bo, 20), (chen, 10), (dina, 10)):
        await stage.points(member, points)
    stage.now += timedelta(days=1)
    await privacy.set_hidden(stage.session, bo.member_id, True)
    assert archived(await leaderboard.end_season(stage.session, ada, stage.now)) == [
        (1, "Ada", 30),
        (2, "Chen", 10),
        (2, "Dina", 10),
    ]
    await privacy.set_hidden(stage.session, bo.member_id, False)
    (spring,) = await leaderboard.list_seasons(stage.session, ada)
    assert archived(spring) == [(1, "Ada", 30), (2, "Bo", 20), (3, "Chen", 10), (3, "Dina", 10)]


async def test_a_view_has_the_best_of_a_large_season(stage: Stage) -> None:
    ada = await stage.caller()
    await leaderboard.start_season(stage.session, ada, "Spring", stage.now)
    season = await ledger.get_running_season(stage.session, ada.workspace_id)
    assert season is not None
    whole = {"answered": 1, "accuracy": 1.0, "streak": 0, "me": False}
    # Pairs of members have the same rank: 1, 1, 3, 3, and so on.
    rows = [
        {**whole, "rank": at // 2 * 2 + 1, "name": f"M{at}", "points": 9 - at // 2, "member": 1000 + at}
        for at in range(250)
    ]
    stage.now += timedelta(days=1)
    season.ends_at, season.archive = stage.now, rows
    await stage.session.flush()
    view = await leaderboard.view_season(stage.session, ada, season.id)
    assert [row.rank for row in view.archive] == [at // 2 * 2 + 1 for at in range(leaderboard.MOST_FINAL_ROWS)]
    assert await leaderboard.list_seasons(stage.session, ada) == (view,)


async def test_a_nonsensical_request_is_rejected_with_the_reason(stage: Stage) -> None:
    ada = await stage.caller()
    with refused(NoSeason()):
        await leaderboard.end_season(stage.session, ada, stage.now)
    with refused(TextNeeded(what="name of a season")):
        await leaderboard.start_season(stage.session, ada, "  ", stage.now)
    await leaderboard.start_season(stage.session, ada, "Spring", stage.now)
    with refused(SeasonNameTaken(name="spring")):
        await leaderboard.start_season(stage.session, ada, "spring", stage.now)
    with refused(SeasonTooShort(name="Spring")):
        await leaderboard.end_season(stage.session, ada, stage.now)


async def test_workspaces_have_their_own(stage: Stage) -> None:
    home, away = await stage.caller(), await stage.caller(workspace="away")
    await leaderboard.start_season(stage.session, home, "Spring", stage.now)
    assert await leaderboard.list_seasons(stage.session, away) == ()
    await leaderboard.start_season(stage.session, away, "Spring", stage.now)
    stage.now += timedelta(days=1)
    await leaderboard.end_season(stage.session, away, stage.now)
    (spring,) = await leaderboard.list_seasons(stage.session, home)
    assert spring.ends_at is None


async def test_the_database_itself_lets_only_one_run(stage: Stage) -> None:
    ada = await stage.caller()
    await leaderboard.start_season(stage.session, ada, "Spring", stage.now)
    stage.session.add(Season(workspace_id=ada.workspace_id, name="Other", starts_at=stage.now))
    with pytest.raises(IntegrityError, match="uq_season_running"):
        await stage.session.flush()
