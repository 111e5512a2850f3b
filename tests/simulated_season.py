"""A season of simulated members of known ability, with questions of known difficulty, played by the product's own
rules: how questions are chosen and calibrated, and how practice cards come back. Used by a test and a benchmark.

The simulation differs from the model in what a model never has right: levels and topics of a difficulty of their own,
habits, members who stop coming, and lucky guesses.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from statistics import correlation, fmean
from typing import Any

import fsrs
import numpy as np

from questions.model import Level
from service.domain.calibration import Fit, Item, Response, calibrate, expected_shares
from service.domain.selection import TARGET_SHARE, Candidate, PastRound, ScheduleFilter, choose_question
from service.rounds.practice import new_card, rating_for, review_card

FIRST = date(2026, 3, 2)
LEVELS: tuple[Level, ...] = ("mid", "senior", "principal")
TOPICS = 10
WEEK = 7
Choose = Callable[["Season", int], int]
"""Returns the number of the question for a day."""


@dataclass(frozen=True, slots=True)
class Player:
    ability: float
    habit: float
    """Share of the days on which the member answers."""
    leaves: int
    """Day from which the member no longer comes."""
    practice: int
    """New questions that the member practices in a week."""


@dataclass
class Season:
    """Who plays, what is asked, and what was answered so far."""

    seed: int
    members: int = 200
    items: int = 300
    days: int = 120
    strength: float = 0.4
    """Mean ability of the members."""
    practice: bool = True
    """Whether members also practice new questions."""
    guess: float = 0.0
    """Chance that an answer of somebody who does not know is right."""
    every: int = 1
    """Days from one calibration to the next; the service does it after each close."""

    def __post_init__(self) -> None:
        draw = self.draw = random.Random(self.seed)
        topics = [draw.gauss(0, 0.4) for _ in range(TOPICS)]
        base: dict[Level, float] = {"mid": -0.8, "senior": 0.0, "principal": 0.8}
        self.about = [Item(LEVELS[number % 3], f"topic-{number // 3 % TOPICS}") for number in range(self.items)]
        self.difficulties = [
            base[item.level or "mid"] + topics[number // 3 % TOPICS] + draw.gauss(0, 0.7)
            for number, item in enumerate(self.about)
        ]
        self.players = [
            Player(
                draw.gauss(self.strength, 1.0),
                min(0.98, max(0.1, draw.gauss(0.65, 0.25))),
                self.days if draw.random() < 0.8 else draw.randrange(self.days),
                draw.choice((0, 0, 1, 3, 7)),
            )
            for _ in range(self.members)
        ]
        self.answers: list[Response] = []
        self.met: set[tuple[int, int]] = set()
        self.asked: list[int] = []
        self.shares: list[float] = []
        """Share right of each day."""
        self.fit: Fit | None = None

    def play(self, choose: Choose) -> Season:
        """Plays every day."""
        for day in range(self.days):
            item = choose(self, day)
            self.asked.append(item)
            self.shares.append(self._ask(item, day))
            if self.practice and day % WEEK == 0:
                self._practice(day)
            if day % self.every == 0 or day == self.days - 1:
                self.fit = calibrate(self.about, self.answers)
        return self

    def _ask(self, item: int, day: int) -> float:
        here = [n for n, one in enumerate(self.players) if day < one.leaves and self.draw.random() < one.habit]
        return fmean([self._answer(member, item) for member in here])

    def _answer(self, member: int, item: int) -> float:
        knows = 1 / (1 + math.exp(self.difficulties[item] - self.players[member].ability))
        credit = float(self.draw.random() < knows + self.guess * (1 - knows))
        if (member, item) not in self.met:
            self.met.add((member, item))
            self.answers.append(Response(member, item, credit))
        return credit

    def _practice(self, day: int) -> None:
        revealed = set(self.asked)
        for member, one in enumerate(self.players):
            new = [n for n in range(self.items) if n not in revealed and (member, n) not in self.met]
            for item in self.draw.sample(new, min(len(new), one.practice if day < one.leaves else 0)):
                self._answer(member, item)

    @property
    def audience(self) -> Sequence[float] | None:
        """The abilities of those who answered lately, as the service keeps them."""
        if self.fit is None:
            return None
        rows = {member: row for row, member in enumerate(self.fit.members)}
        weights = np.zeros(len(rows))
        latest = set(self.asked[-28:])
        for one in self.answers:
            if one.item in latest and one.member in rows:
                weights[rows[one.member]] += 1
        return [float(share) for share in weights @ self.fit.abilities / weights.sum()]

    # What came of it

    def recovered(self, which: Sequence[int]) -> Recovered:
        """Compares the calibrated difficulties of these questions with the true ones."""
        assert self.fit is not None, "it was played"
        # Difficulties are relative to the members who answered.
        middle = fmean(self.players[member].ability for member in self.fit.members)
        true = [self.difficulties[number] - middle for number in which]
        found = [self.fit.difficulties[number] for number in which]
        away = [one.value - value for one, value in zip(found, true, strict=True)]
        return Recovered(
            len(which),
            correlation(true, [one.value for one in found]),
            math.sqrt(fmean([each * each for each in away])),
            fmean([abs(each) < 1.96 * one.error for each, one in zip(away, found, strict=True)]),
        )

    @property
    def never_asked(self) -> list[int]:
        """Questions that no round asked."""
        return sorted(set(range(self.items)) - set(self.asked))


@dataclass(frozen=True, slots=True)
class Recovered:
    """How well difficulties were found."""

    items: int
    correlation: float
    error: float
    """Root of the mean square of estimated minus true difficulty."""
    covered: float
    """Share of the 95% intervals that hold the true difficulty."""


def distance(shares: Sequence[float], weeks: int = 1) -> float:
    """Returns the mean distance from the target of the share right in periods of these weeks."""
    length = WEEK * weeks
    means = [fmean(shares[at : at + length]) for at in range(0, len(shares) - length + 1, length)]
    return fmean([abs(mean - TARGET_SHARE) for mean in means])


def choose_at_random(season: Season, day: int) -> int:
    """Chooses any question not asked yet."""
    return season.draw.choice(season.never_asked)


def choose_by_level(season: Season, day: int) -> int:
    """Chooses by the product's rule, without calibrated difficulties."""
    return _choose(season, day, [None] * season.items)


