"""Refusals of calls: why one was refused, as facts. `bot.core.text.refusals` turns them into sentences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import Field
from pydantic_core import ErrorDetails

from questions.model import Kind
from service.wire.base import Contest, Model

# Any call


class AdminsOnly(Model):
    """The caller is not a quiz admin."""

    kind: Literal["admins-only"] = "admins-only"


class NotFound(Model):
    """The workspace does not have what the call names."""

    kind: Literal["not-found"] = "not-found"
    what: Literal[
        "schedule", "question", "topic", "level", "kind", "report", "waiting question", "bank", "member",
        "open answer", "duel", "suggestion", "tournament", "measurement",
    ]  # fmt: skip
    name: str = ""
    """Name or number that was given; empty if it meant all."""
    similar: tuple[str, ...] = ()
    """Names that exist and may have been meant."""


class ChannelNeeded(Model):
    """The call concerns a channel, and the caller is in none."""

    kind: Literal["channel-needed"] = "channel-needed"


class TextNeeded(Model):
    """A text is empty."""

    kind: Literal["text-needed"] = "text-needed"
    what: Literal[
        "report",
        "reason of a dismissal",
        "reason of an adjustment",
        "name of a season",
        "suggestion",
        "reason of a decline",
    ]


class DailyLimitReached(Model):
    """The member made too many of these within a day."""

    kind: Literal["daily-limit-reached"] = "daily-limit-reached"
    what: Literal["report"]
    most: int


class EventReused(Model):
    """The event's id was used for another call or by another member."""

    kind: Literal["event-reused"] = "event-reused"
    event_id: str


class InvalidInput(Model):
    """A field of the call is outside its limits."""

    kind: Literal["invalid-input"] = "invalid-input"
    field: str
    """Words of the field's name; empty if it is the whole call."""
    problem: Literal["too long", "too short", "too small", "too large", "not storable", "invalid"]
    limit: float = 0
    """The limit that was exceeded, in characters if it is too long or too short."""
    detail: str = ""
    """Validator's message, for `invalid`."""


class CallTooLarge(Model):
    """The whole call is too large."""

    kind: Literal["call-too-large"] = "call-too-large"
    most: int
    """Limit, bytes."""


class TooManyCalls(Model):
    """The member, or everyone in their chat together, calls faster than the service allows."""

    kind: Literal["too-many-calls"] = "too-many-calls"
    retry_s: int
    """Seconds until the next call is accepted."""


class CallRejected(Model):
    """The processes are set up wrongly: a wrong token, a missing key. `message` is for operators, never for members."""

    kind: Literal["call-rejected"] = "call-rejected"
    code: str
    message: str


# Questions and answers


class QuestionGone(Model):
    """The question of a button or form cannot be answered here any more."""

    kind: Literal["question-gone"] = "question-gone"
    practice: bool


class NoHint(Model):
    """The question has no hint, or its round is closed."""

    kind: Literal["no-hint"] = "no-hint"
    closed: bool


class AnswerUnreadable(Model):
    """An answer that cannot be graded. It was not recorded."""

    kind: Literal["answer-unreadable"] = "answer-unreadable"
    problem: Literal[
        "no value", "no output", "no text", "too long", "not a value", "not computed", "ellipsis", "size",
        "no option", "unknown option", "several options",
    ]  # fmt: skip
    text: str = ""
    """Part of the answer that is not a value, or the unknown options."""
    length: int = 0
    limit: int = 0


class WrongKindOfAnswer(Model):
    """The answer does not fit the kind of question."""

    kind: Literal["wrong-kind-of-answer"] = "wrong-kind-of-answer"
    question: Kind


class StillOpen(Model):
    """The question is open in a round or in a duel of the member, so it can neither be practiced nor explained, and no
    earlier result of it is shown."""

    kind: Literal["still-open"] = "still-open"


class ResultNotReady(Model):
    """The round is still open, so nobody has a result yet."""

    kind: Literal["result-not-ready"] = "result-not-ready"
    closes_at: datetime
    zone: str = "UTC"


class NotAnswered(Model):
    """The member did not answer this round, so they cannot judge its question."""

    kind: Literal["not-answered"] = "not-answered"


class NotMet(Model):
    """The member may not see the key: they have not answered the question, and no round with it has closed."""

    kind: Literal["not-met"] = "not-met"
    question: str


