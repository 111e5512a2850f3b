"""A worker that is killed while it settles a day of a tournament: nothing is settled twice, and another one goes on.

The worker is stopped within its transaction by a lock, then killed with SIGKILL, so nothing depends on when.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from service.store.competition_tables import Tournament, TournamentDay, TournamentMember, TournamentScore
from service.store.session import libpq_url
from service.store.tables import Ledger
from tests.chaos.processes import ROOT, surroundings, until
from tests.conftest import TOKEN, Clock
from tests.forked import Forked
from tests.service.competitions.tournament_scene import TournamentScene
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice

PATIENCE_S = 120.0
Worker = Callable[[], "subprocess.Popen[bytes]"]
_SAME_MESSAGE = """
    insert into outbox (key, workspace_id, chat_id, channel_id, kind, body, due_at, not_before, give_up_at)
    select replace(replace(key, ':started:', ':day:'), ':day::', ':day:' || %(day)s || ':'),
        workspace_id, chat_id, channel_id, kind, body, due_at, not_before, give_up_at
    from outbox where key like 'tournament:%%:started:%%'
"""
STEPS = {
    "tournament_day": "lock table tournament_day in share mode",
    "tournament_score": "lock table tournament_score in share mode",
    "outbox": _SAME_MESSAGE,
}
"""What holds up the worker, by the table that it is about to write: its first, second and last of the settlement."""


@pytest.fixture
async def played(daily: DailyChannel, clock: Clock) -> TournamentScene:
    """A tournament of two days, whose first is played and not settled. It began days ago: processes have their own
    clock."""
    scene = TournamentScene(daily, clock)
    await daily.bank(choice("q1"), choice("q2"))
    clock.now = datetime.now(UTC).replace(hour=10, minute=0) - timedelta(days=7)
    await daily.schedule(SPEC.model_copy(update={"weekdays": tuple(range(7))}))
    await scene.plans(first_day=clock.now.date() + timedelta(days=1), days=2)
    await scene.joins("Ada", "Bob")
    clock.now = clock.now.replace(hour=0) + timedelta(days=1)
    await scene.told()
    clock.advance(hours=9)
    await scene.answers(await scene.ticks(), {"Ada": "a", "Bob": "b"})
    await daily.client.close_now(daily.who("Boss", admin=True), "close", DAILY)
    assert await daily.rows(TournamentDay) == []
    return scene


@pytest.fixture
def worker(database_url: str, tmp_path: Path) -> Worker:
    """Starts a worker."""
    settings = {"DATABASE_URL": database_url, "DAILYGRAD_SERVICE_TOKEN": TOKEN, "DAILYGRAD_DATA": str(tmp_path)}

    def start() -> subprocess.Popen[bytes]:
        with (tmp_path / "worker.log").open("ab") as log:
            return Forked(
                [sys.executable, "-m", "dailygrad", "work"],
                cwd=ROOT,
                env=surroundings(**settings),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    return start


def _waits(url: str, table: str) -> bool:
    """Returns whether a transaction waits for a lock in order to write to the table, having begun a settlement."""
    waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    with psycopg.connect(libpq_url(url)) as connection:
        return bool(connection.execute(f"{waiting} and query ilike 'insert into {table} %'".encode()).fetchone())


def _is_over(url: str) -> bool:
    with psycopg.connect(libpq_url(url)) as connection:
        return bool(connection.execute(b"select 1 from tournament where state = 'over'").fetchone())


@pytest.mark.slow
@pytest.mark.parametrize("table", STEPS)
async def test_a_day_is_settled_once_wherever_the_worker_is_killed(
    played: TournamentScene, database_url: str, worker: Worker, tmp_path: Path, table: str
) -> None:
    daily, log = played.daily, tmp_path / "worker.log"
    (tournament,) = await daily.rows(Tournament)
    day = tournament.first_day
    with psycopg.connect(libpq_url(database_url)) as blocking, worker() as killed:
        try:
            blocking.execute(STEPS[table].encode(), {"day": str(day)} if table == "outbox" else None)
            assert await until(lambda: _waits(database_url, table), PATIENCE_S), log.read_text()
        finally:
            killed.kill()
        blocking.rollback()
    with worker() as second:
        try:
            assert await until(lambda: _is_over(database_url), PATIENCE_S), log.read_text()
        finally:
            second.kill()
    assert [row.day for row in await daily.rows(TournamentDay)] == [day, day + timedelta(days=1)]
    assert [key.split(":")[2] for key in await played.keys()] == ["announced", "started", "day", "over"]
    earned = Counter[int]()
    for entry in await daily.rows(Ledger):
        earned[entry.member_id] += entry.points
    teams = [(row.team_id, earned[row.member_id]) for row in await daily.rows(TournamentMember)]
    scores = [(row.team_id, row.points) for row in await daily.rows(TournamentScore)]
    assert sorted(scores) == sorted(teams) and max(earned.values()) > 0
