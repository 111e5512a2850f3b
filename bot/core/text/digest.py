"""The digest of a week, for those who run the quiz."""

from __future__ import annotations

from bot.core.cards import Block, Card, Small, Text
from bot.core.text.words import code_words, day_words, in_brief, mastery_words, moment_markdown, percent, plural
from service.wire import DigestTopic, DigestView, WeekDigest

_NOBODY = "Nobody answered. Do members know when the question comes? `/quiz-admin schedule list` shows it."
_STOP = "It has no names. `/quiz-admin digest off` stops it, `/quiz-admin review here` or `review me` says who gets it."


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
    return (Text("\n\n".join(lines)),)


def _topic(topic: DigestTopic) -> str:
    known = (
        ""
        if topic.low is None
        else f"; the team knows {mastery_words(topic.low, topic.high)} of {code_words(topic.topic.partition('/')[0])}"
    )
    return f"{code_words(topic.topic)} ({percent(topic.right)} of {plural(topic.answers, 'answer')}{known})"
