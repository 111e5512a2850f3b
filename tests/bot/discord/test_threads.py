"""A thread with a schedule of its own: it gets the questions, and what members do there is about them."""

from __future__ import annotations

from datetime import time

import pytest

from service.wire import ScheduleSpec
from tests.bot.conftest import QUESTIONS
from tests.bot.discord.simulated import Simulated, labels, said
from tests.bot.discord.test_presence import heard
from tests.conftest import MONDAY
from tests.doubles.discord.world import BOT_NEEDS, FORUM, MAKE_THREADS, SEND, Channel


@pytest.fixture(params=["channel", "forum"])
async def thread(sim: Simulated, request: pytest.FixtureRequest) -> Channel:
    """A thread that an admin started in a text channel or a forum."""
    forum = request.param == "forum"
    parent = await sim.opened_channel("ideas", BOT_NEEDS, FORUM) if forum else sim.channel
    made: list[Channel] = []

    async def start() -> None:
        made.append(await sim.double.starts_thread(sim.boss.member, parent, "Hard ones"))

    await heard(sim, "thread_create", start())
    return made[0]


async def opens(sim: Simulated, thread: Channel) -> None:
    """Adds a schedule in the thread, and posts its question."""
    await sim.client.bank_retire(sim.operator, "retire-code", "the-shape", True)
    for other in QUESTIONS:
        await sim.client.bank_retire(sim.operator, f"retire-{other}", other, other not in ("one-right", "the-shape"))
    await sim.client.bank_retire(sim.operator, "retire-shape", "the-shape", True)
    added = await sim.boss.slash(thread, "quiz-admin schedule add", at="10:00", zone="Europe/Berlin", open="7h")
    assert "Hard ones" in said(added) and "cannot" not in said(added)
    sim.moving.now = MONDAY.replace(hour=9)
    await sim.service.tick()
    await sim.carries()


async def test_everything_of_a_threads_schedule_is_in_the_thread(sim: Simulated, thread: Channel) -> None:
    await opens(sim, thread)
    post = sim.last("Question for", thread)
    assert sim.double.world.threads(thread) == []
    today = await sim.ada.slash(thread, "quiz today")
    assert "`one-right`" in said(today)
    asked = await sim.ada.click(post, label="Answer")
    assert "`one-right`" in said(asked)
    await sim.closes()
    assert sim.last("The answer", thread) and sim.last("Closed: Monday 2 March", thread)
    assert labels(post) == ["My result", "Practice"]
    assert [message for message in sim.channel.seen() if "Question for" in said(message)] == []


async def test_the_channel_and_its_thread_have_questions_of_their_own(sim: Simulated) -> None:
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60, kinds=("value",))
    await sim.client.schedule_add(sim.operator, "of the channel", sim.where, spec)
    made: list[Channel] = []

    async def start() -> None:
        made.append(await sim.double.starts_thread(sim.boss.member, sim.channel, "Hard ones"))

    await heard(sim, "thread_create", start())
    (thread,) = made
    in_thread = await sim.boss.slash(thread, "quiz-admin schedule preview")
    assert "the-shape" in said(in_thread), "until it has a schedule, a thread counts as its channel"
    await sim.boss.slash(thread, "quiz-admin schedule add", at="10:00", zone="Europe/Berlin", open="7h", kind="choice")
    assert "the-shape" not in said(await sim.boss.slash(thread, "quiz-admin schedule preview"))
    assert "the-shape" in said(await sim.boss.slash(sim.channel, "quiz-admin schedule preview"))
    sim.moving.now = MONDAY.replace(hour=9)
    await sim.service.tick()
    await sim.carries()
    (above,) = [one for one in sim.channel.seen() if "Question for" in said(one)]
    (below,) = [one for one in thread.seen() if "Question for" in said(one)]
    window = await sim.ada.click(above, "Answer")
    await sim.ada.submit_modal(window, {"text": "3"})
    assert "You have answered" not in said(await sim.ada.slash(thread, "quiz today"))
    assert "the-shape" in said(await sim.ada.slash(sim.channel, "quiz today"))
    assert "the-shape" not in said(await sim.ada.slash(thread, "quiz today"))
    closed = await sim.boss.slash(thread, "quiz-admin close-now")
    assert "Closed" in said(closed)
    await sim.carries()
    assert sim.last("Closed: Monday 2 March", thread)
    assert [one for one in sim.channel.seen() if "Closed: Monday" in said(one)] == [], "the other round stays open"
    assert "Answer" in labels(above) and "Answer" not in labels(below)


async def test_a_thread_needs_no_permission_to_write_in_the_channel(sim: Simulated, thread: Channel) -> None:
    assert thread.parent
    await heard(sim, "guild_channel_update", sim.double.permits(thread.parent, BOT_NEEDS & ~SEND & ~MAKE_THREADS))
    added = await sim.boss.slash(thread, "quiz-admin schedule add", at="10:00", zone="Europe/Berlin")
    assert "cannot post" not in said(added)
