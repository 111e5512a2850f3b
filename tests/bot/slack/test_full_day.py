"""A team's first week on Slack, from the setup to the digest, as one story; the real sandbox judges the code.

What everyone typed and saw is compared with a file in `transcripts`, in which the week can be read. After a change that
is meant, the test writes it anew: `DAILYGRAD_TRANSCRIPTS=tests/bot/slack/transcripts pytest -m slow -k first_week`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from functools import partial
from os import environ
from pathlib import Path

import pytest

from bot.pictures import Pictures
from sandbox.client import SandboxClient
from service.app import Service, build
from service.config import Settings
from tests.bot.slack.conftest import Workspace, said
from tests.bot.slack.transcript import FOLDER
from tests.conftest import MONDAY, Clock
from tests.doubles.slack.surfaces import Ephemeral, Message, Shown, View
from tests.doubles.slack.world import User

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
NINE = MONDAY.replace(hour=9)
TRANSCRIPT = Path(__file__).parent / "transcripts" / "slack-the_first_week_of_a_team.md"
OUTBOX_LATER = timedelta(seconds=10)
"""Time after which the live count is renewed."""


@pytest.fixture
async def service(settings: Settings, clock: Clock, sandbox: SandboxClient) -> AsyncIterator[Service]:
    async with build(settings, clock, sandbox).running() as running:
        yield running


@pytest.fixture(autouse=True)
def patient_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded machine posts a card without its picture after seconds, which would be another story."""
    monkeypatch.setattr("bot.slack.app.Pictures", partial(Pictures, wait_s=60, draw_s=60))


def letter_of(card: Shown, option: str) -> str:
    """Returns the letter of an option in the member's own order."""
    lines = [line.strip() for line in said(card).splitlines()]
    at = len(lines) - 1 - lines[::-1].index(option)
    return next(line for line in reversed(lines[:at]) if line in card.labels)


async def asked(workspace: Workspace, day: int, question: str) -> Message:
    """Posts the question of a day at ten in Berlin."""
    await workspace.only(question)
    workspace.moving.now = NINE + timedelta(days=day)
    before = workspace.looks(workspace.ann)
    await workspace.works()
    post = await workspace.sees(workspace.ann, "Question for", before)
    assert isinstance(post, Message)
    return post


async def asked_extra(workspace: Workspace, question: str, kind: str, words: str) -> Message:
    """Has the admin ask an extra question of a kind; returns its message."""
    await workspace.only(question)
    before = workspace.looks(workspace.ann)
    await workspace.types(workspace.boss, f"/quiz-admin ask kind:{kind}", "Posting an extra question now")
    await workspace.works()
    post = await workspace.sees(workspace.ann, words, before)
    assert isinstance(post, Message)
    return post


async def chooses(workspace: Workspace, user: User, post: Message, option: str) -> Shown:
    """Answers a choice with one of its options."""
    card = await workspace.presses(user, post, "Answer", "Your answer")
    return await workspace.presses(user, card, letter_of(card, option), "is recorded")


async def closes(workspace: Workspace) -> None:
    """Lets the time of the open questions pass."""
    workspace.moving.now = workspace.moving.now.replace(hour=17, minute=1)
    await workspace.works()
    # A lease that ended while the clock jumps to the next day would let the message be posted again.
    await workspace.delivered()


