"""A team in two chats with a history, whose service has a key for tokens, and a backup of it."""

from __future__ import annotations

import io
from dataclasses import dataclass

import pytest

from service.backups.archive import Manifest
from service.backups.taking import take
from service.config import Settings
from tests.conftest import TOKEN, Clock
from tests.service.filled import TOKEN_KEY, fill
from tests.service.roads import Road
from tests.service.rows import Rows, all_rows, sequences
from tests.service.twochats import TwoChats


@dataclass
class Taken:
    """A backup, and what the database held that it was taken of."""

    url: str
    ref: str
    file: io.BytesIO
    manifest: Manifest
    rows: Rows
    sequences: dict[str, int | None]


@pytest.fixture
def settings(database_url: str) -> Settings:
    return Settings(database_url=database_url, service_token=TOKEN, token_key=TOKEN_KEY)


@pytest.fixture
def chats(road: Road, clock: Clock) -> TwoChats:
    return TwoChats(road, clock)


@pytest.fixture
async def taken(chats: TwoChats, database_url: str) -> Taken:
    """A backup of a team with a history, while its service is connected."""
    ref = await fill(chats)
    file = io.BytesIO()
    manifest = take(database_url, file, chats.clock.now, quiet)
    return Taken(database_url, ref, file, manifest, all_rows(database_url), sequences(database_url))


def quiet(said: str, done: int, total: int) -> None:
    """Nobody looks at the progress."""
