"""`dailygrad backup` and `dailygrad restore`: the files, the progress and what is said of it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Annotated

import typer
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

from service.backups.archive import Manifest, Tell
from service.backups.place import database
from service.backups.restoring import restore
from service.backups.taking import take
from service.process import DATA, Refused, errors, now
from service.store import migrations

backups_command = typer.Typer()

STREAM = "-"
ENDING = ".zip"
PREFIX = "dailygrad-"

Data = Annotated[Path, typer.Option(envvar="DAILYGRAD_DATA", help="The folder of `dailygrad run`.")]


@backups_command.command("backup")
def backup_database(
    file: Annotated[str, typer.Argument(help="The file to write, a folder for one named by the instant, or -.")],
    data: Data = DATA,
) -> None:
    """Write everything the database holds to one file, as it is at one instant. The service goes on meanwhile.

    The database is the one DATABASE_URL names, else that of `dailygrad run`. Tokens of chats stay encrypted in the
    file: keep DAILYGRAD_TOKEN_KEY elsewhere, without it they cannot be read after a restore.
    """
    at = now()
    with database(data, alone=False) as url, _progress() as tell:
        if file == STREAM:
            if sys.stdout.isatty():
                raise Refused("a backup is no text: name a file, or send it on, as in `dailygrad backup - > FILE`")
            made, place = take(url, sys.stdout.buffer, at, tell), "standard output"
            sys.stdout.buffer.flush()
        else:
            target = _target(Path(file), at)
            with _whole(target) as writing:
                made, place = take(url, writing, at, tell), str(target)
    _say(f"{_counted(made)} at {made.revision} were written to {place}")


@backups_command.command("restore")
def restore_database(
    file: Annotated[str, typer.Argument(help="A file that `dailygrad backup` made, or -.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Lose for good what the database holds now, if it is not empty.")
    ] = False,
    data: Data = DATA,
) -> None:
    """Put a backup into an empty database and bring it to this version: all of it, or nothing is changed.

    The database is the one DATABASE_URL names, else that of `dailygrad run`. The file is read to its end and checked
    before anything is written. Stop the service and its workers first.
    """
    with contextlib.ExitStack() as stack:
        reading = stack.enter_context(_read(file))
        url = stack.enter_context(database(data, alone=True))
        tell = stack.enter_context(_progress())
        made = restore(url, reading, replace=replace, tell=tell)
    _say(f"{_counted(made)} of {made.taken_at:%Y-%m-%d %H:%M} UTC are back, now at {migrations.newest()}")


def _counted(made: Manifest) -> str:
    return f"{made.rows:,} rows of {len(made.parts)} tables"


def _say(said: str) -> None:
    # Standard output may be the backup itself.
    errors.print(f"  {said}", markup=False, soft_wrap=True)


def _target(file: Path, at: datetime) -> Path:
    """Where to write: a folder gets a file of its own each time."""
    return file / f"{PREFIX}{at:%Y%m%dT%H%M%SZ}{ENDING}" if file.is_dir() else file


@contextlib.contextmanager
def _whole(target: Path) -> Iterator[IO[bytes]]:
    """A file for our eyes alone that takes its place once it is whole, and leaves nothing behind otherwise."""
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as problem:
        raise Refused(f"{target} cannot be written: {problem.strerror}; name another file") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except OSError as problem:
        raise Refused(f"{target} cannot be written: {problem.strerror or problem}; name another file") from None
    finally:
        beside.unlink(missing_ok=True)


@contextlib.contextmanager
def _read(file: str) -> Iterator[IO[bytes]]:
    """The file, or all of standard input: it is read twice."""
    if file == STREAM:
        with tempfile.TemporaryFile() as kept:
            try:
                shutil.copyfileobj(sys.stdin.buffer, kept)
            except OSError as problem:
                place = tempfile.gettempdir()
                raise Refused(
                    f"standard input cannot be kept in {place}: {problem.strerror}; name a file, or another folder in "
                    "TMPDIR"
                ) from None
            yield kept
        return
    with contextlib.ExitStack() as stack:
        try:
            opened = stack.enter_context(Path(file).open("rb"))
        except OSError as problem:
            raise Refused(f"{file} cannot be read: {problem.strerror}; name a file of `dailygrad backup`") from None
        yield opened


@contextlib.contextmanager
def _progress() -> Iterator[Tell]:
    """A bar on a terminal's standard error; elsewhere nothing."""
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeElapsedColumn())
    with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as bar:
        task = bar.add_task("", total=None)

        def tell(said: str, done: int, total: int) -> None:
            bar.update(task, description=said, completed=done, total=total or None)

        yield tell
