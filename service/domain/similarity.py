"""Statistics of answers that agree: pairs of members who choose the same wrong options more often than chance. Pure.

A pair's statistic is the number of questions that both answered with the same wrong option. It is compared with what is
expected of two members who are wrong on those questions independently: on each, the probability that two wrong answers
are the same, by the wrong answers of all others. So neither weak members nor a popular misconception make a pair stand
out. The tail probability is exact (a Poisson binomial distribution), and Holm's method corrects it for the number of
pairs, so that among honest members the chance of listing any pair at all is at most `LEVEL`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

LEVEL = 0.01
"""Chance that any pair at all is listed when all members answer on their own."""
LEAST_SHARED = 20
"""Questions that both members of a pair must have answered."""
LEAST_WRONG = 6
"""Questions that both must have answered wrongly, and that enough others did too."""
LEAST_OTHERS = 3
"""Wrong answers of others that a question needs to say how popular each option is."""
MOST_MEMBERS = 400
"""Members who are compared: those who answered most."""

Chosen = Mapping[int, str | None]
"""What members answered to one question: the wrong option, or None for a right answer."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two members whose wrong answers agree more often than chance explains."""

    first: int
    second: int
    shared: int
    """Questions that both answered."""
    wrong: int
    """Questions that both answered wrongly, of those that can be compared."""
    same: int
    """Questions on which both chose the same wrong option."""
    expected: float
    """How many would be the same by chance."""
    chance: float
    """Probability of so many or more by chance, corrected for the number of pairs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The pairs that stand out, most striking first, and how many were compared."""

    pairs: tuple[Pair, ...]
    compared: int


def find_similar_pairs(questions: Sequence[Chosen], level: float = LEVEL) -> Comparison:
    """Compares all pairs of members with enough questions in common."""
    answered = Counter(member for chosen in questions for member in chosen)
    known = {member for member, count in answered.most_common(MOST_MEMBERS) if count >= LEAST_SHARED}
    shared: Counter[tuple[int, int]] = Counter()
    chances: dict[tuple[int, int], list[float]] = defaultdict(list)
    same: Counter[tuple[int, int]] = Counter()
    for chosen in questions:
        here = sorted(known & chosen.keys())
        shared.update(combinations(here, 2))
        counts = Counter(option for option in chosen.values() if option is not None)
        wrong = [(member, option) for member in here if (option := chosen[member]) is not None]
        for (first, one), (second, other) in combinations(wrong, 2):
            chance = _chance_of_agreeing(counts, one, other)
            if chance is not None:
                chances[first, second].append(chance)
                same[first, second] += one == other
    tested = {
        pair: found for pair, found in chances.items() if len(found) >= LEAST_WRONG and shared[pair] >= LEAST_SHARED
    }
    tails = sorted((tail(found, same[pair]), pair) for pair, found in tested.items())
    listed, corrected = [], 0.0
    for place, (probability, pair) in enumerate(tails):
        corrected = max(corrected, min(1.0, probability * (len(tails) - place)))
        if corrected > level:
            break
        found = tested[pair]
        listed.append(Pair(*pair, shared[pair], len(found), same[pair], sum(found), corrected))
    return Comparison(tuple(listed), len(tails))


def tail(chances: Sequence[float], least: int) -> float:
    """Returns the probability that at least so many of independent events happen."""
    if least <= 0:
        return 1.0
    # Probabilities of 0, 1, … events; the last entry collects `least` and more.
    found = [1.0] + [0.0] * least
    for chance in chances:
        found[least] += found[least - 1] * chance
        for count in range(least - 1, 0, -1):
            found[count] = found[count] * (1 - chance) + found[count - 1] * chance
        found[0] *= 1 - chance
    return min(1.0, found[least])


def _chance_of_agreeing(counts: Counter[str], one: str, other: str) -> float | None:
    """Returns the probability that two wrong answers to a question are the same, by the wrong answers of all others;
    None if there are too few.

    The sum of squared shares of a sample is on average above that of the population, so it errs on the side of chance.
    """
    rest = counts.copy()
    rest[one] -= 1
    rest[other] -= 1
    total = rest.total()
    if total < LEAST_OTHERS:
        return None
    return sum((count / total) ** 2 for count in rest.values())
