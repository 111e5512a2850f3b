"""The service's HTTP API: one route per method of `service.client`. Contains no rules."""

from __future__ import annotations

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from starlette.routing import Route

from service.api import admin, bots, competitions, http, member, review, web
from service.api.admin import looking
from service.api.http import (
    BodyLimit,
    CorrelationId,
    ServiceParts,
    TheCall,
    TheCaller,
    admitted,
    parts_of,
    service_only,
)
from service.api.routes import CallRouter, RoutesByPath
from service.concurrency import DEFAULT_LIMIT, ConcurrencyLimit
from service.metrics import CONTENT_TYPE, CountedCalls, exposition
from service.ops import operations
from service.wire import Operations

# Liveness and readiness, without a token.
health_router = APIRouter()


@health_router.get("/healthz")
async def healthz() -> dict[str, str]:
    return {"status": "ok"}


@health_router.get("/readyz")
async def readyz(request: Request) -> JSONResponse:
    """Returns 200 if the database answers and is migrated; otherwise 503 and the fix."""
    cure = await _cure(parts_of(request))
    return JSONResponse({"status": cure or "ok"}, 503 if cure else 200)


async def _cure(parts: ServiceParts) -> str:
    try:
        async with parts.sessions() as session:
            found = await session.scalar(text("select to_regclass('alembic_version')::text"))
            revision = await session.scalar(text("select version_num from alembic_version")) if found else None
    except (SQLAlchemyError, OSError):
        return "the database does not answer: check DATABASE_URL and that PostgreSQL runs"
    if revision != parts.newest_revision:
        return f"the database is at {revision}, not {parts.newest_revision}: run `dailygrad migrate`"
    return ""


# Metrics behind the token; `service.metrics` serves them on a separate port without one.
metrics_router = APIRouter()


@metrics_router.get("/metrics", dependencies=[Depends(admitted), Depends(service_only)])
async def metrics(request: Request) -> Response:
    """Returns the metrics in Prometheus's text format."""
    return Response(await exposition(parts_of(request).gauges.gather), media_type=CONTENT_TYPE)


operations_router = CallRouter("/admin")


@operations_router.post("/operations")
async def overview(call: TheCall, who: TheCaller) -> Operations:
    # Before the transaction, so that a slow sandbox does not hold a database connection.
    sandbox = await operations.sandbox_view(call.parts.sandbox)
    async with looking(call, who) as (session, caller):
        return await operations.overview(session, caller.workspace_id, sandbox, call.now)


ROUTERS: tuple[CallRouter, ...] = (
    member.router,
    admin.router,
    review.router,
    competitions.router,
    operations_router,
    bots.router,
    web.router,
)
"""Routers of the calls, by area."""

ROUTES = RoutesByPath(
    (
        *(route for router in ROUTERS for route in router.routes),
        *(route for router in (health_router, metrics_router) for route in router.routes if isinstance(route, Route)),
    )
)
"""Every route, shared by all applications of a process: FastAPI takes a quarter of a second to compile them all."""


def make_api(parts: ServiceParts, limit_concurrency: int = DEFAULT_LIMIT) -> FastAPI:
    """Returns the ASGI application over `parts`."""
    # Its own telemetry would look for OpenTelemetry's providers with every call: `service.tracing` sends our spans.
    app = FastAPI(
        title="Dailygrad question service",
        openapi_url=None,
        routes=[ROUTES],
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.parts = parts
    app.add_middleware(CountedCalls)
    http.install(app)
    app.add_middleware(BodyLimit)
    app.add_middleware(CorrelationId)
    app.add_middleware(ConcurrencyLimit, refusal=http.overloaded(), limit=limit_concurrency)
    return app
