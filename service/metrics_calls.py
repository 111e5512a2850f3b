"""Counts what passes through: calls of the service by route and status, runs of the sandbox. It changes neither."""

from __future__ import annotations

from time import perf_counter

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sandbox.client import Health
from sandbox.wire import Outcome, Run
from service.fairness import Sandbox
from service.metrics import REQUEST_SECONDS, REQUESTS, SANDBOX_REFUSED, SANDBOX_RUNS, SANDBOX_SECONDS


class CountedCalls:
    """An ASGI app whose calls are counted."""

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
    """The route that took the call. What strangers ask for that is not there has one name for all."""
    if scope.get("route") is None:
        return "none"
    # Ours take all in the body; a path that holds something would be another label for each.
    return str(scope["route"].path if scope.get("path_params") else scope["path"])


class CountedRuns:
    """A sandbox whose runs are counted."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def run(self, run: Run) -> Outcome:
        """See `Sandbox`."""
        outcome = await self._sandbox.run(run)
        SANDBOX_RUNS.labels(outcome.status).inc()
        if outcome.refused:
            SANDBOX_REFUSED.labels(outcome.refused).inc()
        else:
            SANDBOX_SECONDS.labels("queue").observe(outcome.queue_ms / 1000)
            SANDBOX_SECONDS.labels("run").observe(outcome.wall_ms / 1000)
        return outcome

    async def health(self) -> Health:
        """See `Sandbox`."""
        return await self._sandbox.health()
