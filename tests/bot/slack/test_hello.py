"""The greeting on Slack, three clicks away from a schedule."""

from __future__ import annotations

from tests.bot.slack.conftest import Workspace
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
