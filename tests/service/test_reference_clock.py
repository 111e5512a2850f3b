"""The clock that follows the database's, in services and bots, whatever a machine's own clock says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.process import now
from service.reference_clock import NO_SKEW, ReferenceClock, skew_of
from service.wire import Where, Who
from tests.conftest import TOKEN, Clock

NINE = datetime(2026, 3, 2, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
ANN = Who(platform="web", workspace="local", member="ann", name="Ann", admin=True)


@dataclass
class Machine:
    """A machine whose clock is set by hand, and how long it has run."""

    clock: datetime = NINE + HOUR
    uptime: float = 1000.0


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def clock(machine: Machine) -> ReferenceClock:
    return ReferenceClock(lambda: machine.clock, lambda: machine.uptime)


def test_the_machine_is_believed_until_the_first_reading(clock: ReferenceClock) -> None:
    assert clock() == NINE + HOUR
    assert clock.skew == NO_SKEW


def test_setting_the_machine_s_clock_changes_nothing(machine: Machine, clock: ReferenceClock) -> None:
    clock.observe(NINE, machine.uptime)
    assert clock() == NINE
    assert clock.skew == HOUR
    machine.clock, machine.uptime = NINE - HOUR, machine.uptime + 60
    assert clock() == NINE + timedelta(minutes=1)


def test_a_slow_reply_does_not_spoil_a_close_estimate(machine: Machine, clock: ReferenceClock) -> None:
    clock.observe(NINE, machine.uptime)
    begun, machine.uptime = machine.uptime, machine.uptime + 20
    # It may have been read at any time of these 20 s.
    clock.observe(NINE + timedelta(seconds=5), begun)
    assert clock() == NINE + timedelta(seconds=20)


def test_a_fast_reply_mends_a_rough_estimate(machine: Machine, clock: ReferenceClock) -> None:
    begun, machine.uptime = machine.uptime, machine.uptime + 20
    clock.observe(NINE, begun)
    clock.observe(NINE + timedelta(seconds=15), machine.uptime)
    assert clock() == NINE + timedelta(seconds=15)


def test_a_database_that_is_set_is_followed(machine: Machine, clock: ReferenceClock) -> None:
    for there in (NINE, NINE + HOUR, NINE - HOUR):
        clock.observe(there, machine.uptime)
        assert clock() == there


def test_only_a_clock_that_follows_another_has_a_skew(clock: ReferenceClock) -> None:
    clock.observe(NINE, clock.uptime())
    assert skew_of(clock) == HOUR
    assert skew_of(Clock()) == NO_SKEW


async def test_a_bot_takes_the_service_s_time(settings: Settings) -> None:
    quiz = Clock(NINE)
    service = build(settings, quiz)
    async with service.running(), ServiceClient.inside(service.api, TOKEN) as client:
        before = client.clock()
        assert abs(before - now()) < HOUR
        await client.join(ANN, Where(channel="daily", name="daily"))
        assert abs(client.clock() - NINE) < HOUR


async def test_a_running_service_takes_the_database_s_time(settings: Settings) -> None:
    wrong = ReferenceClock(lambda: NINE)
    service = build(settings, wrong)
    async with service.running(), ServiceClient.inside(service.api, TOKEN) as client:
        assert abs(wrong() - now()) < HOUR
        where = Where(channel="daily", name="daily")
        await client.join(ANN, where)
        (check,) = [check for check in await client.doctor(ANN) if check.kind == "clock"]
    # The doctor still says that the machine's clock is wrong.
    assert not check.ok
