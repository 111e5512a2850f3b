"""What bot processes exchange with the service: installations with their tokens, and the outbox."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from service.wire.base import Model, Platform, Ref, Secret, Short
from service.wire.members import BoardRow
from service.wire.questions import AnswerKey, QuestionView, VerdictView


class InstallationKey(Model):
    """Names an installation. `team` is empty for one of a whole enterprise, `enterprise` where there is none."""

    platform: Platform
    team: Short = ""
    enterprise: Short = ""


class Installation(InstallationKey):
    """A bot's right to act in a workspace. Kept encrypted."""

    token: Secret
    refresh: Secret | None = None
    expires_at: datetime | None = None
    """None for a token that does not expire."""
    app: Short = ""
    bot_id: Short = ""
    bot_user: Short = ""
    scopes: Annotated[tuple[Short, ...], Field(max_length=200)] = ()
    installed_by: Short = ""
    name: Short = ""
    """Of the workspace, for people."""


class QuestionPost(Model):
    """The day's question, for the channel."""

    kind: Literal["question"] = "question"
    ref: Ref
    question: QuestionView
    day: date
    closes_at: datetime
    late_minutes: int = 0
    zone: str = "UTC"


class PersonView(Model):
    name: str
    points: int
    streak: int = 0


class RevealPost(Model):
    """What the round came to, for the round's thread."""

    kind: Literal["reveal"] = "reveal"
    ref: Ref
    key: AnswerKey
    answers: int
    right: int
    mean_credit: float
    wrong_texts: tuple[tuple[str, int], ...] = ()
    """For `value` and `output`: the commonest wrong answers and how often each was given."""
    first: PersonView | None = None
    points: tuple[PersonView, ...] = ()
    board: tuple[BoardRow, ...] = ()
    next_at: datetime | None = None
    zone: str = "UTC"


class VerdictNote(Model):
    """A code answer's verdict, privately to its author."""

    kind: Literal["verdict"] = "verdict"
    ref: Ref
    question: QuestionView
    verdict: VerdictView
    closes_at: datetime | None = None
    key: AnswerKey | None = None
    """In practice only: a round's key waits for its close."""
    next_due: datetime | None = None
    zone: str = "UTC"
    """IANA zone in which the instants are said to people."""
    event_id: str = ""
    """The event that the answer came with, for the log alone."""


class Notice(Model):
    """A sentence or two for admins or for one member. Markdown."""

    kind: Literal["notice"] = "notice"
    title: str
    text: str


Body = Annotated[QuestionPost | RevealPost | VerdictNote | Notice, Field(discriminator="kind")]


class Delivery(Model):
    """One message to make, exactly once.

    `key` is the same at every attempt. With `uncertain`, an earlier attempt may have arrived: look before sending.
    """

    id: int
    key: str
    platform: Platform
    workspace: str
    channel: str
    """External id of the channel; for a private message the channel it belongs to, or empty."""
    member: str | None = None
    """Set for a private message."""
    reply_to: str | None = None
    """Message reference of the round's post, for what belongs in its thread."""
    due_at: datetime
    attempt: int
    uncertain: bool
    body: Body


class PostingChannel(Model):
    """A channel that a schedule posts to, as the platform knows it."""

    workspace: str
    channel: str
    name: str = ""
