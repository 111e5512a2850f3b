"""Notices to admins and channels: a title that names the problem, then the cause and what to do. The week's digest."""

from __future__ import annotations

from typing import assert_never

from bot.core.cards import Block, Card, Charted, Small, Text
from bot.core.charts import DigestChart, RangeRow
from bot.core.markup import escape
from bot.core.text.review import outcome_notice, reported_notice
from bot.core.text.suggestions import decided_notice, suggested_notice
from bot.core.text.words import (
    Words,
    chat_words,
    code_words,
    day_words,
    in_brief,
    mastery_words,
    minutes_words,
    moment_markdown,
    percent,
    plural,
    stopped,
    time_markdown,
)
from service.wire import (
    AnswerCredited,
    AppRemoved,
    AppRestored,
    BankLow,
    ChannelRecovered,
    ChannelRefused,
    DigestTopic,
    DigestView,
    NothingToAsk,
    Notice,
    PostFailed,
    QuestionArrived,
    QuestionCorrected,
    QuestionLate,
    QuestionReported,
    QuestionSuggested,
    ReportSettled,
    RoleRefused,
    SandboxMissing,
    SandboxProblem,
    SandboxRestored,
    SlotMissed,
    SuggestionDecided,
    WeekDigest,
)

_MESSAGES = {
    "question": "The daily question",
    "reveal": "A reveal",
    "outcome": "The result of a round",
    "result": "A member's result",
    "verdict": "A verdict",
}
_WIDEN = (
    "Import questions with `/quiz-admin bank import`, or widen the schedule's topics, levels or kinds with "
    "`/quiz-admin schedule edit`."
)
NEEDS_GPU = "Every question that fits needs a GPU, and no sandbox has one."
NOTHING_FITS = "No question fits this schedule."

_PlainFact = (
    QuestionLate
    | QuestionArrived
    | PostFailed
    | ChannelRefused
    | RoleRefused
    | ChannelRecovered
    | AppRemoved
    | AppRestored
    | SandboxMissing
    | SandboxRestored
    | BankLow
    | NothingToAsk
    | SlotMissed
    | QuestionCorrected
    | AnswerCredited
)
"""What is said in a title and a text."""


def notice_card(notice: Notice) -> Card:
    """Returns the card of a notice."""
    fact = notice.fact
    match fact:
        case QuestionReported():
            return reported_notice(fact)
        case ReportSettled():
            return outcome_notice(fact)
        case QuestionSuggested():
            return suggested_notice(fact)
        case SuggestionDecided():
            return decided_notice(fact)
        case WeekDigest():
            return digest_notice(fact)
        case _:
            title, text = _words(fact)
            return Card(title, in_brief(text, 250), (Text(text),))


def _words(fact: _PlainFact) -> Words:
    """Returns title and text of a notice that has no card of its own."""
    match fact:
        case QuestionLate():
            return "The daily question is late", _late(fact)
        case QuestionArrived(channel=channel, minutes=minutes):
            text = f"It was posted in {code_words(channel)}, {minutes_words(minutes)} late."
            return "The late question was posted", text
        case PostFailed():
            return f"{_MESSAGES[fact.message]} could not be posted", _failed(fact)
        case ChannelRefused():
            return f"{_MESSAGES[fact.message]} cannot be posted", _refused(fact)
        case RoleRefused(season=season, error=error):
            until = f" Dailygrad keeps trying until {time_markdown(fact.until, fact.zone)}." if fact.until else ""
            text = f"{stopped(escape(error))} As soon as that is done, the winner of {code_words(season)} is announced."
            return "The winner's role cannot be given", f"{text}{until} The final board is kept either way."
        case ChannelRecovered(channel=channel, error=error):
            text = f"{code_words(channel)} refused a message before: {stopped(escape(error))} It accepts them again."
            return "The channel accepts messages again", text
        case AppRemoved() | AppRestored():
            return _app(fact)
        case SandboxMissing():
            return "Code answers are waiting: there is no sandbox", _missing(fact)
        case SandboxRestored(minutes=minutes):
            text = f"A sandbox is back, {plural(minutes, 'minute')} after it was reported missing."
            return "Code answers are judged again", text
        case BankLow(left=left):
            text = f"After today's question the schedule has {plural(left, 'question')} left that it has not asked."
            return "The bank is running low", f"{text} Then it repeats the one it asked longest ago. {_WIDEN}"
        case NothingToAsk(needs_gpu=needs_gpu):
            why = NEEDS_GPU if needs_gpu else NOTHING_FITS
            return "No question today", f"{why} Nothing was posted, and no streak breaks. {_WIDEN}"
        case SlotMissed(day=day, catch_up_minutes=minutes):
            return "A question was skipped", _skipped(day_words(day), minutes)
        case QuestionCorrected():
            return "A question was corrected", _corrected(fact)
        case AnswerCredited():
            return f"Your open answer was {'confirmed' if fact.by_peer else 'reviewed'}", _credited(fact)
        case _ as never:
            assert_never(never)


