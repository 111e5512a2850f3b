"""Sentences of the page of today's question."""

from __future__ import annotations

from datetime import datetime

from bot.core.text.words import countdown_words, moment_markdown, until_markdown
from service.wire import AskForm, TodayView


def closes(ask: AskForm, now: datetime) -> str:
    """Returns the time left, such as `Closes in 3 h 12 min`; empty for a question that does not close."""
    return f"Closes in {countdown_words(ask.closes_at - now)}" if ask.closes_at else ""


def chips(ask: AskForm) -> tuple[str, ...]:
    """Returns the topic and the level."""
    return tuple(word for word in (ask.question.topic, ask.question.level) if word)


def state(ask: AskForm, now: datetime) -> str:
    """Says whether the member has answered, and until when that can be changed. Markdown."""
    until = f" until {until_markdown(ask.closes_at, ask.zone, now)}" if ask.closes_at else ""
    if ask.given:
        return f"Your answer is saved. You can change it{until}; nobody sees it before then."
    return f"Not answered yet. Answers stay private{until}; your last one counts."


def nothing_open(today: TodayView, now: datetime) -> str:
    """Says when the next question comes. Markdown."""
    if today.next_at is None:
        return "Nothing is scheduled here. An admin can add a schedule with `/quiz-admin schedule add`."
    wait = countdown_words(today.next_at - now)
    return f"The next question comes in {wait}: {moment_markdown(today.next_at, today.zone)}."
