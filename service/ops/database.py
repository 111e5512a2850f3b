"""The database that the operator's commands work on: the one in DATABASE_URL, or that of `dailygrad run`."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from service.config import read_command_settings
from service.process import CommandFailed, FolderInUse, lock_folder, make_folder
from service.store import migrations
from service.store.session import start_postgres

_NAMED = ("DATABASE_URL", "DAILYGRAD_DATABASE_URL")
"""Variables that name another database than that of `dailygrad run`."""


@contextlib.contextmanager
def find_database(data: Path, *, create: bool = False) -> Iterator[str]:
    """Yields the URL of the database: DATABASE_URL, or that of `dailygrad run` in its folder, running or not.

    With `create`, the folder's database is created if it is missing and must not be in use. Raises CommandFailed.
    """
    if any(os.environ.get(name) for name in _NAMED):
        yield read_command_settings().database_url
        return
    folder = data.resolve()
    if not create and not (folder / "postgres" / "PG_VERSION").exists():
        raise CommandFailed(
            f"there is no database: DATABASE_URL is not set, and `dailygrad run` has not made one in {folder}; set "
            "DATABASE_URL, or name the folder in DAILYGRAD_DATA"
        )
    make_folder(folder)
    try:
        with lock_folder(folder):
            server = start_postgres(folder / "postgres")
            try:
                yield server.url
            finally:
                server.stop()
    except FolderInUse:
        if create:
            raise CommandFailed(f"`dailygrad run` uses {folder}: stop it first") from None
        # It is running or starting: join it, and leave it running.
        yield start_postgres(folder / "postgres").url


def find_sandbox(data: Path) -> Path | None:
    """Returns the socket of the sandbox that `dailygrad run` runs beside the database in its folder; None if it is not
    running, or if another database is named."""
    if any(os.environ.get(name) for name in _NAMED):
        return None
    path = data.resolve() / "sandbox" / "sandbox.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return None
    return path


def refuse_other_version(database_url: str) -> None:
    """Raises CommandFailed if the database is at another version, and OperationalError if it cannot be reached."""
    at, newest = migrations.current(database_url), migrations.newest()
    if at is not None and not migrations.known(at):
        raise migrations.newer(at)
    if at != newest:
        raise CommandFailed(f"the database is at {at or 'no version yet'}, not {newest}: run `dailygrad migrate`")
