"""Takes a backup: every row of every table as it was at one instant, while the service goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from typing import IO

import psycopg
from psycopg import Connection, IsolationLevel

from service.backups.archive import Manifest, Packing, Tell
from service.process import Refused
from service.store import snapshots
from service.store.migrations import ONE_AT_A_TIME
from service.store.session import libpq_url

LONGEST_WAIT_S = 60


def take(database_url: str, file: IO[bytes], at: datetime, tell: Tell) -> Manifest:
    """Write everything the database holds to the file, which is finished then. Memory stays flat. Raises Refused."""
    try:
        connecting = closing(psycopg.connect(libpq_url(database_url)))
        with connecting as connection, _one_instant(connection), Packing(file, at) as packing:
            return _taken(connection, packing, at, tell)
    except psycopg.Error as problem:
        said = str(problem).strip().splitlines()[0]
        raise Refused(f"the database cannot be backed up: {said}; check DATABASE_URL") from None


def _taken(connection: Connection, packing: Packing, at: datetime, tell: Tell) -> Manifest:
    revision = snapshots.revision(connection)
    if revision is None:
        raise Refused("there is nothing to back up: the database was never migrated; check DATABASE_URL")
    parts = [
        packing.add(table.name, table.columns, snapshots.copied_out(connection, table), tell)
        for table in snapshots.tables(connection)
    ]
    manifest = Manifest(
        version=own_version(),
        postgres=snapshots.server_version(connection),
        revision=revision,
        taken_at=at,
        parts=tuple(parts),
        # Read last: a number given since is skipped, and none is given twice.
        sequences=snapshots.sequences(connection),
    )
    packing.finish(manifest)
    return manifest


@contextmanager
def _one_instant(connection: Connection) -> Iterator[None]:
    """One snapshot for all that is read in the block, of a database that nobody migrates meanwhile."""
    connection.autocommit = True
    for setting in snapshots.ALIKE:
        connection.execute(setting.encode())
    connection.execute(f"set lock_timeout = '{LONGEST_WAIT_S}s'".encode())
    try:
        connection.execute("select pg_advisory_lock_shared(%s)", (ONE_AT_A_TIME,))
    except psycopg.errors.LockNotAvailable:
        raise Refused("the database is being migrated or restored just now: back it up when that is done") from None
    connection.autocommit = False
    connection.isolation_level, connection.read_only = IsolationLevel.REPEATABLE_READ, True
    yield
    connection.rollback()


def own_version() -> str:
    """Dailygrad's, as it was installed."""
    try:
        return version("dailygrad")
    except PackageNotFoundError:
        return "unknown"
