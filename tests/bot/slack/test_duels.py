"""A duel on Slack: challenged by name, answered in views and by buttons, and again."""

from __future__ import annotations

from tests.bot.duel_bank import DUEL_BANK, letter_in, sum_in
from tests.bot.slack.conftest import Workspace, fresh, said
from tests.doubles.slack.surfaces import Shown, View
from tests.doubles.slack.world import User


async def plays(workspace: Workspace, user: User, begin: Shown, *, right: int, last: str) -> Shown:
    """Answers the five questions from the message that offers the first; returns the one after the last."""
    shown = begin
    for number in range(1, 6):
        label = f"{'Start' if number == 1 else 'Next question'} ({number} of 5)"
        opened = await workspace.presses(user, shown, label, "What is")
        text, words = said(opened), last if number == 5 else f"({number + 1} of 5)"
        answer = sum_in(text) if number <= right else "0"
        if "A" in opened.labels:
            shown = await workspace.presses(user, opened, letter_in(text, right=number <= right), words)
        else:
            shown = await workspace.fills(user, {"text": answer}, words)
    return shown


async def test_a_duel(workspace: Workspace) -> None:
    ann, bob, boss = workspace.ann, workspace.bob, workspace.boss
    text = DUEL_BANK.read_text()
    view = await workspace.client.bank_import(workspace.who(boss), fresh(), DUEL_BANK.name, text, True)
    assert view.applied, view.findings
    await workspace.types(ann, "/quiz duel @Bob sums", "You challenged Bob")
    line = await workspace.sees(boss, "Only Bob can accept")
    await workspace.presses(boss, line, "Accept", "Only the member who is challenged can respond")
    asked = await workspace.sees(bob, "Ann challenges you to a duel")
    accepted = await workspace.presses(bob, asked, "Accept", "Start (1 of 5)")
    begin = await workspace.sees(ann, "Bob accepted your duel")
    played = await workspace.sees(boss, "Ann and Bob play a duel")
    assert "Only Bob can accept" not in said(played) and "Accept" not in played.labels
    await plays(workspace, bob, accepted, right=5, last="You are done.")
    over = await plays(workspace, ann, begin, right=3, last="Bob won the duel against Ann")
    await workspace.presses(ann, over, "See the answers", "Wrong:")
    result = await workspace.sees(bob, "Rematch")
    await workspace.presses(bob, result, "Rematch", "You challenged Ann")
    ladder = await workspace.types(ann, "/quiz board ladder", "Ladder of duels")
    assert said(ladder).index("Bob") < said(ladder).index("Ann")
    # A mention names a member by their id.
    await workspace.types(ann, f"/quiz duel <@{boss.id}|boss>", "You challenged Boss")


async def test_a_member_is_challenged_from_a_menu_of_members(workspace: Workspace) -> None:
    ann, bob = workspace.ann, workspace.bob
    text = DUEL_BANK.read_text()
    view = await workspace.client.bank_import(workspace.who(workspace.boss), fresh(), DUEL_BANK.name, text, True)
    assert view.applied, view.findings
    shown = await workspace.types(ann, "/quiz duel", "Challenge a member")
    form = await workspace.presses(ann, shown, "Challenge a member", "Whom?")
    assert isinstance(form, View)
    assert form.fields["member"].element["type"] == "users_select"
    topics = form.fields["topic"].element
    assert topics["type"] == "static_select" and "sums" in [one["value"] for one in topics["options"]]
    await workspace.fills(ann, {"member": bob.id, "topic": "sums"}, "You challenged Bob")
    await workspace.sees(bob, "Ann challenges you to a duel")


async def test_a_name_of_several_people_or_of_a_bot_challenges_nobody(workspace: Workspace) -> None:
    ann, slack = workspace.ann, workspace.slack
    for _ in range(2):
        slack.user(workspace.team, "Kim")
    robot = slack.user(workspace.team, "Robot")
    robot.bot = True
    for named in ("@Nobody", "@Kim", "@Robot", f"<@{robot.id}>", "<@U0NOBODY>"):
        await workspace.types(ann, f"/quiz duel {named}", "There is no member")
