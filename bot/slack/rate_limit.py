"""Rate limits for messages to Slack: about one a second to a channel after a short burst, and one limit per workspace.

Why not `aiolimiter`: it is a token bucket like Slack's, but it counts when a call starts, and Slack when the call
arrives, so calls that are delayed meet later ones and are refused. It starts full, though a previous process may just
have used the burst up. It can only make a caller wait: it neither says how far away a turn is, which decides whether
a message waits here or goes back to the outbox, nor rests when Slack sends a 429.

Why not the SDK's `AsyncRateLimitErrorRetryHandler` for posts: it sleeps within the call, for as long as Slack says,
while the outbox's lease on the message runs out and other messages to the same workspace go on. Replies do use it (see
`web.RateLimitRetry`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Allowed:
    """So many a second, and so many at once after a rest."""

    rate: float
    burst: int


CHANNEL = Allowed(1.0, 3)
"""Messages of a channel (docs: rate limits of chat.postMessage)."""
TEAM = Allowed(5.0, 30)
"""Messages of a workspace. Slack says "several hundred per minute" and no number; this is the least that is."""
_MANY = 10_000
# A call that is late takes room in Slack's count that the next was to have: so much of a burst is kept for that.
_KEPT = 1 / 6
# What is looked at again is looked at a little later than may be, so that it is not looked at for nothing.
_LATER_S = 0.01

Seconds = Callable[[], float]
"""A clock that only goes on, such as `time.monotonic`."""
Key = tuple[str, str]


class Pacer:
    """Gives out turns, by channel and by workspace; a whole workspace rests while Slack says so.

    A turn is booked, which says when it may come, so that they come in order; then started, where what is not yet
    answered and what came late leave room; and ended with Slack's answer.
    """

    def __init__(self, seconds: Seconds, channel: Allowed = CHANNEL, team: Allowed = TEAM) -> None:
        self._seconds = seconds
        begun = seconds()
        self._channels = _Limit(channel, begun)
        self._teams = _Limit(team, begun)
        self._rest: dict[str, float] = {}

    def book(self, team: str, channel: str, most: float) -> float:
        """Take the channel's next turn and say in how many seconds it is; none is taken where that is above `most`."""
        now = self._seconds()
        one, all_ = self._channels.turns.wait((team, channel), now), self._teams.turns.wait((team, ""), now)
        wait = max(one, all_, self._resting(team, now))
        if wait <= most:
            self._channels.turns.take((team, channel), now)
            self._teams.turns.take((team, ""), now)
            self._tidy(now)
        return wait

    def start(self, team: str, channel: str) -> float:
        """Begin a call whose turn has come; more than 0 where it has to wait for so long and ask again."""
        now = self._seconds()
        counts = self._channels.count((team, channel), now), self._teams.count((team, ""), now)
        wait = max(self._resting(team, now), *(count.wait(now) for count in counts))
        if wait > 0:
            return wait + _LATER_S
        for count in counts:
            count.under_way += 1
        return 0.0

    def end(self, team: str, channel: str) -> None:
        """The call is answered, or given up."""
        now = self._seconds()
        for count in (self._channels.count((team, channel), now), self._teams.count((team, ""), now)):
            count.answered(now)

    def rest(self, team: str, seconds: float) -> None:
        """Slack asked to leave the workspace alone for so long."""
        self._rest[team] = max(self._rest.get(team, 0.0), self._seconds() + seconds)

    def _resting(self, team: str, now: float) -> float:
        return max(0.0, self._rest.get(team, 0.0) - now)

    def _tidy(self, now: float) -> None:
        """Forget who may post anyway, so that memory stays small."""
        self._channels.tidy(now)
        self._teams.tidy(now)
        if len(self._rest) > _MANY:
            self._rest = {team: until for team, until in self._rest.items() if until > now}


class _Limit:
    """One of Slack's limits: when turns are, and what of them it has counted."""

    def __init__(self, allowed: Allowed, begun: float) -> None:
        self._allowed = allowed
        self._begun = begun
        kept = max(1, round(allowed.burst * _KEPT))
        self.turns = _Turns(Allowed(allowed.rate, max(1, allowed.burst - kept)))
        self._counts: dict[Key, _Count] = {}

    def count(self, key: Key, now: float) -> _Count:
        """What Slack has counted under a key. Of one not met before a bot that ran before us may have used all."""
        found = self._counts.get(key)
        if found is None:
            # It takes a second to start us.
            left = min(self._allowed.burst, self._allowed.rate * (1 + now - self._begun))
            found = self._counts[key] = _Count(self._allowed, left, now)
        return found

    def tidy(self, now: float) -> None:
        self.turns.tidy(now)
        if len(self._counts) > _MANY:
            self._counts = {key: count for key, count in self._counts.items() if not count.is_full(now)}


@dataclass
class _Count:
    """What is left of a burst that Slack refills, at the least it can be.

    Slack counts a call at some instant between its start and its answer. The later it does, the less is left after
    it: so those answered count from their answers, and those under way from now. Where that leaves room, there is.
    """

    allowed: Allowed
    left: float
    at: float
    under_way: int = 0

    def wait(self, now: float) -> float:
        """Seconds until one more has room, if all that are under way were answered now."""
        return max(0.0, (1 + self.under_way - self._refilled(now)) / self.allowed.rate)

    def answered(self, now: float) -> None:
        """One of those under way is counted by now."""
        self.left, self.at = self._refilled(now) - 1, now
        self.under_way -= 1

    def is_full(self, now: float) -> bool:
        """Whether it is as one that was never met."""
        return not self.under_way and self._refilled(now) >= self.allowed.burst

    def _refilled(self, now: float) -> float:
        return min(self.allowed.burst, self.left + (now - self.at) * self.allowed.rate)


class _Turns:
    """When each next turn is."""

    def __init__(self, allowed: Allowed) -> None:
        self._gap = 1 / allowed.rate
        self._slack = self._gap * (allowed.burst - 1)
        self._next: dict[Key, float] = {}

    def wait(self, key: Key, now: float) -> float:
        return max(0.0, self._next.get(key, 0.0) - self._slack - now)

    def take(self, key: Key, now: float) -> None:
        self._next[key] = max(now, self._next.get(key, 0.0)) + self._gap

    def tidy(self, now: float) -> None:
        if len(self._next) > _MANY:
            self._next = {key: due for key, due in self._next.items() if due > now}
