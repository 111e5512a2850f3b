"""Databases of older versions are brought to this one: every row is kept, and the service goes on with them."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from sandbox.client import SandboxClient
from service.app import build
from service.backups.restoring import restore
from service.config import Settings
from service.store import migrations
from service.store.session import libpq_url
from service.store.tables import VerdictRow
from service.wire import QuestionPost
from tests.conftest import MONDAY, TOKEN, Clock, MakeDatabase
from tests.service.backups.conftest import quiet
from tests.service.roads import road_with
from tests.service.rows import Rows, all_rows, lost

FIXTURES = sorted(Path(__file__).parent.glob("at-*.zip"))


def filled(url: str, fixture: Path) -> str:
    """The fixture's rows put into its own revision's tables, by PostgreSQL alone; which revision that is."""
    with zipfile.ZipFile(fixture) as file:
        manifest = json.loads(file.read("manifest.json"))
        migrations.upgrade(url, manifest["revision"])
        with psycopg.connect(libpq_url(url)) as connection:
            for part in manifest["parts"]:
                table, columns = sql.Identifier(part["table"]), map(sql.Identifier, part["columns"])
                connection.execute(sql.SQL("alter table {} disable trigger user").format(table))
                query = sql.SQL("copy {} ({}) from stdin").format(table, sql.SQL(", ").join(columns))
                with connection.cursor().copy(query) as copy:
                    copy.write(file.read(f"tables/{part['table']}.copy"))
                connection.execute(sql.SQL("alter table {} enable trigger user").format(table))
    return str(manifest["revision"])


@pytest.fixture(params=FIXTURES, ids=lambda path: path.stem)
def fixture(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def test_every_row_is_kept_and_a_restore_does_what_migrating_does(fixture: Path, new_database: MakeDatabase) -> None:
    migrated, restored = new_database(), new_database()
    revision = filled(migrated, fixture)
    assert fixture.stem == f"at-{revision}"
    before = all_rows(migrated)
    migrations.upgrade(migrated)
    after = all_rows(migrated)
    assert lost(before, after) == []
    who_is_who_is_kept(before, after)
    with fixture.open("rb") as file:
        restore(restored, file, replace=False, tell=quiet)
    assert all_rows(restored) == after
    # A migration that loses something would be noticed: a row, a column's content, a table.
    assert lost(before, {**after, "standing": after["standing"][1:]})
    assert lost(before, {**after, "answer": [row.replace('"options"', '"other"') for row in after["answer"]]})
    assert lost(before, {name: rows for name, rows in after.items() if name != "ledger"})


def who_is_who_is_kept(before: Rows, after: Rows) -> None:
    """Chats and members are known by the names they had, whichever tables those are in."""
    workspaces = [json.loads(row) for row in before["workspace"]]
    chats = [json.loads(row) for row in after["chat"]]
    assert {(row["id"], row["platform"], row["external_id"]) for row in workspaces if "platform" in row} <= {
        (row["workspace_id"], row["platform"], row["external_id"]) for row in chats
    }
    members = [json.loads(row) for row in before["member"]]
    identities = [json.loads(row) for row in after["identity"]]
    assert {(row["id"], row["external_id"]) for row in members if row.get("external_id")} <= {
        (row["member_id"], row["external_id"]) for row in identities
    }


@pytest.mark.sandbox
async def test_the_service_goes_on(
    fixture: Path, new_database: MakeDatabase, clock: Clock, sandbox: SandboxClient
) -> None:
    url = new_database()
    with fixture.open("rb") as file:
        restore(url, file, replace=False, tell=quiet)
    rows = {table: [json.loads(row) for row in found] for table, found in all_rows(url).items()}
    clock.now = max(datetime.fromisoformat(row["at"]) for row in rows["answer"])
    settings = Settings(database_url=url, service_token=TOKEN)
    async with build(settings, clock, sandbox).running() as service:
        road = road_with(service)
        points = sum(row["points"] for row in rows["ledger"] if row["member_id"] == _number(rows, "Ada"))
        board = await road.client.board(road.who("Ada"), None, "all")
        assert [row.points for row in board.rows if row.name == "Ada"] == [points]
        assert points > 0
        # The answer that waited is judged; what was on its way arrives; the next day's question comes, once.
        await service.jobs.work_off()
        assert len(await road.rows(VerdictRow)) == len(rows["verdict"]) + 1
        clock.now = MONDAY + timedelta(weeks=1)
        await road.ticked()
        clock.advance(hours=1, minutes=5)
        posted = [body for body in await road.ticked() if isinstance(body, QuestionPost)]
        assert len({body.ref for body in posted}) == len(posted) > 0
        assert await road.ticked() == []
        await road.answer(posted[-1].ref, "a", event="after the upgrade")


def _number(rows: dict[str, list[dict[str, Any]]], name: str) -> int:
    return next(int(row["id"]) for row in rows["member"] if row["name"] == name)
