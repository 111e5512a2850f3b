"""Duels that many connections end at once are scored once, and every rating equals that of a sequential oracle."""

from __future__ import annotations

import asyncio

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from service.competitions.duels import ON_ITS_WAY, settle
from service.domain.duels import PLAY_WITHIN
from service.store.competition_tables import Duel, DuelRating
from service.store.session import Sessions
from service.wire import AnswerInput
from tests.conftest import Clock
from tests.service.competitions.duel_storm import check_scores, run_storm
from tests.service.daily_channel import DAILY, DailyChannel, choice
from tests.service.lock_waits import until_locked_out


@pytest.mark.slow
async def test_concurrent_endings_score_each_duel_once(sessions: Sessions) -> None:
    report = await run_storm(sessions, count=70, members=13, connections=8)
    assert report.attempts == 210 and report.crashes


async def test_two_duels_of_a_member_that_end_at_once_are_both_scored_at_the_first_try(
    daily: DailyChannel, clock: Clock
) -> None:
    """The second waits for the first: both would otherwise follow the member's same rating, which the database refuses,
    and the answer that ended it would fail."""
    await daily.bank(*(choice(f"q{number}") for number in range(10)))
    ada = daily.who("Ada")
    for name in ("Bo", "Cy"):
        other = daily.who(name)
        await daily.client.join(other, DAILY)
        asked = await daily.client.duel_challenge(ada, DAILY, f"challenge {name}", name)
        await daily.client.duel_respond(other, f"accept {name}", asked.duel, True)
        ref = (await daily.client.duel_show(ada, asked.duel)).duel.next_ref
        await daily.client.duel_ask(ada, ref)
        await daily.client.duel_answer(ada, f"answer {name}", ref, AnswerInput(options=("a",)), clock.now)
    now = clock.now + PLAY_WITHIN + ON_ITS_WAY
    first, second = await daily.rows(Duel)

    async def end(duel: Duel) -> bool:
        async with daily.service.sessions.begin() as session:
            return await settle(session, duel.workspace_id, duel.id, now)

    async with daily.service.sessions.begin() as session:
        assert await settle(session, first.workspace_id, first.id, now)
        ending = asyncio.create_task(end(second))
        await until_locked_out(session, ending)
    assert await ending
    found = [row for row in await daily.rows(DuelRating) if row.member_id == first.challenger_id]
    assert [(row.duel_id, row.number, row.wins) for row in found] == [(first.id, 1, 1), (second.id, 2, 2)]
    assert found[1].mu_before == found[0].mu


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
