"""Puts a backup into an empty database, all of it or nothing: the whole is one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import psycopg
from psycopg import Connection
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from service.backups.archive import Archive, BackupWrong, Manifest, Tell
from service.process import Refused
from service.store import migrations, snapshots
from service.store.session import sqlalchemy_url

LONGEST_WAIT_S = 60


def restore(database_url: str, file: IO[bytes], *, replace: bool, tell: Tell) -> Manifest:
    """Have the database hold what the backup holds, at the newest revision. Raises Refused, with nothing changed.

    With `replace` what the database held is gone then.
    """
    engine = create_engine(sqlalchemy_url(database_url))
    try:
        with engine.connect() as connection:
            _refuse_unfit(snapshots.raw(connection), replace)
        archive = Archive(file)
        refuse_unknown(archive.manifest)
        archive.check(tell)
        with engine.begin() as connection, _said_of(archive.manifest):
            raw = snapshots.raw(connection)
            _hold(raw)
            _refuse_unfit(raw, replace)
            snapshots.clear(raw)
            migrations.upgrade_within(connection, archive.manifest.revision)
            _fill(raw, archive, tell)
            tell("bringing it to this version", 0, 0)
            migrations.upgrade_within(connection)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            # What is known of tables that were filled at one stroke is wrong until then, and every plan with it.
            snapshots.raw(connection).execute("analyze")
    finally:
        engine.dispose()
    return archive.manifest


def refuse_unknown(manifest: Manifest) -> None:
    """Raises BackupWrong where the backup is of a revision that this program does not know."""
    if not migrations.known(manifest.revision):
        raise BackupWrong(
            f"the backup is of a database at {manifest.revision}, and this version knows none beyond "
            f"{migrations.newest()}: update Dailygrad first"
        )


def _refuse_unfit(connection: Connection, replace: bool) -> None:
    """Raises Refused where the database is somebody else's, is used, or is not empty."""
    if strangers := snapshots.foreign(connection):
        raise Refused(
            f"the database holds tables that are not Dailygrad's ({', '.join(strangers[:3])}): name an empty one"
        )
    there = snapshots.revision(connection) is not None or bool(snapshots.tables(connection))
    if there and not replace:
        raise Refused(
            "the database is not empty, and a restore would take its place: name an empty one in DATABASE_URL, or "
            "say --replace to lose for good what it holds now"
        )
    if there and (count := snapshots.others(connection)):
        raise Refused(
            f"the database is in use by {count} other connection{'s' * (count != 1)}: stop the service and its "
            "workers first"
        )


def _hold(connection: Connection) -> None:
    for setting in snapshots.ALIKE:
        connection.execute(setting.encode())
    # Whoever came in between keeps us out of the tables, and nobody waits for ever.
    connection.execute(f"set lock_timeout = '{LONGEST_WAIT_S}s'".encode())
    connection.execute("select pg_advisory_xact_lock(%s)", (migrations.ONE_AT_A_TIME,))


def _fill(connection: Connection, archive: Archive, tell: Tell) -> None:
    """The rows and the numbers of the backup, in tables that are those of its revision."""
    found = {table.name: table for table in snapshots.tables(connection)}
    parts = archive.manifest.parts
    if {part.table for part in parts} != set(found):
        odd = sorted({part.table for part in parts} ^ set(found))
        raise BackupWrong(f"the backup is not of revision {archive.manifest.revision}: it differs in {', '.join(odd)}")
    for part in parts:
        missing = set(found[part.table].columns) - set(part.columns)
        # The queue's own tables are as its library wants them, which gains columns with time.
        if set(part.columns) - set(found[part.table].columns) or (
            missing and not part.table.startswith(snapshots.JOBS)
        ):
            raise BackupWrong(
                f"the backup is not of revision {archive.manifest.revision}: {part.table} has other columns"
            )
    snapshots.emptied(connection, found.values())
    done = 0
    by_table = {part.table: part for part in parts}
    for name in found:
        part = by_table[name]
        tell(name, done, archive.manifest.size)
        if snapshots.copied_in(connection, name, part.columns, archive.blocks(part)) != part.rows:
            raise BackupWrong(f"the backup is damaged or was altered: not every row of {name} could be read")
        done += part.size
    snapshots.filled(connection, found.values())
    snapshots.set_sequences(connection, archive.manifest.sequences)


@contextmanager
def _said_of(manifest: Manifest) -> Iterator[None]:
    """What PostgreSQL refuses, as one sentence. The rows themselves are not shown."""
    try:
        yield
    except psycopg.errors.LockNotAvailable:
        raise Refused("the database is in use: stop the service and its workers first") from None
    except (psycopg.DataError, psycopg.IntegrityError) as problem:
        place = problem.diag.table_name or (problem.diag.context or "").split(",")[0] or "a table"
        raise BackupWrong(
            f"the backup does not hold together ({place}: {problem.diag.message_primary}); nothing was changed"
        ) from None
    except (psycopg.Error, DBAPIError) as problem:
        said = str(getattr(problem, "orig", None) or problem).strip().splitlines()[0]
        raise Refused(
            f"the backup of {manifest.taken_at:%Y-%m-%d %H:%M} UTC could not be restored: {said}; nothing was changed"
        ) from None
