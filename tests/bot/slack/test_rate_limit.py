"""The pace of messages to Slack: in turn, and never more counted than it allows, whenever each is counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.slack.rate_limit import CHANNEL, TEAM, Allowed, Pacer
from tests.doubles.slack.limits import Bucket


class Ticking:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_channel_has_a_burst_and_then_one_a_second() -> None:
    """A burst shorter than Slack's own: the room for calls that are late."""
    clock = Ticking()
    pacer = Pacer(clock)
    assert [pacer.book("T", "C", 9) for _ in range(5)] == [0, 0, 1, 2, 3]
    assert pacer.book("T", "other", 9) == 0
    clock.now += 10
    assert [pacer.book("T", "C", 9) for _ in range(4)] == [0, 0, 1, 2]


def test_a_turn_too_far_away_is_not_taken() -> None:
    pacer = Pacer(Ticking())
    for _ in range(2):
        pacer.book("T", "C", 0)
    assert [pacer.book("T", "C", 0.5) for _ in range(3)] == [1, 1, 1]


def test_a_workspace_rests_as_long_as_slack_says() -> None:
    """Also those whose turn was booked before."""
    clock = Ticking()
    pacer = Pacer(clock)
    pacer.rest("T", 5)
    pacer.rest("T", 2)
    assert pacer.book("T", "C", 9) == 5
    assert pacer.start("T", "C") >= 5
    assert pacer.book("U", "C", 9) == pacer.start("U", "C") == 0
    clock.now += 5
    assert pacer.book("T", "other", 9) == pacer.start("T", "C") == 0


def test_a_workspace_has_a_pace_of_its_own() -> None:
    clock = Ticking()
    pacer = Pacer(clock)
    waits = [pacer.book("T", str(number), 9) for number in range(40)]
    assert waits == pytest.approx([0.0] * 25 + [number / 5 for number in range(1, 16)], abs=1e-9)
    assert pacer.book("U", "0", 9) == 0


def test_a_bot_just_started_leaves_room_for_what_one_before_it_posted() -> None:
    clock = Ticking()
    pacer = Pacer(clock)
    assert pacer.start("T", "C") == 0
    assert pacer.start("T", "C") >= 1
    clock.now += 9
    pacer.end("T", "C")
    assert [pacer.start("T", "C") for _ in range(2)] == [0, 0]


def test_what_is_not_answered_is_counted_as_late_as_can_be() -> None:
    clock = Ticking()
    pacer = Pacer(clock)
    clock.now += 60
    assert [pacer.start("T", "C") for _ in range(3)] == [0, 0, 0]
    clock.now += 60
    assert pacer.start("T", "C") > 0, "three may be counted only now"
    pacer.end("T", "C")
    assert pacer.start("T", "C") > 0, "and one was"
    clock.now += 1.1
    assert pacer.start("T", "C") == 0


@dataclass
class Played:
    """Calls played through in time, each counted and answered when it is said to be."""

    pacer: Pacer
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
                self.pacer.end("T", channel)
            elif wait := self.pacer.start("T", channel):
                heappush(self.events, (at + wait, number, "start"))
            else:
                self.counted.append((at + until_counted, channel))
                heappush(self.events, (at + until_counted + until_answered, number, "end"))

    def _booked(self, at: float, channel: str) -> float:
        self.clock.now = at
        return self.pacer.book("T", channel, 10_000)


waits = st.floats(0, 2)
calls = st.tuples(st.sampled_from("abcd"), waits, waits, waits)


@settings(deadline=None)
@given(st.lists(calls, max_size=60), st.integers(1, 4), st.integers(1, 12))
def test_slack_has_room_for_every_call_whenever_it_is_counted(
    asked: list[tuple[str, float, float, float]], burst: int, team_burst: int
) -> None:
    """However long each takes, and though a bot before this one used all that there was."""
    clock = Ticking()
    begun, channel, team = clock.now, Allowed(1.0, burst), Allowed(3.0, team_burst)
    played = Played(Pacer(clock, channel, team), clock)
    played.play(asked)
    assert len(played.counted) == len(asked)
    buckets: dict[str, Bucket] = {}
    for at, name in sorted(played.counted):
        for key, allowed in ((name, channel), ("", team)):
            bucket = buckets.setdefault(key, Bucket(allowed.burst, allowed.rate, 0.0, begun - 1))
            assert bucket.wait(at) < 1e-6
            bucket.take()


def test_a_long_queue_is_sent_at_the_rate_allowed() -> None:
    """What is kept for late calls costs no rate, though each takes a fifth of a second."""
    clock = Ticking()
    begun = clock.now
    played = Played(Pacer(clock), clock)
    played.play([("abcdefgh"[number % 8], 0.0, 0.1, 0.1) for number in range(400)])
    seconds = max(at for at, _ in played.counted) - begun
    assert seconds <= 400 / TEAM.rate + 2
    assert CHANNEL.rate * 8 > TEAM.rate, "the workspace is what limits"


def test_who_posts_no_more_is_forgotten() -> None:
    clock = Ticking()
    pacer = Pacer(clock)
    for number in range(25_000):
        clock.now += 1
        pacer.book("T", str(number), 0)
        assert pacer.start("T", str(number)) == 0
        pacer.end("T", str(number))
    assert len(pacer._channels.turns._next) <= 10_001
    assert len(pacer._channels._counts) <= 10_002
