"""A sprint on Discord while the service, the worker and the bot are killed: a small version of the benchmark, which
also plays it on Slack. The bell rings once everybody has answered.

And one that was planned, while the worker and the service are killed at its start."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from service.store.session import libpq_url
from service.wire import PlannedSprint
from tests.bench.bench_sprint import OnDiscord, on_discord
from tests.bench.live_sprint import PATIENCE_S, Counted, Diary, Parts, SprintPlan, find_errors
from tests.chaos.processes import until_awaited
from tests.doubles.discord.faults import Hold
from tests.faults.backend import Backend, Bots
from tests.faults.discord_faults import CREATE, Team, team_ready
from tests.machine import free_port

PLAN = SprintPlan(members=40, questions=2, seconds=60, by_hand=True)


@pytest.mark.slow
async def test_a_sprint_goes_on_and_counts_every_answer_once(backend: Backend, tmp_path: Path) -> None:
    report = await on_discord(backend, tmp_path, PLAN)
    assert report.wrong == [], report
    assert report.kills == 3
    assert report.counted == report.told == 72 and report.late, report
    assert report.refused == 0, "the bot stays within the chat's limits"


def test_the_check_would_see_a_lost_a_doubled_and_a_late_answer() -> None:
    """The check can fail: it sees an answer that is lost, counted twice, late, or graded wrongly."""
    diary = Diary(told={(1, 1): "counted", (2, 1): "unknown"}, tried={(1, 1), (2, 1)})
    good = Counted(member=1, question=1, right=True, points=80, in_time=True)
    assert find_errors(PLAN, diary, [good]) == []
    assert find_errors(PLAN, diary, [good, Counted(2, 1, False, 0, True)]) == []
    for counted, said in (
        ([], "lost"),
        ([good, good], "2 times"),
        ([good, Counted(3, 1, True, 80, True)], "was not pressed before the bell"),
        ([Counted(1, 1, True, 80, False)], "came after the bell"),
        ([Counted(1, 1, False, 0, True)], "graded wrongly"),
        ([Counted(1, 1, True, 160, True)], "wrong points"),
    ):
        assert [said in error for error in find_errors(PLAN, diary, counted)].count(True) == 1, said


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["begins", "is announced", "was announced"])
async def test_a_planned_sprint_whose_start_is_killed_starts_and_is_announced_once(
    backend: Backend, tmp_path: Path, moment: str
) -> None:
    """The worker and the service are killed in the transaction that begins the sprint, and before and after Discord
    creates the announcement."""
    port = free_port()
    bots = Bots(replace(backend, url=f"http://127.0.0.1:{port}"), tmp_path)
    async with team_ready(bots.backend, bots, many=5) as team:
        parts = Parts(bots, OnDiscord(team, []), backend.database_url, port)
        for part in ("service", "worker", "bot"):
            await parts.start(part)
        at = (backend.clock() + timedelta(hours=1)).time()
        plan = PlannedSprint(questions=2, seconds=60, at=at)
        await backend.client.sprint_plan(team.boss, "plan", team.where(team.daily), plan)
        await team.until(lambda: _made(team, "It starts"), "the plan")
        async with await psycopg.AsyncConnection.connect(libpq_url(backend.database_url)) as rows:
            if moment == "begins":
                await rows.execute("lock table sprint_question in share mode")
                await _comes(backend.database_url)
                assert await until_awaited(lambda: _is_waiting(rows), PATIENCE_S), "the sprint never began"
                await _kill_both(parts)
            else:
                team.double.faults.next(CREATE, held := Hold(after=moment == "was announced"))
                await _comes(backend.database_url)
                async with asyncio.timeout(PATIENCE_S):
                    await held.reached.wait()
                await _kill_both(parts)
                held.let_go()
        await parts.start("service")
        await parts.start("worker")
        await team.until(lambda: _made(team, "Sprint · question 1 of 2"), "the first question", PATIENCE_S)
        assert [_made(team, words) for words in ("It starts", "first one comes in", "question 1 of 2")] == [1, 1, 1]
        planned, announced, _ = team.daily.seen()
        assert "It has started." in planned.text, "the plan says so"
        assert "first one comes in" in announced.text
        assert team.double.log.of("deleted") == []
        team.kept_the_rules()
        async with await psycopg.AsyncConnection.connect(libpq_url(backend.database_url)) as rows:
            count = "select (select count(*) from sprint), (select count(*) from sprint_question), count(*) from outbox"
            once = await (await rows.execute(f"{count} where body->>'starts_in_s' is not null".encode())).fetchone()
        assert once == (1, 2, 3), "a sprint, its questions, and the plan with its edit and the announcement"


async def _comes(url: str) -> None:
    """Moves the planned time to now."""
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as rows:
        await rows.execute("update sprint set until = clock_timestamp() where phase = 'planned'")


async def _is_waiting(rows: psycopg.AsyncConnection) -> bool:
    """Returns whether the transaction that begins the sprint waits for this connection's lock."""
    query = "select 1 from pg_locks where not granted and relation = 'sprint_question'::regclass"
    return await (await rows.execute(query)).fetchone() is not None


async def _kill_both(parts: Parts) -> None:
    await asyncio.gather(parts.running["worker"].kill(), parts.running["service"].kill())


def _made(team: Team, words: str) -> int:
    """Returns how many messages with these words the bot has posted in the channel."""
    return sum(words in message.text for message in team.daily.seen())
