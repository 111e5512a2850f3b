"""How hard questions are for one workspace: a Rasch model with shrinkage, fitted to who answered what and how.

The chance that a member answers a question right is the logistic function of the member's ability minus the question's
difficulty. Abilities are normal around 0, so a question of difficulty 0 is an even chance for the average member.
Difficulties are normal around a mean of their level and topic. Questions with few answers stay near that mean, and
questions without answers are predicted by it. A missing answer says nothing.

Fitted by marginal maximum likelihood: abilities are integrated out over a fixed grid, and none is kept.

This module needs numpy, 9 MB, so others import it where they compute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from questions.model import Level
from service.domain.difficulty import (
    BASE_ERROR,
    GRID,
    ITEM_SPREAD,
    LEVEL_ERROR,
    SPREAD,
    TOPIC_ERROR,
    Difficulty,
    Scale,
    level_prior,
)

Floats = NDArray[np.float64]

LEAST_SPREAD, MOST_SPREAD = 0.3, 2.0
"""Bounds of the standard deviation of abilities."""
LEAST_ITEM_SPREAD, MOST_ITEM_SPREAD = 0.3, 1.5
"""Bounds of the standard deviation of difficulties around the mean of their level and topic."""
PRIOR_WEIGHT = 8.0
"""Number of members, and of questions, that the spreads before answers count as."""
MAX_ITERATIONS = 200
TOLERANCE = 1e-4
"""Largest change of a difficulty at which the fit has converged."""
_GRID: Floats = np.array(GRID)


@dataclass(frozen=True, slots=True)
class Item:
    """A question whose difficulty is wanted."""

    level: Level | None
    topic: str


@dataclass(frozen=True, slots=True)
class Response:
    """A member's first answer to a question."""

    member: int
    item: int
    """Position of the question."""
    credit: float


@dataclass(frozen=True, slots=True)
class Fit:
    """The result of a calibration."""

    scale: Scale
    difficulties: tuple[Difficulty, ...]
    """One for each item, in the order given. An item without answers is predicted."""
    answers: tuple[int, ...]
    """Answers to each item."""
    members: tuple[int, ...]
    abilities: Floats
    """Distribution of each member's ability over `GRID`, in the order of `members`."""


@dataclass(slots=True)
class _State:
    difficulty: Floats
    prior: Floats
    """Mean of each item's level and topic."""
    coefficients: Floats
    spread: float = SPREAD
    item_spread: float = ITEM_SPREAD


def calibrate(items: Sequence[Item], responses: Sequence[Response]) -> Fit:
    """Fits the model. At most one response of a member to an item may be given."""
    members = tuple(sorted({one.member for one in responses}))
    rows = {member: row for row, member in enumerate(members)}
    asked = np.zeros((len(members), len(items)))
    right = np.zeros((len(members), len(items)))
    for one in responses:
        asked[rows[one.member], one.item] = 1.0
        right[rows[one.member], one.item] = one.credit
    design = _Design(items, asked.sum(axis=0) > 0)
    state = _State(design.predict(design.means), design.predict(design.means), design.means)
    posterior = _weigh_abilities(state, asked, right)
    for _ in range(MAX_ITERATIONS):
        posterior = _weigh_abilities(state, asked, right)
        before = state.difficulty.copy()
        _update(state, design, posterior, asked, right)
        if float(np.abs(state.difficulty - before).max(initial=0.0)) < TOLERANCE:
            break
    posterior = _weigh_abilities(state, asked, right)
    errors = _item_errors(state, asked, posterior)
    scale = design.describe(state, errors)
    counts = asked.sum(axis=0)
    difficulties = [
        Difficulty(float(value), float(error)) if count else scale.predict(item.level, item.topic)
        for item, value, error, count in zip(items, state.difficulty, errors, counts, strict=True)
    ]
    return Fit(scale, tuple(difficulties), tuple(int(count) for count in counts), members, posterior)


def even_audience(spread: float = SPREAD) -> Floats:
    """Returns the prior distribution of abilities, for members without answers."""
    weights = np.exp(-0.5 * (_GRID / spread) ** 2)
    return np.asarray(weights / weights.sum(), dtype=np.float64)


def expected_shares(audience: Sequence[float] | Floats, difficulties: Sequence[Difficulty]) -> list[float]:
    """Returns the share right to expect of an audience, a distribution over `GRID`, for each of these difficulties."""
    values = np.array([one.value for one in difficulties])
    errors = np.array([one.error for one in difficulties])
    # The mean of a logistic function of a normal variable, by the usual approximation.
    slope = 1 / np.sqrt(1 + errors * errors * math.pi / 8)
    chances = _logistic((_GRID[None, :] - values[:, None]) * slope[:, None])
    return [float(share) for share in chances @ np.asarray(audience, dtype=np.float64)]


