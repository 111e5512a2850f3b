"""The migration on empty and filled databases, and the promises it puts into the database itself."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from psycopg import errors
from sqlalchemy import create_engine

from service.competitions import tournaments
from service.store import migrations
from service.store.session import libpq_url, sqlalchemy_url
from service.store.tables import APPEND_ONLY, Base
from service.wire import AnswerInput, TournamentPlan
from tests.conftest import Clock, MakeDatabase
from tests.service.daily_channel import DAILY, DailyChannel, choice, play_duel, prose
from tests.service.rows import all_rows

ROOT = Path(__file__).parents[3]


def tables(url: str) -> list[str]:
    with psycopg.connect(libpq_url(url)) as connection:
        rows = connection.execute("select tablename from pg_tables where schemaname = 'public' order by 1").fetchall()
    return [name for (name,) in rows]


async def fill(daily: DailyChannel, clock: Clock) -> None:
    """Creates a round with an answer: judged, credited and revealed; and an open answer with a credit."""
    await daily.bank(choice())
    await daily.schedule()
    plan = TournamentPlan(title="Cup", first_day=(clock.now + timedelta(days=1)).date())
    await daily.client.tournament_plan(daily.who("Boss", admin=True), "tournament", DAILY, plan)
    for name in ("Ada", "Boss"):
        await daily.client.tournament_join(daily.who(name), f"{name} joins")
    clock.advance(hours=1)
    await daily.ticked()
    await daily.answer("r1", "a")
    clock.advance(hours=8)
    await daily.ticked()
    boss = daily.who("Boss", admin=True)
    await daily.bank(prose(), name="prose")
    clock.advance(hours=16)
    await tournaments.advance_all(daily.service.sessions, clock.now)
    await daily.client.post_now(boss, "open", 1)
    await daily.answer("r2", AnswerInput(text="They share storage."))
    await daily.client.close_now(boss, "close", DAILY)
    await tournaments.advance_all(daily.service.sessions, clock.now)
    await daily.client.open_answer_credit(boss, "credit", 2, 50)
    await daily.client.member_adjust(boss, "e", "Ada", 5, "a good report")
    await daily.bank(*(choice(f"duel-{number}") for number in range(5)), name="duel")
    await play_duel(daily.client, daily.who("Ada"), boss, DAILY, clock.now)


SCHEMA = (
    "select table_name, column_name, data_type, udt_name, is_nullable, column_default, is_identity "
    "from information_schema.columns where table_schema = 'public'",
    "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint "
    "where connamespace = 'public'::regnamespace",
    "select tablename, indexname, indexdef from pg_indexes where schemaname = 'public'",
)
"""Every column, constraint and index, each row beginning with its table."""


def schema(url: str) -> list[list[str]]:
    """Returns the definition of every table in the models."""
    with psycopg.connect(libpq_url(url)) as connection:
        found = [connection.execute(query.encode()).fetchall() for query in SCHEMA]
    return [sorted(str(row) for row in rows if row[0] in Base.metadata.tables) for rows in found]


def test_the_migration_creates_the_tables_of_the_models(database_url: str, new_database: MakeDatabase) -> None:
    engine = create_engine(sqlalchemy_url(database_url))
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection), Base.metadata)
    engine.dispose()
    assert [change for change in found if "procrastinate" not in str(change)] == []
    # Autogenerate sees neither checks nor defaults, so compare with the tables that SQLAlchemy creates as well.
    created = new_database()
    engine = create_engine(sqlalchemy_url(created))
    Base.metadata.create_all(engine)
    engine.dispose()
    assert schema(created) == schema(database_url)


UNINDEXED_REFERENCES = """
select conrelid::regclass::text || '.' || attname
from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
where contype = 'f' and connamespace = 'public'::regnamespace and not conrelid::regclass::text like 'procrastinate%'
    and not exists (select from pg_index where indrelid = conrelid and indkey[0] = conkey[1])
