"""When a restore is refused, and that nothing is changed then: not in an empty database, not in one to be replaced."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable

import psycopg
import pytest

from service.backups.archive import MANIFEST, BackupWrong
from service.backups.restoring import restore
from service.backups.taking import take
from service.process import Refused
from service.store import migrations
from service.store.migrations import ONE_AT_A_TIME
from service.store.session import libpq_url
from tests.conftest import MONDAY, Clock, MakeDatabase
from tests.service.backups.conftest import quiet
from tests.service.backups.test_archive import remade
from tests.service.roads import Road, choice
from tests.service.rows import all_rows


@pytest.fixture
async def small(road: Road, clock: Clock, database_url: str) -> bytes:
    """A backup of a round with an answer; nobody is connected to its database any more."""
    await road.bank(choice())
    await road.schedule()
    clock.advance(hours=1)
    await road.ticked()
    await road.answer("r1", "a")
    await road.service.engine.dispose()
    await road.service.jobs.app.close_async()
    file = io.BytesIO()
    take(database_url, file, MONDAY, quiet)
    return file.getvalue()


def put(url: str, content: bytes, *, replace: bool = False) -> None:
    restore(url, io.BytesIO(content), replace=replace, tell=quiet)


def execute(url: str, statement: str) -> None:
    with psycopg.connect(libpq_url(url)) as connection:
        connection.execute(statement.encode())


def altered(content: bytes, table: str, change: Callable[[bytes], bytes]) -> bytes:
    """The backup with other rows, by somebody who knows how to make the manifest fit."""

    def both(members: dict[str, bytes]) -> None:
        rows = change(members[f"tables/{table}.copy"])
        members[f"tables/{table}.copy"] = rows
        manifest = json.loads(members[MANIFEST])
        for part in manifest["parts"]:
            if part["table"] == table:
                part.update(rows=rows.count(b"\n"), size=len(rows), sha256=hashlib.sha256(rows).hexdigest())
        members[MANIFEST] = json.dumps(manifest).encode()

    return remade(content, both)


def test_only_an_empty_database_is_filled_unless_it_is_asked_for(
    small: bytes, database_url: str, new_database: MakeDatabase
) -> None:
    rows = all_rows(database_url)
    execute(database_url, "update workspace set name = 'changed'")
    with pytest.raises(Refused, match=r"not empty.*--replace"):
        put(database_url, small)
    assert "changed" in str(all_rows(database_url)["workspace"])
    put(database_url, small, replace=True)
    assert all_rows(database_url) == rows
    empty = new_database()
    put(empty, small, replace=True)
    assert all_rows(empty) == rows


def test_what_is_somebody_elses_is_left_alone(small: bytes, database_url: str, new_database: MakeDatabase) -> None:
    rows = all_rows(database_url)
    for url in (database_url, new_database()):
        execute(url, "create table theirs (id int)")
        with pytest.raises(Refused, match=r"not Dailygrad's \(theirs\): name an empty one"):
            put(url, small, replace=True)
    file = io.BytesIO()
    take(database_url, file, MONDAY, quiet)
    assert file.getvalue() == small
    assert all_rows(database_url) == {**rows, "theirs": []}


def test_a_database_in_use_is_not_replaced(small: bytes, database_url: str) -> None:
    rows = all_rows(database_url)
    with (
        psycopg.connect(libpq_url(database_url)),
        pytest.raises(Refused, match="in use by 1 other connection: stop the service"),
    ):
        put(database_url, small, replace=True)
    assert all_rows(database_url) == rows


ALTERED: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "a row that refers to nothing": ("verdict", lambda rows: rows + b"999\t0\t{}\t9\twrong\t9\n", "verdict"),
    "a row twice": ("workspace", lambda rows: rows * 2, "workspace"),
    "no number": ("workspace", lambda rows: rows.replace(b"use", b"use\tone more"), "workspace"),
    "an end in the middle": ("procrastinate_events", lambda rows: b"\\.\n", "procrastinate_events"),
    "no text": ("member", lambda rows: rows.replace(b"Ada", b"\xff\xfe"), "member"),
    "a rule that is broken": ("outbox", lambda rows: rows.replace(b"\tsent\t", b"\tlost\t"), "outbox"),
}


def test_what_does_not_hold_together_changes_nothing(small: bytes, database_url: str) -> None:
    rows = all_rows(database_url)
    for table, change, said in ALTERED.values():
        with pytest.raises(BackupWrong, match=said) as wrong:
            put(database_url, altered(small, table, change), replace=True)
        assert "\n" not in str(wrong.value)
        assert all_rows(database_url) == rows


def test_tables_and_columns_of_another_revision_change_nothing(small: bytes, new_database: MakeDatabase) -> None:
    url = new_database()

    def without_a_table(members: dict[str, bytes]) -> None:
        manifest = json.loads(members[MANIFEST])
        manifest["parts"] = [part for part in manifest["parts"] if part["table"] != "card"]
        members[MANIFEST] = json.dumps(manifest).encode()
        del members["tables/card.copy"]

    def of_the_first_revision(members: dict[str, bytes]) -> None:
        members[MANIFEST] = json.dumps({**json.loads(members[MANIFEST]), "revision": "0001"}).encode()

    for change in (without_a_table, of_the_first_revision):
        with pytest.raises(BackupWrong, match="not of revision"):
            put(url, remade(small, change))
    assert all_rows(url) == {}
    assert migrations.current(url) is None


def test_a_restore_that_breaks_off_leaves_what_was_there(small: bytes, database_url: str) -> None:
    rows = all_rows(database_url)

    class Unplugged(io.BytesIO):
        """A disk that is taken away once rows are put into the database."""

        away = False

        def read(self, size: int | None = -1, /) -> bytes:
            if self.away:
                raise OSError(5, "Input/output error")
            return super().read(size)

    file = Unplugged(small)

    def tell(said: str, done: int, total: int) -> None:
        file.away = file.away or said == "answer"

    with pytest.raises(Refused, match="cannot be read: Input/output error"):
        restore(database_url, file, replace=True, tell=tell)
    assert all_rows(database_url) == rows


def test_what_is_no_backup_or_no_database_is_said(small: bytes, new_database: MakeDatabase) -> None:
    with pytest.raises(Refused, match="never migrated"):
        take(new_database(), io.BytesIO(), MONDAY, quiet)
    with pytest.raises(Refused, match=r"cannot be backed up: .*check DATABASE_URL"):
        take("postgresql://nobody@127.0.0.1:1/nothing", io.BytesIO(), MONDAY, quiet)
    with pytest.raises(BackupWrong):
        put(new_database(), small[:-1])


def test_a_backup_waits_for_no_migration_and_none_begins_meanwhile(small: bytes, database_url: str) -> None:
    tried = []

    def tell(said: str, done: int, total: int) -> None:
        with psycopg.connect(libpq_url(database_url)) as other:
            found = other.execute("select pg_try_advisory_xact_lock(%s)", (ONE_AT_A_TIME,)).fetchone()
            tried.append(found == (True,))
            # What is written meanwhile is not in it.
            other.execute("update workspace set name = name || 'x'")

    file = io.BytesIO()
    take(database_url, file, MONDAY, tell)
    assert tried
    assert not any(tried)
    assert file.getvalue() == small
    with zipfile.ZipFile(file) as found:
        assert b"xx" not in found.read("tables/workspace.copy")
