"""Which database is meant: the one DATABASE_URL names, or that of `dailygrad run` in its folder, running or not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import SecretStr

from service.config import read_settings
from service.process import InUse, Refused, only_one
from service.store.embedded import start_postgres


def named() -> str:
    """The address DATABASE_URL gives, with its password; empty where it is not set. Raises SettingsWrong."""
    if not any(os.environ.get(name) for name in ("DATABASE_URL", "DAILYGRAD_DATABASE_URL")):
        return ""
    return read_settings(service_token=SecretStr("not needed to be told where the database is")).database_url


@contextmanager
def database(data: Path, *, alone: bool) -> Iterator[str]:
    """The database's address while the block lasts. Raises Refused where there is none.

    `alone` wants the folder's own database for itself, and makes it where there is none.
    """
    if url := named():
        yield url
        return
    folder = data.resolve()
    if not alone and not (folder / "postgres" / "PG_VERSION").exists():
        raise Refused(
            f"there is no database: DATABASE_URL is not set, and {folder} holds none of `dailygrad run`; set the one "
            "or name the other with --data"
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with only_one(folder):
            server = start_postgres(folder / "postgres")
            try:
                yield server.url
            finally:
                server.stop()
    except InUse:
        if alone:
            raise Refused(f"`dailygrad run` uses {folder}: stop it first") from None
        # It is up, or comes up: then this joins it, and leaves it running.
        yield start_postgres(folder / "postgres").url
