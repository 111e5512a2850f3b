"""Statistics of answers that agree: pairs of members who choose the same wrong options more often than chance. Pure.

A pair's statistic is the number of questions that both answered with the same wrong option. It is compared with what is
expected of two members who are wrong on those questions independently: on each, the probability that two wrong answers
are the same, by the wrong answers of all others. So neither weak members nor a popular misconception make a pair stand
out. The tail probability is exact (a Poisson binomial distribution), and Holm's method corrects it for the number of
pairs, so that among honest members the chance of listing any pair at all is at most `LEVEL`.

Where every member has a variant of their own, equal answers mean nothing. There the statistic is the number of wrong
answers that are right for the other member's variant. Variants are drawn at random, so by chance an answer is right for
a member's variant as often as for those of all others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
    """Probability of that many or more by chance, corrected for the number of pairs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The pairs that stand out, most striking first, and how many were compared."""

    pairs: tuple[Pair, ...]
    compared: int


@dataclass(frozen=True, slots=True)
class VariantAnswer:
    """What a member answered to a variant of their own."""

    key: str
    """Right answer to the variant."""
    wrong: str | None
    """The wrong answer; None for a right one."""


VariantRound = Mapping[int, VariantAnswer]
"""What the members of one round with variants of their own answered."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A member whose wrong answers are right for the variants of another more often than chance explains."""

    member: int
    other: int
    wrong: int
    """Wrong answers of the member in rounds that the other answered too."""
    fitting: int
    """How many of them are right for the other's variant."""
    expected: float
    chance: float


@dataclass(frozen=True, slots=True)
class FitComparison:
    """The members who stand out, most striking first, and how many pairs were compared."""

    fits: tuple[Fit, ...]
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
    listed = [
        Pair(*pair, shared[pair], len(tested[pair]), same[pair], sum(tested[pair]), chance)
        for pair, chance in _standing_out(tested, same, level)
    ]
    return Comparison(tuple(listed), len(tested))


def find_fits(rounds: Sequence[VariantRound], level: float = LEVEL) -> FitComparison:
    """Compares every member's wrong answers with the variants of the others."""
    chances: dict[tuple[int, int], list[float]] = defaultdict(list)
    fitting: Counter[tuple[int, int]] = Counter()
    answered = Counter(member for round_ in rounds for member in round_)
    known = {member for member, _ in answered.most_common(MOST_MEMBERS)}
    for round_ in rounds:
        here = {member: found for member, found in round_.items() if member in known}
        keys = Counter(found.key for found in here.values())
        for member, found in here.items():
            others = len(here) - 1
            if found.wrong is None or others < LEAST_OTHERS:
                continue
            # The member's own key is not among them: the answer is wrong.
            chance = keys[found.wrong] / others
            for other in here.keys() - {member}:
                chances[member, other].append(chance)
                fitting[member, other] += here[other].key == found.wrong
    tested = {pair: found for pair, found in chances.items() if len(found) >= LEAST_WRONG}
    listed = [
        Fit(*pair, len(tested[pair]), fitting[pair], sum(tested[pair]), chance)
        for pair, chance in _standing_out(tested, fitting, level)
    ]
    return FitComparison(tuple(listed), len(tested))


def _standing_out(
    tested: Mapping[tuple[int, int], Sequence[float]], happened: Mapping[tuple[int, int], int], level: float
) -> Iterator[tuple[tuple[int, int], float]]:
    """Yields the pairs with more events than chance explains, and the probability of that, corrected by Holm's
    method."""
    tails = sorted((tail(chances, happened[pair]), pair) for pair, chances in tested.items())
    corrected = 0.0
    for place, (probability, pair) in enumerate(tails):
        corrected = max(corrected, min(1.0, probability * (len(tails) - place)))
        if corrected > level:
            return
        yield pair, corrected


def tail(chances: Sequence[float], least: int) -> float:
    """Returns the probability that at least this many of some independent events happen."""
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
