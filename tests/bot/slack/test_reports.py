"""A report on Slack: the moderators' channel, the key for admins only, and the outcome for its author only."""

from __future__ import annotations

from tests.bot.slack.conftest import Workspace
from tests.doubles.slack.surfaces import Ephemeral, Message


async def test_a_report_is_settled_from_the_moderators_channel(workspace: Workspace) -> None:
    ann, boss, slack = workspace.ann, workspace.boss, workspace.slack
    mods = slack.channel(workspace.team, "mods", boss, ann)
    await slack.slash(boss, mods, "/quiz-admin", "review here")
    await workspace.sees(boss, "New reports are shown in")
    await workspace.types(ann, "/quiz report one-right Two are right.", "Report 1")
    await workspace.works()
    notice = await workspace.sees(boss, "A question was reported")
    assert isinstance(notice, Message) and notice.channel == mods.id
    assert "Two are right." in notice.words and "swaps" not in notice.words
    await workspace.presses(ann, notice, "Review", "Only quiz admins can do that.")
    shown = await workspace.presses(boss, notice, "Review", "swaps")
    assert isinstance(shown, Ephemeral)
    await workspace.presses(boss, shown, "Dismiss", "Why is the question right?")
    await workspace.fills(boss, {"reason": "It says `t`."}, "Report 1 is settled")
    await workspace.works()
    outcome = await workspace.sees(ann, "Your report was reviewed")
    assert isinstance(outcome, Message) and outcome.channel not in (mods.id, workspace.daily.id)
    assert "It says" in outcome.words
