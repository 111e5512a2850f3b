"""What a bot counts of its own doings, beside the service's counts. No tenant, member or text is in a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import Counter, Histogram

from service.metrics import BACKGROUND_BUCKETS, INTERACTIVE_BUCKETS, REGISTRY

if TYPE_CHECKING:
    import aiohttp

ACKNOWLEDGED: Final = Histogram(
    "dailygrad_chat_acknowledged_seconds",
    "From an event's coming to our first response, which the chat waits three seconds for.",
    ["platform"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0),
    registry=REGISTRY,
)
LATE: Final = Counter(
    "dailygrad_chat_late_events", "Events that came too late for a first response.", ["platform"], registry=REGISTRY
)
REPEATED: Final = Counter(
    "dailygrad_chat_repeated_events", "Events that came once more, and were dropped.", ["platform"], registry=REGISTRY
)
EVENTS: Final = Counter(
    "dailygrad_chat_events",
    "What people did, and whether it was answered, refused with a reason, or failed for the service or for us.",
    ["platform", "kind", "outcome"],
    registry=REGISTRY,
)
EVENT_SECONDS: Final = Histogram(
    "dailygrad_chat_event_seconds",
    "Until an event's answer was there.",
    ["platform"],
    buckets=INTERACTIVE_BUCKETS,
    registry=REGISTRY,
)
POSTS: Final = Counter(
    "dailygrad_chat_posts",
    "Messages carried: sent, refused for good, later as the chat asks, or uncertain.",
    ["platform", "kind", "outcome"],
    registry=REGISTRY,
)
POST_SECONDS: Final = Histogram(
    "dailygrad_chat_post_seconds",
    "What carrying one took.",
    ["platform"],
    buckets=BACKGROUND_BUCKETS,
    registry=REGISTRY,
)
RESPONSES: Final = Counter(
    "dailygrad_chat_responses", "The chat's responses; 429 is its limit.", ["platform", "status"], registry=REGISTRY
)
CONNECTIONS: Final = Counter(
    "dailygrad_chat_connections",
    "Connections to the chat: made, resumed, lost.",
    ["platform", "what"],
    registry=REGISTRY,
)


_REFUSALS: Final = frozenset({"CommandError", "BadAction", "ServiceRefused", "ValidationError"})


def event_answered(platform: str, kind: str, status: str, ms: float) -> None:
    """Note how an event ended: `answered`, or the name of the error that kept it from it."""
    outcome = "unavailable" if status == "ServiceUnavailable" else "refused" if status in _REFUSALS else "failed"
    EVENTS.labels(platform, kind, status if status == "answered" else outcome).inc()
    EVENT_SECONDS.labels(platform).observe(ms / 1000)


def count_responses(trace: aiohttp.TraceConfig, platform: str) -> aiohttp.TraceConfig:
    """Have it count by status what is answered to whoever uses it."""

    async def ended(session: object, context: object, params: aiohttp.TraceRequestEndParams) -> None:
        RESPONSES.labels(platform, str(params.response.status)).inc()

    trace.on_request_end.append(ended)
    return trace
