"""Clients that hold many requests open do not take a process down: others are refused, and health checks answered."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from service.app import build
from service.concurrency import ConcurrencyLimit
from service.config import Settings
from service.process import serve_app
from tests.conftest import TOKEN, Clock
from tests.held_requests import BUSY, hold_requests

MANY = 60
CALL = "/v1/outbox/claim"


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncIterator[tuple[int, httpx.AsyncClient]]:
    """Serves the app on a real socket, stopping without a pause. Yields its port and a client."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = int(listener.getsockname()[1])
        async with (
            serve_app(app, listener, grace_s=0),
            httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=BUSY) as http,
        ):
            yield port, http


async def test_a_service_with_many_held_calls_refuses_others_and_stays_healthy(
    settings: Settings, clock: Clock
) -> None:
    limited = settings.model_copy(update={"limit_concurrency": MANY})
    authorization = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        build(limited, clock).running() as service,
        served(service.api) as (port, http),
        hold_requests(MANY, port, CALL, f"Authorization: Bearer {TOKEN}\r\n") as held,
    ):
        refused = await http.post(CALL, json={}, headers=authorization)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert "too many calls in progress" in refused.json()["refusal"]["message"]
        assert [(await http.get(path)).status_code for path in ("/healthz", "/readyz")] == [200, 200]
        assert await held[0].finish() == 422  # the call's fields are missing, which shows that it was read
        async with asyncio.timeout(BUSY):
            while (again := await http.post(CALL, json={}, headers=authorization)).status_code == 503:
                pass
        assert again.status_code == 422


async def length(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


def limited_app(limit: int, body_seconds: float = BUSY) -> ASGIApp:
    app = Starlette(routes=[Route("/", length, methods=["POST", "GET"])])
    return ConcurrencyLimit(app, PlainTextResponse("full", 503), limit, body_seconds=body_seconds)


async def test_a_client_that_leaves_makes_room() -> None:
    async with served(limited_app(1)) as (port, http):
        async with hold_requests(1, port, "/"):
            assert (await http.get("/")).status_code == 503
        async with asyncio.timeout(BUSY):
            while (await http.get("/")).status_code == 503:
                pass
        assert [(await http.post("/", content=b"four")).text for _ in range(3)] == ["4", "4", "4"]


async def test_a_body_that_stops_in_the_middle_loses_its_place() -> None:
    async with served(limited_app(1, body_seconds=0.01)) as (port, http), hold_requests(1, port, "/") as held:
        assert await held[0].status() == 408
        async with asyncio.timeout(BUSY):
            while (answer := await http.get("/")).status_code == 503:
                pass
        assert answer.text == "0"


async def test_a_response_may_take_longer_than_a_body() -> None:
    async def slow(request: Request) -> Response:
        await request.body()
        await asyncio.sleep(0.05)
        # As a stream of events does, which ends when its reader leaves.
        assert not await request.is_disconnected()
        return PlainTextResponse("done")

    app = Starlette(routes=[Route("/", slow, methods=["POST"])])
    async with served(ConcurrencyLimit(app, PlainTextResponse("full", 503), 1, body_seconds=0.01)) as (_, http):
        assert (await http.post("/", content=b"x")).text == "done"
