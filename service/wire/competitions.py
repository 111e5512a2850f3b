"""Competitions: sprints, duels, tournaments, and statistics of answers that agree or come very fast."""

from __future__ import annotations

from datetime import date, datetime, time
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from service.wire.base import Model, Platform, Ref, Short
from service.wire.questions import AnswerInput, AnswerKey, AskForm, QuestionView

SprintLength = Annotated[int, Field(ge=1, le=20)]
"""Number of questions."""
SprintSeconds = Annotated[int, Field(ge=10, le=120)]
"""Time for each question."""

Fate = Literal["", "started", "cancelled", "missed", "no questions"]
"""What became of a planned sprint: `missed`: nothing ran at its time; `no questions`: none fitted any more. Empty while
it is still to come."""


class PlannedSprint(Model):
    """A sprint that an admin plans: a local time in the workspace's zone."""

    questions: SprintLength
    seconds: SprintSeconds
    topic: Annotated[str, Field(max_length=100)] = ""
    at: time
    day: date | None = None
    """None for when that time is next."""


class SprintView(Model):
    """A sprint as admins see it, or a planned one as everyone does."""

    id: int
    total: int
    seconds: int
    topic: str = ""
    asked: int = 0
    """Number of questions posted so far."""
    starts_at: AwareDatetime | None = None
    """When a planned sprint begins; None for one that was started at once."""
    zone: str = "UTC"
    channel: str = ""
    """Name of its channel."""


class SprintAnnouncement(Model):
    """The start of a sprint, or with `starts_at` that one is planned."""

    kind: Literal["sprint"] = "sprint"
    total: int
    seconds: int
    topic: str = ""
    starts_in_s: int
    starts_at: AwareDatetime | None = None
    zone: str = "UTC"
    fate: Fate = ""


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
    discord: Short = ""
    """Id on Discord, whose client shows it as a name to press; empty if unknown."""
    points: int
    right: int
    """Number of right answers."""


class FastestAnswer(Model):
    """The first right answer to a question."""

    name: str
    discord: Short = ""
    """Id on Discord, whose client shows it as a name to press; empty if unknown."""
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


class SprintResult(Model):
    """How a member did in a sprint so far."""

    points: int
    rank: int | None = None
    """None without points, and for hidden members."""
    credit: float | None = None
    """Credit for the latest question that is settled; None if the member did not answer it."""
    earned: int = 0
    """Points for that question."""


class LiveSprint(Model):
    """A sprint at this moment, as one member sees it."""

    id: int
    total: int
    seconds: int
    topic: str = ""
    state: Literal["announced", "posting", "asking", "pausing", "over"]
    """`announced`: the first question is still to come; `posting`: the question's message is on its way."""
    number: int = 0
    """The current question, from 1; 0 before the first."""
    left_s: float | None = None
    """Seconds until the state changes; None if it waits for a message, and at the end."""
    answers: int = 0
    """Answers to the current question."""
    form: AskForm | None = None
    """The question, while it can be answered."""
    reveal: SprintReveal | None = None
    """The answer to the latest question that is settled."""
    podium: SprintPodium | None = None
    """The result, at the end."""
    mine: SprintResult | None = None
    """None if the member has not answered yet."""


class Sprints(Model):
    """The sprints of a workspace: the one that runs or else ran last, and those that are planned, next first."""

    live: LiveSprint | None = None
    planned: tuple[SprintView, ...] = ()
    step: str = ""
    """Names this state, answers aside, as `SprintPulse.step` does."""


class SprintPulse(Model):
    """What changes while a sprint runs: a page that has it needs nothing else until it differs."""

    step: str = ""
    """Names the state of the sprint and the plans: a page that shows another step is out of date."""
    answers: int = 0
    """Answers to the current question."""


DuelSide = Literal["challenger", "opponent"]
DuelState = Literal["asked", "running", "over", "declined", "expired", "cancelled"]
DuelWinner = Literal["challenger", "opponent", "draw"]
DuelEvent = Literal["asked", "accepted", "declined", "expired", "cancelled", "over"]


class DuelPlayer(Model):
    """One of the two members of a duel."""

    name: str
    discord: Short = ""
    """Id on Discord, whose client shows it as a name to press; empty if unknown."""
    done: bool = False
    """Whether they have nothing left to answer."""
    correct: int | None = None
    """Right answers; None until the duel is over."""
    seconds: float | None = None
    """Total time that the questions took, seconds; None until the duel is over."""
    rating: int | None = None
    """Rating after the duel; None until it is over."""
    change: int = 0
    """Change of the rating by the duel."""