async def first_day(workspace: Workspace, cleo: User) -> None:
    """Answers of every kind, the live count, the reveal, and the results of three members."""
    boss, ann, bob, see = workspace.boss, workspace.ann, workspace.bob, workspace.transcript
    see.chapter("Monday: the question, and a right and a wrong answer")
    post = await asked(workspace, 0, "one-right")
    await chooses(workspace, ann, post, "(3, 2)")
    await chooses(workspace, bob, post, "(2, 3)")
    workspace.moving.now += OUTBOX_LATER
    before = workspace.looks(boss)
    await workspace.works()
    assert await workspace.sees(boss, "2 answers so far.", before) is post
    see.chapter("Monday: extra questions of other kinds")
    several = await asked_extra(workspace, "two-right", "choice", "share memory")
    view = await workspace.presses(ann, several, "Answer", "Select all that are right.")
    assert isinstance(view, View)
    options = view.fields["options"].element["options"]
    right = [one["value"] for one in options if "clone" not in one["text"]["text"]]
    await workspace.fills(ann, {"options": right}, "Your answer is recorded")
    prose = await asked_extra(workspace, "why-scale", "open", "Why is the loss scaled")
    await workspace.presses(ann, prose, "Answer", "A few sentences")
    await workspace.fills(ann, {"text": "Small gradients become zero in float16."}, "Your answer is recorded")
    code = await asked_extra(workspace, "add-one", "code", "Add one to a number")
    await workspace.presses(ann, code, "Answer", "Your code")
    await workspace.fills(ann, {"code": "def add_one(x):\n    return x + 1"}, "is being judged")
    before = workspace.looks(ann)
    await workspace.works()
    await workspace.sees(ann, "Your code: accepted", before)
    see.chapter("Monday: the close")
    before = workspace.looks(ann)
    await closes(workspace)
    outcome = await workspace.sees(ann, "Closed: Monday 2 March · tensors\nThe answer: (3, 2)", before)
    assert isinstance(outcome, Message) and outcome.broadcast and outcome.thread_ts == post.ts
    reveal = await workspace.sees(ann, "a transpose", before)
    assert isinstance(reveal, Message) and reveal.thread_ts == post.ts and not reveal.broadcast
    assert await workspace.sees(ann, "Closed: 1 of 2 answered right.", before) is post
    assert post.labels == ["My result", "Practice"]
    see.chapter("Monday: private results of a right, a wrong and an absent member")
    mine = await workspace.presses(ann, post, "My result", "Your result")
    assert isinstance(mine, Ephemeral) and "Right!" in mine.words and "Dailygrad 1" in mine.words
    assert "Not this time." in (await workspace.presses(bob, post, "My result", "Your result")).words
    absent = await workspace.presses(cleo, post, "My result", "You did not answer")
    assert isinstance(absent, Ephemeral) and "costs you no points" in absent.words


async def test_the_first_week_of_a_team(workspace: Workspace) -> None:
    boss, ann, bob, slack, see = workspace.boss, workspace.ann, workspace.bob, workspace.slack, workspace.transcript
    cleo = slack.user(workspace.team, "Cleo")
    workspace.daily.members.add(cleo.id)
    see.chapter("Sunday: the setup")
    await workspace.types(boss, "/quiz-admin setup", "Time of the question")
    await workspace.fills(boss, {"at": "10:00"}, "Schedule added")
    await first_day(workspace, cleo)
    see.chapter("Tuesday: a value is typed")
    post = await asked(workspace, 1, "the-shape")
    await workspace.presses(ann, post, "Answer", "A Python literal")
    await workspace.fills(ann, {"text": "(3,)"}, "is recorded")
    await workspace.types(ann, "/quiz notify reminders on", "Reminders on")
    await closes(workspace)
    see.chapter("Wednesday: what Bob got wrong comes back in practice")
    await asked(workspace, 2, "two-lines")
    await workspace.only("one-right")
    card = await workspace.types(bob, "/quiz practice", "torch.zeros(2, 3)")
    await workspace.presses(bob, card, letter_of(card, "(3, 2)"), "comes back")
    see.chapter("Wednesday: a reminder before the close, because a streak is at risk")
    before = workspace.looks(ann)
    workspace.moving.now = workspace.moving.now.replace(hour=16, minute=10)
    await workspace.works()
    reminder = await workspace.sees(ann, "Your streak of 2 rounds ends", before)
    await workspace.delivered()
    assert isinstance(reminder, Message) and workspace.team.channels[reminder.channel].im
    await workspace.presses(ann, reminder, "Answer", "What does it print?")
    await workspace.fills(ann, {"text": "1\n2"}, "is recorded")
    await closes(workspace)
    see.chapter("Wednesday: a suggestion is accepted")
    await workspace.types(bob, "/quiz suggest", "The question with its answer")
    text = "### Q1. What is a zebra?\n\n**Answer:** A zebra is a striped horse.\n"
    await workspace.fills(bob, {"text": text}, "The moderators have suggestion")
    notice = await workspace.sees(boss, "A question was suggested")
    shown = await workspace.presses(boss, notice, "Review", "striped horse")
    await workspace.presses(boss, shown, "Accept", "is in the bank")
    await workspace.sees(bob, "Your question was accepted")
    await workspace.delivered()
    see.chapter("The next Monday: the digest")
    workspace.moving.now = NINE + timedelta(days=7)
    await workspace.works()
    digest = await workspace.sees(boss, "the week before")
    assert "Ann" not in digest.words and "Bob" not in digest.words
    if FOLDER not in environ:
        assert see.text() == TRANSCRIPT.read_text(encoding="utf-8"), f"the week reads differently: {__doc__}"
