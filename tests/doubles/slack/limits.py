"""Slack's rate limits: per method, workspace and app; one message a second per channel; and one per workspace."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.doubles.slack.clock import Clock

TIER_1, TIER_2, TIER_3, TIER_4 = 1, 20, 50, 100


@dataclass
class Bucket:
    """A token bucket, refilled by `rate` per Slack second."""

    size: float
    rate: float
    left: float
    filled: float

    def wait(self, now: float) -> float:
        """Returns Slack seconds until another call is allowed; 0 if one is."""
        self.left = min(self.size, self.left + (now - self.filled) * self.rate)
        self.filled = now
        return 0.0 if self.left >= 1 - 1e-9 else (1 - self.left) / self.rate

    def take(self) -> None:
        self.left -= 1


@dataclass
class Limits:
    """All limits; none if `on` is False. Slack does not publish the limit of messages per workspace, so this one is
    a guess."""

    clock: Clock
    on: bool = True
    channel_rate: float = 1.0
    channel_burst: float = 3.0
    team_rate: float = 5.0
    team_burst: float = 30.0
    tier_burst: float = 10.0
    buckets: dict[tuple[str, ...], Bucket] = field(default_factory=dict)

    def refuse(self, team: str, method: str, tier: int, channel: str = "") -> float:
        """Counts a call and returns 0, or returns the real seconds to wait if it is too early."""
        if not self.on:
            return 0.0
        now = self.clock.slack()
        buckets = [self._bucket((team, method), max(self.tier_burst, tier), tier / 60, now)] if tier else []
        if channel:
            buckets.append(self._bucket((team, "channel", channel), self.channel_burst, self.channel_rate, now))
            buckets.append(self._bucket((team, "messages"), self.team_burst, self.team_rate, now))
        wait = max((bucket.wait(now) for bucket in buckets), default=0.0)
        if wait:
            return wait / self.clock.factor
        for bucket in buckets:
            bucket.take()
        return 0.0

    def _bucket(self, name: tuple[str, ...], size: float, rate: float, now: float) -> Bucket:
        return self.buckets.setdefault(name, Bucket(size, rate, size, now))
