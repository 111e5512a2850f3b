"""Private messages on request, on Slack: the result of a round goes to the member who asked for it."""

from __future__ import annotations

from tests.bot.slack.conftest import Workspace


async def test_a_result_comes_to_the_member_who_asked(workspace: Workspace) -> None:
    ann = workspace.ann
    await workspace.types(ann, "/quiz notify results on", "Results on")
    post = await workspace.opens("one-right")
    asked = await workspace.presses(ann, post, "Answer", "A")
    await workspace.presses(ann, asked, "A", "")
    before = workspace.looks(ann)
    await workspace.closes()
    await workspace.sees(ann, "Your result", before)
