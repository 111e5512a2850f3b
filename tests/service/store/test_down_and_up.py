"""Each migration taken back and done again on filled tables: nothing is lost that the older version has a place for."""

from __future__ import annotations

import psycopg
from alembic.script import ScriptDirectory

from service.store import migrations
from service.store.session import libpq_url
from tests.conftest import Clock
from tests.service.roads import Road
from tests.service.rows import all_rows, columns, lost
from tests.service.upgrades.making import fill

SCHEMA = (
    "select table_name, column_name, data_type, udt_name, is_nullable, column_default, is_identity "
    "from information_schema.columns where table_schema = 'public'",
    "select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint "
    "where connamespace = 'public'::regnamespace",
    "select indexname, indexdef from pg_indexes where schemaname = 'public'",
    "select pg_get_triggerdef(oid), tgenabled from pg_trigger where not tgisinternal",
    "select proname, prosrc from pg_proc where pronamespace = 'public'::regnamespace",
)
"""Everything a migration may make, as PostgreSQL itself tells it."""


def schema(url: str) -> list[list[str]]:
    with psycopg.connect(libpq_url(url)) as connection:
        return [sorted(map(str, connection.execute(query.encode()).fetchall())) for query in SCHEMA]


def revisions() -> list[str]:
    """Every revision but the newest, from it on backwards."""
    script = ScriptDirectory(str(migrations.__path__[0]))
    return [revision.revision for revision in script.walk_revisions()][1:]


async def test_every_step_back_and_forth_keeps_what_it_can(road: Road, clock: Clock, database_url: str) -> None:
    await fill(road, clock)
    await road.service.engine.dispose()
    before, made = all_rows(database_url), schema(database_url)
    assert [table for table in ("answer", "ledger", "standing", "inbox", "card") if not before[table]] == []
    for revision in revisions():
        migrations.downgrade(database_url, revision)
        older = columns(database_url)
        migrations.upgrade(database_url)
        # What only newer versions know is gone then, by intent: everything else is as it was.
        assert lost(before, all_rows(database_url), older) == [], revision
        assert schema(database_url) == made, revision
