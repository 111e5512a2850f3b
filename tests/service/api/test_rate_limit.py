"""A member, and a workspace, that call too fast are refused, and nobody else is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from service.api import http, rate_limit
from service.api.rate_limit import CallLimiter, Rate
from service.client import caller_header
from service.wire import TooManyCalls
from tests.conftest import TOKEN, MakeWho
from tests.service.daily_channel import DAILY, DailyChannel
from tests.service.refusals import refused

FAST = Rate(burst=3, per_second=2)
WIDE = Rate(burst=1_000, per_second=1_000)


class Steady:
    """A monotonic clock that moves by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def steady() -> Steady:
    return Steady()


def test_a_burst_passes_and_then_the_rate_holds(steady: Steady, who: MakeWho) -> None:
    limiter = CallLimiter(steady, member=FAST, workspace=WIDE)
    ada, bo = who("Ada"), who("Bo")
    assert [limiter.delay(ada) for _ in range(5)] == [0, 0, 0, 0.5, 0.5]
    assert limiter.delay(bo) == 0
    steady.seconds += 0.5
    assert [limiter.delay(ada), limiter.delay(ada)] == [0, 0.5]
    steady.seconds += 3600
    assert [limiter.delay(ada) for _ in range(4)] == [0, 0, 0, 0.5]


def test_a_workspace_has_its_own_limit(steady: Steady, who: MakeWho) -> None:
    limiter = CallLimiter(steady, member=WIDE, workspace=FAST)
    crowd = [who(f"Member {number}") for number in range(4)]
    assert [limiter.delay(each) for each in crowd] == [0, 0, 0, 0.5]
    assert limiter.delay(who("Eve", workspace="away")) == 0
    elsewhere = crowd[0].model_copy(update={"platform": "slack"})
    assert limiter.delay(elsewhere) == 0


def test_a_refused_call_costs_nothing(steady: Steady, who: MakeWho) -> None:
    limiter = CallLimiter(steady, member=FAST, workspace=FAST)
    loud, quiet = who("Loud"), who("Quiet")
    for _ in range(100):
        limiter.delay(loud)
    steady.seconds += 0.5
    assert limiter.delay(quiet) == 0


def test_only_so_many_callers_are_remembered(steady: Steady, who: MakeWho, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MOST_BUCKETS", 10)
    limiter = CallLimiter(steady)
    for number in range(100):
        limiter.delay(who(f"Member {number}"))
    assert len(limiter._buckets) == 10


@pytest.fixture
def limited(daily: DailyChannel, steady: Steady, monkeypatch: pytest.MonkeyPatch) -> DailyChannel:
    """The channel, whose service accepts three calls of a member, and then two a second."""
    state = daily.service.api.state
    monkeypatch.setattr(state, "parts", replace(state.parts, limiter=CallLimiter(steady, member=FAST)))
    return daily


async def test_a_flood_is_refused_and_nobody_else_is(limited: DailyChannel) -> None:
    flood, other = limited.who("Flood"), limited.who("Other")
    for _ in range(3):
        await limited.client.rules(flood)
    with refused(TooManyCalls(retry_s=1)):
        await limited.client.rules(flood)
    await limited.client.rules(other)


async def test_a_call_with_a_body_is_counted_once(limited: DailyChannel) -> None:
    ada = limited.who("Ada")
    for _ in range(3):
        await limited.client.today(ada, DAILY)
    with refused(TooManyCalls(retry_s=1)):
        await limited.client.today(ada, DAILY)


async def test_the_calls_of_a_bot_itself_are_not_limited(limited: DailyChannel) -> None:
    for _ in range(20):
        await limited.client.outbox_retry("web", "home")


@pytest.mark.parametrize("why", ["flood", "length"])
async def test_a_body_that_is_refused_is_not_read(limited: DailyChannel, why: str) -> None:
    ada = limited.who("Ada")
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        read += 1
        yield b"{}"

    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json", **caller_header(ada)}
    headers["Content-Length"] = str(http.MOST + 1) if why == "length" else "2"
    for _ in range(3 if why == "flood" else 0):
        await limited.client.rules(ada)
    transport = httpx.ASGITransport(limited.service.api)
    async with httpx.AsyncClient(transport=transport, base_url="http://service/v1") as client:
        response = await client.post("/today", content=body(), headers=headers)
    assert (response.status_code, read) == (429 if why == "flood" else 413, 0)
