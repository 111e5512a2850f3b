"""The rate limit of calls: per member, and per workspace."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from service.wire import Who

MOST_BUCKETS = 20_000
"""Members and workspaces that are remembered; the ones not seen for longest are forgotten first."""


@dataclass(frozen=True, slots=True)
class Rate:
    """`burst` calls at once, and `per_second` in the long run."""

    burst: float
    per_second: float


MEMBER = Rate(burst=300, per_second=10)
"""Several times what a person clicks, so that only programs and stuck keys are refused."""
WORKSPACE = Rate(burst=4_000, per_second=200)
"""A thousand members who open, answer and look at the result within a few seconds."""


class CallLimiter:
    """Token buckets, in this process only: with several services, each has its own. `seconds` is a monotonic clock."""

    def __init__(self, seconds: Callable[[], float], member: Rate = MEMBER, workspace: Rate = WORKSPACE) -> None:
        self._seconds = seconds
        self._member = member
        self._workspace = workspace
        self._buckets: OrderedDict[tuple[str, ...], tuple[float, float]] = OrderedDict()

    def delay(self, who: Who) -> float:
        """Counts a call. Returns 0, or the seconds until the caller may call again; that call is not counted."""
        now = self._seconds()
        place = (who.platform, who.workspace)
        wanted = ((place, self._workspace), ((*place, who.member), self._member))
        filled = [(key, rate, self._fill(key, rate, now)) for key, rate in wanted]
        wait = max((1 - tokens) / rate.per_second for _, rate, tokens in filled)
        for key, _, tokens in filled:
            self._buckets[key] = (tokens if wait > 0 else tokens - 1, now)
            self._buckets.move_to_end(key)
        while len(self._buckets) > MOST_BUCKETS:
            self._buckets.popitem(last=False)
        return max(0.0, wait)

    def _fill(self, key: tuple[str, ...], rate: Rate, now: float) -> float:
        tokens, at = self._buckets.get(key, (rate.burst, now))
        return min(rate.burst, tokens + (now - at) * rate.per_second)
