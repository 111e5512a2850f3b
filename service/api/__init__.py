"""The service over HTTP: one route per method of `client`, each of them one use case. No rule lives here."""

from __future__ import annotations

from fastapi import APIRouter, Depends, FastAPI
from starlette.routing import BaseRoute

from service.api import (
    admin,
    boards,
    delivery,
    errors,
    health,
    installing,
    linking,
    measuring,
    members,
    operations,
    practice,
    rounds,
)
from service.api.dependencies import Parts, authorised
from service.api.door import Door
from service.api.following import Followed
from service.metrics_calls import CountedCalls
from service.metrics_state import State

ROUTERS: tuple[APIRouter, ...] = (
    rounds.router,
    members.router,
    practice.router,
    boards.router,
    admin.router,
    operations.router,
    delivery.router,
    linking.router,
    installing.router,
)
"""One per area; each path is the client's, under /v1."""


def _routes() -> list[BaseRoute]:
    whole = APIRouter()
    for router in ROUTERS:
        whole.include_router(router, prefix="/v1", dependencies=[Depends(authorised)])
    whole.include_router(health.router)
    whole.include_router(measuring.router)
    return whole.routes


ROUTES = _routes()
"""Every route, shared by all applications of a process: FastAPI takes a quarter of a second to compile them."""


def make_api(parts: Parts) -> FastAPI:
    """Returns the ASGI application over `parts`."""
    app = FastAPI(title="Dailygrad question service", openapi_url=None, routes=ROUTES)
    app.state.parts = parts
    app.state.metrics = State(parts.sessions, parts.sandbox, parts.clock)
    app.add_middleware(CountedCalls)
    errors.install(app)
    app.add_middleware(Door)
    app.add_middleware(Followed)
    return app
