"""Answers of simulated members to questions of known quality, and what they say, computed one by one."""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from service.domain.item_statistics import MIN_OTHER_ANSWERS, Item, Picks, sum_picks

OPTIONS = ("a", "b", "c", "d")


@dataclass(frozen=True, slots=True)
class Simulated:
    """A question: how hard it is, which options can be defended, and which one its key says is right."""

    id: str
    difficulty: float
    defensible: str = "a"
    key: str = "a"


GOOD = tuple(Simulated(f"good-{n:02}", -1.5 + n * 3 / 19) for n in range(20))
EASY, HARD = Simulated("too-easy", -5), Simulated("too-hard", 4.5)
BROKEN, AMBIGUOUS = Simulated("wrong-key", -1, key="b"), Simulated("two-right", -1, defensible="ab")
BANK = (*GOOD, EASY, HARD, BROKEN, AMBIGUOUS)

Choices = Mapping[str, Mapping[int, str]]
"""The option that each member chose, by question."""


def simulate(seed: int, members: int = 60) -> Choices:
    """Lets members of normally distributed ability answer every question; a logistic model says who knows it."""
    rng = random.Random(seed)
    abilities = [rng.gauss(0, 1) for _ in range(members)]

    def choose(item: Simulated, ability: float) -> str:
        knows = rng.random() < 1 / (1 + math.exp(1.5 * (item.difficulty - ability)))
        return rng.choice(item.defensible if knows else [each for each in OPTIONS if each not in item.defensible])

    return {item.id: {n: choose(item, ability) for n, ability in enumerate(abilities)} for item in BANK}


def items_of(choices: Choices) -> dict[str, Item]:
    """Returns the facts of every question, without a database."""
    keys = {item.id: item.key for item in BANK}
    credit = {id_: {n: float(made == keys[id_]) for n, made in by.items()} for id_, by in choices.items()}
    found = {}
    for id_, by in choices.items():
        others = {n: [credit[other][n] for other in choices if other != id_ and n in choices[other]] for n in by}
        rest = {n: statistics.fmean(each) for n, each in others.items() if len(each) >= MIN_OTHER_ANSWERS}
        own = [credit[id_][n] for n in rest]
        spread = len(set(own)) > 1 and len(set(rest.values())) > 1
        wrong = Counter(made for made in by.values() if made != keys[id_])
        top = min(wrong, key=lambda made: (-wrong[made], made), default=None)
        found[id_] = Item(
            answers=len(by),
            right=statistics.fmean(credit[id_].values()),
            discrimination=statistics.correlation(own, list(rest.values())) if spread else None,
            compared=len(rest),
            best_right=_picks(by, rest, keys[id_]) if top else None,
            top_wrong=_picks(by, rest, top) if top else None,
            rest=sum_picks(_picks(by, rest, each) for each in OPTIONS if each != top),
        )
    return found


def _picks(by: Mapping[int, str], rest: Mapping[int, float], option: str) -> Picks:
    scores = [rest[n] for n, made in by.items() if made == option and n in rest]
    count = sum(made == option for made in by.values())
    return Picks(count, len(scores), sum(scores), sum(score * score for score in scores))
