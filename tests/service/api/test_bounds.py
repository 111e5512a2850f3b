"""How much of anything the service takes: each bound with a call just inside and one beyond, and no field without one.

The bounds are read from the API's own description, so a field that is added is tried, or named here as having none.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from service.api.http import MOST
from service.app import Service
from service.client import caller_header
from service.wire import CALLER_HEADER, CallTooLarge, Failure, InvalidInput, Who
from tests.conftest import TOKEN
from tests.service.calls import body_schema, post
from tests.service.daily_channel import DailyChannel, choice
from tests.service.openapi import describe_api

BOSS = Who(platform="web", workspace="home", member="boss", name="Boss", admin=True)

Place = tuple[str, ...]
"""The names of the fields that lead to a value; `[]` for what is in a list."""
Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Field:
    """A field of a call, with its schema."""

    path: str
    place: Place
    schema: Schema

    def __str__(self) -> str:
        return f"{self.path} {'.'.join(self.place)}"


class Described:
    """What the service says of its calls."""

    def __init__(self, api: Mapping[str, Any]) -> None:
        self._models: Mapping[str, Schema] = api["components"]["schemas"]
        self.bodies = {
            path: body_schema(methods["post"], self._models)
            for path, methods in api["paths"].items()
            if "post" in methods
        }

    def fields(self) -> Iterator[Field]:
        """Yields every scalar field of every call."""
        for path, schema in self.bodies.items():
            yield from self._within(path, (), schema)

    def _within(self, path: str, place: Place, schema: Schema) -> Iterator[Field]:
        schema = self._found(schema)
        if "properties" in schema:
            for name, field in schema["properties"].items():
                yield from self._within(path, (*place, name), field)
            return
        yield Field(path, place, schema)
        if "items" in schema:
            yield from self._within(path, (*place, "[]"), schema["items"])
        if schema.get("type") == "object":
            yield from self._within(path, (*place, "{}"), schema["additionalProperties"])

    def sample(self, schema: Schema) -> Any:
        """Returns the smallest valid value."""
        schema = self._found(schema)
        if "enum" in schema or "const" in schema:
            return schema["enum"][0] if "enum" in schema else schema["const"]
        match schema["type"]:
            case "object":
                known = schema.get("properties", {})
                needed = {"who", "where"} & set(known) | set(schema.get("required", ()))
                return {name: self.sample(known[name]) for name in needed}
            case "string" if "pattern" in schema:
                return "r1"
            case "string" if "format" in schema and schema["format"] != "password":
                return {"date": "2026-03-09", "date-time": "2026-03-02T08:00:00Z", "time": "09:00"}[schema["format"]]
            case "string":
                return "x" * max(schema.get("minLength", 0), 1)
            case "array":
                return []
            case "boolean":
                return True
            case _:
                return max(schema.get("minimum", 0), 0)

    def _found(self, schema: Schema) -> Schema:
        """Resolves a reference; returns the type of an optional value."""
        while True:
            if "$ref" in schema:
                schema = self._models[schema["$ref"].rpartition("/")[2]]
            elif "anyOf" in schema:
                schema = next(one for one in schema["anyOf"] if one.get("type") != "null")
            else:
                return schema

    def body(self, field: Field, value: Any) -> dict[str, Any]:
        """Returns the smallest body of a call with this value in this field."""
        body: dict[str, Any] = copy.deepcopy(self.sample(self.bodies[field.path]))
        if "who" in body:
            body["who"] |= {"platform": "web", "workspace": "home", "admin": True}
        *way, last = [name for name in field.place if name not in ("[]", "{}")]
        at, schema = body, self._found(self.bodies[field.path])
        for name in way:
            schema = self._found(schema["properties"][name])
            at = at.setdefault(name, self.sample(schema))
        at[last] = {"[]": [value], "{}": {"x": value}}.get(field.place[-1], value)
        return body

    def edges(self, field: Field) -> Iterator[tuple[Any, Any]]:
        """Yields values just inside and just outside each limit."""
        schema = field.schema
        if "enum" in schema or "const" in schema or "pattern" in schema:
            return
        if "maxLength" in schema:
            yield "x" * schema["maxLength"], "x" * (schema["maxLength"] + 1)
        if schema.get("minLength"):
            yield "x" * schema["minLength"], "x" * (schema["minLength"] - 1)
        if "maxItems" in schema:
            one = self.sample(schema["items"])
            yield [one] * schema["maxItems"], [one] * (schema["maxItems"] + 1)
        if "maxProperties" in schema:
            many = {
                str(number): self.sample(schema["additionalProperties"]) for number in range(schema["maxProperties"])
            }
            yield many, {**many, "more": self.sample(schema["additionalProperties"])}
        number, step = (int, 1) if schema.get("type") == "integer" else (float, 0.5)
        for name, inside, beyond in (("maximum", 0, step), ("exclusiveMaximum", -step, 0), ("minimum", 0, -step)):
            if name in schema:
                yield number(schema[name]) + inside, number(schema[name]) + beyond


def is_bounded(schema: Schema) -> bool:
    """Returns whether a value's size is limited."""
    match schema.get("type"):
        case "string":
            ends = {"maxLength", "enum", "const", "pattern"} & set(schema)
            return bool(ends) or schema.get("format") in ("date", "date-time", "time")
        case "array":
            return "maxItems" in schema
        case "object":
            return "maxProperties" in schema and "additionalProperties" in schema
        case "integer" | "number":
            return "minimum" in schema and bool({"maximum", "exclusiveMaximum"} & set(schema))
        case kind:
            return kind == "boolean" or "enum" in schema or "const" in schema


