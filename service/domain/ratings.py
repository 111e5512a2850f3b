"""Ratings of members who compete against each other: openskill's Plackett-Luce model, and how ratings are shown.

openskill is imported at the first match, because most processes never rate one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

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