order by 1"""


def test_every_foreign_key_has_an_index(database_url: str) -> None:
    """Deleting or joining a row scans every table that refers to it without one."""
    with psycopg.connect(libpq_url(database_url)) as connection:
        # Chats are never deleted, and nothing looks up answers by chat; each answer would write the index.
        assert connection.execute(UNINDEXED_REFERENCES.encode()).fetchall() == [("answer.chat_id",)]


def test_an_empty_database_is_upgraded_and_again_without_a_change(new_database: MakeDatabase) -> None:
    url = new_database()
    assert migrations.current(url) is None
    migrations.upgrade(url)
    assert migrations.current(url) == migrations.newest()
    made = tables(url)
    assert {*Base.metadata.tables, "procrastinate_jobs"} <= set(made)
    before = schema(url)
    migrations.upgrade(url)
    assert tables(url) == made
    assert schema(url) == before


@pytest.mark.slow
async def test_upgrading_a_database_in_use_keeps_every_row(
    daily: DailyChannel, clock: Clock, database_url: str
) -> None:
    await fill(daily, clock)
    before = all_rows(database_url)
    migrations.upgrade(database_url)
    assert all_rows(database_url) == before
    await daily.ticked()


def test_only_revisions_of_this_version_are_known() -> None:
    assert migrations.known(migrations.newest())
    assert not migrations.known("9999")
    assert not migrations.known("head")


@pytest.mark.slow
def test_processes_that_migrate_at_once_do_it_once(new_database: MakeDatabase) -> None:
    url = new_database()
    program = "import sys; from service.store.migrations import upgrade; upgrade(sys.argv[1])"
    started = [subprocess.Popen([sys.executable, "-c", program, url], cwd=ROOT) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    assert migrations.current(url) == migrations.newest()


@pytest.mark.parametrize("change", ["update {} set id = default", "delete from {}", "truncate {} cascade"])
async def test_append_only_tables_refuse_every_change(
    daily: DailyChannel, clock: Clock, database_url: str, change: str
) -> None:
    await fill(daily, clock)
    for table in APPEND_ONLY:
        with (
            psycopg.connect(libpq_url(database_url)) as connection,
            pytest.raises(errors.RestrictViolation, match="append-only"),
        ):
            connection.execute(change.format(table).encode())


async def test_forgetting_erases_text_and_keeps_numbers(daily: DailyChannel, clock: Clock, database_url: str) -> None:
    await fill(daily, clock)
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        connection.execute("set dailygrad.forgetting = 'on'")
        connection.execute("update answer set name = '', given = '{}'")
        connection.execute("update verdict set detail = '{}'")
        for refused in (
            "update answer set at = now()",
            "update verdict set credit = 0, detail = '{}'",
            "update ledger set points = 9",
            "delete from answer",
        ):
            with pytest.raises(errors.RestrictViolation):
                connection.execute(refused.encode())


async def test_joining_moves_rows_and_changes_nothing_else(
    daily: DailyChannel, clock: Clock, database_url: str
) -> None:
    await fill(daily, clock)
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        connection.execute("insert into workspace (name, created_at) values ('other', now())")
        connection.execute("set dailygrad.joining = 'on'")
        connection.execute("update audit set workspace_id = 2, member_id = member_id")
        for refused in ("update ledger set points = 9, workspace_id = 2", "update audit set action = ''"):
            with pytest.raises(errors.RestrictViolation):
                connection.execute(refused.encode())


async def test_a_slot_a_current_answer_and_a_ledger_entry_are_unique(
    daily: DailyChannel, clock: Clock, database_url: str
) -> None:
    await fill(daily, clock)
    copies = (
        "insert into round (schedule_id, day, version_id, opens_at, closes_at) "
        "select schedule_id, day, version_id, opens_at, closes_at from round",
        "insert into standing select * from standing",
        "insert into ledger (key, workspace_id, member_id, points, reason, at) "
        "select key, workspace_id, member_id, 1, 'again', at from ledger limit 1",
        "insert into verdict (answer_id, version_id, verdict, credit, detail, at) "
        "select answer_id, version_id, 'wrong', 0, '{}', at from verdict",
    )
    for copy in copies:
        with (
            psycopg.connect(libpq_url(database_url)) as connection,
            pytest.raises(errors.UniqueViolation),
        ):
            connection.execute(copy.encode())
