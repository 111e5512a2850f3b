"""The greeting on Slack, one form away from a schedule, and what the app is told about channels."""

from __future__ import annotations

from datetime import time

from sqlalchemy import text

from service.wire import ScheduleSpec, Where
from tests.bot.slack.conftest import Workspace, fresh
from tests.conftest import MONDAY
from tests.doubles.slack.surfaces import Ephemeral, View


async def test_a_greeting_leads_to_a_schedule_in_one_form(workspace: Workspace) -> None:
    """Its inputs are Slack's own, and it begins with the admin's own time zone."""
    boss = workspace.boss
    general = workspace.slack.channel(workspace.team, "general", boss, bot=False)
    workspace.slack.invite(boss, general)
    hello = await workspace.sees(boss, "Hello, I am Dailygrad")
    assert isinstance(hello, Ephemeral)
    assert hello.channel == general.id
    setup = next(one for one in hello.labels if one.startswith("Set it up"))
    view = await workspace.presses(boss, hello, setup, "Time zone")
    assert isinstance(view, View)
    kinds = {name: control.element["type"] for name, control in view.fields.items()}
    assert kinds["channel"] == "conversations_select" and kinds["at"] == "timepicker"
    await workspace.fills(boss, {"at": "10:30"}, "Schedule added")
    (schedule,) = await workspace.client.schedule_list(workspace.who(boss))
    assert (schedule.channel, schedule.channel_name) == (general.id, "#general")
    assert (schedule.spec.at, schedule.spec.zone) == (time(10, 30), "Europe/Berlin")


async def test_a_form_of_the_setup_can_choose_another_channel_and_zone(workspace: Workspace) -> None:
    boss = workspace.boss
    other = workspace.slack.channel(workspace.team, "other", boss)
    view = await workspace.types(boss, "/quiz-admin setup", "Time zone")
    assert isinstance(view, View)
    zone = view.fields["zone"].element["options"][-1]["value"]
    done = await workspace.fills(boss, {"channel": other.id, "zone": zone}, "Schedule added")
    assert "#other" in done.words
    (schedule,) = await workspace.client.schedule_list(workspace.who(boss))
    assert (schedule.channel, schedule.spec.zone) == (other.id, zone)


async def test_a_schedule_that_names_no_zone_has_the_admins(workspace: Workspace) -> None:
    workspace.boss.zone = "Asia/Tokyo"
    await workspace.types(workspace.boss, "/quiz-admin schedule add 09:00", "Schedule added")
    await workspace.types(workspace.boss, "/quiz-admin schedule add 09:00 mon-fri UTC", "Schedule added")
    schedules = await workspace.client.schedule_list(workspace.who(workspace.boss))
    assert [one.spec.zone for one in schedules] == ["Asia/Tokyo", "UTC"]


async def test_an_unarchived_channel_gets_the_question_that_waited(workspace: Workspace) -> None:
    boss, slack = workspace.boss, workspace.slack
    old = slack.channel(workspace.team, "old", boss)
    old.archived = True
    await workspace.only("one-right")
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60)
    await workspace.client.schedule_add(workspace.who(boss), fresh(), Where(channel=old.id, name="#old"), spec)
    workspace.moving.now = MONDAY.replace(hour=9)
    await workspace.works()
    await workspace.sees(boss, "is archived")
    slack.unarchive(boss, old)
    await workspace.sees(boss, "Question for")
    assert sum("Question for" in message.words for message in slack.world.messages(old)) == 1


async def test_a_renamed_channel_has_its_new_name_in_the_list(workspace: Workspace) -> None:
    await workspace.types(workspace.boss, "/quiz-admin schedule add 09:00", "Schedule added")
    await workspace.slack.handed(workspace.slack.rename(workspace.daily, "quiz-time"))
    named = "select name from channel where external_id = :id"
    async with workspace.service.sessions() as session:
        for _ in range(400):
            if await session.scalar(text(named), {"id": workspace.daily.id}) == "#quiz-time":
                break
            await session.execute(text("select pg_sleep(0.05)"))
    (schedule,) = await workspace.client.schedule_list(workspace.who(workspace.boss))
    assert schedule.channel_name == "#quiz-time"


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
    await workspace.presses(boss, asked, "Join the channel", "Time of the question")
    assert workspace.team.bot.id in quiz.members


async def test_the_setup_waits_for_an_invitation_to_a_private_channel(workspace: Workspace) -> None:
    """Slack lets no bot join one, so there is no button for it."""
    boss = workspace.boss
    secret = workspace.slack.channel(workspace.team, "secret", boss, private=True, bot=False)
    await workspace.slack.slash(boss, secret, "/quiz-admin", "setup")
    asked = await workspace.sees(boss, "Invite me there with")
    assert "Join the channel" not in asked.labels
    workspace.slack.invite(boss, secret)
    await workspace.presses(boss, asked, "Check again", "Time of the question")


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
