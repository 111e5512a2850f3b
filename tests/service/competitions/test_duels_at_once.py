"""Duels that many connections end at once are scored once, and every rating equals that of a sequential oracle."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from service.store.session import Sessions
from tests.service.competitions.duel_storm import check_scores, run_storm


@pytest.mark.slow
async def test_concurrent_endings_score_each_duel_once(sessions: Sessions) -> None:
    report = await run_storm(sessions, count=70, members=13, connections=8)
    assert report.attempts == 210 and report.crashes


async def test_the_database_refuses_a_second_score(sessions: Sessions) -> None:
    await run_storm(sessions, count=5, members=4, connections=2)
    columns = "side, workspace_id, member_id, wins, draws, mu_before, sigma_before, mu, sigma, at"
    again = f"insert into duel_rating (duel_id, number, {columns}) select "
    for change, constraint in (
        ("duel_id, number + 1000", "duel_id_side"),
        ("duel_id + 1000, number", "member_id_number"),
    ):
        with pytest.raises(IntegrityError, match=f"uq_duel_rating_{constraint}"):
            async with sessions.begin() as session:
                await session.execute(text("set constraints all deferred"))
                await session.execute(text(f"{again} {change}, {columns} from duel_rating limit 1"))


async def test_the_check_would_see_a_wrong_score(sessions: Sessions) -> None:
    """The check can fail: a rating that is a little off, and a duel that went the other way, are seen."""
    await run_storm(sessions, count=5, members=4, connections=2)
    for change in (
        "update duel_rating set mu = mu + 1e-12 where id = 3",
        "update duel set winner = 'draw' where id = 2",
    ):
        async with sessions() as session:
            await session.execute(text("set session_replication_role = replica"))
            await session.execute(text(change))
            with pytest.raises(AssertionError):
                await check_scores(session, 5)
            await session.rollback()