class DuelView(Model):
    """A duel as one member sees it, or as everyone does. It never says before the end what is right."""

    duel: int
    state: DuelState
    topic: str = ""
    questions: int
    question_seconds: int
    challenger: DuelPlayer
    opponent: DuelPlayer
    you: DuelSide | None = None
    """The reader's side; None in a channel."""
    answered: int = 0
    """Questions that the reader has answered, or that closed before they did."""
    next_ref: str = ""
    """The question that the reader answers next; empty if there is none."""
    winner: DuelWinner | None = None
    respond_by: datetime
    ends_at: datetime | None = None
    zone: str = "UTC"


class DuelAnswer(Model):
    """A question of a duel that is over, with the reader's own answer."""

    key: AnswerKey | None
    """None while a round, a sprint or another duel asks the question: its key is still secret."""
    given: AnswerInput | None
    """None if the reader did not answer in time."""
    correct: bool = False
    """False also while the key is secret."""


class DuelTurn(Model):
    """What follows when a member opens or answers a question of a duel."""

    duel: DuelView
    ask: AskForm | None = None
    """The question; None if there is nothing to answer."""
    late: bool = False
    """Whether an answer came too late to count."""


class DuelReview(Model):
    """A duel with the reader's answers; none before it is over."""

    duel: DuelView
    answers: tuple[DuelAnswer, ...] = ()


class LadderRow(Model):
    rank: int
    name: str
    discord: Short = ""
    """Id on Discord, whose client shows it as a name to press; empty if unknown."""
    rating: int
    duels: int
    wins: int
    draws: int
    me: bool = False


class Ladder(Model):
    """The members of a workspace by their rating. Hidden members are left out, without gaps in the ranks."""

    rows: tuple[LadderRow, ...] = ()
    total: int = 0
    """Number of members on the ladder; `rows` may be only the top."""
    mine: LadderRow | None = None


class MyDuels(Model):
    """A member's duels that have not ended, and the results of the latest ones, newest first."""

    rating: int
    live: tuple[DuelView, ...] = ()
    past: tuple[DuelView, ...] = ()


class DuelPost(Model):
    """A message about a duel: to one of its members, or with `duel.you` None to the channel."""

    kind: Literal["duel"] = "duel"
    event: DuelEvent
    duel: DuelView


TournamentForm = Literal["table", "bracket"]
"""Every day each team meets each other, or pairs of teams whose winners advance."""
TournamentTeams = Literal["random", "captains", "chats"]
"""How teams are made: balanced at random, picked by captains, or one of each linked chat."""
TournamentBalance = Literal["points", "rating"]
"""What says how strong a member is: recent points, or the rating of duels."""
TournamentState = Literal["joining", "running", "over", "cancelled"]
TournamentEvent = Literal["announced", "started", "day", "over", "cancelled"]
PairWinner = Literal["first", "second", "both"]
"""Which team of a pair is in the next stage. Equal teams both are."""


class TournamentPlan(Model):
    """A tournament as an admin plans it."""

    title: Annotated[str, Field(min_length=1, max_length=60)]
    first_day: date | None = None
    """The next Monday if it is None."""
    days: Annotated[int, Field(ge=1, le=31)] = 7
    form: TournamentForm = "table"
    teams: TournamentTeams = "random"
    team_count: Annotated[int, Field(ge=2, le=16)] = 2
    """Number of teams, if they are made at random."""
    best: Annotated[int, Field(ge=1, le=100)] | None = None
    """Most members of a team that count on a day."""
    late: bool = True
    """Whether members can join after the start."""
    balance: TournamentBalance = "points"
    schedules: Annotated[tuple[Annotated[int, Field(ge=1, lt=2**63)], ...], Field(max_length=20)] = ()
    """Schedules whose daily rounds count; those of the channel if empty."""


class Named(Model):
    """A member who is named."""

    name: str
    discord: Short = ""
    """Id on Discord, whose client shows it as a name to press; empty if unknown."""


class TournamentTeam(Model):
    """A team and its place."""

    number: int
    platform: Platform | None = None
    """The chat whose members it is made of."""
    chat: int = 0
    """Tells several chats of one platform apart: 1 for the oldest; 0 if there is one."""
    captain: Named | None = None
    members: int
    named: tuple[Named, ...] = ()
    """The first of its members; hidden ones are only counted."""
    rank: int = 0
    """0 before any team has earned anything."""
    table: int = 0
    """Table points."""
    points: int = 0
    """Sum of the points of all days."""
    playing: bool = True
    """Whether it can still win."""
    answered: int = 0
    """Members who have answered a round of today that is open."""


