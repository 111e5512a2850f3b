"""Sentences of the page of today's question."""

from __future__ import annotations

from datetime import datetime

from bot.core.text.my_page import answer_words, outcome
from bot.core.text.words import countdown_words, day_words, joined, moment_markdown, plural, until_markdown
from service.wire import AskForm, PastRound, TodayView


def closes(ask: AskForm, now: datetime) -> str:
    """Returns the time left, such as `Closes in 3 h 12 min`; empty for a question that does not close."""
    return f"Closes in {countdown_words(ask.closes_at - now)}" if ask.closes_at else ""


def chips(ask: AskForm) -> tuple[str, ...]:
    """Returns the topic, the level, and whether the member has a variant of their own."""
    own = "Your own variant" if ask.question.variant == "own" else ""
    return tuple(word for word in (ask.question.topic, ask.question.level, own) if word)


def state(ask: AskForm, now: datetime) -> str:
    """Says whether the member has answered, and until when that can be changed. Markdown."""
    until = f" until {until_markdown(ask.closes_at, ask.zone, now)}" if ask.closes_at else ""
    if ask.given:
        return f"Your answer is saved. You can change it{until}; nobody sees it before then."
    return f"Not answered yet. Answers stay private{until}; your last one counts."


def nothing_open(today: TodayView, now: datetime) -> str:
    """Says when the next question comes. Markdown."""
    if today.next_at is None:
        return (
            "Nothing is scheduled here. An admin can add a schedule with `/quiz-admin setup`, or resume a paused one "
            "with `/quiz-admin schedule resume`."
        )
    wait = countdown_words(today.next_at - now)
    return f"The next question comes in {wait}: {moment_markdown(today.next_at, today.zone)}."


def latest_result(one: PastRound) -> tuple[str, str, str]:
    """Returns how the reader's latest closed round went, the kind of its mark, and what they answered with the points.
    The last is Markdown."""
    word, kind = outcome(one)
    points = f"{one.points:+} points" if abs(one.points) != 1 else f"{one.points:+} point"
    return word, kind, joined(f"{answer_words(one)}", points if one.points else "")


def latest_day(one: PastRound) -> str:
    """Returns the day of a round and its topic."""
    return joined(day_words(one.day), one.question.topic)


def practice(due: int) -> str:
    """Says what there is to practice, and how long it takes."""
    if not due:
        return "No card is due. Practice asks questions that are new to you."
    # Most cards take half a minute to read and answer.
    minutes = max(1, round(due / 2))
    return f"{plural(due, 'card')} due, about {plural(minutes, 'minute')}."
