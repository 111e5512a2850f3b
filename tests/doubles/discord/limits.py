"""Discord's rate limits: per route and major parameter, per bot, and the ban for invalid requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import md5

GLOBAL_PER_S = 50
"""Global limit, requests per second; interaction endpoints do not count. Docs: topics/rate-limits, "Global rate
limit"."""
WINDOWS = {
    "POST /channels/{channel_id}/messages": (5, 5.0),
    "PATCH /channels/{channel_id}/messages/{message_id}": (5, 5.0),
    "GET /channels/{channel_id}/messages": (5, 5.0),
    "POST /users/@me/channels": (10, 10.0),
}
"""Requests and seconds, as observed by bots. Discord documents no numbers: clients read the headers."""
OTHERS = (50, 1.0)
MOST_INVALID, INVALID_S = 10_000, 600.0
"""Invalid requests (401, 403, 429 except shared ones) per ten minutes. Docs: topics/rate-limits, "Invalid request
limit"."""


@dataclass
class Window:
    """A counter that restarts a fixed time after its first request."""

    most: int
    seconds: float
    began: float = float("-inf")
    used: int = 0


@dataclass(frozen=True)
class Verdict:
    """Whether a request is allowed, and the rate-limit headers of its response."""

    passes: bool
    headers: dict[str, str]
    retry_after: float = 0.0
    whole: bool = False
    """Whether the global limit was reached."""


@dataclass
class Limits:
    """Counts requests. `pace` speeds up the clock of every limit; the bot is given times in real seconds."""

    clock: Callable[[], float]
    pace: float = 1.0
    windows: dict[str, Window] = field(default_factory=dict)
    passed: deque[float] = field(default_factory=deque)
    invalid: deque[float] = field(default_factory=deque)

    def take(self, route: str, major: str, *, free: bool) -> Verdict:
        """Counts a request. `free` ones do not count against the global limit."""
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
        """Returns the seconds until the global limit allows another request within a sliding window of one second."""
        while self.passed and self.passed[0] <= now - 1.0:
            self.passed.popleft()
        return 0.0 if len(self.passed) < GLOBAL_PER_S else self.passed[0] + 1.0 - now

    def _headers(self, route: str, window: Window, left: float) -> dict[str, str]:
        return {
            "X-RateLimit-Limit": str(window.most),
            "X-RateLimit-Remaining": str(window.most - window.used),
            "X-RateLimit-Reset-After": f"{left:.3f}",
            "X-RateLimit-Bucket": md5(route.encode()).hexdigest(),  # the bucket's name, as Discord sends it
        }

    def count_invalid(self) -> None:
        """Counts a response of 401, 403 or 429."""
        self.invalid.append(self.clock() * self.pace)

    @property
    def banned(self) -> bool:
        """Whether the client is banned for invalid requests."""
        while self.invalid and self.invalid[0] <= self.clock() * self.pace - INVALID_S:
            self.invalid.popleft()
        return len(self.invalid) >= MOST_INVALID
