"""Old rows are deleted as the settings say, in batches, once a day; what earns points or is looked up stays."""

from __future__ import annotations

from datetime import datetime, timedelta

import psycopg
import pytest
from psycopg import errors
from sqlalchemy import select, text

from service.rounds import retention as module
from service.rounds.retention import Retention
from service.store import retention
from service.store.retention import Kind, Maintenance, delete_old, record_done
from service.store.session import libpq_url
from service.wire import QuestionPost
from tests.conftest import Clock
from tests.service.daily_channel import DailyChannel, choice

OLD, NEW = timedelta(days=40), timedelta(days=20)
EVERY: dict[Kind, int] = {"inbox": 30, "outbox": 30, "audit": 30, "failed_jobs": 30, "web_messages": 30}
MESSAGE = (
    "insert into outbox (key, workspace_id, chat_id, member_id, round_id, kind, body, state, due_at, not_before, "
    "sent_at, message_ref, edits_id) values (%s, 1, 1, %s, %s, 'notice', '{}', %s, %s, %s, %s, %s, %s) returning id"
)


@pytest.fixture
async def database(daily: DailyChannel, database_url: str) -> str:
    """The database of a workspace with a schedule."""
    await daily.bank(choice())
    await daily.schedule()
    return libpq_url(database_url)


def fill(url: str, now: datetime, suffix: str = "") -> None:
    """Adds an old and a new row of each kind."""
    with psycopg.connect(url) as connection:
        for age, name in ((OLD, f"old{suffix}"), (NEW, f"new{suffix}")):
            at = now - age
            connection.execute("insert into inbox values (1, %s, %s, 'answer 1', '{}')", (f"event-{name}", at))
            connection.execute(
                "insert into audit (workspace_id, action, detail, at) values (1, %s, '{}', %s)", (f"kept-{name}", at)
            )
            connection.execute(MESSAGE, (f"private-{name}", None, None, "sent", at, at, at, "m", None))
            connection.execute(
                "insert into web_message (chat_id, version, key, channel, content, at) "
                "select 1, coalesce(max(version), 0) + 1, %s, 'daily', '', %s from web_message",
                (f"web-{name}", at),
            )
            job = connection.execute(
                "insert into procrastinate_jobs (queue_name, task_name, status) values ('judging', %s, 'failed') "
                "returning id",
                (f"job-{name}",),
            ).fetchone()
            assert job is not None
            connection.execute("update procrastinate_events set at = %s where job_id = %s", (at, job[0]))
            connection.execute(
                "insert into procrastinate_events (job_id, type, at) values (%s, 'failed', %s)", (job[0], at)
            )


def kept(url: str) -> set[str]:
    """Returns the names of the rows that `fill` added and that are there."""
    queries = (
        "select event_id from inbox where event_id like 'event-%'",
        "select action from audit where action like 'kept-%'",
        "select key from outbox where key like 'private-%'",
        "select key from web_message",
        "select task_name from procrastinate_jobs where task_name like 'job-%'",
    )
    with psycopg.connect(url) as connection:
        return {row[0] for query in queries for row in connection.execute(query.encode()).fetchall()}


ADDED = {f"{kind}-{age}" for kind in ("event", "kept", "private", "job", "web") for age in ("old", "new")}


async def test_rows_older_than_the_setting_go_and_newer_ones_stay(
    daily: DailyChannel, clock: Clock, database: str
) -> None:
    fill(database, clock())
    await Retention(daily.service.sessions, EVERY).check(clock())
    assert kept(database) == {name for name in ADDED if name.endswith("-new")}


@pytest.mark.parametrize("kind", EVERY)
async def test_a_kind_that_is_kept_for_ever_is_left_alone(
    daily: DailyChannel, clock: Clock, database: str, kind: Kind
) -> None:
    fill(database, clock())
    await Retention(daily.service.sessions, EVERY | {kind: 0}).check(clock())
    name = {"inbox": "event", "audit": "kept", "outbox": "private", "failed_jobs": "job", "web_messages": "web"}[kind]
    assert {one for one in kept(database) if one.endswith("-old")} == {f"{name}-old"}


async def test_by_default_the_audit_log_stays(daily: DailyChannel, clock: Clock, database: str) -> None:
    fill(database, clock())
    await daily.service.tick()
    assert kept(database) >= {"kept-old", "private-old", "web-old"}
    assert not {"event-old", "job-old"} & kept(database)


