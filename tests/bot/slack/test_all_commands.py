"""Every command and every button once on Slack, with a transcript."""

from __future__ import annotations

from typing import get_args

import pytest

from bot.core import actions
from bot.core.command_parser import read_command
from bot.core.command_spec import COMMANDS
from tests.bot.slack.conftest import Workspace
from tests.doubles.slack.surfaces import Shown
from tests.doubles.slack.world import User

MEMBERS = (
    ("/quiz help", "/quiz practice"),
    ("/quiz help board", "Who has the most points."),
    ("/quiz today", "No question is open in this channel, and none is scheduled."),
    ("/quiz topics", "tensors"),
    ("/quiz rules", "A right answer earns"),
    ("/quiz board", "This week"),
    ("/quiz board month all", "This month"),
    ("/quiz board week rookies", "rookies"),
    ("/quiz board improved all", "most improved"),
    ("/quiz board ladder", "Nobody has finished a duel yet"),
    ("/quiz speed", "No code was measured there yet."),
    ("/quiz duel", "Your rating is"),
    ("/quiz tournament", "There has been no tournament yet"),
    ("/quiz me", "How much"),
    ("/quiz notify", "Your notifications"),
    ("/quiz notify reminders on", "reminders on"),
    ("/quiz privacy", "Your data"),
    ("/quiz privacy export", "Your data"),
    ("/quiz link", "Type this in the other chat"),
    ("/quiz explain one-right", "after you have answered it"),
    ("/quiz run", "Your program"),
    ("/quiz run print(1)", "No sandbox is connected"),
    ("/quiz report one-right The key is wrong.", "Report 1"),
    ("/quiz suggest", "The question with its answer"),
    ("/quiz answer", "No question is open"),
    ("/quiz practice", "No more cards are due"),
)
ADMINS = (
    ("/quiz-admin review suggestions", "No suggestions are waiting."),
    ("/quiz-admin help", "/quiz-admin schedule"),
    ("/quiz-admin setup", "Time of the question"),
    ("/quiz-admin schedule add 10:00 mon-fri Europe/Berlin", "Schedule added"),
    ("/quiz-admin schedule list", "#daily"),
    ("/quiz-admin schedule edit 1 at:11:00", "Schedule changed"),
    ("/quiz-admin schedule pause 1", "Schedule paused"),
    ("/quiz-admin schedule resume 1", "Schedule resumed"),
    ("/quiz-admin schedule skip 1 2026-03-03", "Day skipped"),
    ("/quiz-admin schedule preview 1", "The next question"),
    ("/quiz-admin schedule post-now 1", "Posting now"),
    ("/quiz-admin ask kind:choice closes-in:1h", "Posting an extra question now"),
    ("/quiz-admin close-now", "Closed"),
    ("/quiz-admin schedule share 1", "already posts to this channel"),
    ("/quiz-admin schedule unshare 1", "the only channel of schedule 1"),
    ("/quiz-admin tournament new Cup teams:captains", "Tournament planned"),
    ("/quiz-admin tournament captain Ann", "Ann"),
    ("/quiz-admin tournament cancel", "canceled"),
    ("/quiz-admin schedule remove 1", "Schedule removed"),
    ("/quiz-admin sprint 2 at:18:00 date:friday", "Sprint planned"),
    ("/quiz-admin sprint list", "1 sprint planned."),
    ("/quiz-admin sprint cancel", "Sprint canceled"),
    ("/quiz-admin sprint 2 15 tensors", "Sprint started"),
    ("/quiz-admin sprint stop", "Sprint stopped"),
    ("/quiz-admin season start Spring", "Season started"),
    ("/quiz-admin season list", "Spring"),
    ("/quiz-admin season role none", "No roles here"),
    ("/quiz-admin sprint role none", "No roles here"),
    ("/quiz-admin tournament role", "No roles here"),
    ("/quiz-admin season end", "has only just begun"),
    ("/quiz-admin bank list", "room"),
    ("/quiz-admin bank low", "There is no schedule yet."),
    ("/quiz-admin bank stats", "How the questions did"),
    ("/quiz-admin bank log room", "Imports of room"),
    ("/quiz-admin bank retire why-scale", "Retired"),
    ("/quiz-admin bank restore why-scale", "Restored"),
    ("/quiz-admin bank approve all", ""),
    ("/quiz-admin bank undo room", "Undone"),
    ("/quiz-admin bank import", "Name of the document"),
    ("/quiz-admin review list", "The key is wrong."),
    ("/quiz-admin review show 1", "The key is wrong."),
    ("/quiz-admin review dismiss 1", "Why is the question right?"),
    ("/quiz-admin review fixed 1 A typo.", "the question was fixed"),
    ("/quiz-admin review here", "#daily"),
    ("/quiz-admin review me", "sent to you privately"),
    ("/quiz-admin digest", "The week from"),
    ("/quiz-admin review answers", "No open answers are waiting"),
    ("/quiz-admin review similarity", "Answers that agree"),
    ("/quiz-admin review credit 1 50", "There is no closed open answer"),
    ("/quiz-admin member restore Ann 2026-03-02", "no longer breaks the streak"),
    ("/quiz-admin member adjust Ann 5 well said", "gets 5 points"),
    ("/quiz-admin link", "Link another chat"),
    ("/quiz-admin audit", "Audit"),
    ("/quiz-admin doctor", "database"),
)


