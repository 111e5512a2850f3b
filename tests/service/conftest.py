"""Fixtures of use-case tests: a scene on one session, in a database that is dropped afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from service.app import Service
from service.client import ServiceClient
from service.store.session import Sessions, make_engine, make_sessions
from tests.databases import keep_connections
from tests.service.daily_channel import DailyChannel
from tests.service.scenes import Stage


@pytest.fixture
async def sessions(database_url: str) -> AsyncIterator[Sessions]:
    """Sessions on this test's own database."""
    engine = make_engine(database_url)
    yield make_sessions(engine)
    keep_connections(engine)
    await engine.dispose()


@pytest.fixture
async def stage(sessions: Sessions) -> AsyncIterator[Stage]:
    """A scene at noon of a Wednesday, in one transaction."""
    async with sessions() as session:
        yield Stage(session)


@pytest.fixture
def daily(service: Service, client: ServiceClient) -> DailyChannel:
    """A service with a client and nothing in it; the clock stands an hour before nine of a Monday."""
    return DailyChannel(service, client)