class _Design:
    """The linear model of the difficulties' means: the workspace, the level, the topic."""

    def __init__(self, items: Sequence[Item], answered: NDArray[np.bool_]) -> None:
        self._levels: list[str] = sorted({item.level or "" for item, seen in zip(items, answered, strict=True) if seen})
        self._topics = sorted({item.topic for item, seen in zip(items, answered, strict=True) if seen})
        width = 1 + len(self._levels) + len(self._topics)
        self.matrix = np.zeros((len(items), width))
        self.matrix[:, 0] = 1.0
        levels = {name: 1 + place for place, name in enumerate(self._levels)}
        topics = {name: 1 + len(self._levels) + place for place, name in enumerate(self._topics)}
        # Items without answers only take part in predictions; their levels and topics may be unknown.
        for row, item in enumerate(items):
            if (column := levels.get(item.level or "")) is not None:
                self.matrix[row, column] = 1.0
            if (column := topics.get(item.topic)) is not None:
                self.matrix[row, column] = 1.0
        known: dict[str, Level | None] = {item.level or "": item.level for item in items}
        self.means = np.array([0.0, *(level_prior(known[name]) for name in self._levels), *(0.0 for _ in self._topics)])
        spreads = [BASE_ERROR, *(LEVEL_ERROR for _ in self._levels), *(TOPIC_ERROR for _ in self._topics)]
        self._precision = np.diag([1 / (spread * spread) for spread in spreads])
        self._answered = answered

    def predict(self, coefficients: Floats) -> Floats:
        """Returns the mean of each item's level and topic."""
        return np.asarray(self.matrix @ coefficients, dtype=np.float64)

    def solve(self, difficulty: Floats, variance: Floats) -> Floats:
        """Returns the coefficients to which the difficulties of the answered items point."""
        rows, weights = self._weighted(variance)
        right_hand = rows.T @ (weights * difficulty[self._answered]) + self._precision @ self.means
        return np.asarray(np.linalg.solve(self._information(variance), right_hand), dtype=np.float64)

    def describe(self, state: _State, errors: Floats) -> Scale:
        """Returns the scale, with the standard errors of its parts."""
        spread = np.full(len(errors), state.item_spread**2)
        covariance = np.linalg.inv(self._information(spread + errors * errors))
        found = state.coefficients
        levels: dict[str, Difficulty] = {}
        for place, name in enumerate(self._levels, start=1):
            variance = covariance[0, 0] + covariance[place, place] + 2 * covariance[0, place]
            levels[name] = Difficulty(float(found[0] + found[place]), math.sqrt(max(0.0, float(variance))))
        topics = {
            name: Difficulty(float(found[place]), math.sqrt(float(covariance[place, place])))
            for place, name in enumerate(self._topics, start=1 + len(self._levels))
        }
        error = math.sqrt(float(covariance[0, 0]))
        return Scale(state.spread, state.item_spread, float(found[0]), error, levels, topics)

    def _information(self, variance: Floats) -> Floats:
        rows, weights = self._weighted(variance)
        return np.asarray((rows.T * weights) @ rows + self._precision, dtype=np.float64)

    def _weighted(self, variance: Floats) -> tuple[Floats, Floats]:
        return self.matrix[self._answered], 1 / variance[self._answered]


def _update(state: _State, design: _Design, posterior: Floats, asked: Floats, right: Floats) -> None:
    """Does one step of the EM algorithm after the abilities were weighed."""
    expected = asked.T @ posterior
    chances = _logistic(_GRID[None, :] - state.difficulty[:, None])
    prior = 1 / (state.item_spread * state.item_spread)
    slope = (expected * chances).sum(axis=1) - right.sum(axis=0) - prior * (state.difficulty - state.prior)
    information = (expected * chances * (1 - chances)).sum(axis=1) + prior
    # Abilities are normal around 0, so a shift that all members have in common belongs to the difficulties.
    shift = float((posterior @ _GRID).mean()) if len(posterior) else 0.0
    state.difficulty = state.difficulty + np.clip(slope / information, -1.0, 1.0) - shift
    seen = asked.sum(axis=0) > 0
    variance = 1 / information
    state.coefficients = design.solve(state.difficulty, np.full(len(seen), state.item_spread**2))
    state.prior = design.predict(state.coefficients)
    away = ((state.difficulty - state.prior) ** 2 + variance)[seen]
    state.item_spread = _pool_spread(float(away.sum()), int(seen.sum()), ITEM_SPREAD)
    state.item_spread = min(MOST_ITEM_SPREAD, max(LEAST_ITEM_SPREAD, state.item_spread))
    squares = float((posterior @ (_GRID - shift) ** 2).sum())
    state.spread = min(MOST_SPREAD, max(LEAST_SPREAD, _pool_spread(squares, len(posterior), SPREAD)))
    state.difficulty = np.where(seen, state.difficulty, state.prior)


def _pool_spread(squares: float, count: int, before: float) -> float:
    """Returns a standard deviation from a sum of squares and what was assumed before."""
    return math.sqrt((squares + PRIOR_WEIGHT * before * before) / (count + PRIOR_WEIGHT))


def _weigh_abilities(state: _State, asked: Floats, right: Floats) -> Floats:
    """Returns each member's distribution over the grid, given the difficulties."""
    losses = np.logaddexp(0.0, _GRID[None, :] - state.difficulty[:, None])
    scores = right.sum(axis=1)[:, None] * _GRID[None, :] - asked @ losses - 0.5 * (_GRID / state.spread) ** 2
    weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def _item_errors(state: _State, asked: Floats, posterior: Floats) -> Floats:
    """Returns the standard errors of the difficulties: what the abilities leave open is subtracted (Louis 1982)."""
    chances = _logistic(_GRID[None, :] - state.difficulty[:, None])
    expected = asked.T @ posterior
    means = posterior @ chances.T
    second = (expected * chances * chances).sum(axis=1)
    complete = (expected * chances).sum(axis=1) - second
    missing = second - (asked * means * means).sum(axis=0)
    information = np.maximum(complete - missing, 0.0) + 1 / (state.item_spread * state.item_spread)
    return np.asarray(1 / np.sqrt(information), dtype=np.float64)


def _logistic(values: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * values)), dtype=np.float64)
