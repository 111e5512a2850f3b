"""Prometheus metrics of a bot process. Labels never contain a workspace, a member or text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import Counter, Histogram

from service.metrics import BACKGROUND_BUCKETS, INTERACTIVE_BUCKETS, REGISTRY

if TYPE_CHECKING:
    import aiohttp

ACKNOWLEDGED: Final = Histogram(
    "dailygrad_chat_acknowledged_seconds",
    "Time from an event to the first response, for which the chat waits three seconds.",
    ["platform"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0),
    registry=REGISTRY,
)
LATE: Final = Counter(
    "dailygrad_chat_late_events", "Events received too late for a first response.", ["platform"], registry=REGISTRY
)
REPEATED: Final = Counter(
    "dailygrad_chat_repeated_events", "Duplicate events, which were dropped.", ["platform"], registry=REGISTRY
)
EVENTS: Final = Counter(
    "dailygrad_chat_events",
    "Events by outcome: answered, refused with a reason, unavailable service, or failed.",
    ["platform", "kind", "outcome"],
    registry=REGISTRY,
)
EVENT_SECONDS: Final = Histogram(
    "dailygrad_chat_event_seconds",
    "Time to answer an event.",
    ["platform"],
    buckets=INTERACTIVE_BUCKETS,
    registry=REGISTRY,
)
POSTS: Final = Counter(
    "dailygrad_chat_posts",
    "Deliveries by outcome: sent, refused, later (rate limited) or uncertain.",
    ["platform", "kind", "outcome"],
    registry=REGISTRY,
)
POST_SECONDS: Final = Histogram(
    "dailygrad_chat_post_seconds",
    "Time to deliver a message.",
    ["platform"],
    buckets=BACKGROUND_BUCKETS,
    registry=REGISTRY,
)
RESPONSES: Final = Counter(
    "dailygrad_chat_responses",
    "Responses of the chat's API by status; 429 means rate limited.",
    ["platform", "status"],
    registry=REGISTRY,
)
CONNECTIONS: Final = Counter(
    "dailygrad_chat_connections",
    "Connections to the chat by event: made, resumed or lost.",
    ["platform", "what"],
    registry=REGISTRY,
)

_REFUSALS: Final = frozenset({"CommandError", "BadAction", "ServiceRefused", "ValidationError"})


def event_answered(platform: str, kind: str, status: str, ms: float) -> None:
    """Counts an answered event. `status` is `answered`, or the class name of the error."""
    outcome = "unavailable" if status == "ServiceUnavailable" else "refused" if status in _REFUSALS else "failed"
    EVENTS.labels(platform, kind, status if status == "answered" else outcome).inc()
    EVENT_SECONDS.labels(platform).observe(ms / 1000)


def count_responses(trace: aiohttp.TraceConfig, platform: str) -> aiohttp.TraceConfig:
    """Makes a trace count the chat's responses by status."""

    async def ended(session: object, context: object, params: aiohttp.TraceRequestEndParams) -> None:
        RESPONSES.labels(platform, str(params.response.status)).inc()

    trace.on_request_end.append(ended)
    return trace