@pytest.mark.slow
async def test_every_command(workspace: Workspace) -> None:
    typed = set()
    for user, lines in ((workspace.ann, MEMBERS), (workspace.boss, ADMINS)):
        for line, words in lines:
            name, _, text = line.removeprefix("/").partition(" ")
            typed.add(read_command(name, text).spec.words)
            if line == "/quiz-admin close-now":
                # A question that nobody has seen yet would be taken back instead.
                await workspace.delivered()
            await workspace.types(user, line, words)
            if workspace.slack.world.stack(user):
                await workspace.slack.close_view(user, all_=True)
    assert {spec.words for spec in COMMANDS} == typed


class Hands:
    """Clicks buttons and records the kinds of their actions."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.did: set[type] = set()

    async def presses(self, user: User, shown: Shown, label: str, words: str, **values: str) -> Shown:
        self.did.add(type(actions.decode(shown.control(label).element["value"])))
        return await self.workspace.presses(user, shown, label, words, values=values or None)

    async def fills(self, user: User, words: str, **values: str) -> Shown:
        action = self.workspace.slack.modal(user).body["private_metadata"]
        self.did.add(type(actions.decode(action.partition('"a":"')[2].partition('"')[0])))
        return await self.workspace.fills(user, values, words)


@pytest.mark.slow
async def test_every_button(workspace: Workspace) -> None:
    ann, boss, hands = workspace.ann, workspace.boss, Hands(workspace)
    # The bot joins a channel, to be set up there.
    other = workspace.slack.channel(workspace.team, "other", boss, bot=False)
    await workspace.slack.slash(boss, other, "/quiz-admin", "setup")
    absent = await workspace.sees(boss, "I cannot post in")
    await hands.presses(boss, absent, "10:00", "Time zone")
    await hands.fills(boss, "Schedule added", zone="Europe/Berlin")
    await hands.presses(boss, absent, "Join the channel", "Time of the question")
    await workspace.slack.close_view(boss)
    # A first schedule, in one form.
    await workspace.types(boss, "/quiz-admin setup", "Time of the question")
    begun = await hands.fills(boss, "Schedule added", zone="Europe/Berlin")
    await workspace.types(boss, "/quiz-admin schedule edit 1", "Time of the question")
    await hands.fills(boss, "Nothing changed")
    await workspace.only("the-shape")
    await hands.presses(boss, begun, "Post it now", "Posting now")
    # An answer, changed; the board.
    post = await workspace.sees(ann, "Question for")
    await hands.presses(ann, post, "Answer", "A Python literal")
    recorded = await hands.fills(ann, "Your answer is recorded", text="(2,)")
    await hands.presses(ann, recorded, "Change my answer", "A Python literal")
    await hands.fills(ann, "Your answer is changed", text="(3,)")
    await workspace.types(boss, "/quiz-admin close-now", "Closed")
    await workspace.works()
    reveal = await workspace.sees(ann, "The answer")
    for label in [one.label for one in reveal.controls]:
        await press_any(hands, ann, reveal, label)
    board = await workspace.types(ann, "/quiz board", "This week")
    month = await hands.presses(ann, board, "Month", "This month")
    await hands.presses(ann, month, "Rookies", "rookies")
    # A duel, by a menu of members.
    mine = await workspace.types(ann, "/quiz duel", "Your duels")
    await hands.presses(ann, mine, "Challenge a member", "Whom?")
    await workspace.slack.close_view(ann, all_=True)
    # A tournament of teams.
    planned = await workspace.types(boss, "/quiz-admin tournament new Cup", "Tournament planned")
    shown = await hands.presses(boss, planned, "See the tournament", "Cup")
    joined = await hands.presses(boss, shown, "Join", "You are in")
    await hands.presses(boss, joined, "Leave", "You left the tournament")
    # Practice, by button and by marking one's own words.
    await workspace.only("one-right")
    card = await workspace.types(ann, "/quiz practice", "torch.zeros(2, 3)")
    hint = await hands.presses(ann, card, "Hint", "this option is wrong")
    judged = await hands.presses(ann, hint, "A", "swaps")
    await workspace.only("why-scale")
    await hands.presses(ann, judged, "Next card", "Why is the loss scaled")
    revealed = await hands.fills(ann, "underflow", text="Because.")
    await hands.presses(ann, revealed, "Mark my answer", "Which points does your answer cover?")
    await workspace.slack.close_view(ann)
    await workspace.only("two-lines")
    await workspace.types(ann, "/quiz practice kind:output", "What does it print?")
    judged = await hands.fills(ann, "Next card", text="1\n2")
    await hands.presses(ann, judged, "Next card", "")
    # Code: the examples, a free run.
    await workspace.only("add-one")
    view = await workspace.types(ann, "/quiz practice kind:code", "Your code")
    await hands.presses(ann, view, "Run the examples", "", code="def add_one(x):\n    return x + 1")
    await workspace.slack.close_view(ann, all_=True)
    # A report, and what becomes of it.
    await workspace.types(ann, "/quiz report one-right", "What is wrong with it?")
    await hands.fills(ann, "Report 1", text="The key is wrong.")
    reports = await workspace.types(boss, "/quiz-admin review list", "Report 1, ")
    shown = await hands.presses(boss, reports, "Review 1", "swaps")
    await hands.presses(boss, shown, "Dismiss", "Why is the question right?")
    await hands.fills(boss, "settled", reason="It is not.")
    # A suggestion, kept while something is wrong with it, then edited and accepted.
    await workspace.types(ann, "/quiz suggest", "The question with its answer")
    draft = await hands.fills(ann, "Not submitted yet", text="What is a zebra?")
    await hands.presses(ann, draft, "Edit", "The question with its answer")
    question = "### Q1. What is a zebra?\n\n**Answer:** A zebra is a striped horse.\n"
    await hands.fills(ann, "The moderators have suggestion 1 now", text=question)
    waiting = await workspace.types(boss, "/quiz-admin review suggestions", "Suggestion 1 by")
    shown = await hands.presses(boss, waiting, "Review 1", "striped horse")
    await hands.presses(boss, shown, "Decline", "Why is it declined?")
    await workspace.slack.close_view(boss, all_=True)
    await hands.presses(boss, shown, "Edit", "The question with its answer")
    edited = await hands.fills(boss, "striped donkey", text=question.replace("horse", "donkey"))
    await hands.presses(boss, edited, "Accept", "suggestion-1")
    # What a member wants to be told.
    mine = await workspace.types(ann, "/quiz me", "How much")
    wanted = await hands.presses(ann, mine, "Notifications", "results off")
    await hands.presses(ann, wanted, "Results: turn on", "results on")
    # What is kept about a member.
    privacy = await workspace.types(ann, "/quiz privacy", "Your data")
    await press_any(hands, ann, privacy, privacy.labels[0])
    # A document, checked and imported.
    await workspace.types(boss, "/quiz-admin bank import", "Name of the document")
    text = (
        "---\nbank: more\nlicense: MIT\n---\n\n# nn\n\n## eye · value · mid\n\nWhat is `1 + 1`?\n\n### Answer\n\n`2`\n"
    )
    view = workspace.slack.modal(boss)
    await hands.presses(boss, view, "Preview", "", name="more.md", text=text)
    await workspace.slack.close_view(boss)
    await hands.fills(boss, "more.md", name="more.md", text=text)
    await workspace.types(ann, "/quiz help", "/quiz practice")
    # The page of one's own.
    before = workspace.looks(ann)
    workspace.slack.open_home(ann)
    home = await workspace.sees(ann, "", before)
    for label in [one.label for one in home.controls]:
        await press_any(hands, ann, home, label)
        if workspace.slack.world.stack(ann):
            await workspace.slack.close_view(ann, all_=True)
    assert set(get_args(actions.Action)) - hands.did == ELSEWHERE


MARKING = {actions.Compare, actions.ShareAnswer, actions.PeerAnswers, actions.ConfirmMarks, actions.Credit}
DUELS = {actions.RespondDuel, actions.Rematch, actions.ShowDuel, actions.ShowDuels, actions.ShowLadder}
SPEED = {actions.ShowSpeed, actions.ShareSolution}
ANSWERS = {actions.OpenCard, actions.Confide, actions.GiveFeedback}
ELSEWHERE = {*ANSWERS, actions.Setup, actions.Join, actions.Explain, *MARKING, *DUELS, *SPEED, actions.SetupForm}
"""Pressed in `test_answers`, the first three; in `test_hello`; to link a second chat; in `test_code_practice`; on a
closed open question; in `test_duels`; in `tests/bot/core/test_speed.py`; and on Discord, the last."""


async def press_any(hands: Hands, user: User, shown: Shown, label: str) -> None:
    if "value" in shown.control(label).element:
        await hands.presses(user, shown, label, "")
