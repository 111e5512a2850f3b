"""With the database locked, every click is acknowledged in time and answered afterwards."""

from __future__ import annotations

import asyncio

from bot.core.events import Press
from service.wire import Who
from tests.bot.discord.simulated import Simulated, labels, said
from tests.databases import tables_locked
from tests.doubles.discord.samples import RESPONSE as RESPOND


async def test_a_choice_is_acknowledged_at_once_and_recorded(sim: Simulated, database_url: str) -> None:
    asked = await sim.ada.click(await sim.opens("one-right"), label="Answer")
    async with tables_locked(database_url, "member"):
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