class MarkingRefused(Model):
    """An open answer cannot be marked, shared or confirmed.

    `no answer`: the member has no answer to this question; `too early`: its round is open; `marked`: the member marked
    it before; `settled`: it has been given its credit.
    """

    kind: Literal["marking-refused"] = "marking-refused"
    why: Literal[
        "no answer", "too early", "marked", "unknown point", "not marked", "own answer", "not shared", "settled"
    ]


class RatingRefused(Model):
    """A practice card cannot get this rating.

    `wrong`: the answer was not right enough for it; `due`: the card is due, so answer it again; `no review`: its
    latest answer is not judged yet.
    """

    kind: Literal["rating-refused"] = "rating-refused"
    why: Literal["wrong", "due", "no review"]


class NothingToProve(Model):
    """The question has no program that proves its key."""

    kind: Literal["nothing-to-prove"] = "nothing-to-prove"
    question: str


class NoSandbox(Model):
    """No sandbox is connected, so code cannot be run."""

    kind: Literal["no-sandbox"] = "no-sandbox"


BusyCause = Literal["member", "full"]
"""Why a run has to be sent again later: another one of the member waits already, or too many of all members do."""


class SandboxBusy(Model):
    """The run has to be sent again later."""

    kind: Literal["sandbox-busy"] = "sandbox-busy"
    why: BusyCause


# Schedules and rounds


class InvalidTimetable(Model):
    """A schedule that cannot be planned."""

    kind: Literal["invalid-timetable"] = "invalid-timetable"
    field: Literal["weekdays", "days", "time", "zone", "holidays"]
    """`days`: no date within a year fits all of the schedule's rules."""
    value: str = ""
    similar: tuple[str, ...] = ()
    """Names of zones that may have been meant."""


class NothingFits(Model):
    """The bank has no question for the schedule."""

    kind: Literal["nothing-fits"] = "nothing-fits"
    needs_gpu: bool
    """Whether questions fit that need a GPU, which no sandbox has."""


class NotAskable(Model):
    """The question that was named cannot be asked now. `gone`: its document no longer contains it."""

    kind: Literal["not-askable"] = "not-askable"
    question: str
    why: Literal["asked now", "retired", "gone", "held", "no answer", "no variants", "needs gpu"]


class NoSlotAhead(Model):
    """The schedule has no slot within a year."""

    kind: Literal["no-slot-ahead"] = "no-slot-ahead"


class SlotTaken(Model):
    """The day's slot was posted or skipped before."""

    kind: Literal["slot-taken"] = "slot-taken"
    day: date


class SkipRefused(Model):
    """The day cannot be skipped."""

    kind: Literal["skip-refused"] = "skip-refused"
    day: date
    why: Literal["posted", "past", "no slot"]


class NoOpenRound(Model):
    """No round is open in the channel."""

    kind: Literal["no-open-round"] = "no-open-round"


class ChannelUnscheduled(Model):
    """No schedule posts to the channel, so it can have no extra round."""

    kind: Literal["channel-unscheduled"] = "channel-unscheduled"


class ShareRefused(Model):
    """The channels of the schedule cannot be changed like that."""

    kind: Literal["share-refused"] = "share-refused"
    schedule: int
    why: Literal["shared", "not shared", "only channel"]


# Boards, seasons and members


class NoSeason(Model):
    """No season is running."""

    kind: Literal["no-season"] = "no-season"


class NameRefused(Model):
    """Nobody can have this name in the web chat.

    `length`: it is empty or too long; `unreadable`: characters that cannot be shown; `marks`: too many marks on a
    letter; `alphabets`: a word with look-alike letters of two alphabets; `taken`: another person's or the quiz's;
    `alike`: looks like one of those.
    """

    kind: Literal["name-refused"] = "name-refused"
    why: Literal["length", "unreadable", "marks", "alphabets", "taken", "alike"]
    name: str = ""


class AdminRoleRefused(Model):
    """Who is an admin was not changed.

    `elsewhere`: the member is not in the web chat, and the platforms say who is an admin; `self`: the admin's own role,
    which another admin changes, so that one always remains.
    """

    kind: Literal["admin-role-refused"] = "admin-role-refused"
    why: Literal["elsewhere", "self"]