async def test_messages_that_wait_or_belong_to_a_round_or_are_edited_stay(
    daily: DailyChannel, clock: Clock, database: str
) -> None:
    at = clock() - OLD
    clock.advance(hours=1)
    await daily.service.tick()
    with psycopg.connect(database) as connection:
        row = connection.execute("select id from round limit 1").fetchone()
        assert row is not None
        connection.execute(MESSAGE, ("of-a-round", None, row[0], "sent", at, at, at, "m", None))
        connection.execute(MESSAGE, ("waits", None, None, "due", at, at, None, None, None))
        edited = connection.execute(MESSAGE, ("edited", None, None, "sent", at, at, at, "m", None)).fetchone()
        assert edited is not None
        now = clock()
        connection.execute(MESSAGE, ("edit", None, None, "sent", now, now, now, "m", edited[0]))
    clock.advance(days=2)
    await Retention(daily.service.sessions, EVERY).check(clock())
    with psycopg.connect(database) as connection:
        keys = {key for (key,) in connection.execute("select key from outbox").fetchall()}
    assert {"of-a-round", "waits", "edited", "edit"} <= keys


async def test_a_job_that_failed_lately_stays_however_long_it_was_tried(
    daily: DailyChannel, clock: Clock, database: str
) -> None:
    fill(database, clock())
    with psycopg.connect(database) as connection:
        connection.execute(
            "insert into procrastinate_events (job_id, type, at) select id, 'failed', %s from procrastinate_jobs "
            "where task_name = 'job-old'",
            (clock() - NEW,),
        )
    await Retention(daily.service.sessions, EVERY).check(clock())
    assert kept(database) >= {"job-old", "job-new"}


async def test_a_large_backlog_is_deleted_in_batches_before_the_day_is_done(
    daily: DailyChannel, clock: Clock, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 3)
    monkeypatch.setattr(module, "BATCH", 3)
    with psycopg.connect(database) as connection:
        for number in range(7):
            connection.execute(
                "insert into inbox values (1, %s, %s, 'answer 1', '{}')", (f"event-{number}", clock() - OLD)
            )
    task = Retention(daily.service.sessions, EVERY)
    left = []
    for _ in range(4):
        await task.check(clock())
        left.append(len([one for one in kept(database) if one.startswith("event-")]))
    assert left == [4, 1, 0, 0]


NESTED = ("enable_hashjoin", "enable_mergejoin", "enable_hashagg", "enable_sort", "enable_material")


@pytest.mark.parametrize("kind", EVERY)
async def test_a_batch_has_its_size_whatever_the_plan(
    daily: DailyChannel, clock: Clock, database: str, monkeypatch: pytest.MonkeyPatch, kind: Kind
) -> None:
    """PostgreSQL executes a subquery that locks rows once for each row of the table, if it thinks the table small."""
    for days in range(4):
        fill(database, clock() - timedelta(days=days), f"-{days}")
    monkeypatch.setattr(retention, "BATCH", 3)
    async with daily.service.sessions.begin() as session:
        for setting in NESTED:
            await session.execute(text(f"set local {setting} = off"))
        numbers = [await delete_old(session, kind, clock() - timedelta(days=30)) for _ in range(3)]
    assert numbers == [3, 1, 0]


async def done_at(daily: DailyChannel) -> datetime | None:
    async with daily.service.sessions() as session:
        return await session.scalar(select(Maintenance.done_at).where(Maintenance.task == "retention"))


async def test_retention_runs_once_a_day_whichever_worker_leads(
    daily: DailyChannel, clock: Clock, database: str
) -> None:
    first, second = (Retention(daily.service.sessions, EVERY) for _ in range(2))
    await first.check(clock())
    began = clock()
    assert await done_at(daily) == began
    clock.advance(hours=23)
    fill(database, clock())
    for task in (first, second, Retention(daily.service.sessions, EVERY)):
        await task.check(clock())
    assert kept(database) == ADDED
    clock.advance(hours=2)
    await second.check(clock())
    assert await done_at(daily) == clock()
    assert "event-old" not in kept(database)


async def test_a_clock_that_was_wrong_does_not_stop_it(daily: DailyChannel, clock: Clock, database: str) -> None:
    async with daily.service.sessions.begin() as session:
        await record_done(session, "retention", clock() + timedelta(days=400))
    fill(database, clock())
    await Retention(daily.service.sessions, EVERY).check(clock())
    assert "event-old" not in kept(database)


async def test_the_audit_log_refuses_every_other_deletion(daily: DailyChannel, clock: Clock, database: str) -> None:
    fill(database, clock())
    clock.advance(hours=1)
    (ref,) = [body.ref for body in await daily.ticked() if isinstance(body, QuestionPost)]
    await daily.answer(ref, "a")
    clock.advance(hours=8)
    await daily.ticked()
    refused = ("update audit set action = ''", "delete from ledger", "delete from verdict", "delete from answer")
    with psycopg.connect(database) as connection:
        connection.execute("set dailygrad.retiring = 'on'")
        connection.execute("delete from audit where action = 'kept-old'")
        for change in refused:
            connection.execute("savepoint before")
            with pytest.raises(errors.RestrictViolation):
                connection.execute(change.encode())
            connection.execute("rollback to savepoint before")
