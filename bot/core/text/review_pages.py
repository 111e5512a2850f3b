"""Words of the review queue on the web: reports, suggestions, and what an edit would move."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from bot.core.cards import Block
from bot.core.text.admin import import_fields
from bot.core.text.questions import question_blocks
from bot.core.text.results import answer_blocks, proof_blocks
from bot.core.text.similarity import TITLE
from bot.core.text.suggestions import PROBLEMS as PROBLEMS
from bot.core.text.suggestions import SUGGEST as SUGGEST
from bot.core.text.words import day_words, joined, plural
from service.wire import (
    MOST_REPORTS,
    AnswerKey,
    EditView,
    OpenAnswerView,
    RegradeView,
    ReportedQuestion,
    ReportView,
    SuggestionView,
    WaitingAnswers,
)

SIMILARITY: Final = TITLE
"""Title of the page that compares answers."""
SIMILARITY_ABOUT: Final = "Pairs of members whose wrong answers agree more than chance explains, and very fast answers."
"""What is on it."""
MOST_SETTLED = 10
"""Settled reports in the queue."""
LONGEST_REASON = 1000
"""Longest answer to a member, characters."""
NO_SUGGESTION: Final = (
    "No suggestions are waiting. Members suggest questions with `/quiz suggest` or on a page of the web."
)
NO_PERCENT: Final = ("Not a percentage", "A credit is a number from 0 to 100. Go back and type one.")
NO_QUESTION: Final = ("No such question", "Open the question again, and edit it from there.")
STATES: Final = {
    "open": "Waits",
    "dismissed": "Dismissed",
    "fixed": "Fixed",
    "waiting": "Waits",
    "accepted": "Accepted",
    "declined": "Declined",
}


def tally(reports: Collection[ReportView]) -> str:
    """Says how many reports wait: not all are listed."""
    return f"{len(reports)}+" if len(reports) >= MOST_REPORTS else str(len(reports))


def reported(view: ReportView) -> str:
    """Says who reported when."""
    return joined(view.by, day_words(view.at.date()))


def suggested(view: SuggestionView) -> str:
    """Says who suggested when."""
    return joined(view.by, day_words(view.at.date()))


def question_with_key(key: AnswerKey) -> tuple[Block, ...]:
    """Returns a question with key, reasons, proof and source, for moderators."""
    return (*question_blocks(key.question), *answer_blocks(key), *proof_blocks(key))


def cure(view: ReportedQuestion) -> str:
    """Says how the question can be fixed."""
    if view.corrected:
        return "The question was corrected since the report, and its answers were judged again."
    if view.own:
        return "Edit it here: you see what judging the answers again would move before it happens."
    return "Its bank is shared with other workspaces, so the operator edits it. You can retire it for your team."


def first_line(text: str) -> str:
    """Returns the prompt-like line of a suggestion, for a list."""
    lines = [line.strip() for line in text.splitlines()]
    prose = [line for line in lines if line and not line.startswith(("#", "---", "- [", "```"))]
    return next(iter(prose), next(iter(filter(None, lines)), ""))


def open_answer(view: OpenAnswerView) -> str:
    """Describes an open answer in a list."""
    marks = "" if view.marks is None else f"its author marked {sum(view.marks)} of {len(view.marks)}"
    return joined(day_words(view.day), view.key.question.id, marks, "shared with the team" if view.shared else "")


def more_answers(view: WaitingAnswers) -> str:
    """Says how many open answers the page leaves out."""
    comes = plural(view.total - len(view.answers), "more comes", "more come")
    return f"{comes} once these have a credit."


def changed(view: EditView) -> str:
    """Says what of the question changes."""
    if not view.fields:
        return "Nothing changes."
    return f"Changes: {import_fields(view.fields)}."


def moved(view: RegradeView) -> str:
    """Says in a sentence what judging the closed rounds again moves."""
    if not view.rounds:
        return "No closed round asked it, so nothing is judged again."
    asked = f"{plural(view.rounds, 'closed round')} asked it, with {plural(view.answers, 'answer')}."
    if not view.judged and view.answers:
        return f"{asked} Code is judged again in the sandbox after the edit; open answers keep their credit."
    if not view.members and not view.better and not view.worse:
        return f"{asked} Judged again, every answer keeps its points."
    return f"{asked} Judged again, the points of {plural(view.members, 'member')} change."


def numbers(view: RegradeView) -> tuple[tuple[str, str], ...]:
    """Returns the figures of a regrade with what they count."""
    return (
        (f"{view.better:,}", "answers become better"),
        (f"{view.worse:,}", "answers become worse"),
        (f"+{view.gained:,}", "points given"),
        (f"−{view.lost:,}", "points taken"),
    )