class TournamentScore(Model):
    """What a team earned on a day."""

    team: int
    points: int
    counted: int
    """Members whose results were added up."""
    accuracy: float
    seconds: float | None = None
    """Their mean time."""
    corrected: int = 0
    """Change of the points since the day was settled first."""


class TournamentPair(Model):
    """Two teams of a bracket that meet, or one without an opponent."""

    first: int
    second: int | None = None
    winner: PairWinner | None = None


class TournamentStage(Model):
    """The pairs of one stage of a bracket."""

    number: int
    day: date | None = None
    """The day that decided it; None if it is still open."""
    pairs: tuple[TournamentPair, ...]


class TournamentDay(Model):
    """A day that was settled. Without rounds nobody played."""

    day: date
    rounds: int
    scores: tuple[TournamentScore, ...] = ()
    """Best first."""


class TournamentView(Model):
    """A tournament as everyone sees it. Its numbers reveal nothing about open rounds."""

    id: int
    title: str
    form: TournamentForm
    teams_by: TournamentTeams
    state: TournamentState
    first_day: date
    days: int
    best: int | None = None
    """Members of each team that count on a day; None before the start."""
    at_most: int | None = None
    """The most members of a team that will count on a day, if the plan says so; None from the start on."""
    late: bool
    day_left: bool = True
    """Whether a day is left that would count for a reader who joins now."""
    zone: str
    starts_at: datetime
    joined: int
    """Number of members who take part."""
    teams: tuple[TournamentTeam, ...] = ()
    """Best first; in order of their numbers before the first day that was played."""
    free: tuple[Named, ...] = ()
    """Members that a captain can pick; hidden ones are left out."""
    results: tuple[TournamentDay, ...] = ()
    stages: tuple[TournamentStage, ...] = ()
    today: date | None = None
    """The day that is played now; None if none is."""
    takes_part: bool = False
    """Whether the reader does."""
    team: int | None = None
    """The reader's team."""
    picks: bool = False
    """Whether the reader is a captain who can pick a member now."""
    others: tuple[Short, ...] = ()
    """Titles of other tournaments, newest first."""


class TournamentPost(Model):
    """A message about a tournament to a channel."""

    kind: Literal["tournament"] = "tournament"
    event: TournamentEvent
    tournament: TournamentView
    corrected: tuple[date, ...] = ()
    """Earlier days whose points were corrected."""


class SimilarPair(Model):
    """Two members whose wrong answers agree more often than chance explains."""

    first: str
    first_id: int
    second: str
    second_id: int
    shared: int
    """Choice questions that both answered."""
    wrong: int
    """Those that both answered wrongly and that can be compared."""
    same: int
    """Those of them with the same wrong option."""
    expected: float
    """How many would be the same by chance."""
    chance: float
    """Probability of that many or more by chance, corrected for the number of pairs."""


class FittingAnswers(Model):
    """A member whose wrong answers are right for the variants of another more often than chance explains."""

    member: str
    member_id: int
    other: str
    other_id: int
    wrong: int
    """Wrong answers of the member in rounds in which both had a variant of their own."""
    fitting: int
    """How many of them are right for the other's variant."""
    expected: float
    """How many would be by chance."""
    chance: float
    """Probability of that many or more by chance, corrected for the number of pairs."""


class QuickAnswers(Model):
    """A member with right answers within the thinking time."""

    name: str
    member_id: int
    right: int
    quick: int


class SimilarAnswers(Model):
    """What the rounds of the last days say. It is computed for the reader and not stored."""

    days: int
    compared: int
    """Number of pairs that were compared."""
    level: float
    """Chance that any pair is listed if all members answer on their own."""
    least_shared: int
    least_wrong: int
    found: int = 0
    """Number of pairs that stand out; `pairs` has the most striking ones."""
    pairs: tuple[SimilarPair, ...] = ()
    fits_compared: int = 0
    """Number of pairs that were compared by their variants."""
    fits_found: int = 0
    fits: tuple[FittingAnswers, ...] = ()
    """The most striking of them."""
    within_s: float
    """Thinking time, seconds."""
    quick: tuple[QuickAnswers, ...] = ()
