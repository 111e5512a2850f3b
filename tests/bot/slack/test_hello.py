"""The greeting on Slack, three clicks away from a schedule."""

from __future__ import annotations

from datetime import time

from service.wire import ScheduleSpec, Where
from tests.bot.slack.conftest import Workspace, fresh
from tests.conftest import MONDAY
from tests.doubles.slack.surfaces import Ephemeral, View


async def test_a_greeting_leads_to_a_schedule_in_three_clicks(workspace: Workspace) -> None:
    boss = workspace.boss
    general = workspace.slack.channel(workspace.team, "general", boss, bot=False)
    workspace.slack.invite(boss, general)
    hello = await workspace.sees(boss, "Hello, I am Dailygrad")
    assert isinstance(hello, Ephemeral)
    assert hello.channel == general.id
    setup = next(one for one in hello.labels if one.startswith("Set it up"))
    time = await workspace.presses(boss, hello, setup, "What time should")
    view = await workspace.presses(boss, time, "09:00", "Time zone")
    assert isinstance(view, View)
    zone = view.fields["zone"].element["options"][-1]["value"]
    await workspace.fills(boss, {"zone": zone}, "Schedule added")
    schedules = await workspace.client.schedule_list(workspace.who(boss))
    assert [one.channel for one in schedules] == [general.id]


async def test_a_question_that_waits_for_an_invitation_follows_it(workspace: Workspace) -> None:
    """The admin is told what to do, does it, and sees the question once."""
    boss, slack = workspace.boss, workspace.slack
    quiz = slack.channel(workspace.team, "quiz", boss, bot=False)
    await workspace.only("one-right")
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60)
    await workspace.client.schedule_add(workspace.who(boss), fresh(), Where(channel=quiz.id, name="#quiz"), spec)
    workspace.moving.now = MONDAY.replace(hour=9)
    await workspace.works()
    await workspace.sees(boss, "/invite @Dailygrad")
    assert slack.world.messages(quiz) == []
    slack.invite(boss, quiz)
    await workspace.sees(boss, "Question for")
    assert sum("Question for" in message.words for message in slack.world.messages(quiz)) == 1


async def test_the_setup_joins_a_public_channel_without_the_bot(workspace: Workspace) -> None:
    boss = workspace.boss
    quiz = workspace.slack.channel(workspace.team, "quiz", boss, bot=False)
    await workspace.slack.slash(boss, quiz, "/quiz-admin", "setup")
    asked = await workspace.sees(boss, "What time should")
    assert "I cannot post in" in asked.words
    joined = await workspace.presses(boss, asked, "Join the channel", "What time should")
    assert "I cannot post in" not in joined.words
    assert workspace.team.bot.id in quiz.members


async def test_the_setup_waits_for_an_invitation_to_a_private_channel(workspace: Workspace) -> None:
    """Slack lets no bot join one, so there is no button for it."""
    boss = workspace.boss
    secret = workspace.slack.channel(workspace.team, "secret", boss, private=True, bot=False)
    await workspace.slack.slash(boss, secret, "/quiz-admin", "setup")
    asked = await workspace.sees(boss, "Invite me there with")
    assert "Join the channel" not in asked.labels
    workspace.slack.invite(boss, secret)
    checked = await workspace.presses(boss, asked, "Check again", "What time should")
    assert "I cannot post in" not in checked.words


async def test_a_schedule_typed_in_an_archived_channel_and_the_doctor_say_so(workspace: Workspace) -> None:
    boss = workspace.boss
    old = workspace.slack.channel(workspace.team, "old", boss)
    await workspace.slack.slash(boss, old, "/quiz-admin", "schedule add 09:00")
    await workspace.sees(boss, "Schedule added")
    assert "posting in" not in (await workspace.types(boss, "/quiz-admin doctor", "database")).words
    old.archived = True
    await workspace.slack.slash(boss, old, "/quiz-admin", "schedule add 10:00")
    await workspace.sees(boss, "It is archived.")
    assert "posting in #old" in (await workspace.types(boss, "/quiz-admin doctor", "archived")).words
