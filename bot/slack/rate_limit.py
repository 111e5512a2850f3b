"""Limits messages to Slack: about one a second per channel after a short burst, and one limit per workspace.

Why not `aiolimiter`: it is a token bucket like Slack's, but it counts a call when it starts, and Slack when it arrives,
so a delayed call meets later ones and is refused. It starts full, though a previous process may have just used up the
burst. And it can only make a caller wait: it does not tell how far away a turn is, which decides whether a message
waits here or returns to the outbox, and cannot pause after a 429.

Why not the SDK's `AsyncRateLimitErrorRetryHandler` for posts: it sleeps within the call for as long as Slack says,
while the lease on the message expires and other messages to the workspace go on. Replies do use it (see
`web_api.RateLimitRetry`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RateLimit:
    """A limit: calls per second, and the burst allowed after a pause."""

    rate: float
    burst: int


CHANNEL_LIMIT = RateLimit(1.0, 3)
"""Limit of messages to a channel. Docs: rate limits of chat.postMessage."""
TEAM_LIMIT = RateLimit(5.0, 30)
"""Limit of messages to a workspace: the least that "several hundred per minute", all Slack says, can mean."""
_MAX_ENTRIES = 10_000
"""Methods, channels and workspaces that are remembered."""
_RESERVED_SHARE = 1 / 6
"""Share of a burst that is not scheduled: a delayed call uses the room that Slack counts for the next one."""
_RETRY_MARGIN_S = 0.01
"""Added to a wait, seconds, so that the next check is never just too early."""
Seconds = Callable[[], float]
"""A monotonic clock, seconds."""
Key = tuple[str, str]


class RateLimiter:
    """Limits messages by channel and by workspace, and pauses a workspace when Slack says so.

    A message first books a turn, which keeps messages in order; then starts its call, as soon as running and delayed
    calls leave room; and ends it with Slack's answer.
    """

    def __init__(self, seconds: Seconds, channel: RateLimit = CHANNEL_LIMIT, team: RateLimit = TEAM_LIMIT) -> None:
        self._seconds = seconds
        begun = seconds()
        self._channels = _LimitState(channel, begun)
        self._teams = _LimitState(team, begun)
        self._paused_until: dict[str, float] = {}

    def reserve(self, team: str, channel: str, most: float) -> float:
        """Returns the seconds until the channel's next turn, and takes that turn unless it is more than `most` away."""
        now = self._seconds()
        one, all_ = self._channels.turns.wait((team, channel), now), self._teams.turns.wait((team, ""), now)
        wait = max(one, all_, self._pause_left(team, now))
        if wait <= most:
            self._channels.turns.take((team, channel), now)
            self._teams.turns.take((team, ""), now)
            self._prune(now)
        return wait

    def start(self, team: str, channel: str) -> float:
        """Starts a call whose turn has come and returns 0, or returns the seconds to wait before trying again."""
        now = self._seconds()
        counts = self._channels.count((team, channel), now), self._teams.count((team, ""), now)
        wait = max(self._pause_left(team, now), *(count.wait(now) for count in counts))
        if wait > 0:
            return wait + _RETRY_MARGIN_S
        for count in counts:
            count.running += 1
        return 0.0

    def finish(self, team: str, channel: str) -> None:
        """Records that a call was answered or abandoned."""
        now = self._seconds()
        for count in (self._channels.count((team, channel), now), self._teams.count((team, ""), now)):
            count.answered(now)

    def pause(self, team: str, seconds: float) -> None:
        """Pauses a workspace, as Slack asked."""
        self._paused_until[team] = max(self._paused_until.get(team, 0.0), self._seconds() + seconds)

    def _pause_left(self, team: str, now: float) -> float:
        return max(0.0, self._paused_until.get(team, 0.0) - now)

    def _prune(self, now: float) -> None:
        """Drops entries that limit nothing any more, to bound memory."""
        self._channels.prune(now)
        self._teams.prune(now)
        if len(self._paused_until) > _MAX_ENTRIES:
            self._paused_until = {team: until for team, until in self._paused_until.items() if until > now}


class _LimitState:
    """One of Slack's limits: the schedule of turns, and the state of Slack's buckets."""

    def __init__(self, limit: RateLimit, begun: float) -> None:
        self._limit = limit
        self._begun = begun
        reserved = max(1, round(limit.burst * _RESERVED_SHARE))
        self.turns = _TurnSchedule(RateLimit(limit.rate, max(1, limit.burst - reserved)))
        self._counts: dict[Key, _Bucket] = {}

    def count(self, key: Key, now: float) -> _Bucket:
        """Returns Slack's bucket of a key. A previous process may have emptied one that is new here."""
        found = self._counts.get(key)
        if found is None:
            # Starting a process takes at least a second.
            left = min(self._limit.burst, self._limit.rate * (1 + now - self._begun))
            found = self._counts[key] = _Bucket(self._limit, left, now)
        return found

    def prune(self, now: float) -> None:
        self.turns.prune(now)
        if len(self._counts) > _MAX_ENTRIES:
            self._counts = {key: count for key, count in self._counts.items() if not count.is_full(now)}


@dataclass
class _Bucket:
    """A lower bound of one of Slack's token buckets.

    Slack counts a call at an unknown instant between its start and its answer; the later, the less is left afterwards.
    So answered calls count at their answers and running ones now. If that leaves room, Slack has room too.
    """

    limit: RateLimit
    left: float
    at: float
    running: int = 0

    def wait(self, now: float) -> float:
        """Returns the seconds until another call has room, if all running ones were answered now."""
        return max(0.0, (1 + self.running - self._refilled(now)) / self.limit.rate)

    def answered(self, now: float) -> None:
        """Counts a running call that was answered."""
        self.left, self.at = self._refilled(now) - 1, now
        self.running -= 1

    def is_full(self, now: float) -> bool:
        """Returns whether it is as full as a new one."""
        return not self.running and self._refilled(now) >= self.limit.burst

    def _refilled(self, now: float) -> float:
        return min(self.limit.burst, self.left + (now - self.at) * self.limit.rate)


class _TurnSchedule:
    """The next turn of each key."""

    def __init__(self, limit: RateLimit) -> None:
        self._gap = 1 / limit.rate
        self._slack = self._gap * (limit.burst - 1)
        self._next: dict[Key, float] = {}

    def wait(self, key: Key, now: float) -> float:
        return max(0.0, self._next.get(key, 0.0) - self._slack - now)

    def take(self, key: Key, now: float) -> None:
        self._next[key] = max(now, self._next.get(key, 0.0)) + self._gap

    def prune(self, now: float) -> None:
        if len(self._next) > _MAX_ENTRIES:
            self._next = {key: due for key, due in self._next.items() if due > now}
