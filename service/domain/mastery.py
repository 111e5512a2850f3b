"""How well a member, or a team, knows each topic: a range that is wide where there are few answers.

This module needs numpy, 9 MB, so others import it where they compute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.domain.calibration import even_audience, expected_shares
from service.domain.difficulty import GRID, Difficulty, Scale

Floats = NDArray[np.float64]

LEAST_ANSWERS = 5
"""Answers that a topic needs before anything is said about it."""
WIDEST = 0.5
"""Width of a range from which it says nothing."""
TOPIC_SPREAD = 0.6
"""Standard deviation of a member's ability in one topic around their ability in all."""
WEAK = 0.6
"""Middle of a range below which a topic is weak."""
_Z_80 = 1.281552
_STEPS = 12
"""Newton steps of the estimate."""


@dataclass(frozen=True, slots=True)
class TopicAnswer:
    """A first answer to a question of a topic."""

    topic: str
    difficulty: Difficulty
    credit: float


@dataclass(frozen=True, slots=True)
class Mastery:
    """How well a member knows a topic: the share of similar questions that they would get right."""

    topic: str
    answers: int
    right: float
    """Mean credit so far."""
    middle: float
    low: float
    high: float
    """Ends of the 80% range."""

    @property
    def is_known(self) -> bool:
        """Whether there are enough answers to say something."""
        return self.answers >= LEAST_ANSWERS and self.high - self.low < WIDEST

    @property
    def is_weak(self) -> bool:
        """Whether the topic is known to be weak."""
        return self.is_known and self.middle < WEAK


def estimate_topics(answers: Sequence[TopicAnswer], spread: float) -> tuple[Mastery, ...]:
    """Returns what a member knows of each topic, weakest first.

    `spread` is the standard deviation of the members' abilities. Few answers in a topic are judged by the other topics
    too: abilities in topics are normal around the ability in all.
    """
    topics = sorted({one.topic for one in answers})
    places = {topic: place for place, topic in enumerate(topics)}
    # The last column is the ability in all topics; an answer depends on it and on its topic's own part.
    rows = np.zeros((len(answers), len(topics) + 1))
    for row, one in enumerate(answers):
        rows[row, places[one.topic]] = rows[row, -1] = 1.0
    precision = np.diag([*(1 / TOPIC_SPREAD**2 for _ in topics), 1 / (spread * spread)])
    values, covariance = _fit(rows, answers, precision)
    found = []
    for topic, place in places.items():
        own = [one for one in answers if one.topic == topic]
        variance = covariance[place, place] + covariance[-1, -1] + 2 * covariance[place, -1]
        ability, error = float(values[place] + values[-1]), math.sqrt(max(0.0, float(variance)))
        low, middle, high = (_share(ability + z * error, own) for z in (-_Z_80, 0.0, _Z_80))
        found.append(Mastery(topic, len(own), sum(one.credit for one in own) / len(own), middle, low, high))
    return tuple(sorted(found, key=lambda one: (one.middle, one.topic)))


def weigh_ability(answers: Sequence[TopicAnswer], spread: float) -> Floats:
    """Returns the distribution of a member's ability in all topics over the grid of audiences."""
    grid = np.array(GRID)
    scores = -0.5 * (grid / spread) ** 2
    for one in answers:
        scores = scores + one.credit * (grid - one.difficulty.value) - np.logaddexp(0.0, grid - one.difficulty.value)
    weights = np.exp(scores - scores.max())
    return np.asarray(weights / weights.sum())


def estimate_team(scale: Scale, topic: str, levels: Sequence[Difficulty]) -> tuple[float, float, float]:
    """Returns the share that the average member would get right of a topic's questions, and its 80% range.

    `levels` are the difficulties of the topic's questions that were asked. Where few were, the range is wide: other
    questions of the topic may be harder or easier.
    """
    count = len(levels)
    mean = sum(one.value for one in levels) / count
    doubt = sum(one.error * one.error for one in levels) / (count * count)
    error = math.sqrt(doubt + scale.item_spread * scale.item_spread / count)
    ends = [Difficulty(mean + z * error, 0.0) for z in (0.0, _Z_80, -_Z_80)]
    middle, low, high = expected_shares(even_audience(scale.spread), ends)
    return middle, low, high


def _fit(rows: Floats, answers: Sequence[TopicAnswer], precision: Floats) -> tuple[Floats, Floats]:
    """Returns the most probable abilities by Newton's method, and their covariance."""
    slopes = np.array([_slope(one.difficulty) for one in answers])
    levels = np.array([one.difficulty.value for one in answers])
    credits = np.array([one.credit for one in answers])
    values = np.zeros(rows.shape[1])
    information = precision
    for _ in range(_STEPS):
        chances = 0.5 * (1 + np.tanh(0.5 * slopes * (rows @ values - levels)))
        weights = slopes * slopes * chances * (1 - chances)
        information = (rows.T * weights) @ rows + precision
        step = np.linalg.solve(information, rows.T @ (slopes * (credits - chances)) - precision @ values)
        values = values + np.clip(step, -1.0, 1.0)
    return np.asarray(values), np.asarray(np.linalg.inv(information))


def _share(ability: float, answers: Sequence[TopicAnswer]) -> float:
    """Returns the share right to expect of questions like these."""
    chances = [1 / (1 + math.exp(-_slope(one.difficulty) * (ability - one.difficulty.value))) for one in answers]
    return sum(chances) / len(chances)


def _slope(difficulty: Difficulty) -> float:
    """Returns how much less an ability says if the difficulty is in doubt."""
    return 1 / math.sqrt(1 + difficulty.error * difficulty.error * math.pi / 8)
