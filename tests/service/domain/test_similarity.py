"""Similarity of answers, by simulation: honest members are left alone at the stated rate, copying pairs are found."""

from __future__ import annotations

from itertools import combinations
from math import comb
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.similarity import (
    LEAST_SHARED,
    LEAST_WRONG,
    Pair,
    VariantAnswer,
    find_fits,
    find_similar_pairs,
    tail,
)

WRONG = "bcd"


def simulated(random: Random, members: int, questions: int, copies: float = 0.0) -> list[dict[int, str | None]]:
    """Returns the answers of members of different ability to questions whose wrong options differ in popularity.
    Member 1 takes over the answer of member 0 with probability `copies`."""
    ability = [random.uniform(0.2, 0.9) for _ in range(members)]
    found = []
    for _ in range(questions):
        weights = [random.random() ** 2 + 0.05 for _ in WRONG]
        ease = random.uniform(-0.2, 0.2)
        chosen: dict[int, str | None] = {}
        for member in range(members):
            if random.random() < 0.15:
                continue
            right = random.random() < ability[member] + ease
            chosen[member] = None if right else random.choices(WRONG, weights)[0]
        if 0 in chosen and 1 in chosen and random.random() < copies:
            chosen[1] = chosen[0]
        found.append(chosen)
    return found


@pytest.mark.slow
def test_honest_members_are_listed_no_more_often_than_stated() -> None:
    """200 teams at a level of 10%: at most 20 are expected to have a pair listed; 33 are three deviations more."""
    random = Random(7)
    listed = compared = 0
    for number in range(200):
        found = find_similar_pairs(simulated(random, (12, 25)[number % 2], 60), level=0.1)
        compared += found.compared
        listed += bool(found.pairs)
    assert listed <= 33, f"{listed} of 200"
    assert compared > 5_000, "pairs in question"


@pytest.mark.parametrize(
    ("shared", "wrong", "compared"),
    [
        (LEAST_SHARED, LEAST_WRONG, 1),
        (LEAST_SHARED - 1, LEAST_WRONG, 0),
        (LEAST_SHARED, LEAST_WRONG - 1, 0),
    ],
)
def test_few_questions_in_common_are_not_compared(shared: int, wrong: int, compared: int) -> None:
    others: dict[int, str | None] = {10 * number: "b" for number in range(1, 9)}

    def chosen(number: int) -> dict[int, str | None]:
        # The others are others each time, so that no pair of them has enough in common.
        rest = {member + number * 100: option for member, option in others.items()}
        return {0: "b" if number < wrong else None, 1: "b" if number < wrong else None, **rest}

    alone: list[dict[int, str | None]] = [{0: None}, {1: None}]
    assert find_similar_pairs([*map(chosen, range(shared)), *alone]).compared == compared


def test_a_pair_that_copies_is_found_and_nobody_else() -> None:
    random = Random(3)
    found, others = 0, 0
    for _ in range(30):
        pairs = {(pair.first, pair.second) for pair in find_similar_pairs(simulated(random, 25, 90, copies=0.8)).pairs}
        found += (0, 1) in pairs
        others += len(pairs - {(0, 1)})
    assert found >= 18, f"{found} of 30"
    assert others <= 1


def test_weak_members_with_the_same_misconceptions_as_everybody_do_not_stand_out() -> None:
    questions = [dict.fromkeys(range(20), "b") for _ in range(40)]
    comparison = find_similar_pairs(questions)
    assert (comparison.pairs, comparison.compared) == ((), 190)


def simulated_variants(
    random: Random, members: int, rounds: int, copies: float = 0.0
) -> list[dict[int, VariantAnswer]]:
    """Returns the answers of members who have one of eight variants each, some with the same key. With probability
    `copies`, member 1 gives the answer that member 0 found."""
    found = []
    for _ in range(rounds):
        keys = {member: random.choice("pqrstuvv") for member in range(members)}
        answers = {}
        for member, key in keys.items():
            said = key if random.random() < 0.6 else random.choice("pqrstuvwx")
            if member == 1 and random.random() < copies:
                said = keys[0]
            answers[member] = VariantAnswer(key, None if said == key else said)
        found.append(answers)
    return found


