"""Calls of bot processes: installations with their tokens, and the outbox."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from service.wire.admin import WinnerOf
from service.wire.base import EventId, Model, Platform, Ref, Secret, Short, Verdict
from service.wire.competitions import (
    DuelPost,
    SprintAnnouncement,
    SprintPodium,
    SprintQuestionPost,
    SprintReveal,
    TournamentPost,
    TournamentTeam,
)
from service.wire.members import BoardRow
from service.wire.notices import Notice, NoticeFact
from service.wire.questions import AnswerInput, AnswerKey, QuestionView, RoundResult, VerdictView


class Shards(Model):
    """The shards of Discord's gateway that one bot process connects: from `first` to `last`, of `count`."""

    first: Annotated[int, Field(ge=0, lt=100_000)]
    last: Annotated[int, Field(ge=0, lt=100_000)]
    count: Annotated[int, Field(ge=1, le=100_000)]

    def __str__(self) -> str:
        return f"{self.first if self.first == self.last else f'{self.first}-{self.last}'}/{self.count}"

    @property
    def numbers(self) -> list[int]:
        """The shards' numbers."""
        return [*range(self.first, self.last + 1)]


class InstallationKey(Model):
    """Identifies an installation. `team` is empty for an enterprise-wide one, `enterprise` if there is none."""

    platform: Platform
    team: Short = ""
    enterprise: Short = ""


class Installation(InstallationKey):
    """A bot's authorization for a workspace. Its tokens are stored encrypted."""

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
    """Name of the workspace."""


class QuestionPost(Model):
    """The question of the day, for the channel."""

    kind: Literal["question"] = "question"
    ref: Ref
    question: QuestionView
    day: date
    closes_at: datetime
    late_minutes: int = 0
    extra: bool = False
    """Whether an admin asked for it, beside the day's question."""
    ping: str = ""
    """Id of the role or user group that the post notifies, as in the schedule."""
    zone: str = "UTC"


class ReceivedEvent(Model):
    """An event that a bot acknowledged, and how to answer it."""

    id: EventId
    kind: Short
    """Class of the event."""
    content: Annotated[str, Field(max_length=400_000)]
    """The event as JSON, which only the bot reads."""
    route: Annotated[dict[Short, Annotated[str, Field(max_length=20_000)]], Field(max_length=30)]
    author: Short = ""
    """The person whose events of this kind are answered in the order of their arrival; empty for any order."""


Recorded = Literal["first", "waits", "repeated"]
"""What became of an event: nothing before it waits, an earlier one of its author does, or it was recorded before."""


class PostUpdate(Model):
    """The current state of a posted question, whose message is edited to show it."""

    kind: Literal["update"] = "update"
    post: QuestionPost
    answers: int
    """Number of members who answered."""
    right: int | None = None
    """Number of right answers; None while the round is open."""
    unjudged: int = 0
    """Number of answers of a closed round whose verdict is still to come."""


class PersonView(Model):
    name: str
    discord: Short = ""
    """Id on Discord, whose client shows it as a name to press; empty if unknown."""
    points: int
    streak: int = 0


class ContestantAnswer(Model):
    """What the model that takes part unranked answered to a round."""

    model: str
    """Its name; empty if the installation names none."""
    problem: Literal["", "no model", "no answer", "invalid answer"] = ""
    """Why there is no answer. `no answer`: the endpoint failed, or was too slow."""
    given: AnswerInput | None = None
    verdict: Verdict | None = None
    """None if nothing judged the answer: it is prose, or code without a sandbox."""
    credit: float | None = None


class RevealPost(Model):
    """A round's result, for its thread."""

    kind: Literal["reveal"] = "reveal"
    ref: Ref
    day: date
    key: AnswerKey
    answers: int
    right: int
    unjudged: int = 0
    """Number of answers whose verdict is still to come."""
    mean_credit: float
    """Of the judged answers."""
    wrong_texts: tuple[tuple[str, int], ...] = ()
    """Most common wrong answers and their counts, for `value` and `output`."""
    first: PersonView | None = None
    points: tuple[PersonView, ...] = ()
    """The members with the most points, best first."""
    unnamed: int = 0
    """How many more members have points."""
    board: tuple[BoardRow, ...] = ()
    contestant: ContestantAnswer | None = None
    """None unless the schedule asks a model, too."""
    suggested_by: str = ""
    """Name of the member who suggested the question; empty if nobody did or they are not to be named."""
    next_at: datetime | None = None
    extra: bool = False
    zone: str = "UTC"