@pytest.fixture
async def http(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=service.api, raise_app_exceptions=False)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=transport, base_url="http://service", headers=headers) as client:
        yield client


def test_nothing_is_taken_without_a_bound() -> None:
    fields = list(Described(describe_api()).fields())
    assert [str(field) for field in fields if not is_bounded(field.schema)] == []
    assert len(fields) > 200


@pytest.mark.slow
async def test_each_limit_has_the_documented_value(daily: DailyChannel, http: httpx.AsyncClient) -> None:
    await daily.bank(choice("views"))
    described = Described(describe_api())
    tried = 0
    # A bound that many calls share is tried with one of them.
    seen: set[str] = set()
    for field in described.fields():
        known = f"{field.place} {sorted(field.schema.items(), key=str)}"
        if known in seen or field.place == ("wait_s",):
            continue
        seen.add(known)
        for inside, beyond in described.edges(field):
            tried += 1
            good = await post(http, field.path, described.body(field, inside))
            bad = await post(http, field.path, described.body(field, beyond))
            assert good.status_code < 500 and good.status_code != 413, (str(field), good.text)
            assert outcome(good) != "invalid-input", (str(field), str(inside)[:50], good.text)
            assert (bad.status_code, outcome(bad)) == (422, "invalid-input"), (str(field), str(beyond)[:50], bad.text)
    assert tried > 50


def outcome(response: httpx.Response) -> str:
    return "ok" if response.is_success else Failure.model_validate_json(response.content).refusal.kind


@pytest.mark.parametrize(("size", "status"), [(MOST, 422), (MOST + 1, 413)])
@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_has_an_end(http: httpx.AsyncClient, size: int, status: int, chunked: bool) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, size, 2**20):
            yield b" " * min(2**20, size - at)

    headers = {"Content-Type": "application/json"} | ({} if chunked else {"Content-Length": str(size)})
    response = await http.post("/v1/outbox/places", content=pieces(), headers=headers)
    assert response.status_code == status
    if status == 413:
        failure = Failure.model_validate_json(response.content)
        assert failure.refusal == CallTooLarge(most=10_500_000)


async def test_an_endless_body_is_left_where_it_is(http: httpx.AsyncClient) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1
            yield b" " * 2**20

    headers = {"Content-Type": "application/json"}
    for length, most in ({}, 12), ({"Content-Length": "9" * 40}, 12):
        read = 0
        assert (
            await http.post("/v1/outbox/places", content=endless(), headers={**headers, **length})
        ).status_code == 413
        assert read <= most


@pytest.mark.parametrize(
    "body",
    [
        b'{"limit":' + b"[" * 200_000,
        b'{"limit":' * 200_000,
        b'{"limit":' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"limit":' + b"9" * 100_000 + b"}",
        b'{"limit":1e999,"other":NaN}',
        b'{"limit":"\\ud800"}',
        b"\xff\xfe",
    ],
    ids=["lists", "objects", "nested", "digits", "infinite", "surrogate", "no-text"],
)
async def test_a_malicious_body_is_a_client_error(http: httpx.AsyncClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json", **caller_header(BOSS)}
    response = await http.post("/v1/admin/audit", content=body, headers=headers)
    assert 400 <= response.status_code < 500
    assert Failure.model_validate_json(response.content).refusal


async def test_fields_without_number_are_left_where_they_are(http: httpx.AsyncClient) -> None:
    body = {f"field {number}": number for number in range(200_000)}
    assert (await http.post("/v1/outbox/places", json=body)).status_code == 422


@pytest.mark.parametrize(
    "caller",
    [
        "",
        "7",
        "[" * 5_000,
        '{"who": {}}',
        '{"platform": "web", "workspace": "w", "member": "\\ud800", "name": "x"}',
        "x" * 20_000,
    ],
    ids=["empty", "number", "lists", "other", "surrogate", "long"],
)
@pytest.mark.parametrize("path", ["/v1/me", "/v1/admin/audit"])
async def test_a_malformed_caller_is_invalid_input(http: httpx.AsyncClient, path: str, caller: str) -> None:
    response = await http.post(path, json={}, headers={CALLER_HEADER: caller})
    assert response.status_code == 422
    assert isinstance(Failure.model_validate_json(response.content).refusal, InvalidInput)
