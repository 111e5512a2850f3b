"""Prometheus metrics that a process counts itself, and the page that shows them.

Labels have few values, all defined by us: a platform, a kind, an outcome, a route. They never contain a workspace, a
channel, a member or a text.
"""

from __future__ import annotations

import math
import platform as machine
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.process import listen, out, serve_app

if TYPE_CHECKING:
    from sandbox.client import Health
    from sandbox.wire import Outcome, Run
    from service.sandboxes import SandboxPort

REGISTRY: Final = CollectorRegistry()
"""Registry of this process's metrics, of services, workers and bots alike."""
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
INTERACTIVE_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Histogram buckets for what a member waits for, seconds."""
BACKGROUND_BUCKETS: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)
"""Histogram buckets for background work, seconds."""

Gather = Callable[[], Awaitable[Iterable[Metric]]]
"""Looks up further metrics when the page is requested."""

ProcessCollector(registry=REGISTRY)
BUILD = Gauge(
    "dailygrad_build_info", "Always 1; the labels name the versions that run.", ["schema", "python"], registry=REGISTRY
)

POST_SECONDS = Histogram(
    "dailygrad_post_seconds",
    "Time from a question's slot until it is in the outbox (made), claimed by a bot (taken) and posted (confirmed).",
    ["step"],
    buckets=BACKGROUND_BUCKETS,
    registry=REGISTRY,
)
DELIVERIES = Counter(
    "dailygrad_deliveries",
    "Deliveries by outcome: sent, failed (will be retried), uncertain (may have arrived) or given_up.",
    ["kind", "outcome"],
    registry=REGISTRY,
)
ANSWERS = Counter("dailygrad_answers", "Answers recorded.", ["platform", "status"], registry=REGISTRY)
ANSWER_SECONDS = Histogram(
    "dailygrad_answer_seconds",
    "Time from when a member answered until the answer was stored.",
    ["platform"],
    buckets=INTERACTIVE_BUCKETS,
    registry=REGISTRY,
)
VERDICTS = Counter("dailygrad_verdicts", "Code answers judged.", ["verdict"], registry=REGISTRY)
VERDICT_SECONDS = Histogram(
    "dailygrad_verdict_seconds",
    "Time from a code answer to its verdict.",
    ["where"],
    buckets=BACKGROUND_BUCKETS,
    registry=REGISTRY,
)
LEADS = Gauge("dailygrad_leads", "1 if this worker is the leader; one of all workers is.", registry=REGISTRY)
TICK_DURATION = Histogram(
    "dailygrad_tick_seconds",
    "Duration of ticks, the leader's and shared ones.",
    buckets=BACKGROUND_BUCKETS,
    registry=REGISTRY,
)
TICKS_FAILED = Counter("dailygrad_ticks_failed", "Ticks that failed; the next tick retries.", registry=REGISTRY)
REQUESTS = Counter("dailygrad_http_requests", "Calls to the service.", ["route", "status"], registry=REGISTRY)
REQUEST_SECONDS = Histogram(
    "dailygrad_http_request_seconds",
    "Duration of calls; /v1/outbox/claim waits for new messages.",
    ["route"],
    buckets=INTERACTIVE_BUCKETS,
    registry=REGISTRY,
)
OVERLOADED = Counter(
    "dailygrad_http_overloaded", "Requests refused because too many were in progress.", registry=REGISTRY
)
SANDBOX_RUNS = Counter("dailygrad_sandbox_runs", "Sandbox runs by result.", ["status"], registry=REGISTRY)
SANDBOX_REFUSED = Counter("dailygrad_sandbox_refused", "Sandbox runs that were refused.", ["why"], registry=REGISTRY)
SANDBOX_SECONDS = Histogram(
    "dailygrad_sandbox_seconds",
    "Time of sandbox runs in the queue and running.",
    ["part"],
    buckets=INTERACTIVE_BUCKETS,
    registry=REGISTRY,
)

MEMORY = Gauge(
    "dailygrad_memory_bytes", "Memory of this container that cannot be taken back; 0 outside one.", registry=REGISTRY
)
MEMORY_LIMIT = Gauge("dailygrad_memory_limit_bytes", "Limit of that memory.", registry=REGISTRY)
DISK_FREE = Gauge("dailygrad_disk_free_bytes", "Free space of the disk with the data folder.", registry=REGISTRY)
DISK_SIZE = Gauge("dailygrad_disk_size_bytes", "Size of that disk.", registry=REGISTRY)
CGROUP = Path("/sys/fs/cgroup")


def watch_memory(cgroup: Path = CGROUP) -> None:
    """Reports this container's memory from now on, if its limit can be read (control groups, version 2)."""
    with suppress(OSError, ValueError):
        MEMORY_LIMIT.set(float((cgroup / "memory.max").read_text()))  # "max" is no number: there is no limit
        MEMORY.set_function(lambda: _number(lambda: working_set(cgroup)))


