"""Events that bots of several processes record: those of one person are answered in order."""

from __future__ import annotations

import asyncio

from service.store.bots import mark_answered, record_event, take_turn
from service.store.session import Sessions
from tests.conftest import Clock
from tests.service.lock_waits import until_locked_out

BOT = ("slack", "A1")


async def test_an_event_waits_for_an_earlier_one_that_is_just_being_recorded(sessions: Sessions, clock: Clock) -> None:
    async def record_second() -> str:
        async with sessions.begin() as session:
            return await record_event(session, BOT, "second", {}, "U1", clock.now)

    async with sessions.begin() as session:
        assert await record_event(session, BOT, "first", {}, "U1", clock.now) == "first"
        recording = asyncio.create_task(record_second())
        await until_locked_out(session, recording)
    assert await recording == "waits"
    async with sessions.begin() as session:
        await mark_answered(session, BOT, "first")
        assert await take_turn(session, BOT, "second", clock.now)
