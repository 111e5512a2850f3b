"""The rate limit of requests to Discord: it holds whenever Discord counts each request."""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from heapq import heappop, heappush

import aiohttp
import pytest
from aiohttp import web
from discord.http import Route
from hypothesis import given
from hypothesis import strategies as st

from bot.discord.rate_limit import INITIAL_SLOTS, RateLimiter, RequestSlots

# Seconds until the next is wanted, from its start until it is counted, from there to its answer.
requests = st.tuples(st.floats(0, 0.3), st.floats(0, 2), st.floats(0, 2))


def counted_at(asked: list[tuple[float, float, float]], most: int, window_s: float) -> list[float]:
    """Simulates requests that start as early as the slots allow; returns when Discord counts each."""
    slots, now, answers, counted = RequestSlots(0.0, most, window_s), 0.0, list[float](), list[float]()
    for pause, until_counted, until_answered in asked:
        now += pause
        while (free := slots.next) is None or free > now:
            # Time goes on to whatever comes first: an answer, or a place that is free again.
            now = max(now, min([*([answers[0]] if answers else []), *([free] if free is not None else [])]))
            while answers and answers[0] <= now:
                slots.release(heappop(answers))
        slots.take()
        counted.append(now + until_counted)
        heappush(answers, now + until_counted + until_answered)
    return sorted(counted)


@given(st.lists(requests, max_size=80), st.integers(1, 6), st.floats(0.2, 2))
def test_no_window_ever_counts_more_than_the_limit(
    asked: list[tuple[float, float, float]], most: int, window_s: float
) -> None:
    counted = counted_at(asked, most, window_s)
    for last, at in enumerate(counted):
        assert last - bisect_left(counted, at - window_s + 1e-9) < most


def test_a_new_process_leaves_room_for_the_requests_of_the_previous_one() -> None:
    counted = counted_at([(0, 0, 0)] * 60, 50, 1.0)
    assert counted == [0.0] * INITIAL_SLOTS + [1.0] * 50 + [2.0] * 5


async def test_requests_start_in_order_and_evenly() -> None:
    loop, limiter, starts = asyncio.get_running_loop(), RateLimiter(200, 0.1), list[tuple[int, float]]()

    async def one(number: int) -> None:
        await limiter.acquire()
        starts.append((number, loop.time()))
        limiter.release()

    begun = loop.time()
    await asyncio.gather(*(one(number) for number in range(100)))
    assert [number for number, _ in starts] == list(range(100))
    # The first may make up for a late timer at once; from then on one in every two thousandth of a second.
    assert starts[-1][1] - begun >= 90 * 0.1 / 200


async def test_a_request_waits_for_an_answer() -> None:
    limiter = RateLimiter(2, 0.01)
    for _ in range(2):
        await limiter.acquire()
    third = asyncio.create_task(limiter.acquire())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(third), 0.1)
    limiter.release()
    await third


async def test_a_pause_holds_waiting_requests_too() -> None:
    loop, limiter = asyncio.get_running_loop(), RateLimiter(1, 0.05)
    await limiter.acquire()
    waiting = asyncio.create_task(limiter.acquire())
    await asyncio.sleep(0)
    begun = loop.time()
    limiter.pause(0.3)
    limiter.release()
    await waiting
    assert loop.time() - begun >= 0.3


async def test_a_cancelled_request_takes_no_slot() -> None:
    limiter = RateLimiter(1, 0.01)
    await limiter.acquire()
    waiting = [asyncio.create_task(limiter.acquire()) for _ in range(3)]
    await asyncio.sleep(0)
    for one in waiting[:2]:
        one.cancel()
    limiter.release()
    await waiting[2]
    assert [one.cancelled() for one in waiting] == [True, True, False]


async def test_every_request_to_the_api_takes_and_releases_a_slot() -> None:
    """Whether answered, rejected or cut. Requests to other hosts take none."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("cut") and request.transport is not None:
            request.transport.abort()
        return web.Response(status=500 if request.path.endswith("broken") else 200)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    home, base = f"http://127.0.0.1:{runner.addresses[0][1]}", Route.BASE
    Route.BASE = f"{home}/api"
    limiter = RateLimiter(2, 0.01)
    try:
        async with aiohttp.ClientSession(trace_configs=[limiter.trace()]) as session:
            for _ in range(3):
                assert (await session.get(f"{home}/api/well")).status == 200
                assert (await session.get(f"{home}/api/broken")).status == 500
                with pytest.raises(aiohttp.ClientError):
                    await session.get(f"{home}/api/cut")
            for _ in range(2):
                await limiter.acquire()
            assert (await session.get(f"{home}/elsewhere")).status == 200
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(session.get(f"{home}/api/well"), 0.1)
            limiter.release()
            assert (await session.get(f"{home}/api/well")).status == 200
    finally:
        Route.BASE = base
        await runner.cleanup()