def working_set(cgroup: Path) -> float:
    """Returns the memory in use, bytes, without files that the kernel can drop. This is what the limit kills for."""
    statistics = dict(line.split() for line in (cgroup / "memory.stat").read_text().splitlines())
    return float((cgroup / "memory.current").read_text()) - float(statistics["inactive_file"])


def watch_disk(folder: Path) -> None:
    """Reports the space of a folder's disk from now on."""
    DISK_FREE.set_function(lambda: _number(lambda: shutil.disk_usage(folder).free))
    DISK_SIZE.set_function(lambda: _number(lambda: shutil.disk_usage(folder).total))


def _number(read: Callable[[], float]) -> float:
    """Returns what is read, or NaN if it cannot be: one figure that is missing must not cost all others."""
    try:
        return read()
    except (OSError, ValueError, KeyError):
        return math.nan


def record_build(schema: str) -> None:
    """Records the versions that run here. `schema` is the newest migration, or empty for a bot."""
    BUILD.labels(schema, machine.python_version()).set(1)


def record_delivery(kind: str, due_at: datetime, taken_at: datetime | None, now: datetime) -> None:
    """Records that a message was posted."""
    DELIVERIES.labels(kind, "sent").inc()
    if kind == "question":
        POST_SECONDS.labels("taken").observe(max(0.0, ((taken_at or now) - due_at).total_seconds()))
        POST_SECONDS.labels("confirmed").observe(max(0.0, (now - due_at).total_seconds()))


def record_answer(platform: str, status: str, at: datetime, now: datetime) -> None:
    """Records that an answer given at `at` was stored."""
    ANSWERS.labels(platform, status).inc()
    ANSWER_SECONDS.labels(platform).observe(max(0.0, (now - at).total_seconds()))


def record_verdict(verdict: str, in_round: bool, at: datetime, now: datetime) -> None:
    """Records the verdict on a code answer given at `at`."""
    VERDICTS.labels(verdict).inc()
    VERDICT_SECONDS.labels("round" if in_round else "practice").observe(max(0.0, (now - at).total_seconds()))


class _Gathered(Collector):
    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._metrics = tuple(metrics)

    def collect(self) -> Iterable[Metric]:
        return self._metrics


async def exposition(gather: Gather | None = None) -> bytes:
    """Returns the page: what this process counted, and what `gather` looks up now."""
    found = CollectorRegistry(auto_describe=False)
    if gather is not None:
        found.register(_Gathered(await gather()))
    return generate_latest(REGISTRY) + generate_latest(found)


@asynccontextmanager
async def serve_metrics(host: str, port: int | None, gather: Gather | None = None) -> AsyncIterator[str]:
    """Serves the page on its own port until the block exits. Prints and yields its address.

    Without a port, serves nothing. Raises CommandFailed if the port is taken.
    """
    async with AsyncExitStack() as stack:
        if port is None:
            yield ""
            return
        listener = stack.enter_context(listen(host, port, tries=1, named_by="DAILYGRAD_METRICS_PORT"))
        watch_memory()

        async def page(request: Request) -> Response:
            return Response(await exposition(gather), media_type=CONTENT_TYPE)

        await stack.enter_async_context(serve_app(Starlette(routes=[Route("/metrics", page)]), listener, lambda: None))
        address = f"http://{host}:{listener.getsockname()[1]}/metrics"
        out.print(f"Metrics are served at {address}")
        yield address


class CountedCalls:
    """ASGI middleware that counts calls."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = "500"  # unless an answer is begun

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        began = perf_counter()
        try:
            await self._app(scope, receive, noted)
        finally:
            route = _route_of(scope)
            REQUESTS.labels(route, status).inc()
            REQUEST_SECONDS.labels(route).observe(perf_counter() - began)


def _route_of(scope: Scope) -> str:
    """Returns the route's path, or one label for all unknown paths."""
    if scope.get("route") is None:
        return "none"
    # Our routes take no path parameters, so the number of labels is bounded.
    return str(scope["route"].path if scope.get("path_params") else scope["path"])


class CountedRuns:
    """A sandbox client that counts runs."""

    def __init__(self, sandbox: SandboxPort) -> None:
        self._sandbox = sandbox

    async def run(self, run: Run) -> Outcome:
        """See `SandboxPort`."""
        outcome = await self._sandbox.run(run)
        SANDBOX_RUNS.labels(outcome.status).inc()
        if outcome.refused:
            SANDBOX_REFUSED.labels(outcome.refused).inc()
        else:
            SANDBOX_SECONDS.labels("queue").observe(outcome.queue_ms / 1000)
            SANDBOX_SECONDS.labels("run").observe(outcome.wall_ms / 1000)
        return outcome

    async def health(self) -> Health:
        """See `SandboxPort`."""
        return await self._sandbox.health()
