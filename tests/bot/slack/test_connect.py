"""Guests through Slack Connect, who have an account in another workspace: they answer like everyone in the channel."""

from __future__ import annotations

from tests.bot.slack.conftest import Workspace
from tests.doubles.slack.surfaces import Ephemeral, View


async def test_a_guest_answers_in_a_form(workspace: Workspace) -> None:
    """Slack names the guest's own workspace as that of the submission, where the app is not installed."""
    slack = workspace.slack
    gil = slack.guest(workspace.team, "Gil")
    workspace.daily.members.add(gil.id)
    post = await workspace.opens("the-shape")
    view = await workspace.presses(gil, post, "Answer", "A Python literal")
    assert isinstance(view, View)
    sent = await slack.submit_view(gil, {"text": "(3,"})
    assert sent.payload["team"]["id"] == gil.home != workspace.team.id
    assert "is not a Python value" in sent.reply["errors"]["text"]
    recorded = await workspace.fills(gil, {"text": "(3,)"}, "Your answer is recorded")
    assert isinstance(recorded, Ephemeral)
    again = await workspace.presses(gil, recorded, "Change my answer", "A Python literal")
    assert isinstance(again, View) and again.fields["text"].element["initial_value"] == "(3,)"
    await slack.close_view(gil)
    reveal = await workspace.closes()
    assert "First with the right answer: \nGil" in reveal.words, "Slack lists no guests, so they are looked up"
    result = await workspace.presses(gil, reveal, "My result", "Right!")
    assert isinstance(result, Ephemeral)


async def test_a_guest_who_is_an_admin_at_home_is_none_here(workspace: Workspace) -> None:
    slack, ann, boss = workspace.slack, workspace.ann, workspace.boss
    gil = slack.guest(workspace.team, "Gil")
    gil.admin = True
    shared = slack.channel(workspace.team, "shared", boss, ann, gil)
    await slack.slash(boss, shared, "/quiz-admin", "review here")
    await workspace.sees(boss, "New reports are shown in")
    await workspace.types(ann, "/quiz report one-right Two are right.", "Report 1")
    await workspace.works()
    notice = await workspace.sees(gil, "A question was reported")
    await workspace.presses(gil, notice, "Review", "Only quiz admins can do that.")
