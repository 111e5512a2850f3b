"""Notices to admins and channels: what happened, as facts. `bot.core.text.notices` turns them into sentences."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field

from service.wire.base import Model, Platform
from service.wire.questions import QuestionView
from service.wire.review import Decided, Settled

SandboxProblem = Literal["not connected", "unreachable", "no response", "starting", "failing"]
"""Why no sandbox judges code."""
ChannelMessage = Literal["question", "reveal", "outcome"]
"""A message of a round to a channel."""


class QuestionLate(Model):
    """A daily question was not posted in time. It is still being tried."""

    kind: Literal["question-late"] = "question-late"
    channel: str
    due_at: datetime
    until: datetime | None
    """When it will be given up."""
    zone: str
    claimed: bool
    """Whether a bot has fetched it."""
    error: str = ""
    """Error of the last attempt, as the bot reported it."""


class QuestionArrived(Model):
    """A late daily question was posted."""

    kind: Literal["question-arrived"] = "question-arrived"
    channel: str
    minutes: int
    """Delay, minutes."""


class PostFailed(Model):
    """A message was given up."""

    kind: Literal["post-failed"] = "post-failed"
    message: ChannelMessage | Literal["result", "verdict"]
    channel: str
    """Empty for a private message."""
    attempts: int
    error: str = ""
    """Error of the last attempt, as the bot reported it; empty if no bot came for the message."""


class RoleRefused(Model):
    """A chat does not let the bot give the winner's role. It is still being tried."""

    kind: Literal["role-refused"] = "role-refused"
    season: str
    error: str
    """What the chat said, and what to do."""
    until: datetime | None
    zone: str


class ChannelRefused(Model):
    """A chat refuses a message until an admin acts, such as by inviting the bot. It is still being tried."""

    kind: Literal["channel-refused"] = "channel-refused"
    message: ChannelMessage
    channel: str
    error: str
    """Why, and what ends it, as the bot reported it."""
    until: datetime | None
    """When it will be given up."""
    zone: str
    extra: bool = False
    """Whether it belongs to an extra round."""


class ChannelRecovered(Model):
    """A channel that had refused a message took one."""

    kind: Literal["channel-recovered"] = "channel-recovered"
    channel: str
    error: str
    """Error of the refused message, as the bot reported it."""


class AppRemoved(Model):
    """The bot was removed from a chat of the workspace."""

    kind: Literal["app-removed"] = "app-removed"
    platform: Platform


class AppRestored(Model):
    """The bot was installed in that chat again."""

    kind: Literal["app-restored"] = "app-restored"
    platform: Platform


class SandboxMissing(Model):
    """Code answers wait, because no sandbox judges them."""

    kind: Literal["sandbox-missing"] = "sandbox-missing"
    answers: int
    since: datetime
    zone: str
    problem: SandboxProblem
    detail: str = ""
    """Error of the connection or trouble of the sandbox, for operators."""


class SandboxRestored(Model):
    """Code answers are judged again."""

    kind: Literal["sandbox-restored"] = "sandbox-restored"
    minutes: int
    """Time since the problem was noticed, minutes."""


class BankLow(Model):
    """A schedule will soon have to repeat a question."""

    kind: Literal["bank-low"] = "bank-low"
    left: int
    """Questions that it has not asked yet."""


class NothingToAsk(Model):
    """No question fitted a schedule, so nothing was posted."""

    kind: Literal["nothing-to-ask"] = "nothing-to-ask"
    needs_gpu: bool
    """Whether questions fit that need a GPU, which no sandbox has."""


class SlotMissed(Model):
    """A question was skipped: it was due while Dailygrad did not run."""

    kind: Literal["slot-missed"] = "slot-missed"
    day: date
    catch_up_minutes: int
    """How late the schedule still posts, minutes."""


