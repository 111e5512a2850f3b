"""The HTTP side: nothing without the token, every failure one the client can read, health without secrets."""

from __future__ import annotations

import inspect
import re
from collections.abc import AsyncIterator

import httpx
import pytest
from fastapi.routing import APIRoute

from service import api
from service.api.routes import RoutesByPath
from service.app import Service, build
from service.client import ServiceClient, ServiceUnavailable
from service.config import Settings
from service.wire import CallRejected, Failure, InvalidInput, QuestionGone, describe
from tests.conftest import TOKEN, Clock, MakeDatabase
from tests.service.daily_channel import DAILY, DailyChannel
from tests.service.refusals import refused

PATHS = sorted({route.path for router in api.ROUTERS for route in router.routes})


@pytest.fixture
async def http(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    """A client that shows no token."""
    transport = httpx.ASGITransport(app=service.api, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        yield client


async def test_every_call_needs_the_token(http: httpx.AsyncClient) -> None:
    for path in PATHS:
        for shown in ("", "Bearer wrong", f"Basic {TOKEN}", TOKEN, f"Bearer {TOKEN} "):
            response = await http.post(path, json={}, headers={"Authorization": shown} if shown else {})
            assert response.status_code == 401, path
            refusal = Failure.model_validate_json(response.content).refusal
            assert isinstance(refusal, CallRejected) and refusal.code == "unauthorized"


async def test_a_body_that_cannot_be_read_is_a_failure_that_names_the_place(http: httpx.AsyncClient) -> None:
    for path in PATHS:
        response = await http.post(path, json={"who": 7, "platform": 7, "delivery": "x"}, headers=bearer())
        refusal = Failure.model_validate_json(response.content).refusal
        assert response.status_code == 422 and isinstance(refusal, InvalidInput), path
        assert refusal.field in ("Dailygrad-Caller", "who", "platform", "delivery", "key", "installation", "workspace")


def test_every_method_of_the_client_has_its_route() -> None:
    source = "".join(inspect.getsource(kind) for kind in ServiceClient.__mro__ if kind is not object)
    called = set(re.findall(r'(?:@call|self\.send)\(\s*"([^"]+)"', source))
    assert called == {path.removeprefix("/v1/") for path in PATHS}


async def test_an_unknown_path_is_a_failure_too(http: httpx.AsyncClient) -> None:
    response = await http.post("/v1/nothing", json={}, headers=bearer())
    assert response.status_code == 404
    assert "/v1/nothing" in describe(Failure.model_validate_json(response.content).refusal)


async def test_health_says_the_cure_and_no_secret(
    http: httpx.AsyncClient, new_database: MakeDatabase, clock: Clock
) -> None:
    assert (await http.get("/healthz")).json() == {"status": "ok"}
    assert (await http.get("/readyz")).status_code == 200
    empty = Settings(database_url=new_database(), service_token=TOKEN)
    away = Settings(database_url="postgresql://quiz:hunter2@127.0.0.1:1/quiz", service_token=TOKEN)
    for settings, cure in ((empty, "dailygrad migrate"), (away, "check DATABASE_URL")):
        service = build(settings, clock)
        transport = httpx.ASGITransport(app=service.api)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            response = await client.get("/readyz")
        await service.engine.dispose()
        assert response.status_code == 503
        assert cure in response.json()["status"] and "hunter2" not in response.text


async def test_a_service_that_fails_says_so_and_tells_nothing(clock: Clock) -> None:
    away = Settings(database_url="postgresql://quiz:hunter2@127.0.0.1:1/quiz", service_token=TOKEN)
    service = build(away, clock)
    async with ServiceClient.inside(service.api, TOKEN) as client:
        with pytest.raises(ServiceUnavailable) as failed:
            await client.outbox_claim("web")
    await service.engine.dispose()
    assert "hunter2" not in str(failed.value)


async def test_members_are_known_after_their_first_call_and_renamed_by_the_next(daily: DailyChannel) -> None:
    await daily.client.join(daily.who("Ada"), DAILY)
    renamed = daily.who("Ada").model_copy(update={"name": "Ada L."})
    await daily.client.join(renamed, DAILY)
    assert (await daily.client.me(renamed)).name == "Ada L."


async def test_refusals_reach_the_client_as_facts(daily: DailyChannel) -> None:
    with refused(QuestionGone(practice=False)):
        await daily.client.ask(daily.who(), DAILY, "r7")


def bearer() -> dict[str, str]:
    return {"Authorization": f"Bearer {TOKEN}"}


def test_a_path_belongs_to_one_route_and_has_no_parameters() -> None:
    async def call() -> None: ...

    with pytest.raises(ValueError, match=r"/v1/\{name\} is not the path of one route"):
        RoutesByPath([APIRoute("/v1/{name}", call)])
    with pytest.raises(ValueError, match="/v1/name is not the path of one route"):
        RoutesByPath([APIRoute("/v1/name", call), APIRoute("/v1/name", call, methods=["POST"])])


async def test_an_unknown_path_and_another_method_are_refused(http: httpx.AsyncClient) -> None:
    assert (await http.post("/v1/nothing", headers=bearer())).status_code == 404
    assert (await http.get("/v1/answer", headers=bearer())).status_code == 405