def choose_by_calibration(season: Season, day: int) -> int:
    """Chooses by the product's rule and the latest calibration."""
    audience = season.audience
    if season.fit is None or audience is None:
        return choose_by_level(season, day)
    return _choose(season, day, expected_shares(audience, season.fit.difficulties))


def choose_by_truth(season: Season, day: int) -> int:
    """Chooses by the product's rule and the true difficulties: no calibration can do better."""
    members = [one for one in season.players if day < one.leaves]
    shares = [
        fmean([1 / (1 + math.exp(difficulty - one.ability)) for one in members]) for difficulty in season.difficulties
    ]
    return _choose(season, day, shares)


def _choose(season: Season, day: int, expected: Sequence[float | None]) -> int:
    candidates = [
        Candidate(str(number), "choice", item.level, item.topic, share)
        for number, (item, share) in enumerate(zip(season.about, expected, strict=True))
    ]
    history = [
        PastRound(str(number), FIRST + timedelta(days=at), season.about[number].topic, season.about[number].level)
        for at, number in enumerate(season.asked)
    ]
    choice = choose_question(candidates, history, ScheduleFilter(), f"1:{day}", FIRST + timedelta(days=day))
    assert choice is not None, "300 questions last for 120 days"
    return int(choice.id)


# Practice


@dataclass
class Memory:
    """What a simulated member remembers of a question, by FSRS's own model of forgetting and at the member's pace."""

    card: fsrs.Card
    pace: float
    """How fast the member forgets, relative to the model."""

    def chance(self, at: datetime) -> float:
        """Returns the chance to remember it at an instant after the last review."""
        assert self.card.last_review is not None and self.card.stability is not None, "it was met once"
        days = (at - self.card.last_review) / timedelta(days=1) * self.pace
        return float((1 + _FACTOR * days / self.card.stability) ** _DECAY)

    def review(self, remembers: bool, at: datetime) -> None:
        """Strengthens or restarts the memory."""
        self.card, _ = _MIND.review_card(self.card, fsrs.Rating.Good if remembers else fsrs.Rating.Again, at)


_MIND = fsrs.Scheduler(enable_fuzzing=False, learning_steps=(), relearning_steps=())
_DECAY = -float(_MIND.parameters[20])
_FACTOR = 0.9 ** (1 / _DECAY) - 1


@dataclass(frozen=True, slots=True)
class Learned:
    """What a member remembers at the end."""

    now: float
    """Share of all cards that is remembered."""
    later: float
    """The same after 30 days without practice."""
    reviews: float


def practice(seed: int, reviews: int, *, days: int = 60, by_fsrs: bool) -> Learned:
    """Lets a member miss one question a day, and review at most this many cards on seven days of ten: those that the
    product's cards say are due, or any.

    Missed questions come back the next day at the earliest.
    """
    draw = random.Random(seed)
    pace, start, used = math.exp(draw.gauss(0, 0.3)), datetime(2026, 3, 2, 12, tzinfo=UTC), 0
    memories: list[Memory] = []
    cards: list[dict[str, Any]] = []
    due: list[datetime] = []
    for day in range(days):
        at = start + timedelta(days=day)
        known = range(len(memories))
        memories.append(Memory(fsrs.Card(card_id=day + 1), pace))
        memories[-1].review(False, at)
        cards.append(new_card(at + timedelta(days=1)))
        due.append(at + timedelta(days=1))
        if draw.random() > 0.7:
            continue
        if by_fsrs:
            picked = sorted((card for card in known if due[card] <= at), key=due.__getitem__)[:reviews]
        else:
            picked = draw.sample(known, min(reviews, len(known)))
        for card in picked:
            used += 1
            remembers = draw.random() < memories[card].chance(at)
            memories[card].review(remembers, at)
            cards[card], due[card] = review_card(cards[card], rating_for(float(remembers)), at)
    end = start + timedelta(days=days)
    later = end + timedelta(days=30)
    return Learned(fmean([one.chance(end) for one in memories]), fmean([one.chance(later) for one in memories]), used)


def practice_together(members: int, reviews: int, *, by_fsrs: bool) -> Learned:
    """Returns the means over some members."""
    each = [practice(seed, reviews, by_fsrs=by_fsrs) for seed in range(members)]
    return Learned(
        fmean([one.now for one in each]), fmean([one.later for one in each]), fmean([one.reviews for one in each])
    )
