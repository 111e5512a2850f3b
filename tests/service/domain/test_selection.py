"""Choosing questions: no repeats, balance, difficulty, and nothing but the input decides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.model import LEVELS, Level
from service.domain.selection import (
    TARGET_SHARE,
    Candidate,
    ChosenQuestion,
    PastRound,
    ScheduleFilter,
    choose_question,
    shuffle_options,
)

START = date(2026, 6, 1)
DAY = timedelta(days=1)
TOPICS = ("tensors/memory", "autograd", "nn/layers", "data")

levels = st.sampled_from([*LEVELS, None])
candidates = st.lists(
    st.builds(
        Candidate,
        id=st.integers(0, 40).map(lambda number: f"q{number}"),
        kind=st.sampled_from(["choice", "value", "code"]),
        level=levels,
        topic=st.sampled_from(TOPICS),
        expected=st.none() | st.floats(0, 1),
        times_asked=st.integers(0, 3),
    ),
    max_size=25,
    unique_by=lambda candidate: candidate.id,
)
wishes = st.builds(
    ScheduleFilter,
    topics=st.sampled_from([(), ("tensors",), ("autograd", "nn")]),
    levels=st.sampled_from([(), ("mid",), ("mid", "senior")]),
    kinds=st.sampled_from([(), ("choice", "value")]),
    memory_days=st.integers(0, 30),
    memory_rounds=st.integers(0, 10),
)


def bank(per_cell: int, topics: Sequence[str] = TOPICS, of: Sequence[Level] = LEVELS) -> list[Candidate]:
    return [
        Candidate(f"{topic}-{level}-{number}", "choice", level, topic)
        for topic in topics
        for level in of
        for number in range(per_cell)
    ]


def play(
    questions: Sequence[Candidate], rounds: int, asks: ScheduleFilter, history: Sequence[PastRound] = ()
) -> tuple[list[PastRound], list[ChosenQuestion]]:
    """Chooses questions for `rounds` consecutive days, as a schedule would."""
    by_id = {question.id: question for question in questions}
    asked, choices = list(history), []
    for number in range(rounds):
        day = START + number * DAY
        choice = choose_question(questions, asked, asks, f"schedule-{day}", day)
        if choice is not None:
            question = by_id[choice.id]
            asked.append(PastRound(question.id, day, question.topic, question.level))
            choices.append(choice)
    return asked, choices


@given(st.randoms())
def test_the_first_question_is_a_proved_choice_of_the_lowest_level(random: Random) -> None:
    inviting = Candidate("inviting", "choice", "mid", "data", proved=True)
    others = [
        replace(inviting, id="unproved", proved=False),
        replace(inviting, id="hard", level="principal"),
        replace(inviting, id="code", kind="code"),
        *bank(2, topics=("autograd",)),
    ]
    questions = [*others, inviting]
    random.shuffle(questions)
    first = choose_question(questions, [], ScheduleFilter(), str(random.random()), START)
    assert first is not None and first.id == "inviting"
    # Only the first: later ones take turns as always.
    later = choose_question(questions, [PastRound("inviting", START, "data", "mid")], ScheduleFilter(), "x", START)
    assert later is not None and later.id.startswith("autograd-")


@given(candidates, wishes, st.integers(1, 40))
def test_no_repeat_within_memory_while_there_is_another(
    questions: list[Candidate], asks: ScheduleFilter, rounds: int
) -> None:
    asked, choices = play(questions, rounds, asks)
    for place, (round_, choice) in enumerate(zip(asked, choices, strict=True)):
        earlier = asked[:place]
        latest = earlier[-asks.memory_rounds :] if asks.memory_rounds else []
        recent = [a for a in earlier if round_.day - a.day < timedelta(days=asks.memory_days)]
        remembered = {a.id for a in [*latest, *recent]}
        assert (round_.id in remembered) == ("repeat" in choice.warnings)
        if "repeat" in choice.warnings:
            assert {question.id for question in questions if fits(question, asks)} <= remembered


def fits(question: Candidate, asks: ScheduleFilter) -> bool:
    below = [question.topic == topic or question.topic.startswith(f"{topic}/") for topic in asks.topics]
    return (
        (any(below) or not asks.topics)
        and (question.level in asks.levels or not asks.levels)
        and (question.kind in asks.kinds or not asks.kinds)
    )


@given(candidates, wishes)
def test_only_what_is_asked_for(questions: list[Candidate], asks: ScheduleFilter) -> None:
    choice = choose_question(questions, [], asks, "seed", START)
    wanted = {question.id for question in questions if fits(question, asks)}
    assert (choice is None) == (not wanted)
    if choice is not None:
        assert choice.id in wanted
        assert choice.remaining == len(wanted) - 1


@given(candidates.flatmap(lambda some: st.tuples(st.just(some), st.permutations(some))), wishes, st.text(max_size=9))
def test_the_same_seed_gives_the_same_choice_in_any_order(
    both: tuple[list[Candidate], list[Candidate]], asks: ScheduleFilter, seed: str
) -> None:
    one, other = both
    history = [PastRound(question.id, START, question.topic, question.level) for question in sorted(one, key=str)[:3]]
    assert choose_question(one, history, asks, seed, START + DAY) == choose_question(
        other, history, asks, seed, START + DAY
    )


def test_of_very_many_every_part_is_chosen_in_any_order_and_few_changes_matter() -> None:
    many = [Candidate(str(number), "choice", "mid", "data") for number in range(3000)]

    def chosen(questions: Sequence[Candidate]) -> list[str]:
        picks = [choose_question(questions, (), ScheduleFilter(), f"s{seed}", START) for seed in range(40)]
        return [pick.id for pick in picks if pick is not None]

    picks = chosen(many)
    assert chosen(many[::-1]) == picks
    assert len(set(picks)) > 35 and min(map(int, picks)) < 600 and max(map(int, picks)) > 2400
    without = chosen([one for one in many if one.id not in picks[:3]])
    assert sum(a != b for a, b in zip(picks, without, strict=True)) <= 6, "others stay: what was announced comes"


def test_other_seeds_choose_otherwise() -> None:
    found = {choose_question(bank(9), [], ScheduleFilter(), f"slot {number}", START) for number in range(60)}
    assert len(found) > 20


@given(st.integers(1, 30), st.integers(1, 4), st.integers(1, 3))
def test_topics_and_levels_are_balanced_within_one(rounds: int, topics: int, of: int) -> None:
    questions = bank(30, TOPICS[:topics], LEVELS[:of])
    asked, _ = play(questions, rounds, ScheduleFilter())
    by_topic = Counter(dict.fromkeys(TOPICS[:topics], 0))
    by_level = Counter(dict.fromkeys(LEVELS[:of], 0))
    by_topic.update(round_.topic for round_ in asked)
    by_level.update(round_.level for round_ in asked if round_.level)
    assert max(by_topic.values()) - min(by_topic.values()) <= 1
    assert max(by_level.values()) - min(by_level.values()) <= 1


def test_no_topic_keeps_to_one_level() -> None:
    asked, _ = play(bank(30, TOPICS[:3]), 36, ScheduleFilter())
    assert {(round_.topic, round_.level) for round_ in asked} == {(t, lv) for t in TOPICS[:3] for lv in LEVELS}


def test_balance_is_over_the_topics_asked_for() -> None:
    questions = bank(20, ("nn/layers", "nn/losses", "tensors/memory"))
    asked, _ = play(questions, 30, ScheduleFilter(topics=("nn/layers", "nn/losses", "tensors")))
    assert set(Counter(round_.topic for round_ in asked).values()) == {10}
    asked, _ = play(questions, 30, ScheduleFilter(topics=("nn", "tensors")))
    assert Counter(round_.topic.partition("/")[0] for round_ in asked) == {"nn": 15, "tensors": 15}


def test_a_topic_asked_for_does_not_take_in_its_namesakes() -> None:
    namesake = Candidate("q", "choice", "mid", "tensorsplus")
    assert choose_question([namesake], [], ScheduleFilter(topics=("tensors",)), "seed", START) is None


def test_a_topic_that_joins_late_gets_its_turn_and_no_more() -> None:
    asked, _ = play(bank(40, TOPICS[:2]), 40, ScheduleFilter())
    later = replace(ScheduleFilter(), memory_days=0, memory_rounds=40)
    joined, _ = play(bank(40, TOPICS[:3]), 10, later, asked)
    new = [round_.topic == TOPICS[2] for round_ in joined[40:]]
    assert new[0]
    assert [sum(new[start : start + 3]) for start in (1, 4, 7)] == [1, 1, 1]


def test_the_level_with_nothing_left_does_not_stop_the_others() -> None:
    questions = [*bank(20, ("data",), ("mid",)), *bank(1, ("data",), ("principal",))]
    asked, choices = play(questions, 21, ScheduleFilter())
    assert len({round_.id for round_ in asked}) == 21
    assert [choice.remaining for choice in choices] == list(range(20, -1, -1))


def test_it_aims_at_seventy_per_cent_right() -> None:
    shares = [0.05 * number for number in range(1, 20)] * 4
    questions = [Candidate(f"q{n}", "choice", "mid", "data", expected=share) for n, share in enumerate(shares)]
    asked, _ = play(questions, 20, ScheduleFilter())
    share_of = {question.id: question.expected or 0.0 for question in questions}
    for start in range(15):
        mean = sum(share_of[round_.id] for round_ in asked[start : start + 6]) / 6
        assert abs(mean - TARGET_SHARE) < 0.1


def test_after_hard_rounds_an_easy_one() -> None:
    questions = [Candidate(f"q{n}", "choice", "mid", "data", expected=n / 10) for n in range(1, 11)]
    history = [PastRound(f"q{n}", START, "data", "mid") for n in (1, 2, 3)]
    choice = choose_question(questions, history, ScheduleFilter(), "seed", START + DAY)
    assert choice is not None
    assert choice.id in ("q9", "q10")


def test_questions_asked_less_come_first() -> None:
    questions = [Candidate(f"q{n}", "choice", "mid", "data", times_asked=n) for n in (3, 1, 2)]
    choice = choose_question(questions, [], ScheduleFilter(), "seed", START)
    assert choice is not None
    assert choice.id == "q1"


def test_when_all_is_in_memory_the_one_asked_longest_ago_is_repeated() -> None:
    questions = bank(1, ("data",))
    asked, choices = play(questions, 7, ScheduleFilter())
    assert [round_.id for round_ in asked[3:6]] == [round_.id for round_ in asked[:3]]
    assert asked[6].id == asked[0].id
    assert {choice.warnings for choice in choices[3:]} == {("bank runs low", "repeat")}


def test_the_date_a_question_was_last_asked_counts_beyond_the_history() -> None:
    old = Candidate("old", "choice", "mid", "data", last_asked=START - 400 * DAY)
    recent = Candidate("recent", "choice", "mid", "data", last_asked=START - 3 * DAY)
    chosen = choose_question([old, recent], [], ScheduleFilter(), "seed", START)
    assert chosen == ChosenQuestion("old", ("bank runs low",), 0)
    both = [replace(old, last_asked=START - 9 * DAY), recent]
    assert choose_question(both, [], ScheduleFilter(), "seed", START) == ChosenQuestion(
        "old", ("bank runs low", "repeat"), 0
    )


@pytest.mark.parametrize(("size", "low"), [(11, False), (10, True)])
def test_the_warning_says_when_the_bank_runs_low(size: int, low: bool) -> None:
    choice = choose_question(bank(size, ("data",), ("mid",)), [], ScheduleFilter(), "seed", START)
    assert choice is not None
    assert choice.remaining == size - 1
    assert ("bank runs low" in choice.warnings) == low


@given(st.lists(st.text(max_size=5), unique=True, max_size=8), st.text(max_size=5), st.text(max_size=5))
def test_a_member_always_sees_the_same_order(options: list[str], member: str, round_: str) -> None:
    shown = shuffle_options(options, member, round_)
    assert sorted(shown) == sorted(options)
    assert shown == shuffle_options(reversed(options), member, round_)


def test_orders_differ_between_members_and_rounds_and_favour_no_option() -> None:
    options = ["a", "b", "c", "d"]
    orders = [tuple(shuffle_options(options, f"member {n}", f"round {n % 7}")) for n in range(960)]
    assert len(set(orders)) == 24
    assert all(180 < count < 300 for count in Counter(order[0] for order in orders).values())
    assert shuffle_options("abcdefgh", "ab", "c") != shuffle_options("abcdefgh", "a", "bc")
