"""Waiting for one's turn: whoever hangs up leaves no hole, and nobody waits beyond the longest."""

from __future__ import annotations

import asyncio

import pytest

from sandbox.queue import AsyncQueue, FairQueue, RunRefused
from sandbox.wire import Priority


def queue_of_one(max_wait: float = 60.0) -> AsyncQueue:
    bounds: dict[Priority, float] = {"round": max_wait, "free": 60.0}
    return AsyncQueue(FairQueue(1, 64, bounds), lambda: 0.0)


class Guest:
    """One who wants a turn, and keeps it until told to go."""

    def __init__(self, queue: AsyncQueue, owner: str, priority: Priority = "free") -> None:
        self.go = asyncio.Event()
        self.before: int | None = None
        self.task = asyncio.create_task(self._stay(queue, owner, priority))

    async def _stay(self, queue: AsyncQueue, owner: str, priority: Priority) -> None:
        async with queue.admit(owner, priority) as self.before:
            await self.go.wait()


async def settled(*guests: Guest) -> list[bool]:
    """Returns which of them have their turn once nothing more can happen."""
    for _ in range(5):
        await asyncio.wait([guest.task for guest in guests], timeout=0)
    return [guest.before is not None for guest in guests]


async def test_turns_follow_in_order_and_report_how_many_were_before() -> None:
    queue = queue_of_one()
    guests = [Guest(queue, "a"), Guest(queue, "b"), Guest(queue, "c", "round")]
    assert await settled(*guests) == [True, False, False]
    guests[0].go.set()
    assert await settled(*guests) == [True, False, True]
    guests[2].go.set()
    assert await settled(*guests) == [True, True, True]
    assert [guest.before for guest in guests] == [0, 1, 1]
    guests[1].go.set()
    await guests[1].task


async def test_a_cancelled_wait_passes_its_turn_on() -> None:
    queue = queue_of_one()
    at_work, waiting, starting, last = (Guest(queue, name) for name in "abcd")
    await settled(last)
    waiting.task.cancel()
    assert await settled(at_work, starting, last) == [True, False, False]
    # It is given its turn and hangs up before it has heard of it.
    at_work.task.cancel()
    starting.task.cancel()
    assert await settled(last) == [True]
    last.go.set()
    await last.task
    assert (queue.state.running, queue.state.waiting) == ({}, {})


async def test_nobody_waits_beyond_the_longest() -> None:
    queue = queue_of_one(max_wait=0.1)
    first = Guest(queue, "a")
    await settled(first)
    with pytest.raises(RunRefused, match="the run did not start within 0 s") as refusal:
        async with queue.admit("b", "round"):
            pytest.fail("the place is taken")
    assert refusal.value.why == "full"
    first.go.set()
    await first.task
    async with queue.admit("b", "round") as before:
        assert before == 0


async def test_a_turn_that_fails_is_over() -> None:
    queue = queue_of_one()
    with pytest.raises(ZeroDivisionError):
        async with queue.admit("a", "free"):
            raise ZeroDivisionError
    async with queue.admit("a", "free") as before:
        assert before == 0
