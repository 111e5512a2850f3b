"""With the database locked every press is acknowledged in time, and answered when it is free again."""

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
    """Nobody else reads or writes a member until the end of the block."""
    async with await psycopg.AsyncConnection.connect(libpq_url(database_url)) as connection:
        await connection.execute("lock table member in access exclusive mode")
        yield
        await connection.rollback()


async def test_a_choice_is_acknowledged_at_once_and_kept(sim: Simulated, database_url: str) -> None:
    asked = await sim.ada.click(await sim.opens("one-right"), label="Answer")
    async with locked(database_url):
        pressing = asyncio.create_task(sim.ada.click(asked, "A"))
        await sim.double.until(lambda: sim.double.bodies[-1] == (RESPOND, {"type": 6}), "acknowledged")
        assert [taken.event.id for taken in sim.journal.left()], "it is written down before it is answered"
    assert "Your answer is recorded" in said(await pressing)
    assert sim.journal.left() == []


async def test_a_window_that_comes_too_late_leaves_the_way_to_it(sim: Simulated) -> None:
    """Once acknowledged, Discord opens no window for an interaction: a button does."""
    await sim.opens("the-shape")
    shown = await sim.ada.slash(sim.channel, "quiz me")
    who = Who(platform="discord", workspace=sim.workspace, member=str(sim.ada.id), name="Ada")
    event = Press("discord:late", sim.service.clock(), who, sim.where, "a:r1")
    sim.journal.take(event, {**sim.line(shown), "marks": "", "files": "[]"})
    await sim.app.handler.replay()
    assert "What is `tuple(torch.ones(2, 3)" in said(shown) and labels(shown) == ["Write the answer"]
    window = await sim.ada.click(shown, "Write the answer")
    done = await sim.ada.submit_modal(window, {"text": "(3,)"})
    assert "Your answer is recorded" in said(done)
