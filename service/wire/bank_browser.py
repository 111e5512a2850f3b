"""A workspace's questions as its admins browse them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from questions.model import Kind, Level
from service.wire.base import Model, Short
from service.wire.item_statistics import ItemStatistics
from service.wire.questions import AnswerKey, QuestionView

QuestionState = Literal["asked", "waiting", "unanswered", "retired", "gone"]
"""`asked`: it can be asked; `waiting`: it was generated and waits for approval; `unanswered`: it has no key, so it is
never asked; `retired`: an admin of the workspace retired it; `gone`: its document no longer has it."""


class QuestionFilter(Model):
    """Which questions to list. What is empty does not matter."""

    text: Short = ""
    """Words in the question or its id."""
    topic: Short = ""
    kind: Kind | None = None
    level: Level | None = None
    state: QuestionState | None = None
    bank: Short = ""
    page: Annotated[int, Field(ge=1, le=10_000)] = 1


class BankQuestion(Model):
    """A question in a list."""

    id: str
    bank: str
    """Name of the bank."""
    own: bool
    kind: Kind
    level: Level | None
    topic: str
    prompt: str
    """Start of its prompt, Markdown."""
    state: QuestionState
    rounds: int = 0
    """Closed rounds of the workspace that asked it."""


class BankPage(Model):
    """One page of the questions that a filter finds, by topic."""

    questions: tuple[BankQuestion, ...]
    total: int
    page: int
    size: int


class BankVersion(Model):
    """A version of a question."""

    number: int
    at: datetime
    rounds: int
    """Rounds of the workspace that asked it."""


class QuestionDetails(Model):
    """All about one question, for admins."""

    listed: BankQuestion
    question: QuestionView
    key: AnswerKey | None
    """None while the workspace is asking it: admins play too."""
    versions: tuple[BankVersion, ...]
    """Newest first."""
    statistics: ItemStatistics | None
    """None while the workspace is asking it."""
    reports: int
    """Reports that wait."""
