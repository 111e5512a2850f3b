"""Words of the web's practice page: the progress of a session, the result of a card, its ratings, and the summary."""

from __future__ import annotations

from datetime import datetime, timedelta

from bot.core.actions import PracticeFilter
from bot.core.cards import Block
from bot.core.markup import escape
from bot.core.text.questions import lettered, more_cards
from bot.core.text.results import answer_blocks, verdict_blocks
from bot.core.text.words import KIND_NAMES as KIND_NAMES
from bot.core.text.words import and_list, percent, plural, wait_words
from service.wire import (
    AnswerKey,
    AskForm,
    OptionKey,
    PracticeAttempt,
    PracticedQuestion,
    PracticeSession,
    Rating,
    VerdictView,
)

SESSION = 10
"""Questions of a session."""
RATINGS: dict[Rating, str] = {"again": "Again", "hard": "Hard", "good": "Good", "easy": "Easy"}
NOT_JUDGED = "Judging your code…"


def due_words(due: int) -> str:
    """Says how many cards are due."""
    return f"{plural(due, 'card')} due"


def step_state(one: PracticedQuestion) -> str:
    """Returns how a practiced question went: right, part, wrong, or none while that is unknown."""
    if one.credit is None:
        return "none"
    return "right" if one.credit >= 1 else "part" if one.credit > 0 else "wrong"


def progress(session: PracticeSession) -> str:
    """Describes the progress of the session."""
    done = len(session.practiced)
    return f"{done} of {SESSION} answered, {_right(session)} right" if done else f"A session of {SESSION}"


def _right(session: PracticeSession) -> int:
    return sum(step_state(one) == "right" for one in session.practiced)


def chips(ask: AskForm) -> tuple[str, ...]:
    """Returns the topic, the level, and how many more cards are due."""
    more = f"{more_cards(ask.due)} due" if ask.due else ""
    return tuple(word for word in (ask.question.topic, ask.question.level, more) if word)


def attempt_chips(attempt: PracticeAttempt) -> tuple[str, ...]:
    """Returns the topic and the level."""
    return tuple(word for word in (attempt.question.topic, attempt.question.level) if word)


def outcome(attempt: PracticeAttempt) -> tuple[str, str]:
    """Returns the headline of a result, and its kind: good, part, bad or none."""
    verdict = attempt.verdict
    if attempt.secret:
        return "Saved", "none"
    if verdict is None:
        return NOT_JUDGED, "none"
    if verdict.verdict == "system error":
        return "Not judged (our fault)", "none"
    if verdict.credit is None:
        return _marked(attempt.marks), "none"
    if verdict.credit >= 1:
        return "Right!", "good"
    return (f"Partly right ({percent(verdict.credit)})", "part") if verdict.credit > 0 else ("Not this time", "bad")


def _marked(marks: tuple[bool, ...] | None) -> str:
    return "Compare with the answer" if marks is None else f"You marked {sum(marks)} of {plural(len(marks), 'point')}"


def returns(attempt: PracticeAttempt, now: datetime) -> str:
    """Says when the card comes back, or why that is not known."""
    if attempt.secret:
        return "This question is being asked right now, so its answer is shown when it closes."
    if attempt.next_due is None:
        return ""
    return f"This card comes back {wait_words(now, attempt.next_due)}."


def interval(due: datetime, now: datetime) -> str:
    """Returns how long a card stays away, in short: `3 days`, `2 months`."""
    days = max(1, round((due - now) / timedelta(days=1)))
    if days < 45:
        return plural(days, "day")
    return plural(round(days / 30.4), "month") if days < 700 else plural(round(days / 365), "year")


def typed(attempt: PracticeAttempt) -> tuple[str, str]:
    """Returns what the member typed, and the language it is in; empty if they chose options."""
    if attempt.given.code is not None:
        return attempt.given.code, "python"
    return attempt.given.text or "", ""


def options(attempt: PracticeAttempt) -> tuple[tuple[str, str, OptionKey | None, bool], ...]:
    """Returns the options as the member saw them: letter, Markdown, key if it may be shown, whether they chose it."""
    keys = {key.id: key for key in attempt.key.options} if attempt.key else {}
    chosen = attempt.given.options or ()
    return tuple((letter, text, keys.get(id_), id_ in chosen) for letter, id_, text in lettered(attempt.question))


def explanation(key: AnswerKey, *, points: bool) -> tuple[Block, ...]:
    """Returns what is below the options: the answer if there are none, and why; the key points with `points`."""
    left_out: dict[str, object] = {"options": ()} if points else {"options": (), "key_points": ()}
    if key.options:
        left_out["answer"] = ""
    return answer_blocks(key.model_copy(update=left_out))


def points(attempt: PracticeAttempt) -> tuple[tuple[str, str], ...]:
    """Returns the points of an open answer, each with its value in a form."""
    named = (attempt.key.key_points if attempt.key else ()) or ("It says the same as the model answer",)
    return tuple((str(at), point) for at, point in enumerate(named))


def verdict(found: VerdictView) -> tuple[Block, ...]:
    """Describes the verdict on code, case by case. The code itself is in the editor."""
    return verdict_blocks(found.model_copy(update={"judged": ""}))


def filter_words(wanted: PracticeFilter) -> str:
    """Describes what is practiced; empty if it is everything. Markdown."""
    named = (
        f"topic **{escape(wanted.topic)}**" if wanted.topic else "",
        f"level **{escape(wanted.level)}**" if wanted.level else "",
        f"kind **{escape(wanted.kind)}**" if wanted.kind else "",
    )
    return and_list([one for one in named if one])


def nothing_left(wanted: PracticeFilter, session: PracticeSession) -> str:
    """Says that there is no card, and what to do. Markdown."""
    if words := filter_words(wanted):
        return f"No more questions for {words}. Practice everything, or choose something else below."
    if session.practiced:
        return "You have seen every question, and no card is due. Cards come back over the next few days."
    return "You have seen every question, and no card is due today. Come back tomorrow, or look through the archive."


def summary(session: PracticeSession, now: datetime) -> tuple[tuple[str, str], ...]:
    """Returns the numbers of a session, each with what it counts."""
    done = len(session.practiced)
    took = max(1, round((now - session.since).total_seconds()))
    time = f"{took // 60} min {took % 60} s" if took >= 60 else f"{took} s"
    due = session.cards_due
    return (
        (f"{_right(session)}/{done}", "right"),
        (time, "for " + plural(done, "question")),
        (str(due), "card still due" if due == 1 else "cards still due"),
    )


def summary_line(one: PracticedQuestion, now: datetime) -> tuple[str, str, str]:
    """Returns how a question went, the kind of its mark, and when it comes back."""
    state = step_state(one)
    word = {"right": "Right", "part": "Partly right", "wrong": "Not right", "none": "Not judged"}[state]
    mark = {"right": "good", "part": "part", "wrong": "bad", "none": "none"}[state]
    return word, mark, f"back {wait_words(now, one.next_due)}" if one.next_due else ""
