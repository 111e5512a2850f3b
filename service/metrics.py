"""What a process counts of its own doings, and the page on which Prometheus reads it. It asks nobody for anything.

A label has few values, all of them ours: a platform, a kind, an outcome, a route. No workspace, channel, member or text
is ever in one.
"""

from __future__ import annotations

import platform as machine
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from service.process import listening, out, served

REGISTRY: Final = CollectorRegistry()
"""Of this process alone; the bots' are here too."""
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
QUICK: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds of what somebody waits for with a finger on the button."""
SLOW: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
"""Seconds of what comes by itself."""

Gather = Callable[[], Awaitable[Iterable[Metric]]]
"""What is looked up when the page is asked for."""

ProcessCollector(registry=REGISTRY)
BUILD = Gauge("dailygrad_build_info", "Always 1: what runs here.", ["schema", "python"], registry=REGISTRY)

POST_SECONDS = Histogram(
    "dailygrad_post_seconds",
    "Questions of the day: from their slot to the outbox (made), from there to a bot (taken), to the chat's word that "
    "they stand (confirmed).",
    ["step"],
    buckets=SLOW,
    registry=REGISTRY,
)
DELIVERIES = Counter(
    "dailygrad_deliveries",
    "Messages a bot told of: sent, or failed (it is tried again), uncertain (it may have arrived), given_up.",
    ["kind", "outcome"],
    registry=REGISTRY,
)
ANSWERS = Counter("dailygrad_answers", "Answers taken.", ["platform", "status"], registry=REGISTRY)
ANSWER_SECONDS = Histogram(
    "dailygrad_answer_seconds",
    "From the instant the chat says an answer was made to its being kept.",
    ["platform"],
    buckets=QUICK,
    registry=REGISTRY,
)
VERDICTS = Counter("dailygrad_verdicts", "Code answers judged.", ["verdict"], registry=REGISTRY)
VERDICT_SECONDS = Histogram(
    "dailygrad_verdict_seconds",
    "From a code answer to its verdict.",
    ["where"],
    buckets=SLOW,
    registry=REGISTRY,
)
LEADS = Gauge("dailygrad_leads", "Whether this worker leads: 1 of all workers does.", registry=REGISTRY)
TICK_DURATION = Histogram("dailygrad_tick_seconds", "What a tick of the leader took.", buckets=SLOW, registry=REGISTRY)
TICKS_FAILED = Counter("dailygrad_ticks_failed", "Ticks that failed; the next one tries again.", registry=REGISTRY)
REQUESTS = Counter("dailygrad_http_requests", "Calls of the service.", ["route", "status"], registry=REGISTRY)
REQUEST_SECONDS = Histogram(
    "dailygrad_http_request_seconds",
    "What a call took; /v1/outbox/claim waits for something to come.",
    ["route"],
    buckets=QUICK,
    registry=REGISTRY,
)
SANDBOX_RUNS = Counter("dailygrad_sandbox_runs", "Runs that came back.", ["status"], registry=REGISTRY)
SANDBOX_REFUSED = Counter("dailygrad_sandbox_refused", "Runs that found no room.", ["why"], registry=REGISTRY)
SANDBOX_SECONDS = Histogram(
    "dailygrad_sandbox_seconds",
    "Runs: waiting for their turn (queue), then running (run).",
    ["part"],
    buckets=QUICK,
    registry=REGISTRY,
)


def built(schema: str) -> None:
    """Note what runs here; `schema` is the newest migration it knows, or empty for a bot."""
    BUILD.labels(schema, machine.python_version()).set(1)


def delivered(kind: str, due_at: datetime, taken_at: datetime | None, now: datetime) -> None:
    """Note that a message stands in its chat."""
    DELIVERIES.labels(kind, "sent").inc()
    if kind == "question":
        POST_SECONDS.labels("taken").observe(max(0.0, ((taken_at or now) - due_at).total_seconds()))
        POST_SECONDS.labels("confirmed").observe(max(0.0, (now - due_at).total_seconds()))


def answered(platform: str, status: str, at: datetime, now: datetime) -> None:
    """Note that an answer made at `at` was kept."""
    ANSWERS.labels(platform, status).inc()
    ANSWER_SECONDS.labels(platform).observe(max(0.0, (now - at).total_seconds()))


def judged(verdict: str, in_round: bool, at: datetime, now: datetime) -> None:
    """Note the verdict on a code answer of `at`."""
    VERDICTS.labels(verdict).inc()
    VERDICT_SECONDS.labels("round" if in_round else "practice").observe(max(0.0, (now - at).total_seconds()))


class _Gathered(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = tuple(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


async def exposition(gather: Gather | None = None) -> bytes:
    """The page: what this process counted, and what `gather` looks up now."""
    found = CollectorRegistry(auto_describe=False)
    if gather is not None:
        found.register(_Gathered(await gather()))
    return generate_latest(REGISTRY) + generate_latest(found)


@asynccontextmanager
async def exposed(host: str, port: int | None, gather: Gather | None = None) -> AsyncIterator[str]:
    """The page at a port of its own until the block ends, and its address, which is also printed; without a port there
    is neither.

    Raises Refused where the port is taken.
    """
    async with AsyncExitStack() as stack:
        if port is None:
            yield ""
            return
        listener = stack.enter_context(listening(host, port, tries=1, named_by="DAILYGRAD_METRICS_PORT"))

        async def page(request: Request) -> Response:
            return Response(await exposition(gather), media_type=CONTENT_TYPE)

        await stack.enter_async_context(served(Starlette(routes=[Route("/metrics", page)]), listener, lambda: None))
        address = f"http://{host}:{listener.getsockname()[1]}/metrics"
        out.print(f"The metrics are at {address}")
        yield address
