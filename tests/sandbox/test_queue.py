"""Whose run starts next: classes, members in turn, bounds, and that nobody waits for ever."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.queue import FairQueue, RunRefused, Ticket
from sandbox.wire import Priority

PRIORITIES: tuple[Priority, ...] = get_args(Priority)


def started(queue: FairQueue, now: float = 0.0) -> Ticket:
    ticket = queue.start(now)
    assert ticket is not None
    return ticket


def order(queue: FairQueue, now: float = 0.0) -> list[str]:
    """Returns the owners in the order in which they are served, one at a time."""
    served = []
    while queue.waiting:
        ticket = started(queue, now)
        served.append(ticket.owner)
        queue.leave(ticket, now)
    return served


def test_a_class_goes_before_the_next_and_within_it_who_came_first() -> None:
    queue = FairQueue(concurrency=1, max_waiting=64)
    came: dict[str, Priority] = {"d": "background", "c": "free", "b": "practice", "a": "round", "c2": "free"}
    came["a2"] = "round"
    for at, (owner, priority) in enumerate(came.items()):
        queue.enter(owner, priority, at)
    assert order(queue) == ["a", "a2", "b", "c", "c2", "d"]


def test_a_member_has_one_at_work_and_one_waiting_and_a_third_is_turned_away_at_once() -> None:
    queue = FairQueue(concurrency=4, max_waiting=64)
    queue.enter("ada", "free", 0)
    first = started(queue)
    queue.enter("ada", "free", 1)
    assert queue.start(1) is None  # there are places, but not for a second one of hers
    with pytest.raises(RunRefused, match="another run of this owner is waiting already") as refusal:
        queue.enter("ada", "round", 2)
    assert refusal.value.why == "member"
    queue.leave(first, 3)
    assert started(queue, 3).owner == "ada"


def test_our_own_runs_have_no_such_bound() -> None:
    queue = FairQueue(concurrency=2, max_waiting=64)
    tickets = [queue.enter("", "round", 0) for _ in range(5)]
    assert [started(queue), started(queue)] == tickets[:2]
    assert len(queue.waiting) == 3


def test_a_served_member_queues_after_those_waiting() -> None:
    queue = FairQueue(concurrency=1, max_waiting=64)
    queue.enter("ada", "free", 0)
    first = started(queue)
    queue.enter("ada", "free", 1)
    queue.enter("bob", "free", 2)
    queue.leave(first, 3)
    assert order(queue, 3) == ["bob", "ada"]


def test_a_full_queue_turns_the_last_classes_away_first_and_says_how_long_it_is() -> None:
    queue = FairQueue(concurrency=1, max_waiting=8)
    room: dict[Priority, int] = {"background": 5, "free": 6, "practice": 7, "round": 8}
    for priority, most in room.items():
        while len(queue.waiting) < most:
            queue.enter(str(len(queue.waiting)), priority, 0)
        with pytest.raises(RunRefused, match=rf"{most} runs are waiting already, and .* about 1 s") as refusal:
            queue.enter("late", priority, 0)
        assert refusal.value.why == "full"


def test_position_and_wait_are_estimated_from_recent_runs() -> None:
    queue = FairQueue(concurrency=2, max_waiting=64)
    for number in range(40):
        ticket = queue.enter(str(number), "free", number)
        assert queue.ahead_of(ticket) == 0
        started(queue, number)
        queue.leave(ticket, number + 3.0)
    mean = queue.expected_wait(2) * 2
    assert mean == pytest.approx(3.0, rel=0.1)
    tickets = [queue.enter(str(number), "free", 50) for number in range(4)]
    started(queue, 50)
    started(queue, 50)
    assert [queue.ahead_of(ticket) for ticket in tickets[2:]] == [2, 3]
    assert queue.ahead_of(queue.enter("first", "round", 51)) == 2
    assert queue.ahead_of(tickets[2]) == 3
    assert [queue.expected_wait(before) for before in (1, 2, 3)] == pytest.approx([0, mean / 2, mean])


def test_a_run_that_would_wait_too_long_is_turned_away_when_it_comes() -> None:
    queue = FairQueue(concurrency=1, max_waiting=64)
    for number in range(60):
        queue.enter("", "round", number * 5)
        queue.leave(started(queue, number * 5), number * 5 + 5)
    queue.enter("", "background", 300)
    started(queue, 300)
    # Runs last five seconds of late, so the fifth to wait would wait for 25.
    for number in range(4):
        queue.enter(str(number), "free", 300)
    with pytest.raises(RunRefused, match=r"4 runs are waiting already, and this one would wait about 25 s"):
        queue.enter("late", "free", 300)
    # The same queue is short for those who go before it.
    assert queue.ahead_of(queue.enter("first", "round", 300)) == 1


def test_leaving_twice_or_before_the_start_is_harmless() -> None:
    queue = FairQueue(concurrency=1, max_waiting=64)
    gone = queue.enter("ada", "free", 0)
    queue.leave(gone, 0)
    queue.leave(gone, 0)
    assert queue.start(0) is None
    ticket = queue.enter("ada", "free", 0)
    assert started(queue) == ticket
    queue.leave(ticket, 1)
    queue.leave(ticket, 1)
    assert (queue.running, queue.waiting) == ({}, {})


def test_a_free_run_is_served_however_many_first_answers_come() -> None:
    queue = FairQueue(concurrency=1, max_waiting=64)
    queue.enter("slow", "free", 0)
    for number in range(100):
        queue.enter(str(number), "round", number)
        ticket = started(queue, number)
        queue.leave(ticket, number)
        if ticket.owner == "slow":
            assert number >= 10  # it has waited for the ten seconds
            return
    pytest.fail("it was never served")


def test_aging_takes_one_start_in_eight_at_most_from_first_answers() -> None:
    queue = FairQueue(concurrency=1, max_waiting=64)
    for number in range(40):
        queue.enter(f"free {number}", "free", 0)
    served = []
    for number in range(80):
        queue.enter(str(number), "round", 100 + number)
        ticket = started(queue, 100 + number)
        queue.leave(ticket, 100 + number)
        served.append(ticket.priority)
    assert served.count("free") == 10
    # The first answers lost but those starts: what is left of them are ten.
    assert sum(ticket.priority == "round" for ticket in queue.waiting.values()) == 10


Step = tuple[str, str, Priority]
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["enter", "start", "leave", "hang up"]),
        st.sampled_from(["", "ada", "bob", "cyd", "dan"]),
        st.sampled_from(PRIORITIES),
    ),
    max_size=120,
)


@settings(max_examples=300)
@given(steps=STEPS, places=st.integers(1, 3), capacity=st.integers(1, 16))
def test_no_bound_is_ever_passed_and_no_place_stays_free_that_someone_could_have(
    steps: list[Step], places: int, capacity: int
) -> None:
    queue = FairQueue(places, capacity, dict.fromkeys(PRIORITIES, math.inf))
    for now, (step, owner, priority) in enumerate(steps):
        if step == "enter":
            waiting = len(queue.waiting)
            try:
                queue.enter(owner, priority, now)
            except RunRefused as refusal:
                own = bool(owner) and any(each.owner == owner for each in queue.waiting.values())
                assert refusal.why == ("member" if own else "full")
                assert own or waiting >= capacity // 2
        elif step == "start":
            free = len(queue.running) < places
            busy = {ticket.owner for ticket in queue.running.values()} - {""}
            could = {ticket.owner for ticket in queue.waiting.values()} - busy
            assert (queue.start(now) is not None) == (free and bool(could))
        else:
            tickets = list((queue.running if step == "leave" else queue.waiting).values())
            if tickets:
                queue.leave(tickets[0], now)
        assert len(queue.running) <= places and len(queue.waiting) <= capacity
        for held in (queue.running, queue.waiting):
            owners = [ticket.owner for ticket in held.values() if ticket.owner]
            assert len(owners) == len(set(owners))


@settings(max_examples=100)
@given(st.lists(st.tuples(st.sampled_from(["", "ada", "bob", "cyd"]), st.sampled_from(PRIORITIES)), max_size=60))
def test_every_accepted_run_is_served_exactly_once(entries: list[tuple[str, Priority]]) -> None:
    queue = FairQueue(concurrency=2, max_waiting=64)
    entered: list[int] = []
    served: list[int] = []
    for now, (owner, priority) in enumerate(entries):
        try:
            entered.append(queue.enter(owner, priority, now).number)
        except RunRefused:
            continue
        if now % 3 == 0:
            ticket = queue.start(now)
            if ticket is not None:
                served.append(ticket.number)
        if now % 4 == 0 and queue.running:
            queue.leave(next(iter(queue.running.values())), now)
    while queue.waiting:
        ticket = queue.start(1000)
        if ticket is None:
            queue.leave(next(iter(queue.running.values())), 1000)
        else:
            served.append(ticket.number)
    assert sorted(served) == entered
