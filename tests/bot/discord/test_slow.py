"""With the database locked, every click is acknowledged in time and answered afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg

from bot.core.events import Press
from service.store.session import libpq_url
from service.wire import Who
from tests.bot.discord.simulated import Simulated, labels, said
from tests.doubles.discord.samples import RESPONSE as RESPOND


@asynccontextmanager
async def locked(database_url: str) -> AsyncIterator[None]:
    """Locks the members' tables until the block exits."""
    async with await psycopg.AsyncConnection.connect(libpq_url(database_url)) as connection:
        await connection.execute("lock table member in access exclusive mode")
        yield
        await connection.rollback()


async def test_a_choice_is_acknowledged_at_once_and_recorded(sim: Simulated, database_url: str) -> None:
    asked = await sim.ada.click(await sim.opens("one-right"), label="Answer")
    async with locked(database_url):
        pressing = asyncio.create_task(sim.ada.click(asked, "A"))
        await sim.double.until(lambda: sim.double.bodies[-1] == (RESPOND, {"type": 6}), "acknowledged")
        assert [taken.event.id for taken in sim.journal.unanswered()], "it is written down before it is answered"
    assert "Your answer is recorded" in said(await pressing)
    assert sim.journal.unanswered() == []


async def test_a_late_modal_is_offered_by_a_button(sim: Simulated) -> None:
    """Discord opens no modal after an acknowledgement, so a button does."""
    await sim.opens("the-shape")
    shown = await sim.ada.slash(sim.channel, "quiz me")
    who = Who(platform="discord", workspace=sim.workspace, member=str(sim.ada.id), name="Ada")
    event = Press("discord:late", sim.service.clock(), who, sim.where, "a:r1")
    sim.journal.record(event, {**sim.line(shown), "marks": "", "files": "[]"})
    await sim.app.handler.replay()
    assert "What is `tuple(torch.ones(2, 3)" in said(shown) and labels(shown) == ["Write the answer"]
    window = await sim.ada.click(shown, "Write the answer")
    done = await sim.ada.submit_modal(window, {"text": "(3,)"})
    assert "Your answer is recorded" in said(done)