def _app(fact: AppRemoved | AppRestored) -> Words:
    name = chat_words(fact.platform)
    if isinstance(fact, AppRestored):
        text = "The app was installed again. Messages that waited are posted now, if they are still in time."
        return f"Dailygrad is back on {name}", text
    text = f"Its token was revoked, so nothing is posted on {name} until you install the app there again."
    return f"Dailygrad was removed from {name}", f"{text} Your other chats are not affected."


def _credited(fact: AnswerCredited) -> str:
    which = f"your answer to {code_words(fact.question)} of {day_words(fact.day)}"
    done = f"A moderator set the credit of {which} to {percent(fact.credit)}."
    if fact.by_peer:
        done = f"Another member confirmed how you marked {which}: {percent(fact.credit)}."
    moved = f"You {'gain' if fact.points > 0 else 'lose'} {plural(abs(fact.points), 'point')}."
    moved = moved if fact.points else "Your points stay as they are."
    return f"{done} {moved}"


def _late(fact: QuestionLate) -> str:
    if fact.error:
        why = f"The last attempt failed: {stopped(escape(fact.error))}"
    elif fact.claimed:
        why = "A bot is sending it and has not reported back."
    else:
        why = "No bot has fetched it: check that the bot of that chat is running."
    until = f" Dailygrad keeps trying until {time_markdown(fact.until, fact.zone)}." if fact.until else ""
    return (
        f"It was due in {code_words(fact.channel)} at {time_markdown(fact.due_at, fact.zone)} and has not been posted. "
        f"{why}{until} You will be told when it is posted. `/quiz-admin doctor` shows more."
    )


def _failed(fact: PostFailed) -> str:
    if fact.error:
        tried = f"Dailygrad gave up after {plural(fact.attempts, 'attempt')}. The last error: "
        tried += stopped(escape(fact.error))
    else:
        tried = "No bot fetched it in time."
    where = code_words(fact.channel) if fact.channel else "this chat"
    return (
        f"{tried} Check that the bot is running and may write in {where}; `/quiz-admin doctor` shows more. "
        "No streak breaks."
    )


def _refused(fact: ChannelRefused) -> str:
    again = (
        "`/quiz-admin ask` asks another." if fact.extra else "`/quiz-admin schedule post-now` still posts it that day."
    )
    then = f" After that, {again}" if fact.message == "question" else ""
    until = f" Dailygrad keeps trying until {time_markdown(fact.until, fact.zone)}.{then}" if fact.until else ""
    return (
        f"{code_words(fact.channel)} refuses it: {stopped(escape(fact.error))} As soon as that is done, it is posted."
        f"{until} No streak breaks."
    )


def _missing(fact: SandboxMissing) -> str:
    wait = "A code answer has" if fact.answers == 1 else f"{fact.answers:,} code answers have"
    return (
        f"{wait} waited for a verdict since {time_markdown(fact.since, fact.zone)}. "
        f"{sandbox_problem_words(fact.problem, escape(fact.detail))} Ask the operator to check that "
        "`dailygrad sandbox serve` is running and to read its log. No answer is lost and nobody loses points. "
        "You will be told when judging continues."
    )


def sandbox_problem_words(problem: SandboxProblem, detail: str) -> str:
    """Explains in a sentence why no sandbox judges code. `detail` is included unchanged."""
    because = f": {stopped(detail)}" if detail else "."
    match problem:
        case "not connected":
            return "No sandbox is connected."
        case "unreachable":
            return f"The sandbox cannot be reached{because}"
        case "no response":
            return "The sandbox does not respond."
        case "starting":
            return "The sandbox is starting."
        case "failing":
            return f"The sandbox has a problem{because}"
        case _ as never:
            assert_never(never)


def _skipped(day: str, minutes: int) -> str:
    return (
        f"The question of {day} was due while Dailygrad was not running, and it is now too late to post it. "
        f"This schedule catches up for {minutes_words(minutes)}; `/quiz-admin schedule edit` can extend that. "
        "No streak breaks."
    )


