"""Discord's rate limits: per route and major parameter, for the whole bot, and the ban for invalid requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import md5

GLOBAL_PER_S = 50
"""docs: topics/rate-limits, "Global rate limit"; interaction endpoints are not bound to it."""
WINDOWS = {
    "POST /channels/{channel_id}/messages": (5, 5.0),
    "PATCH /channels/{channel_id}/messages/{message_id}": (5, 5.0),
    "GET /channels/{channel_id}/messages": (5, 5.0),
    "POST /users/@me/channels": (10, 10.0),
}
"""Requests and seconds, as bots observe them: Discord's documents ask to read the headers and hard-code nothing."""
OTHERS = (50, 1.0)
MOST_INVALID, INVALID_S = 10_000, 600.0
"""docs: topics/rate-limits, "Invalid request limit": 401, 403 and 429 but for shared ones, per ten minutes."""


@dataclass
class Window:
    """A count that begins anew a while after its first request."""

    most: int
    seconds: float
    began: float = float("-inf")
    used: int = 0


@dataclass(frozen=True)
class Verdict:
    """Whether a request may pass, and what its answer says of the limits."""

    passes: bool
    headers: dict[str, str]
    retry_after: float = 0.0
    whole: bool = False
    """Whether it met the limit of the whole bot."""


@dataclass
class Limits:
    """Counts requests by the clock. With `pace` every limit's clock runs so many times faster; all that is told to
    the bot is in its own seconds."""

    clock: Callable[[], float]
    pace: float = 1.0
    windows: dict[str, Window] = field(default_factory=dict)
    passed: deque[float] = field(default_factory=deque)
    invalid: deque[float] = field(default_factory=deque)

    def take(self, route: str, major: str, *, free: bool) -> Verdict:
        """Count one request. `free` ones are not bound to the limit of the whole bot."""
        now = self.clock() * self.pace
        if not free and (wait := self._whole(now)) > 0:
            return Verdict(False, {"X-RateLimit-Global": "true", "X-RateLimit-Scope": "global"}, wait / self.pace, True)
        most, seconds = WINDOWS.get(route, OTHERS)
        window = self.windows.setdefault(f"{route} {major}", Window(most, seconds))
        if now >= window.began + window.seconds:
            window.began, window.used = now, 0
        left = (window.began + window.seconds - now) / self.pace
        passes = window.used < window.most
        window.used += passes
        if passes and not free:
            self.passed.append(now)
        return Verdict(passes, self._headers(route, window, left), left)

    def _whole(self, now: float) -> float:
        """How long until the whole bot may ask again: never more than the limit within any one second."""
        while self.passed and self.passed[0] <= now - 1.0:
            self.passed.popleft()
        return 0.0 if len(self.passed) < GLOBAL_PER_S else self.passed[0] + 1.0 - now

    def _headers(self, route: str, window: Window, left: float) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(window.most),
            "X-RateLimit-Remaining": str(window.most - window.used),
            "X-RateLimit-Reset-After": f"{left:.3f}",
            "X-RateLimit-Bucket": md5(route.encode()).hexdigest(),  # a name, as Discord gives them
        }

    def count_invalid(self) -> None:
        """Note an answer of 401, 403 or 429."""
        self.invalid.append(self.clock() * self.pace)

    @property
    def banned(self) -> bool:
        """Whether this address has asked too much in vain."""
        while self.invalid and self.invalid[0] <= self.clock() * self.pace - INVALID_S:
            self.invalid.popleft()
        return len(self.invalid) >= MOST_INVALID
