"""What really happened, counted from the log alone: posted once, lost, late, too fast. It trusts nobody's state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from tests.doubles.slack.log import Entry, Log


def posts(log: Log) -> Counter[str]:
    """How often a message was posted under each key."""
    return Counter(entry["key"] for entry in log.of("posted") if entry["key"])


def twice(log: Log) -> dict[str, int]:
    """Keys under which more than one message stands."""
    return {key: times for key, times in posts(log).items() if times > 1}


def lost(log: Log, expected: Collection[str]) -> set[str]:
    """Expected keys under which nothing was posted."""
    return set(expected) - set(posts(log))


def violations(log: Log) -> list[Entry]:
    """Whatever Slack would have refused, or nobody should have sent."""
    return list(log.of("violation"))


def unanswered(log: Log) -> list[Entry]:
    """What people did that was not acknowledged in time."""
    return [*log.of("timeout"), *log.of("undelivered")]


def ack_times(log: Log, kind: str = "", since: float = 0.0) -> list[float]:
    """Seconds from delivery to acknowledgement, in order."""
    return [entry["took"] for entry in log.of("acked") if entry.at >= since and kind in ("", entry["what"])]


def share_of(times: list[float], part: float) -> float:
    """The quantile of some times: the smallest that `part` of them do not exceed."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def fastest(log: Log, channel: str, seconds: float) -> int:
    """The most messages of the app that stand in a channel within so many real seconds."""
    at = [entry.at for entry in log.of("posted", channel=channel) if entry["bot"]]
    return max((sum(first <= one < first + seconds for one in at) for first in at), default=0)


def calls(log: Log, method: str, ok: bool | None = None) -> int:
    """How often a method was called and was not turned away for haste."""
    return sum(1 for entry in log.of("call", method=method) if ok is None or entry["ok"] is ok)