class SeasonNameTaken(Model):
    """A season of that name exists."""

    kind: Literal["season-name-taken"] = "season-name-taken"
    name: str


class SeasonTooShort(Model):
    """The running season began just now, so it cannot end yet."""

    kind: Literal["season-too-short"] = "season-too-short"
    name: str


class PeriodUnsuitable(Model):
    """The contest has no board for that period."""

    kind: Literal["period-unsuitable"] = "period-unsuitable"
    contest: Contest


class MemberAmbiguous(Model):
    """Several members have that name."""

    kind: Literal["member-ambiguous"] = "member-ambiguous"
    name: str
    ids: tuple[str, ...]
    """The platform's ids of those members."""


class NoRoundOn(Model):
    """No question was posted that day, so no streak can be restored."""

    kind: Literal["no-round-on"] = "no-round-on"
    day: date


class PointsOutOfRange(Model):
    """An adjustment by zero points, or by too many."""

    kind: Literal["points-out-of-range"] = "points-out-of-range"
    points: int
    most: int


class DuelRefused(Model):
    """A challenge, a response or an answer of a duel that is not possible.

    `open`: the two have a duel that has not ended; `left`: the other member left; `too many`: too many challenges of
    the member wait for a response.
    """

    kind: Literal["duel-refused"] = "duel-refused"
    why: Literal[
        "yourself", "left", "open", "too many", "too few questions", "not yours", "own challenge", "accepted", "ended",
        "not over",
    ]  # fmt: skip
    count: int = 0
    """The limit, for `too many`, and the number needed, for `too few questions`."""


# Banks


class DocumentRefused(Model):
    """A document that takes too much to read."""

    kind: Literal["document-refused"] = "document-refused"
    why: Literal["memory", "time", "blocks", "depth"]
    """`blocks`: too many lines, list items and quotes; `depth`: too many lists or quotes inside one another."""
    most: int = 0
    """The limit, for `blocks` and `depth`."""


class RestoreRefused(Model):
    """The question was retired by its document, so it cannot be restored by hand."""

    kind: Literal["restore-refused"] = "restore-refused"
    question: str


class SuggestionRefused(Model):
    """The suggestion cannot be accepted, declined or edited.

    `decided`: a moderator did that before; `changed`: another moderator edited it meanwhile; `unsound`: the checks
    find something that must be fixed first.
    """

    kind: Literal["suggestion-refused"] = "suggestion-refused"
    suggestion: int
    why: Literal["decided", "changed", "unsound"]


class EditRefused(Model):
    """A question cannot be edited here."""

    kind: Literal["edit-refused"] = "edit-refused"
    question: str
    why: Literal["shared", "unsound", "changed"]
    """`shared`: its bank belongs to the operator; `unsound`: the checks found something to fix; `changed`: its text is
    not the one any more that was shown to edit."""


class UndoRefused(Model):
    """The bank has no import that can be undone here."""

    kind: Literal["undo-refused"] = "undo-refused"
    bank: str
    why: Literal["shared", "no record", "no change", "not latest"]
    """`shared`: it belongs to the operator; `no record`: its latest import did not record its steps; `not latest`: the
    import that was meant is undone already, or another one came after it."""


# Linking


class LinkRefused(Model):
    """The code cannot link these two chats or accounts."""

    kind: Literal["link-refused"] = "link-refused"
    what: Literal["chat", "member"]
    why: Literal["wrong code", "too many codes", "linked", "same chat", "unlinked chats", "both known"]
    """`both known`: the two accounts are in one chat, so they are two people."""


class LinkWaits(Model):
    """A question is open in the joining chat, and chats are linked between rounds."""

    kind: Literal["link-waits"] = "link-waits"
    channel: str
    closes_at: datetime


# Sprints


class SprintRefused(Model):
    """A sprint cannot be started, stopped or answered now."""

    kind: Literal["sprint-refused"] = "sprint-refused"
    why: Literal[
        "running", "no questions", "not running", "closed", "not begun", "past", "far", "many", "not planned"
    ]  # fmt: skip
    """`running`: one runs already; `closed`: the time for the question is over; `not begun`: its time does not run
    yet; `past` and `far`: no sprint can be planned for then; `many`: no more can be planned."""


# Tournaments