class OutcomePost(Model):
    """A round's result in brief, for everyone in the channel."""

    kind: Literal["outcome"] = "outcome"
    ref: Ref
    day: date
    key: AnswerKey
    answers: int
    right: int
    unjudged: int = 0
    """Number of answers whose verdict is still to come."""
    first: PersonView | None = None
    next_at: datetime | None = None
    extra: bool = False
    zone: str = "UTC"


class Placed(Model):
    """A member's place."""

    rank: int
    name: str
    points: int


class WinnerPost(Model):
    """The winners of a season, sprint or tournament, whom the chat gives a role before this is posted."""

    kind: Literal["winner"] = "winner"
    event: WinnerOf = "season"
    season: str = ""
    """Name of the season or tournament; a sprint has none."""
    top: tuple[Placed, ...] = ()
    """The best members, winners first."""
    teams: tuple[TournamentTeam, ...] = ()
    """The winning teams of a tournament, instead of members."""
    role: Short
    winners: tuple[Short, ...] = ()
    """External ids of the winners who are in this chat."""
    former: tuple[Short, ...] = ()
    """External ids of those who were given the role before and lose it."""


class ReminderNote(Model):
    """A reminder that a round closes soon, for one member whose streak it would break."""

    kind: Literal["reminder"] = "reminder"
    ref: Ref
    question: QuestionView
    streak: int
    closes_at: datetime
    zone: str = "UTC"


class VerdictNote(Model):
    """A code answer's verdict, a private message to its author."""

    kind: Literal["verdict"] = "verdict"
    ref: Ref
    question: QuestionView
    verdict: VerdictView
    closes_at: datetime | None = None
    key: AnswerKey | None = None
    """Answer key, in practice only: a round reveals its key when it closes."""
    next_due: datetime | None = None
    zone: str = "UTC"
    """IANA time zone in which instants are shown."""
    event_id: str = ""
    """Event id of the answer, for the log."""
    practicing: Short = ""
    """What the member practices, as the bot wrote it with the answer."""


SprintBody = SprintAnnouncement | SprintQuestionPost | SprintReveal | SprintPodium
Body = Annotated[
    QuestionPost
    | PostUpdate
    | RevealPost
    | OutcomePost
    | RoundResult
    | ReminderNote
    | VerdictNote
    | Notice
    | DuelPost
    | TournamentPost
    | WinnerPost
    | SprintBody,
    Field(discriminator="kind"),
]


def _kinds(union: Any) -> tuple[str, ...]:
    """Returns the kinds in a union of models that `kind` tells apart."""
    return tuple(model.model_fields["kind"].default for model in get_args(get_args(union)[0]))


READABLE_KINDS = (
    *(kind for kind in _kinds(Body) if kind != "notice"),
    *(f"notice:{kind}" for kind in _kinds(NoticeFact)),
)
"""Kinds of messages that this version can read; of notices, those of their facts."""


class PostedMessage(Model):
    """A message that was posted, and the key it was posted under."""

    ref: str
    key: str


AttemptOutcome = Literal["failed", "uncertain", "refused", "waits"]
"""How an attempt to post a message ended: not posted; perhaps posted; refused for good; refused until an admin acts,
such as by inviting the bot."""


class Delivery(Model):
    """One message to post, exactly once.

    `key` is the same at every attempt. If `uncertain`, an earlier attempt may have arrived: check before posting.
    """

    id: int
    key: str
    platform: Platform
    workspace: str
    channel: str
    """External id of the channel; for a private message, the channel it is about, or empty."""
    member: str | None = None
    """External id of the member; set for a private message."""
    reply_to: str | None = None
    """Message reference of the round's post, for messages in its thread."""
    edits: PostedMessage | None = None
    """Message to edit, instead of posting one."""
    due_at: datetime
    attempt: int
    uncertain: bool
    body: Body


class PostingChannel(Model):
    """A channel that a schedule posts to, as the platform knows it."""

    workspace: str
    channel: str
    name: str = ""
