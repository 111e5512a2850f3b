"""What members tell the moderators, and what moderators make of it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from service.wire.base import Model
from service.wire.questions import AnswerKey

Settled = Literal["dismissed", "fixed"]
"""How a report was settled: the question is right, or it was fixed."""


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
