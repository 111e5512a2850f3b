"""With the database locked, every click is acknowledged in time and answered afterwards."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import time

from bot.core.events import Press
from service.wire import ScheduleSpec, Who
from tests.bot.discord.simulated import Simulated, labels, said
from tests.databases import tables_locked
from tests.doubles.discord.faults import Hold
from tests.doubles.discord.samples import RESPONSE as RESPOND


async def test_a_choice_is_acknowledged_at_once_and_recorded(sim: Simulated, database_url: str) -> None:
    asked = await sim.ada.click(await sim.opens("one-right"), label="Answer")
    async with tables_locked(database_url, "member"):
        pressing = asyncio.create_task(sim.ada.click(asked, "A"))
        await sim.double.until(lambda: sim.double.bodies[-1] == (RESPOND, {"type": 6}), "acknowledged")
        assert [taken.event.id for taken in sim.journal.unanswered()], "it is written down before it is answered"
    assert "Your answer is recorded" in said(await pressing)
    assert sim.journal.unanswered() == []


async def test_a_modal_that_is_not_ready_in_time_is_offered_by_a_button(sim: Simulated, database_url: str) -> None:
    post = await sim.opens("the-shape")
    sim.app.handler = replace(sim.app.handler, modal_wait_s=0.2)
    sim.app.bot.handle = sim.app.handler.handle
    async with tables_locked(database_url, "member"):
        pressing = asyncio.create_task(sim.ada.click(post, label="Answer"))
        await sim.double.until(lambda: sim.double.bodies[-1][1].get("type") == 5, "acknowledged")
    offered = await pressing
    assert "What is `tuple(torch.ones(2, 3)" in said(offered) and labels(offered) == ["Write the answer"]


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


async def test_commands_of_one_person_run_in_order_although_an_acknowledgement_is_slow(sim: Simulated) -> None:
    """Who pauses a schedule and resumes it has a running schedule."""
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=60)
    schedule = await sim.client.schedule_add(sim.operator, "schedule", sim.where, spec)
    hold, before = Hold(), len(sim.double.log.of("follow-up"))
    sim.double.faults.next(RESPOND, hold)
    paused = asyncio.create_task(sim.boss.slash(sim.channel, "quiz-admin schedule pause", schedule=str(schedule.id)))
    await hold.reached.wait()
    resumed = asyncio.create_task(sim.boss.slash(sim.channel, "quiz-admin schedule resume", schedule=str(schedule.id)))
    await sim.double.until(lambda: len(sim.double.log.of("follow-up")) > before, "the second command is answered")
    hold.let_go()
    await asyncio.gather(paused, resumed)
    (left,) = await sim.client.schedule_list(sim.operator)
    assert not left.paused, [said(one.result()) for one in (paused, resumed)]
