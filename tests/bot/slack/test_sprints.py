"""A sprint on Slack: the double, the bot and the real service, from the command to the podium."""

from __future__ import annotations

from tests.bot.slack.conftest import Workspace
from tests.doubles.slack.surfaces import Ephemeral, Message
from tests.service.competitions.sprint_scene import pass_time
from tests.service.daily_channel import DailyChannel


async def passes(workspace: Workspace, seconds: float = 1) -> None:
    """Lets time pass once everything is delivered, and ticks: a question's time begins with its delivery."""
    await workspace.delivered()
    workspace.moving.advance(seconds=seconds)
    await pass_time(DailyChannel(workspace.service, workspace.client), seconds)
    await workspace.works()


async def test_a_sprint_is_played_with_private_buttons(workspace: Workspace) -> None:
    ann, boss = workspace.ann, workspace.boss
    await workspace.only("one-right")
    started = await workspace.types(boss, "/quiz-admin sprint 5 20", "Sprint started")
    assert isinstance(started, Ephemeral) and "1 question, 20 seconds each" in started.words
    await workspace.sees(ann, "The first one comes in 15 seconds")
    await passes(workspace)
    await passes(workspace, 15)
    post = await workspace.sees(ann, "question 1 of 1")
    assert isinstance(post, Message) and post.labels == ["Answer"]
    await passes(workspace)
    asked = await workspace.presses(ann, post, "Answer", "[A]   [B]   [C]")
    assert isinstance(asked, Ephemeral) and "Faster is more points." in asked.words
    await workspace.presses(ann, asked, "A", "Your answer is recorded")
    await passes(workspace, 5)
    await workspace.sees(ann, "1 answer so far")
    await passes(workspace, 20)
    closed = await workspace.sees(ann, "Time is up.")
    assert isinstance(closed, Message) and closed.ts == post.ts and closed.edited and not closed.labels
    reveal = await workspace.sees(ann, "Right: (3, 2)")
    assert isinstance(reveal, Message) and not reveal.thread_ts and "of 1 answered right." in reveal.words
    await passes(workspace, 10)
    podium = await workspace.sees(ann, "Sprint: the podium")
    assert "1 member played." in podium.words
    await workspace.types(boss, "/quiz-admin sprint stop", "No sprint is running")
