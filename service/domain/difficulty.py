"""Difficulties of questions on the scale of abilities, and what to expect of those without answers.

`service.domain.calibration` finds them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from questions.model import Level
from service.domain.selection import EXPECTED_SHARES

GRID: tuple[float, ...] = tuple(round(-4.5 + 0.3 * step, 1) for step in range(31))
"""Abilities over which an audience is described."""
SPREAD = 0.9
"""Standard deviation of abilities before there are answers."""
ITEM_SPREAD = 0.8
"""Standard deviation of difficulties around the mean of their level and topic before there are answers."""
BASE_ERROR, LEVEL_ERROR, TOPIC_ERROR = 1.0, 0.4, 0.4
"""Standard deviations of the workspace's, a level's and a topic's difficulty before there are answers."""


@dataclass(frozen=True, slots=True)
class Difficulty:
    """A difficulty on the scale of abilities."""

    value: float
    error: float
    """Standard error."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What the answers of a workspace say about questions that were not asked."""

    spread: float = SPREAD
    """Standard deviation of the members' abilities."""
    item_spread: float = ITEM_SPREAD
    base: float = 0.0
    """How much harder questions are for this workspace than their levels say."""
    base_error: float = BASE_ERROR
    levels: Mapping[str, Difficulty] | None = None
    """Mean difficulty of each level that was asked, without the topics. An empty name is not a level."""
    topics: Mapping[str, Difficulty] | None = None
    """How much harder the questions of each topic that was asked are."""

    def predict(self, level: Level | None, topic: str) -> Difficulty:
        """Returns the difficulty to expect of a question without answers."""
        by_level = (self.levels or {}).get(level or "")
        if by_level is None:
            unknown = math.hypot(self.base_error, LEVEL_ERROR)
            by_level = Difficulty(self.base + level_prior(level), unknown)
        by_topic = (self.topics or {}).get(topic, Difficulty(0.0, TOPIC_ERROR))
        return Difficulty(by_level.value + by_topic.value, math.hypot(self.item_spread, by_level.error, by_topic.error))


def level_prior(level: Level | None) -> float:
    """Returns the mean difficulty of a level before there are answers."""
    share = EXPECTED_SHARES[level]
    return -math.log(share / (1 - share)) * math.sqrt(1 + SPREAD * SPREAD * math.pi / 8)
