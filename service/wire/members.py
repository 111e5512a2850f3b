"""Leaderboards, a member's statistics, privacy, codes that link accounts and chats, and the speed board of code."""

from __future__ import annotations

from datetime import date, datetime
from typing import Literal

from service.wire.base import Contest, Model, Period, Platform, Ref, Short, Verdict
from service.wire.questions import AnswerInput, Confidence, QuestionView, RankChange


class BoardRow(Model):
    rank: int
    name: str
    discord: Short = ""
    """Id on Discord, whose client shows it as a name to press; empty if unknown."""
    points: int
    answered: int
    accuracy: float
    """Mean credit over the answered rounds, 0 to 1."""
    streak: int
    me: bool = False
    gain: float | None = None
    """Gain in accuracy over the period before, for `improved`."""


class Board(Model):
    """A leaderboard over one period. Hidden members are left out, without gaps in the ranks."""

    title: str
    period: Period
    scope: Literal["channel", "workspace"]
    topic: str = ""
    contest: Contest = "points"
    since: datetime | None = None
    until: datetime | None = None
    rows: tuple[BoardRow, ...] = ()
    total: int = 0
    """Number of members on the board; `rows` may be only the top."""
    mine: BoardRow | None = None
    near: tuple[BoardRow, ...] = ()
    """The caller's row with up to two on either side; empty if the caller is not ranked."""


class TopicMastery(Model):
    """How well a member, or the average member of a team, knows a topic."""

    topic: str
    """The first step of the topics' paths, such as `autograd` of `autograd/hooks`."""
    answers: int
    """First answers to its questions in the last year."""
    right: float
    """Mean credit of those answers; for a team, the share that the average member would get right."""
    low: float | None = None
    high: float | None = None
    """Ends of the 80% range of the share right to expect of such questions; None with too few answers."""


class TopicsKnown(Model):
    """What a member and their team know, weakest topics first for the member, by name for the team."""

    mine: tuple[TopicMastery, ...] = ()
    team: tuple[TopicMastery, ...] = ()
    """Topics that are known of a team of several members."""


class ConfidenceShare(Model):
    """How often a member was right when they said how sure they were."""

    said: Confidence
    answers: int
    right: float
    """Mean credit."""
    low: float
    high: float
    """Ends of the range in which the true share lies with 95%."""


class Me(Model):
    name: str
    hidden: bool
    points: int
    season_points: int
    rank: int | None
    """Rank of all time in the workspace."""
    ranked: int = 0
    """Number of members on the board of all time."""
    answered: int
    accuracy: float
    streak: int
    best_streak: int
    freezes: int
    cards: int
    cards_due: int
    topics: tuple[TopicMastery, ...] = ()
    """Weakest first."""
    weeks: tuple[tuple[date, int, int, float], ...] = ()
    """Monday, points, answers and mean credit of each of the last weeks, oldest first."""
    calibration: tuple[ConfidenceShare, ...] = ()
    """From the least sure, without what they never said."""


class DayAnswers(Model):
    """What a member did on a day with questions."""

    day: date
    asked: int
    """Closed rounds, and open ones that the member has answered; of schedules that they answer."""
    answered: int
    right: float
    """Credit for the closed rounds, summed."""


class PastRound(Model):
    """A closed round with the answer of a member."""

    ref: Ref
    day: date
    question: QuestionView
    given: AnswerInput
    """The answer that counted. Code is left out."""
    verdict: Verdict | None = None
    """None if the answer is not judged yet."""
    credit: float | None = None
    """Share that is right, 0 to 1. For an open answer the share that people confirmed; None without one."""
    points: int = 0
    rank: RankChange = RankChange()


class History(Model):
    """A member's last weeks."""

    since: date
    """A Monday."""
    until: date
    """Today, in the workspace's time zone."""
    days: tuple[DayAnswers, ...] = ()
    """Days with questions, oldest first."""
    rounds: tuple[PastRound, ...] = ()
    """The latest closed rounds that the member answered, newest first."""


class MemberIdentity(Model):
    """A member as one chat knows them."""

    platform: Platform
    member: str
    """Their id in the chat."""


class MemberRow(Model):
    """A member in the list of admins. What they answered, and how well, is theirs alone."""

    name: str
    joined_at: datetime
    last_at: datetime | None
    """Latest answer to a round."""
    answered: int
    """Rounds that they answered."""
    points: int
    hidden: bool
    """Whether they are left out of the boards."""
    identities: tuple[MemberIdentity, ...]
    """Oldest first."""


