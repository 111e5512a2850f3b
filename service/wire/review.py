"""What members tell the moderators, and what moderators make of it."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Literal

from service.wire.base import Model
from service.wire.questions import AnswerKey

Settled = Literal["dismissed", "fixed"]
"""How a report was settled: the question is right, or it was fixed."""
Decided = Literal["accepted", "declined"]
LONGEST_SUGGESTION = 3000
"""Longest suggested question, characters: what fits a form of every chat."""
MOST_REPORTS = 200
"""Most open reports in a list, and most settled ones."""


class ReportView(Model):
    id: int
    question: str
    by: str
    text: str
    at: datetime
    state: Literal["open", "dismissed", "fixed"]
    reason: str = ""
    """What the moderator who settled it answered."""


class ReportedQuestion(Model):
    """A report beside the question it is about, for moderators."""

    report: ReportView
    key: AnswerKey
    """The version that was reported."""
    own: bool
    """Whether the question is in a bank of the workspace's own, which its admins can import again."""
    corrected: bool
    """Whether the question has a newer version."""


class SettledReport(Model):
    """How a report was settled. Stored with the moderator's event, so it does not repeat what its author wrote."""

    id: int
    question: str
    state: Settled


SuggestionProblem = Literal[
    "", "errors", "no question", "several questions", "no answer", "unreadable", "too many", "too many today"
]
"""Why a suggestion cannot be submitted or accepted; empty if it can. `unreadable`: it takes too much to read; `too
many`: enough suggestions of its author wait; `too many today`: they suggested enough in the last 24 hours."""


def digest_of(text: str) -> str:
    """Returns what a button carries of a suggestion's text, to tell whether it is still the one that was shown."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


class SuggestionReceipt(Model):
    """What became of a question that a member sent."""

    id: int
    """Number of the suggestion; 0 if it was not submitted."""
    problem: SuggestionProblem
    """If there is one, the text is kept as a draft."""
    findings: str = ""
    """What the checks found, with place, cause and fix."""


class SuggestionView(Model):
    id: int
    by: str
    text: str
    at: datetime
    state: Literal["waiting", "accepted", "declined"]
    reason: str = ""
    """Why it was declined."""
    question: str = ""
    """Id of the question that it became."""


class SuggestionPreview(Model):
    """The text of a suggestion, read like a document of the bank."""

    problem: SuggestionProblem
    findings: str
    key: AnswerKey | None
    """The question with its key; None if the text is not one question."""


class SuggestedQuestion(SuggestionPreview):
    """A suggestion as a moderator sees it."""

    suggestion: SuggestionView
    similar: tuple[str, ...] = ()
    """Ids of questions that ask the same or nearly the same, most similar first."""


class QuestionSource(Model):
    """A question of the workspace's own bank as Markdown, to edit."""

    question: str
    bank: str
    """Title of the bank."""
    text: str


class RegradeView(Model):
    """What judging the answers of closed rounds again moves."""

    rounds: int = 0
    """Closed rounds with the question."""
    answers: int = 0
    """Answers in them that count."""
    judged: int = 0
    """Of those, answers that are judged at once; code is judged later, and open answers keep their credit."""
    better: int = 0
    worse: int = 0
    gained: int = 0
    """Points that members get."""
    lost: int = 0
    members: int = 0
    """Members whose points change."""


class EditView(Model):
    """What an edit of a question did, or would do if not `applied`."""

    question: str
    problem: SuggestionProblem = ""
    findings: str = ""
    key: AnswerKey | None = None
    """The question with its key as the text is read; None with a problem."""
    applied: bool = False
    fields: tuple[str, ...] = ()
    """Names of the model's fields that change."""
    regrade: RegradeView = RegradeView()


class DecidedSuggestion(Model):
    """What a moderator decided. Stored with the moderator's event, so it does not repeat what the author wrote."""

    id: int
    state: Decided
    question: str = ""
    """Id of the question that it became."""
