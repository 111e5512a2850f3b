"""A service with schedules that post to channels."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from service.client import ServiceClient
from service.wire import Platform, ScheduleSpec, Where, Who

BANK = Path(__file__).parent.parent / "fixtures" / "room.md"

MakeSchedule = Callable[[Platform, str, str, str], Awaitable[None]]


@pytest.fixture
def present() -> Callable[[], datetime]:
    """The machine's clock, because the doubles send theirs in every response."""
    return lambda: datetime.now(UTC)


@pytest.fixture
def schedules(client: ServiceClient) -> MakeSchedule:
    """`await schedules("slack", workspace, channel, name)` adds a schedule for a channel."""
    numbers = count()

    async def make(platform: Platform, workspace: str, channel: str, name: str) -> None:
        boss = Who(platform=platform, workspace=workspace, member="boss", name="Boss", admin=True)
        event = f"{platform}-{next(numbers)}"
        await client.bank_import(boss, f"{event}-bank", BANK.name, BANK.read_text(encoding="utf-8"), True)
        await client.schedule_add(boss, event, Where(channel=channel, name=name), ScheduleSpec())

    return make
