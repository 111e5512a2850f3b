"""Practice: a member's latest attempt at a card, how they rate it, and a session of several cards."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from service.wire.base import Model, Ref
from service.wire.questions import AnswerInput, AnswerKey, QuestionView, VerdictView

Rating = Literal["again", "hard", "good", "easy"]
"""How well a member knew a card, as FSRS takes it."""


class RatingChoice(Model):
    """A rating that the member may give a card, and when the card would come back."""

    rating: Rating
    due: datetime


class PracticeAttempt(Model):
    """A member's latest practice answer to a question."""

    ref: Ref
    question: QuestionView
    """Its options are in the member's own order."""
    given: AnswerInput
    verdict: VerdictView | None = None
    """None while the answer is being judged, and while the key is secret."""
    key: AnswerKey | None = None
    """None while the key is secret, and for code that has not passed."""
    secret: bool = False
    """Whether the question is asked somewhere now, so that its key has to wait."""
    marks: tuple[bool, ...] | None = None
    """The member's marks of an open answer."""
    next_due: datetime | None = None
    rating: Rating | None = None
    """Rating of the latest review."""
    choices: tuple[RatingChoice, ...] = ()
    """Ratings that the member may choose from; empty if there is nothing to choose."""
    zone: str = "UTC"


class PracticedQuestion(Model):
    """A question practiced in a session."""

    ref: Ref
    question: QuestionView
    judged: bool
    credit: float | None = None
    """Share that was right in the latest answer; None while it is judged or secret, and for an open answer."""
    next_due: datetime | None = None


class PracticeSession(Model):
    """What a member has practiced since a moment."""

    since: datetime
    cards_due: int = 0
    """Cards that are due now."""
    practiced: tuple[PracticedQuestion, ...] = ()
    """Each question once, in the order of the first answers."""
    zone: str = "UTC"
