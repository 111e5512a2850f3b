"""Fixtures of the fault tests, for both chats."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.faults.backend import Backend, Bots, backend_running


@pytest.fixture
async def backend(database_url: str) -> AsyncIterator[Backend]:
    """The service on a port, with a database for this test."""
    async with backend_running(database_url) as running:
        yield running


@pytest.fixture
async def bots(backend: Backend, tmp_path: Path) -> AsyncIterator[Bots]:
    """Starts bots, and kills those a test leaves running."""
    bots = Bots(backend, tmp_path)
    yield bots
    await bots.clear()