def test_honest_members_with_variants_of_their_own_are_listed_no_more_often_than_stated() -> None:
    random = Random(11)
    found = [find_fits(simulated_variants(random, (8, 20)[number % 2], 40), level=0.1) for number in range(200)]
    assert sum(bool(one.fits) for one in found) <= 33
    assert sum(one.compared for one in found) > 20_000, "pairs in question"


def test_a_member_who_gives_the_answers_of_another_is_found_and_nobody_else() -> None:
    random = Random(13)
    hits, others = 0, 0
    for _ in range(30):
        fits = {(fit.member, fit.other) for fit in find_fits(simulated_variants(random, 20, 25, copies=0.8)).fits}
        hits += (1, 0) in fits
        others += len(fits - {(1, 0)})
    assert hits >= 28, f"{hits} of 30"
    assert others <= 1


def test_a_fit_has_its_numbers() -> None:
    def round_(number: int) -> dict[int, VariantAnswer]:
        found = {member: VariantAnswer(f"key {number} {member}", None) for member in range(10)}
        return {**found, 1: VariantAnswer(f"key {number} 1", f"key {number} 0")}

    (fit,) = find_fits([round_(number) for number in range(LEAST_WRONG)]).fits
    assert (fit.member, fit.other, fit.wrong, fit.fitting) == (1, 0, LEAST_WRONG, LEAST_WRONG)
    assert fit.expected == pytest.approx(LEAST_WRONG / 9) and fit.chance == pytest.approx(9 * (1 / 9) ** LEAST_WRONG)
    few = find_fits([round_(number) for number in range(LEAST_WRONG - 1)])
    assert (few.fits, few.compared) == ((), 0)


def test_pairs_with_too_little_in_common_are_not_compared() -> None:
    others = {member: WRONG[member % 3] for member in range(2, 12)}
    few = [{**others, 0: "b", 1: "b"} for _ in range(LEAST_SHARED - 1)]
    assert find_similar_pairs(few).compared == 0
    right = [{**others, 0: None, 1: None} for _ in range(40)]
    assert all({0, 1} != {pair.first, pair.second} for pair in find_similar_pairs(right).pairs)
    lonely = [{0: "b", 1: "b"} for _ in range(40)]
    assert find_similar_pairs(lonely).compared == 0


def test_a_pair_has_its_numbers() -> None:
    random = Random(1)
    questions = []
    for _ in range(30):
        chosen: dict[int, str | None] = {member: random.choice(WRONG) for member in range(2, 20)}
        chosen[0] = chosen[1] = random.choice(WRONG)
        questions.append(chosen)
    (pair,) = find_similar_pairs(questions).pairs
    assert isinstance(pair, Pair)
    assert (pair.first, pair.second, pair.shared, pair.wrong, pair.same) == (0, 1, 30, 30, 30)
    assert 8 < pair.expected < 14 and pair.chance < 1e-6 and pair.wrong >= LEAST_WRONG


def test_the_chance_of_agreeing_is_that_of_all_others() -> None:
    """Of six others, three chose one wrong option, two another and one the third."""
    others = dict(enumerate("bbbccd", 2))
    questions: list[dict[int, str | None]] = [{**others, 0: "b", 1: "b"} for _ in range(40)]
    found = {(pair.first, pair.second): pair for pair in find_similar_pairs(questions, level=1.0).pairs}
    assert found[0, 1].expected == pytest.approx(40 * (9 + 4 + 1) / 36)


@pytest.mark.parametrize("least", range(6))
def test_the_tail_of_equal_chances_is_binomial(least: int) -> None:
    exact = sum(comb(5, k) * 0.3**k * 0.7 ** (5 - k) for k in range(least, 6))
    assert tail([0.3] * 5, least) == pytest.approx(exact)


@given(st.lists(st.floats(0, 1), max_size=7), st.integers(0, 8))
def test_the_tail_counts_every_case(chances: list[float], least: int) -> None:
    exact = 0.0
    for count in range(least, len(chances) + 1):
        for happened in combinations(range(len(chances)), count):
            product = 1.0
            for place, chance in enumerate(chances):
                product *= chance if place in happened else 1 - chance
            exact += product
    assert tail(chances, least) == pytest.approx(exact, abs=1e-9)
