"""When the next message may go to a Slack channel: about one a second, in short bursts, never while Slack says wait;
and to all channels of a workspace together no faster than Slack takes."""

from __future__ import annotations

from collections.abc import Callable

RATE = 1.0
"""Messages a second and channel (docs: rate limits of chat.postMessage)."""
BURST = 3
TEAM_RATE = 5.0
"""Messages a second and workspace. Slack says "several hundred per minute" and no number; this is the least that is."""
TEAM_BURST = 30
_MANY = 10_000

Seconds = Callable[[], float]
"""A clock that only goes on, such as `time.monotonic`."""


class Pacer:
    """Gives out turns, by channel and by workspace; a whole workspace rests while Slack says so."""

    def __init__(self, seconds: Seconds, rate: float = RATE, burst: int = BURST) -> None:
        self._seconds = seconds
        self._channels = _Turns(rate, burst)
        self._teams = _Turns(TEAM_RATE, TEAM_BURST)
        self._rest: dict[str, float] = {}

    def turn(self, team: str, channel: str, most: float) -> float:
        """Take the channel's next turn and say in how many seconds it is; none is taken where that is above `most`."""
        now = self._seconds()
        one, all_ = self._channels.wait((team, channel), now), self._teams.wait((team, ""), now)
        wait = max(one, all_, self._rest.get(team, 0.0) - now)
        if wait <= most:
            self._channels.take((team, channel), now)
            self._teams.take((team, ""), now)
            self._tidy(now)
        return wait

    def rest(self, team: str, seconds: float) -> None:
        """Slack asked to leave the workspace alone for so long."""
        self._rest[team] = max(self._rest.get(team, 0.0), self._seconds() + seconds)

    def _tidy(self, now: float) -> None:
        """Forget who may post anyway, so that memory stays small."""
        self._channels.tidy(now)
        self._teams.tidy(now)
        if len(self._rest) > _MANY:
            self._rest = {team: until for team, until in self._rest.items() if until > now}


class _Turns:
    """When each next turn is: `rate` a second on average, `burst` at once."""

    def __init__(self, rate: float, burst: int) -> None:
        self._gap = 1 / rate
        self._slack = self._gap * (burst - 1)
        self._next: dict[tuple[str, str], float] = {}

    def wait(self, key: tuple[str, str], now: float) -> float:
        return max(0.0, self._next.get(key, 0.0) - self._slack - now)

    def take(self, key: tuple[str, str], now: float) -> None:
        self._next[key] = max(now, self._next.get(key, 0.0)) + self._gap

    def tidy(self, now: float) -> None:
        if len(self._next) > _MANY:
            self._next = {key: due for key, due in self._next.items() if due > now}
