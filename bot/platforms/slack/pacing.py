"""When the next message may go to a Slack channel: about one a second, in short bursts, never while Slack says wait."""

from __future__ import annotations

from collections.abc import Callable

RATE = 1.0
"""Messages a second and channel (docs: rate limits of chat.postMessage)."""
BURST = 3
_MANY = 10_000

Seconds = Callable[[], float]
"""A clock that only goes on, such as `time.monotonic`."""


class Pacer:
    """Gives out turns, by channel; a whole workspace rests while Slack says so."""

    def __init__(self, seconds: Seconds, rate: float = RATE, burst: int = BURST) -> None:
        self._seconds = seconds
        self._gap = 1 / rate
        self._slack = self._gap * (burst - 1)
        self._next: dict[tuple[str, str], float] = {}
        self._rest: dict[str, float] = {}

    def turn(self, team: str, channel: str, most: float) -> float:
        """Take the channel's next turn and say in how many seconds it is; none is taken where that is above `most`."""
        now = self._seconds()
        due = max(now, self._next.get((team, channel), 0.0))
        wait = max(0.0, due - self._slack - now, self._rest.get(team, 0.0) - now)
        if wait <= most:
            self._next[team, channel] = due + self._gap
            self._tidy(now)
        return wait

    def rest(self, team: str, seconds: float) -> None:
        """Slack asked to leave the workspace alone for so long."""
        self._rest[team] = max(self._rest.get(team, 0.0), self._seconds() + seconds)

    def _tidy(self, now: float) -> None:
        """Forget who may post anyway, so that memory stays small."""
        if len(self._next) > _MANY:
            self._next = {key: due for key, due in self._next.items() if due > now}
            self._rest = {team: until for team, until in self._rest.items() if until > now}
