"""Duels between two members: challenges, progress and results, and the ladder of ratings."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from service.wire.base import Model, Short
from service.wire.questions import AnswerInput, AnswerKey, AskForm

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