def _corrected(fact: QuestionCorrected) -> str:
    moved = " and ".join(
        f"{plural(len(points), 'member')} {verb} {plural(sum(points), 'point')}"
        for points, verb in ((fact.gained, "gained"), (fact.lost, "lost"))
        if points
    )
    what = "cases" if fact.code else "key"
    return (
        f"The {what} of `{fact.question}`, asked on {day_words(fact.day)}, changed, and every answer was judged again: "
        f"{moved}."
    )


_NOBODY = "Nobody answered. Do members know when the question comes? `/quiz-admin schedule list` shows it."
_STOP = (
    "It names nobody. `/quiz-admin digest off` stops it; `/quiz-admin review here` or `review me` sends it elsewhere."
)


def digest_notice(digest: WeekDigest) -> Card:
    """Tells those who run the quiz about the week before."""
    return Card(_title(digest), _summary(digest), (*_blocks(digest), Small(_STOP)))


def digest_card(view: DigestView) -> Card:
    """Shows the digest of the last complete week on request."""
    return Card(_title(view.digest), _summary(view.digest), (*_blocks(view.digest), Small(_next(view))))


def switched_card(view: DigestView) -> Card:
    """Confirms that digests are on or off."""
    return Card("Digest", in_brief(_next(view), 200), (Text(_next(view)),))


def _next(view: DigestView) -> str:
    if view.next_at is None:
        return "No digest is sent. `/quiz-admin digest on` sends one every Monday."
    return f"The next digest is sent on {moment_markdown(view.next_at, view.zone)}; `/quiz-admin digest off` stops it."


def _title(digest: WeekDigest) -> str:
    return f"The week from {day_words(digest.first)} to {day_words(digest.last)}"


def _summary(digest: WeekDigest) -> str:
    asked = plural(digest.rounds, "question")
    return f"{asked}, {plural(digest.members, 'member')} answered, {_right(digest)}."


def _right(digest: WeekDigest) -> str:
    return "none judged" if digest.right is None else f"{percent(digest.right)} right"


def _blocks(digest: WeekDigest) -> tuple[Block, ...]:
    lines = [f"**{plural(digest.rounds, 'question')}** closed."]
    if digest.answers:
        before = f"{digest.members_before} the week before"
        lines.append(f"**{plural(digest.members, 'member')}** answered ({before}), {_right(digest)}.")
    elif digest.rounds:
        lines.append(_NOBODY)
    if digest.hardest is not None:
        hardest = digest.hardest
        answers = plural(hardest.answers, "answer")
        shown = code_words(f"/quiz-admin bank stats {hardest.question}")
        lines.append(
            f"**Hardest:** {code_words(hardest.question)}, {percent(hardest.right)} right of {answers}. "
            f"{shown} shows how it was answered."
        )
    if digest.weakest:
        topics = ", ".join(map(_topic, digest.weakest))
        lines.append(f"**Weakest topics** of four weeks: {topics}.")
    if digest.reports:
        waits = "waits" if digest.reports == 1 else "wait"
        lines.append(f"**{plural(digest.reports, 'report')}** {waits}: `/quiz-admin review list`.")
    text = "\n\n".join(lines)
    return (Charted(text, _chart(digest)) if digest.answers else Text(text),)


def _chart(digest: WeekDigest) -> DigestChart:
    hardest = None
    if (one := digest.hardest) is not None:
        hardest = RangeRow(one.question, one.right, f"{percent(one.right)} right of {plural(one.answers, 'answer')}")
    return DigestChart(digest.members, digest.members_before, hardest, tuple(map(_topic_row, digest.weakest)))


def _topic_row(topic: DigestTopic) -> RangeRow:
    so_far = f"{percent(topic.right)} of {topic.answers} right"
    if topic.low is None or topic.high is None:
        return RangeRow(topic.topic, topic.right, so_far)
    team = f"{so_far}, the team {mastery_words(topic.low, topic.high)}"
    return RangeRow(topic.topic, topic.right, team, (topic.low, topic.high))


def _topic(topic: DigestTopic) -> str:
    known = (
        ""
        if topic.low is None
        else f"; the team knows {mastery_words(topic.low, topic.high)} of {code_words(topic.topic.partition('/')[0])}"
    )
    return f"{code_words(topic.topic)} ({percent(topic.right)} of {plural(topic.answers, 'answer')}{known})"