class MemberPage(Model):
    """One page of the members, the most active first."""

    members: tuple[MemberRow, ...]
    total: int
    page: int
    size: int


class TopicCount(Model):
    topic: str
    questions: int


class Rules(Model):
    """The numbers that scoring uses, for `/quiz rules`."""

    base: dict[str, int]
    speed_bonus: bool
    speed_share: float
    speed_window_s: float
    thinking_s: float
    """Seconds in which every answer earns the whole bonus."""
    confidence: dict[Confidence, tuple[int, int]]
    """Points for a right and for a wrong answer, in schedules that ask how sure members are."""
    hint_cost: int
    """Points that a hint costs, out of those that the answer earns."""
    participation: float
    """Share of an open question's points that every answer earns."""
    freeze_cap: int
    freeze_every: int
    catch_up_minutes: int
    sprint_right: int
    """Points of a right answer in a sprint at the last moment."""
    sprint_speed: int
    """Points that a fast right answer in a sprint earns in addition."""
    sprint_thinking_s: float
    """Seconds within which speed earns all of them, at most a quarter of the question's time."""


NotificationKind = Literal["reminders", "results"]
"""A kind of private message that members opt in to."""


class NotificationView(Model):
    """What a member wants to be told in private."""

    reminders: bool
    results: bool
    platform: Platform
    """Platform of the chat that the messages go to."""
    refused: str = ""
    """Why that chat refused the latest message, as the bot reported it; empty if it accepted it."""


PrivacyAction = Literal["see", "export", "hide", "show", "forget", "csv"]


class PrivacyView(Model):
    """The data stored about a member."""

    name: str
    hidden: bool
    answers: int
    ledger_rows: int
    cards: int
    export: str = ""
    """Exported data, for `export` and `csv`."""
    format: Literal["json", "csv"] = "json"
    forgotten: bool = False


class LinkCode(Model):
    """A code to type in the other chat, valid once until `expires_at`. It is shown once and not stored."""

    code: str
    expires_at: datetime


class ChatLinked(Model):
    """What linking a chat brought to the shared workspace, or would bring if not `done`."""

    done: bool
    platforms: tuple[Platform, ...]
    """Platforms of the shared workspace, once linked."""
    schedules: int = 0
    members: int = 0
    points: int = 0
    """Total points."""
    banks: int = 0
    seasons: int = 0
    ending: str = ""
    """Name of the joining chat's running season, which ends and is archived."""


class MemberLinked(Model):
    """The result of merging two accounts into one member."""

    name: str
    """Name on leaderboards."""
    platforms: tuple[Platform, ...]
    """Platforms of all the member's accounts."""
    points: int = 0
    """Points moved to the remaining member."""
    twice: int = 0
    """Number of rounds answered with both accounts; each counts once, with the better result."""
    cards: int = 0
    hidden: bool = False
    """Whether the member is hidden from leaderboards, because either account was."""


MeasuredBy = Literal["time", "memory"]
"""What a speed board is ordered by."""


class Spread(Model):
    """A median and the interval that contains the true one with the board's `confidence`."""

    median: float
    low: float
    high: float


class MeasuredRow(Model):
    """One answer of the board."""

    rank: int
    """One more than how many others are certainly better. Where intervals overlap, the rank is shared."""
    name: str
    me: bool = False
    time: Spread
    """CPU time of all cases together, milliseconds."""
    memory: Spread
    """Peak memory beyond what torch takes, MiB."""
    better_than: int
    """Of how many percent of the others it is certainly better."""


class SharedSolution(Model):
    """The best code of those whose authors let others see it."""

    name: str
    rank: int
    code: str


class MeasurementBoard(Model):
    """The speed board of a closed round."""

    ref: Ref
    day: date
    question: str
    by: MeasuredBy
    rows: tuple[MeasuredRow, ...]
    """The best answers, and the caller's own. Without hidden members."""
    total: int
    """How many answers were measured, hidden members' too."""
    unsteady: int
    """How many more answers passed the round but were not right in every run."""
    runs: int
    confidence: float
    time: Spread
    """Of the reference."""
    memory: Spread
    shared: bool | None = None
    """Whether the caller lets others see their code; None if it is not on the board."""
    solution: SharedSolution | None = None