class TournamentRefused(Model):
    """A tournament cannot be planned, changed or joined so.

    `live`: one has not ended; `schedules`: no such schedule, or none in the channel; `past day`: it must start after
    today; `few days`: a bracket of these teams needs `count`; `one chat`: only one is linked; `closed`: nobody joins
    any more; `no captains`: no captain picks teams in it; `not your turn`: another team is smaller; `not free`: the
    member is in a team or has not joined; `another`: the one that was to be canceled has ended, and another is live.
    """

    kind: Literal["tournament-refused"] = "tournament-refused"
    why: Literal[
        "live", "none", "schedules", "past day", "few days", "one chat", "closed", "not joined", "no captains",
        "not captain", "not your turn", "not free", "started", "another",
    ]  # fmt: skip
    count: int = 0


CallRefusal = (
    AdminsOnly
    | NotFound
    | ChannelNeeded
    | TextNeeded
    | DailyLimitReached
    | EventReused
    | InvalidInput
    | CallTooLarge
    | TooManyCalls
    | CallRejected
)
AnswerRefusal = (
    QuestionGone
    | NoHint
    | AnswerUnreadable
    | WrongKindOfAnswer
    | StillOpen
    | ResultNotReady
    | NotAnswered
    | NotMet
    | MarkingRefused
    | RatingRefused
    | NothingToProve
    | NoSandbox
    | SandboxBusy
)
ScheduleRefusal = (
    InvalidTimetable
    | NothingFits
    | NotAskable
    | NoSlotAhead
    | SlotTaken
    | SkipRefused
    | NoOpenRound
    | ChannelUnscheduled
    | ShareRefused
)
MemberRefusal = (
    NoSeason
    | NameRefused
    | AdminRoleRefused
    | SeasonNameTaken
    | SeasonTooShort
    | PeriodUnsuitable
    | MemberAmbiguous
    | NoRoundOn
    | PointsOutOfRange
    | DuelRefused
)
BankRefusal = DocumentRefused | EditRefused | RestoreRefused | SuggestionRefused | UndoRefused
LinkRefusal = LinkRefused | LinkWaits
Refusal = Annotated[
    CallRefusal
    | AnswerRefusal
    | ScheduleRefusal
    | MemberRefusal
    | BankRefusal
    | LinkRefusal
    | SprintRefused
    | TournamentRefused,
    Field(discriminator="kind"),
]


class Failure(Model):
    """The body of every response that refuses a call."""

    refusal: Refusal


def describe(refusal: Refusal) -> str:
    """Returns a refusal as it is logged: its kind and its facts."""
    if isinstance(refusal, CallRejected):
        return refusal.message
    facts = refusal.model_dump(mode="json", exclude={"kind"}, exclude_defaults=True)
    return f"{refusal.kind} {facts}" if facts else refusal.kind


_LIMITS: Final[dict[str, tuple[Any, str]]] = {
    "string_too_long": ("too long", "max_length"),
    "string_too_short": ("too short", "min_length"),
    "greater_than_equal": ("too small", "ge"),
    "less_than_equal": ("too large", "le"),
}

_DATE = "write it as year-month-day, such as 2026-03-02"
_NUMBER = "write a whole number in digits, such as 3"
_WANTED: Final = {
    **dict.fromkeys(("date_parsing", "date_from_datetime_parsing", "date_from_datetime_inexact"), _DATE),
    **dict.fromkeys(("int_parsing", "int_parsing_size", "int_from_float"), _NUMBER),
    "time_parsing": "write it as hours and minutes, such as 09:00",
}
"""What to write instead, by the type of the validator's error; it words these for programmers."""


def invalid_input(errors: Sequence[ErrorDetails], skip: int = 0) -> InvalidInput:
    """Returns the first of a validator's errors. Leaves out the first `skip` parts of its location."""
    first = errors[0]
    field = " ".join(str(part) for part in first["loc"][skip:]).replace("_", " ")
    if first["type"] in _LIMITS:
        problem, limit = _LIMITS[first["type"]]
        return InvalidInput(field=field, problem=problem, limit=first["ctx"][limit])
    detail = _WANTED.get(first["type"], first["msg"]).removeprefix("Value error, ")
    return InvalidInput(field=field, problem="invalid", detail=detail)
