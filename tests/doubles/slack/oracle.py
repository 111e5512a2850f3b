"""Counts from the log alone what really happened: posts, duplicates, losses, late answers and violations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from tests.doubles.slack.log import Entry, Log


def posts(log: Log) -> Counter[str]:
    """Counts the messages posted under each key."""
    return Counter(entry["key"] for entry in log.of("posted") if entry["key"])


def twice(log: Log) -> dict[str, int]:
    """Returns the keys with more than one message."""
    return {key: times for key, times in posts(log).items() if times > 1}


def lost(log: Log, expected: Collection[str]) -> set[str]:
    """Returns the expected keys without a message."""
    return set(expected) - set(posts(log))


def violations(log: Log) -> list[Entry]:
    """Returns everything sent that Slack rejects, or that breaks its rules."""
    return list(log.of("violation"))


def unanswered(log: Log) -> list[Entry]:
    """Returns the deliveries that were not acknowledged in time."""
    return [*log.of("timeout"), *log.of("undelivered")]


def ack_times(log: Log, kind: str = "", since: float = 0.0) -> list[float]:
    """Returns the sorted seconds from delivery to acknowledgement."""
    return [entry["took"] for entry in log.of("acked") if entry.at >= since and kind in ("", entry["what"])]


def share_of(times: list[float], part: float) -> float:
    """Returns the quantile `part` of sorted times."""
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def fastest(log: Log, channel: str, seconds: float) -> int:
    """Returns the most messages of the app in a channel within any window of this many real seconds."""
    at = [entry.at for entry in log.of("posted", channel=channel) if entry["bot"]]
    return max((sum(first <= one < first + seconds for one in at) for first in at), default=0)


def calls(log: Log, method: str, ok: bool | None = None) -> int:
    """Counts the calls of a method that were not rate limited."""
    return sum(1 for entry in log.of("call", method=method) if ok is None or entry["ok"] is ok)
