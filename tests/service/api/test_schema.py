"""Everything that the service's OpenAPI description allows is answered without a server error, by schemathesis over
HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
import schemathesis
from schemathesis import engine
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events

from service.client import caller_header
from service.process import listen, serve_app
from service.wire import CALLER_HEADER
from tests.conftest import TOKEN, Clock
from tests.service.calls import lift_call_limit
from tests.service.daily_channel import DailyChannel
from tests.service.openapi import describe_api
from tests.service.tenants import Team, open_banks

pytestmark = pytest.mark.slow

LONG = 20_000
"""Longer texts are `test_bounds`'; a thousand calls of megabytes each would tell no more."""

Asked = list[tuple[str, int, str]]
"""What was asked, with which status it was answered, and what was sent."""


def described(daily: DailyChannel, team: Team) -> dict[str, Any]:
    """Returns the service's OpenAPI description with existing callers and objects, and short texts."""
    api: dict[str, Any] = describe_api()
    far = 10**9
    named: Mapping[str, list[Any]] = {
        "where": [team.aside.model_dump(), {"channel": "", "name": ""}],
        "schedule": [team.schedule, far],
        "ref": [f"r{team.open_round}", f"p{team.question}", f"d{team.duel_question}"],
        "duel": [team.duel, far],
        "tournament": [team.tournament, 0],
        "sprint": [team.planned_sprint, 0],
        "title": [f"{team.word} cup", ""],
        "question": [f"what-is-a-{team.word}", "nothing"],
        "delivery": [1, far],
        "report": [team.report, far],
        "suggestion": [team.suggestion, far],
    }
    for schema in api["components"]["schemas"].values():
        for name, field in schema.get("properties", {}).items():
            if schema["title"].startswith("Body_"):
                schema["properties"][name] = {"enum": named[name]} if name in named else field
            if field.get("maxLength", 0) > LONG:
                field["maxLength"] = LONG
    for methods in api["paths"].values():
        for parameter in methods.get("post", {}).get("parameters", ()):
            parameter["schema"] = {"enum": [caller_header(team.boss)[CALLER_HEADER]]}
    # It waits for what comes, and up to half a minute.
    for path in ("/v1/outbox/claim", "/v1/web/changes"):
        _body_of(api, path)["properties"]["wait_s"] = {"enum": [0]}
    return api


def _body_of(api: Mapping[str, Any], path: str) -> Any:
    schema = api["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return api["components"]["schemas"][schema["$ref"].rpartition("/")[2]]


def tried(api: dict[str, Any], url: str, how: Mapping[str, Any]) -> Asked:
    """Runs schemathesis with one of its strategies. Raises the error of a request."""
    config = SchemathesisConfig.from_dict(
        {
            "base-url": url,
            "headers": {"Authorization": f"Bearer {TOKEN}"},
            "continue-on-failure": True,
            "checks": {"enabled": False, "not_a_server_error": {"enabled": True}},
            **how,
        }
    )
    asked: Asked = []
    for event in engine.from_schema(schemathesis.openapi.from_dict(api, config=config)).execute():
        assert not isinstance(event, events.NonFatalError | events.FatalError), event
        if isinstance(event, events.ScenarioFinished):
            for one in event.recorder.interactions.values():
                assert one.response is not None, one.request.uri
                asked.append((one.request.uri.removeprefix(url), one.response.status_code, str(one.request.body)))
    return asked


def phases(**enabled: bool) -> dict[str, Any]:
    names = ("examples", "coverage", "fuzzing", "stateful")
    return {name: {"enabled": enabled.get(name, False)} for name in names}


@pytest.mark.parametrize(
    ("how", "least"),
    [
        ({"phases": phases(coverage=True), "generation": {"mode": "positive", "deterministic": True}}, 400),
        ({"phases": phases(fuzzing=True), "generation": {"mode": "all", "max-examples": 5}}, 120),
    ],
    ids=["covering", "fuzzing"],
)
async def test_nothing_that_is_described_fails(
    daily: DailyChannel, clock: Clock, how: Mapping[str, Any], least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lift_call_limit(daily.service.api, monkeypatch)
    await open_banks(daily, clock)
    api = described(daily, await Team(daily, "zebra").settle())
    with listen("127.0.0.1", 0, tries=1) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with serve_app(daily.service.api, listener, daily.service.stopping.set):
            asked = await asyncio.to_thread(tried, api, url, how)
    assert [one for one in asked if one[1] >= 500 or one[1] == 429] == []
    assert len(asked) >= least
    assert len({path for path, status, _ in asked if status == 200}) > len(api["paths"]) / 2
