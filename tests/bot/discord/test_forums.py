"""A forum channel as the quiz channel: each question is a post of its own, and everything about it is in the post."""

from __future__ import annotations

from datetime import time

import pytest

from bot.core.dispatcher import Target
from service.wire import ScheduleSpec, Where
from tests.bot.conftest import QUESTIONS
from tests.bot.discord.simulated import Simulated, labels, said
from tests.conftest import MONDAY
from tests.doubles.discord.world import BOT_NEEDS, FORUM, Channel

SPEC = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60)


@pytest.fixture
async def forum(sim: Simulated) -> Channel:
    """A forum with a schedule whose question is due."""
    made = await sim.opened_channel("forum", BOT_NEEDS, FORUM)
    for other in QUESTIONS:
        await sim.client.bank_retire(sim.operator, f"retire-{other}", other, other != "one-right")
    where = Where(channel=str(made.id), name="#forum")
    await sim.client.schedule_add(sim.operator, "schedule", where, SPEC)
    sim.moving.now = MONDAY.replace(hour=9)
    await sim.service.tick()
    return made


async def test_a_question_is_a_post_and_its_reveal_is_in_it(sim: Simulated, forum: Channel) -> None:
    await sim.carries()
    (post,) = sim.double.world.threads(forum)
    assert post.name.startswith("Question for Monday 2 March")
    question = sim.last("Question for", post)
    assert question.id == post.id
    asked = await sim.ada.click(question, label="Answer")
    assert "Your answer" in said(asked)
    await sim.closes()
    (still,) = sim.double.world.threads(forum)
    assert still is post, "nothing starts another post"
    assert "The answer" in said(sim.last("The answer", post))
    assert sim.last("Closed: Monday 2 March", post)
    assert labels(question) == ["My result", "Practice"], "the question's own message follows"


async def test_a_post_whose_result_is_unknown_is_found_again(sim: Simulated, forum: Channel) -> None:
    await sim.carries()
    (post,) = sim.double.world.threads(forum)
    target = Target(sim.workspace, str(forum.id))
    assert await sim.app.platform.find(target, "round:1:question") == f"{post.id}/{post.id}"
    assert await sim.app.platform.find(target, "round:2:question") is None
