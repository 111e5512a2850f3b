"""Slack's rate limits: per method, workspace and app; one message a second and channel; and a workspace's own."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.doubles.slack.clock import Clock

TIER_1, TIER_2, TIER_3, TIER_4 = 1, 20, 50, 100


@dataclass
class Bucket:
    """So many at once, refilled at `rate` each of Slack's seconds."""

    size: float
    rate: float
    left: float
    filled: float

    def wait(self, now: float) -> float:
        """Slack's seconds until one more is allowed; 0 where it is."""
        self.left = min(self.size, self.left + (now - self.filled) * self.rate)
        self.filled = now
        return 0.0 if self.left >= 1 - 1e-9 else (1 - self.left) / self.rate

    def take(self) -> None:
        self.left -= 1


@dataclass
class Limits:
    """`on` False lets everything pass. A workspace's own limit of messages is not published; this is a guess of it."""

    clock: Clock
    on: bool = True
    channel_rate: float = 1.0
    channel_burst: float = 3.0
    team_rate: float = 5.0
    team_burst: float = 30.0
    tier_burst: float = 10.0
    buckets: dict[tuple[str, ...], Bucket] = field(default_factory=dict)

    def refuse(self, team: str, method: str, tier: int, channel: str = "") -> float:
        """Real seconds to wait where the call is too early, else 0 and the call is counted."""
        if not self.on:
            return 0.0
        now = self.clock.slack()
        asked = [self._bucket((team, method), max(self.tier_burst, tier), tier / 60, now)] if tier else []
        if channel:
            asked.append(self._bucket((team, "channel", channel), self.channel_burst, self.channel_rate, now))
            asked.append(self._bucket((team, "messages"), self.team_burst, self.team_rate, now))
        wait = max((bucket.wait(now) for bucket in asked), default=0.0)
        if wait:
            return wait / self.clock.factor
        for bucket in asked:
            bucket.take()
        return 0.0

    def _bucket(self, name: tuple[str, ...], size: float, rate: float, now: float) -> Bucket:
        return self.buckets.setdefault(name, Bucket(size, rate, size, now))
