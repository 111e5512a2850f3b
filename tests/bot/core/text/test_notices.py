"""Every notice as it is read: the problem in the title, then the cause and what to do."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import get_args

import pytest

from bot.core.cards import Text
from bot.core.text.notices import notice_card
from service.wire import (
    AnswerCredited,
    AppRemoved,
    AppRestored,
    BankLow,
    ChannelRecovered,
    ChannelRefused,
    NothingToAsk,
    Notice,
    NoticeFact,
    PostFailed,
    QuestionArrived,
    QuestionCorrected,
    QuestionLate,
    QuestionReported,
    QuestionSuggested,
    ReportSettled,
    RoleRefused,
    SandboxMissing,
    SandboxRestored,
    SlotMissed,
    SuggestionDecided,
)
from tests.bot.core.text.instants import read_aloud
from tests.bot.samples import WEEK

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
LATE = QuestionLate(
    channel="#quiz", due_at=NINE, until=NINE.replace(hour=11), zone="Europe/Berlin", claimed=False, error=""
)
MISSING = SandboxMissing(answers=1, since=NINE, zone="UTC", problem="no response")
CREDITED = AnswerCredited(question="views", day=date(2026, 3, 2), credit=0.5, points=3, by_peer=True)
CORRECTED = QuestionCorrected(question="views", day=date(2026, 3, 2), code=False, gained=(5,), lost=(1, 2))

NOTICES: list[tuple[NoticeFact, str, str]] = [
    (
        CREDITED,
        "Your open answer was confirmed",
        "Another member confirmed how you marked your answer to `views` of Monday 2 March: 50%. You gain 3 points.",
    ),
    (
        CREDITED.model_copy(update={"credit": 0.0, "points": -1, "by_peer": False}),
        "Your open answer was reviewed",
        "A moderator set the credit of your answer to `views` of Monday 2 March to 0%. You lose 1 point.",
    ),
    (
        LATE,
        "The daily question is late",
        "It was due in `#quiz` at 10:00 (Europe/Berlin) and has not been posted. No bot has fetched it: check that "
        "the bot of that chat is running. Dailygrad keeps trying until 12:00 (Europe/Berlin). You will be told when "
        "it is posted. `/quiz-admin doctor` shows more.",
    ),
    (
        LATE.model_copy(update={"claimed": True, "until": None}),
        "The daily question is late",
        "It was due in `#quiz` at 10:00 (Europe/Berlin) and has not been posted. A bot is sending it and has not "
        "reported back. You will be told when it is posted. `/quiz-admin doctor` shows more.",
    ),
    (
        LATE.model_copy(update={"claimed": True, "until": None, "error": "missing *access*"}),
        "The daily question is late",
        "It was due in `#quiz` at 10:00 (Europe/Berlin) and has not been posted. The last attempt failed: missing "
        "&#42;access&#42;. You will be told when it is posted. `/quiz-admin doctor` shows more.",
    ),
    (
        QuestionArrived(channel="#quiz", minutes=12),
        "The late question was posted",
        "It was posted in `#quiz`, 12 minutes late.",
    ),
    (
        PostFailed(message="question", channel="#quiz", attempts=3, error="Missing Access"),
        "The daily question could not be posted",
        "Dailygrad gave up after 3 attempts. The last error: Missing Access. Check that the bot is running and may "
        "write in `#quiz`; `/quiz-admin doctor` shows more. No streak breaks.",
    ),
    (
        PostFailed(message="question", channel="#quiz", attempts=1, error="Missing Access"),
        "The daily question could not be posted",
        "Dailygrad gave up after 1 attempt. The last error: Missing Access. Check that the bot is running and may "
        "write in `#quiz`; `/quiz-admin doctor` shows more. No streak breaks.",
    ),
    (
        PostFailed(message="verdict", channel="", attempts=0),
        "A verdict could not be posted",
        "No bot fetched it in time. Check that the bot is running and may write in this chat; `/quiz-admin doctor` "
        "shows more. No streak breaks.",
    ),
    (
        ChannelRefused(
            message="question", channel="#quiz", error="not_in_channel: type /invite", until=NINE, zone="Europe/Berlin"
        ),
        "The daily question cannot be posted",
        "`#quiz` refuses it: not&#95;in&#95;channel: type /invite. As soon as that is done, it is posted. Dailygrad "
        "keeps trying until 10:00 (Europe/Berlin). After that, `/quiz-admin schedule post-now` still posts it that "
        "day. No streak breaks.",
    ),
    (
        RoleRefused(season="Autumn", error="the bot may not give it", until=NINE, zone="Europe/Berlin"),
        "The winner's role cannot be given",
        "the bot may not give it. As soon as that is done, the winner of `Autumn` is announced. Dailygrad keeps trying "
        "until 10:00 (Europe/Berlin). The final board is kept either way.",
    ),
    (
        ChannelRecovered(channel="#quiz", error="Missing Access"),
        "The channel accepts messages again",
        "`#quiz` refused a message before: Missing Access. It accepts them again.",
    ),
    (
        AppRemoved(platform="slack"),
        "Dailygrad was removed from Slack",
        "Its token was revoked, so nothing is posted on Slack until you install the app there again. Your other "
        "chats are not affected.",
    ),
    (
        AppRestored(platform="discord"),
        "Dailygrad is back on Discord",
        "The app was installed again. Messages that waited are posted now, if they are still in time.",
    ),
    (
        MISSING,
        "Code answers are waiting: there is no sandbox",
        "A code answer has waited for a verdict since 09:00 (UTC). The sandbox does not respond. Ask the operator to "
        "check that `dailygrad sandbox serve` is running and to read its log. No answer is lost and nobody loses "
        "points. You will be told when judging continues.",
    ),
    (
        MISSING.model_copy(update={"answers": 2, "problem": "failing", "detail": "no room for a child"}),
        "Code answers are waiting: there is no sandbox",
        "2 code answers have waited for a verdict since 09:00 (UTC). The sandbox has a problem: no room for a child. "
        "Ask the operator to check that `dailygrad sandbox serve` is running and to read its log. No answer is lost "
        "and nobody loses points. You will be told when judging continues.",
    ),
    (
        SandboxRestored(minutes=1),
        "Code answers are judged again",
        "A sandbox is back, 1 minute after it was reported missing.",
    ),
    (
        BankLow(left=2),
        "The bank is running low",
        "After today's question the schedule has 2 questions left that it has not asked. Then it repeats the one it "
        "asked longest ago. Import questions with `/quiz-admin bank import`, or widen the schedule's topics, levels or "
        "kinds with `/quiz-admin schedule edit`.",
    ),
    (
        NothingToAsk(needs_gpu=False),
        "No question today",
        "No question fits this schedule. Nothing was posted, and no streak breaks. Import questions with `/quiz-admin "
        "bank import`, or widen the schedule's topics, levels or kinds with `/quiz-admin schedule edit`.",
    ),
    (
        NothingToAsk(needs_gpu=True),
        "No question today",
        "Every question that fits needs a GPU, and no sandbox has one. Nothing was posted, and no streak breaks. "
        "Import questions with `/quiz-admin bank import`, or widen the schedule's topics, levels or kinds with "
        "`/quiz-admin schedule edit`.",
    ),
    (
        SlotMissed(day=date(2026, 3, 2), catch_up_minutes=120),
        "A question was skipped",
        "The question of Monday 2 March was due while Dailygrad was not running, and it is now too late to post it. "
        "This schedule catches up for 2 hours; `/quiz-admin schedule edit` can extend that. No streak breaks.",
    ),
    (
        QuestionSuggested(suggestion=4),
        "A question was suggested",
        "Suggestion 4 is waiting for a moderator.",
    ),
    (
        SuggestionDecided(suggestion=4, state="accepted", question="suggestion-4"),
        "Your question was accepted",
        "Suggestion 4 is in the bank now as `suggestion-4`. Thank you!",
    ),
    (
        SuggestionDecided(suggestion=4, state="declined", reason="It is known."),
        "Your question was declined",
        "A moderator declined suggestion 4.",
    ),
    (
        QuestionReported(report=4, question=None),
        "A question was reported",
        "A question was reported.",
    ),
    (
        ReportSettled(question="views", state="fixed", reason=""),
        "Your report was right",
        "A moderator fixed question `views`. Thank you for reporting it.",
    ),
    (
        ReportSettled(question="views", state="dismissed", reason="It copies."),
        "Your report was reviewed",
        "A moderator looked at question `views` and left it as it is.",
    ),
    (
        WEEK,
        "The week from Monday 2 March to Sunday 8 March",
        "5 questions, 12 members answered, 71% right.",
    ),
    (
        CORRECTED,
        "A question was corrected",
        "The key of `views`, asked on Monday 2 March, changed, and every answer was judged again: 1 member gained 5 "
        "points and 2 members lost 3 points.",
    ),
    (
        CORRECTED.model_copy(update={"code": True, "lost": ()}),
        "A question was corrected",
        "The cases of `views`, asked on Monday 2 March, changed, and every answer was judged again: 1 member gained 5 "
        "points.",
    ),
]


@pytest.mark.parametrize(("fact", "title", "text"), NOTICES)
def test_a_notice_names_the_problem_the_cause_and_the_fix(fact: NoticeFact, title: str, text: str) -> None:
    card = notice_card(Notice(fact=fact))
    said = {read_aloud(block.markdown) for block in card.blocks if isinstance(block, Text)}
    assert read_aloud(card.title) == title and text in {*said, read_aloud(card.summary)}
    assert 0 < len(card.title) <= 150
    assert 0 < len(card.summary) <= 250


def test_every_notice_is_in_the_table() -> None:
    assert {type(fact) for fact, _, _ in NOTICES} == set(get_args(get_args(NoticeFact)[0]))
