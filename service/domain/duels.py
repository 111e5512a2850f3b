"""Rules of duels, and the ratings that they change.

openskill is imported at the first match, because most processes never rate one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Literal, TypeVar

from service.wire import DuelSide, DuelWinner

QUESTIONS = 5
"""Questions in a duel."""
QUESTION_SECONDS = 120
"""Time to answer a question, counted from when the member first sees it, seconds."""
RESPOND_WITHIN = timedelta(hours=24)
"""Time to accept or decline a challenge."""
PLAY_WITHIN = timedelta(hours=24)
"""Time to answer all questions, counted from the acceptance."""


SIDES: tuple[DuelSide, DuelSide] = ("challenger", "opponent")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that one member has seen."""

    number: int
    """From 1."""
    shown_at: datetime
    answered_at: datetime | None = None
    correct: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """How one member did."""

    correct: int
    ms: int
    """Total time from seeing each question to answering it, milliseconds. A question without an answer takes the
    whole time."""
    answered: int


def closes_at(shown_at: datetime, ends_at: datetime) -> datetime:
    """Returns when a question closes for the member who first saw it at `shown_at`."""
    return min(shown_at + timedelta(seconds=QUESTION_SECONDS), ends_at)


def next_number(turns: Sequence[Turn], ends_at: datetime, now: datetime) -> int | None:
    """Returns the question that the member answers now: one that is still open, or else the next one they have not
    seen. None if they are done."""
    for turn in turns:
        if turn.answered_at is None and now <= closes_at(turn.shown_at, ends_at):
            return turn.number
    seen = max((turn.number for turn in turns), default=0)
    return seen + 1 if seen < QUESTIONS and now < ends_at else None


def score_turns(turns: Iterable[Turn]) -> Score:
    """Returns the score of one member's turns."""
    answered = [(turn, turn.answered_at) for turn in turns if turn.answered_at is not None]
    taken = [_milliseconds(at - turn.shown_at) for turn, at in answered]
    missing = (QUESTIONS - len(answered)) * QUESTION_SECONDS * 1000
    return Score(sum(turn.correct for turn, _ in answered), sum(taken) + missing, len(answered))


def decide_winner(challenger: Score, opponent: Score) -> DuelWinner | None:
    """Returns who had more right, or took less time for as many. A draw: the same time to the second, or nothing
    right on either side. None if neither answered anything: then there was no duel."""
    if not challenger.answered and not opponent.answered:
        return None
    if challenger.correct != opponent.correct:
        return "challenger" if challenger.correct > opponent.correct else "opponent"
    times = round(challenger.ms / 1000), round(opponent.ms / 1000)
    if not challenger.correct or times[0] == times[1]:
        return "draw"
    return "challenger" if times[0] < times[1] else "opponent"


def draw_by_seed(choices: Iterable[T], seed: str, count: int) -> list[T]:
    """Returns `count` of the choices, or all if there are fewer: the same for the same seed, in any order."""
    return sorted(choices, key=lambda one: hashlib.sha256(f"{seed}\0{one}".encode()).digest())[:count]


def _milliseconds(time: timedelta) -> int:
    return round(time.total_seconds() * 1000)


FIRST_MU, FIRST_SIGMA = 25.0, 25.0 / 3.0
"""Skill of a member without a match, and its uncertainty."""
SHOWN_BASE, SHOWN_SCALE = 1000, 40
"""A member without a match is shown as SHOWN_BASE; SHOWN_SCALE is the number of points per unit of skill."""

Result = Literal["first", "second", "draw"]


@dataclass(frozen=True, slots=True)
class Rating:
    """An estimated skill with its standard deviation."""

    mu: float = FIRST_MU
    sigma: float = FIRST_SIGMA

    @property
    def shown(self) -> int:
        """The rating that members see: the skill that the member has almost surely (three deviations)."""
        return round(SHOWN_BASE + SHOWN_SCALE * (self.mu - 3 * self.sigma))


def rate_match(first: Rating, second: Rating, result: Result) -> tuple[Rating, Rating]:
    """Returns both ratings after a match."""
    model = _model()
    teams = [[model.rating(mu=one.mu, sigma=one.sigma)] for one in (first, second)]
    ranks = {"first": [1, 2], "second": [2, 1], "draw": [1, 1]}[result]
    (one,), (other,) = model.rate(teams, ranks=ranks)
    return Rating(one.mu, one.sigma), Rating(other.mu, other.sigma)


@cache
def _model() -> Any:
    from openskill.models import PlackettLuce

    return PlackettLuce()
