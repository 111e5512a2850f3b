"""Private messages on request, on Discord: the result of a round, and the button of a reminder."""

from __future__ import annotations

from service.rounds.notifications import LEAD
from tests.bot.discord.simulated import Simulated, said


async def test_a_result_comes_to_the_member_who_asked_and_to_nobody_else(sim: Simulated) -> None:
    bob = sim.joins("Bob")
    settings = await sim.ada.slash(sim.channel, "quiz notify")
    assert "Results off" in said(settings)
    assert "Results on" in said(await sim.ada.click(settings, "Results: turn on"))
    post = await sim.opens("one-right")
    for person in (sim.ada, bob):
        await person.click(await person.click(post, "Answer"), "A")
    await sim.closes()
    await sim.carries()
    assert [said(one).partition("\n")[0] for one in sim.ada.alone if "Your result" in said(one)]
    assert not bob.alone


async def test_a_reminder_is_private_and_its_button_opens_the_question(sim: Simulated) -> None:
    await sim.ada.slash(sim.channel, "quiz notify", what="reminders", switch=True)
    post = await sim.opens("one-right")
    for _ in range(2):
        await sim.ada.click(await sim.ada.click(post, "Answer"), "A")
        await sim.closes()
        sim.moving.advance(hours=17)
        await sim.service.tick()
        await sim.carries()
        post = sim.last("Question for")
    sim.moving.advance(hours=7)
    sim.moving.advance(seconds=-LEAD.total_seconds())
    await sim.service.tick()
    await sim.carries()
    (reminder,) = [one for one in sim.ada.alone if said(one).startswith("## Your streak is at risk")]
    assert "Your streak of 2 rounds ends" in said(reminder)
    answered = await sim.ada.click(await sim.ada.click(reminder, "Answer"), "A")
    assert "Your answer" in said(answered)