class QuestionCorrected(Model):
    """A question of a closed round was corrected, and points moved."""

    kind: Literal["question-corrected"] = "question-corrected"
    question: str
    day: date
    code: bool
    """Whether it is a code question, which has cases instead of a key."""
    gained: tuple[int, ...]
    """Points gained, one number for each member who gained any."""
    lost: tuple[int, ...]


class AnswerCredited(Model):
    """People gave the member's open answer its credit."""

    kind: Literal["answer-credited"] = "answer-credited"
    question: str
    day: date
    credit: float
    points: int
    """Points gained by it, or lost if an earlier credit was higher."""
    by_peer: bool
    """Whether another member confirmed the member's own marks; otherwise a moderator set the credit."""


class QuestionReported(Model):
    """A member reported a question, for its moderators."""

    kind: Literal["question-reported"] = "question-reported"
    report: int
    question: QuestionView | None
    """None where others than moderators may read it."""
    text: str = ""
    """What the member wrote; empty where others than moderators may read it."""


class ReportSettled(Model):
    """A moderator settled the member's report."""

    kind: Literal["report-settled"] = "report-settled"
    question: str
    state: Settled
    reason: str


class QuestionSuggested(Model):
    """A member suggested a question, for the moderators. It repeats nothing of it, so anyone may read it."""

    kind: Literal["question-suggested"] = "question-suggested"
    suggestion: int


class SuggestionDecided(Model):
    """A moderator accepted or declined the member's suggestion."""

    kind: Literal["suggestion-decided"] = "suggestion-decided"
    suggestion: int
    state: Decided
    question: str = ""
    """Id of the question that it became."""
    reason: str = ""


class DigestQuestion(Model):
    """The question of a week that was answered worst."""

    question: str
    answers: int
    right: float
    """Mean credit, from 0 to 1."""


class DigestTopic(Model):
    """A topic of recent weeks, and how it was answered."""

    topic: str
    answers: int
    right: float
    """Mean credit, from 0 to 1."""
    low: float | None = None
    high: float | None = None
    """The 80% range of what the average member knows of the topic; None where little is known."""


class WeekDigest(Model):
    """How a workspace's questions went that closed in a week. Without names."""

    kind: Literal["week-digest"] = "week-digest"
    first: date
    """The week's Monday."""
    last: date
    rounds: int
    members: int
    """Members who answered any of them."""
    members_before: int
    """Members who answered any question that closed in the week before."""
    answers: int
    right: float | None
    """Mean credit of the judged answers, from 0 to 1; None if there are none."""
    hardest: DigestQuestion | None
    """None if no question has enough judged answers."""
    weakest: tuple[DigestTopic, ...]
    """The topics answered worst in the last four weeks, worst first; only those with enough judged answers."""
    reports: int
    """Reports that wait for a moderator."""


class DigestView(Model):
    """The digest of the last complete week, and when the next one is sent."""

    digest: WeekDigest
    next_at: datetime | None
    """None if digests are off, or the workspace has no schedule yet."""
    zone: str


PERSONAL = (AnswerCredited, ReportSettled, SuggestionDecided)
"""Notices for one member. If that member cannot be reached, nobody else gets them."""
FOR_MODERATORS = (QuestionReported, QuestionSuggested, WeekDigest)
"""Notices that go only where an admin chose, or privately to one: they repeat what a member wrote, or are meant for
those who run the quiz."""

NoticeFact = Annotated[
    QuestionLate
    | QuestionArrived
    | PostFailed
    | ChannelRefused
    | RoleRefused
    | ChannelRecovered
    | AppRemoved
    | AppRestored
    | SandboxMissing
    | SandboxRestored
    | BankLow
    | NothingToAsk
    | SlotMissed
    | QuestionCorrected
    | AnswerCredited
    | QuestionReported
    | ReportSettled
    | QuestionSuggested
    | SuggestionDecided
    | WeekDigest,
    Field(discriminator="kind"),
]


class Notice(Model):
    """A message for admins, or for a channel, about something that happened."""

    kind: Literal["notice"] = "notice"
    fact: NoticeFact
