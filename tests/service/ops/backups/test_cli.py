"""`dailygrad backup` and `dailygrad restore` as an operator types them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from cryptography.fernet import Fernet
from typer.testing import CliRunner, Result

from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.ops import backups
from service.ops.backups import backup_database, backups_command
from service.process import CommandFailed, lock_folder, now
from service.store import migrations
from service.store.session import libpq_url, start_postgres
from tests import forked
from tests.conftest import TOKEN, Clock, MakeDatabase
from tests.service.rows import Rows, all_rows

ROOT = Path(__file__).parents[4]


def backed_up_rows(url: str) -> Rows:
    """Returns every row of every table but the one that records the backup itself, after it was taken."""
    return {name: rows for name, rows in all_rows(url).items() if name != "maintenance"}


def typed(*words: str, url: str) -> Result:
    """Runs a command; raises its error."""
    return CliRunner().invoke(backups_command, words, env={"DATABASE_URL": url}, catch_exceptions=False)


def refused(*words: str, url: str) -> str:
    with pytest.raises(CommandFailed) as problem:
        typed(*words, url=url)
    return str(problem.value)


def test_a_file_is_whole_and_for_its_owner_alone(database_url: str, new_database: MakeDatabase, folder: Path) -> None:
    made = typed("backup", str(folder / "a.dump"), url=database_url)
    assert re.search(rf"Backed up the database at revision {migrations.newest()} to .*a\.dump \(\d", made.stderr)
    assert (folder / "a.dump").stat().st_mode & 0o777 == 0o600
    # A folder gets one that is named by the instant; a file that is there is replaced as a whole.
    typed("backup", str(folder), url=database_url)
    (dated,) = folder.glob("dailygrad-2*Z.dump")
    dated.chmod(0o644)
    typed("backup", str(dated), url=database_url)
    assert dated.stat().st_mode & 0o777 == 0o600
    assert len(list(folder.iterdir())) == 2
    url = new_database()
    assert f"the database is at revision {migrations.newest()}" in typed("restore", str(dated), url=url).stderr
    assert backed_up_rows(url) == backed_up_rows(database_url)


async def test_a_restore_says_that_the_key_of_its_secrets_is_missing(
    database_url: str, new_database: MakeDatabase, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, other = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    service = build(Settings(database_url=database_url, service_token=TOKEN, token_key=key), now)
    async with service.running(), ServiceClient.inside(service.api, TOKEN) as client:
        await client.web_secret("local")
    typed("backup", str(folder / "a.dump"), url=database_url)
    for given, warned in ((key, False), (other, True), (f"{other},{key}", False)):
        monkeypatch.setenv("DAILYGRAD_TOKEN_KEY", given)
        said = typed("restore", str(folder / "a.dump"), url=new_database()).stderr
        assert (
            "But 1 of 1 stored secrets were encrypted with a key that is not in DAILYGRAD_TOKEN_KEY" in said
        ) is warned


def test_each_backup_in_a_folder_is_a_new_file(
    database_url: str, folder: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "now", clock)
    typed("backup", str(folder), url=database_url)
    clock.advance(seconds=1)
    typed("backup", str(folder), url=database_url)
    assert sorted(path.name for path in folder.iterdir()) == [
        "dailygrad-20260302T080000Z.dump",
        "dailygrad-20260302T080001Z.dump",
    ]


def test_a_terminal_gets_no_backup(database_url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", database_url)
    screen, terminal = os.openpty()
    with os.fdopen(screen), os.fdopen(terminal, "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        with pytest.raises(CommandFailed, match="a backup is binary: name a file, or redirect it"):
            backup_database("-", folder)
        monkeypatch.undo()


def test_an_unwritable_or_unreadable_backup_is_reported_and_leaves_nothing(
    database_url: str, new_database: MakeDatabase, folder: Path
) -> None:
    assert "No such file or directory; name another" in refused("backup", str(folder / "no" / "a"), url=database_url)
    assert "never migrated" in refused("backup", str(folder / "a"), url=new_database())
    assert "No such file or directory; name a file" in refused("restore", str(folder / "a"), url=database_url)
    assert "Is a directory" in refused("restore", str(folder), url=database_url)
    assert "this is not a backup" in refused("restore", str(ROOT / "README.md"), url=new_database())
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_a_backup_goes_through_pipes(database_url: str, new_database: MakeDatabase) -> None:
    made = piped("backup", database_url)
    assert made.returncode == 0, made.stderr
    url = new_database()
    back = piped("restore", url, made.stdout)
    assert back.returncode == 0, back.stderr
    assert backed_up_rows(url) == backed_up_rows(database_url)


def piped(command: str, url: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    words = [sys.executable, "-m", "dailygrad", command, "-"]
    return forked.run(
        words, cwd=ROOT, env={**os.environ, "DATABASE_URL": url}, input=stdin, capture_output=True, timeout=120
    )


@pytest.mark.slow
def test_the_database_of_dailygrad_run_is_meant_where_none_is_named(folder: Path) -> None:
    data, other = folder / "data", folder / "other"
    with pytest.raises(CommandFailed, match="there is no database"):
        typed_at(data, "backup", folder / "a.dump")
    data.mkdir(mode=0o700)
    server = start_postgres(data / "postgres")
    migrations.upgrade(server.url)
    with psycopg.connect(libpq_url(server.url)) as connection:
        connection.execute("insert into workspace (name, created_at) values ('here', now())")
    # While it runs, a backup joins it and leaves it running; a restore keeps away.
    with lock_folder(data):
        typed_at(data, "backup", folder / "a.dump")
        with pytest.raises(CommandFailed, match="stop it first"):
            typed_at(data, "restore", folder / "a.dump")
    rows = backed_up_rows(server.url)
    server.stop()
    typed_at(other, "restore", folder / "a.dump")
    typed_at(other, "backup", folder / "b.dump")
    assert not (other / "postgres" / "postmaster.pid").exists()
    server = start_postgres(other / "postgres")
    try:
        assert backed_up_rows(server.url) == rows
    finally:
        server.stop()


def typed_at(data: Path, command: str, file: Path) -> None:
    CliRunner().invoke(
        backups_command, [command, str(file), "--data", str(data)], env={"DATABASE_URL": ""}, catch_exceptions=False
    )


def test_the_age_of_the_last_backup_can_be_measured(database_url: str, folder: Path) -> None:
    before = datetime.now(UTC)
    typed("backup", str(folder / "one.dump"), url=database_url)
    first = all_rows(database_url)["maintenance"]
    typed("backup", str(folder / "two.dump"), url=database_url)
    (row,) = all_rows(database_url)["maintenance"]
    assert [row] != first
    done = json.loads(row)
    assert done["task"] == "backup"
    assert before <= datetime.fromisoformat(done["done_at"]) <= datetime.now(UTC)
