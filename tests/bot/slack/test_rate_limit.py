"""The rate limits of messages to Slack: they hold whenever Slack counts each call."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.rate_limit import CHANNEL_LIMIT, TEAM_LIMIT, RateLimit, RateLimiter
from tests.doubles.slack.limits import Bucket


class Ticking:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_channel_has_a_burst_and_then_one_a_second() -> None:
    """The burst is shorter than Slack's, to leave room for delayed calls."""
    clock = Ticking()
    limiter = RateLimiter(clock)
    assert [limiter.reserve("T", "C", 9) for _ in range(5)] == [0, 0, 1, 2, 3]
    assert limiter.reserve("T", "other", 9) == 0
    clock.now += 10
    assert [limiter.reserve("T", "C", 9) for _ in range(4)] == [0, 0, 1, 2]


def test_a_distant_turn_is_not_taken() -> None:
    limiter = RateLimiter(Ticking())
    for _ in range(2):
        limiter.reserve("T", "C", 0)
    assert [limiter.reserve("T", "C", 0.5) for _ in range(3)] == [1, 1, 1]


def test_a_workspace_pauses_as_long_as_slack_says() -> None:
    """Messages with an earlier turn wait too."""
    clock = Ticking()
    limiter = RateLimiter(clock)
    limiter.pause("T", 5)
    limiter.pause("T", 2)
    assert limiter.reserve("T", "C", 9) == 5
    assert limiter.start("T", "C") >= 5
    assert limiter.reserve("U", "C", 9) == limiter.start("U", "C") == 0
    clock.now += 5
    assert limiter.reserve("T", "other", 9) == limiter.start("T", "C") == 0


def test_a_workspace_has_its_own_limit() -> None:
    clock = Ticking()
    limiter = RateLimiter(clock)
    waits = [limiter.reserve("T", str(number), 9) for number in range(40)]
    assert waits == pytest.approx([0.0] * 25 + [number / 5 for number in range(1, 16)], abs=1e-9)
    assert limiter.reserve("U", "0", 9) == 0


def test_a_new_process_leaves_room_for_the_messages_of_the_previous_one() -> None:
    clock = Ticking()
    limiter = RateLimiter(clock)
    assert limiter.start("T", "C") == 0
    assert limiter.start("T", "C") >= 1
    clock.now += 9
    limiter.finish("T", "C")
    assert [limiter.start("T", "C") for _ in range(2)] == [0, 0]


def test_running_calls_count_as_late_as_possible() -> None:
    clock = Ticking()
    limiter = RateLimiter(clock)
    clock.now += 60
    assert [limiter.start("T", "C") for _ in range(3)] == [0, 0, 0]
    clock.now += 60
    assert limiter.start("T", "C") > 0, "three may be counted only now"
    limiter.finish("T", "C")
    assert limiter.start("T", "C") > 0, "and one was"
    clock.now += 1.1
    assert limiter.start("T", "C") == 0


@dataclass
class Played:
    """Simulates calls, each counted and answered at given times."""

    limiter: RateLimiter
    clock: Ticking
    events: list[tuple[float, int, str]] = field(default_factory=list)
    counted: list[tuple[float, str]] = field(default_factory=list)

    def play(self, asked: list[tuple[str, float, float, float]]) -> None:
        at = self.clock.now
        for number, (channel, pause, _, _) in enumerate(asked):
            at += pause
            heappush(self.events, (at + self._booked(at, channel), number, "start"))
        while self.events:
            at, number, what = heappop(self.events)
            self.clock.now = at
            channel, _, until_counted, until_answered = asked[number]
            if what == "end":
                self.limiter.finish("T", channel)
            elif wait := self.limiter.start("T", channel):
                heappush(self.events, (at + wait, number, "start"))
            else:
                self.counted.append((at + until_counted, channel))
                heappush(self.events, (at + until_counted + until_answered, number, "end"))

    def _booked(self, at: float, channel: str) -> float:
        self.clock.now = at
        return self.limiter.reserve("T", channel, 10_000)


waits = st.floats(0, 2)
calls = st.tuples(st.sampled_from("abcd"), waits, waits, waits)


@given(st.lists(calls, max_size=60), st.integers(1, 4), st.integers(1, 12))
def test_slack_always_has_room_for_a_call(
    asked: list[tuple[str, float, float, float]], burst: int, team_burst: int
) -> None:
    """However long each takes, and even if a previous process used up the burst."""
    clock = Ticking()
    begun, channel, team = clock.now, RateLimit(1.0, burst), RateLimit(3.0, team_burst)
    played = Played(RateLimiter(clock, channel, team), clock)
    played.play(asked)
    assert len(played.counted) == len(asked)
    buckets: dict[str, Bucket] = {}
    for at, name in sorted(played.counted):
        for key, limit in ((name, channel), ("", team)):
            bucket = buckets.setdefault(key, Bucket(limit.burst, limit.rate, 0.0, begun - 1))
            assert bucket.wait(at) < 1e-6
            bucket.take()


def test_a_long_queue_uses_the_whole_rate() -> None:
    """The reserve for delayed calls costs no throughput, though each call takes a fifth of a second."""
    clock = Ticking()
    begun = clock.now
    played = Played(RateLimiter(clock), clock)
    played.play([("abcdefgh"[number % 8], 0.0, 0.1, 0.1) for number in range(400)])
    seconds = max(at for at, _ in played.counted) - begun
    assert seconds <= 400 / TEAM_LIMIT.rate + 2
    assert CHANNEL_LIMIT.rate * 8 > TEAM_LIMIT.rate, "the workspace is what limits"


def test_idle_channels_are_forgotten() -> None:
    clock = Ticking()
    limiter = RateLimiter(clock)
    for number in range(25_000):
        clock.now += 1
        limiter.reserve("T", str(number), 0)
        assert limiter.start("T", str(number)) == 0
        limiter.finish("T", str(number))
    assert len(limiter._channels.turns._next) <= 10_001
    assert len(limiter._channels._counts) <= 10_002
