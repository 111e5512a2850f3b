"""Sprints: live quizzes in a channel, as admins start them and as the channel sees them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from service.wire.base import Model, Ref
from service.wire.questions import AnswerKey, QuestionView

SprintLength = Annotated[int, Field(ge=1, le=20)]
"""Number of questions."""
SprintSeconds = Annotated[int, Field(ge=10, le=120)]
"""Time for each question."""


class SprintView(Model):
    """A sprint as admins see it."""

    id: int
    total: int
    seconds: int
    topic: str = ""
    asked: int = 0
    """Number of questions posted so far."""


class SprintAnnouncement(Model):
    """The start of a sprint."""

    kind: Literal["sprint"] = "sprint"
    total: int
    seconds: int
    topic: str = ""
    starts_in_s: int


class SprintQuestionPost(Model):
    """A question of a sprint. Its message is edited to show the time left and the answers, and at last that it is
    closed."""

    kind: Literal["sprint-question"] = "sprint-question"
    ref: Ref
    number: int
    total: int
    seconds: int
    question: QuestionView
    left_s: int | None = None
    """Seconds left; None before the time begins to run."""
    answers: int = 0
    right: int | None = None
    """Number of right answers; None until the question is closed."""


class SprintStanding(Model):
    """A member's place in a sprint."""

    rank: int
    name: str
    points: int
    right: int
    """Number of right answers."""


class FastestAnswer(Model):
    """The first right answer to a question."""

    name: str
    ms: int
    """Milliseconds from the start of the question."""


class SprintReveal(Model):
    """The answer to a question of a sprint, what members chose, and the standings."""

    kind: Literal["sprint-reveal"] = "sprint-reveal"
    ref: Ref
    number: int
    total: int
    key: AnswerKey
    family: str = ""
    """Id of the family, if every member had a variant of their own."""
    answers: int
    right: int
    fastest: FastestAnswer | None = None
    standings: tuple[SprintStanding, ...] = ()
    """The best members so far."""
    unnamed: int = 0
    """How many more members have points."""


class SprintPodium(Model):
    """The result of a sprint."""

    kind: Literal["sprint-podium"] = "sprint-podium"
    asked: int
    total: int
    players: int
    """Number of members who answered at least once."""
    standings: tuple[SprintStanding, ...] = ()
    unnamed: int = 0
