"""Calls of the service as plain JSON: the body of a call, with its caller under `who`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from time import monotonic
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from service.api.rate_limit import CallLimiter, Rate
from service.wire import CALLER_HEADER, Who

Schema = Mapping[str, Any]


def lift_call_limit(api: FastAPI, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets one member make all calls, faster than a person does. The limit counts real seconds, so without this a test
    with hundreds of calls would fail on a fast machine."""
    limiter = CallLimiter(monotonic, member=Rate(burst=1e6, per_second=1e6))
    monkeypatch.setattr(api.state, "parts", replace(api.state.parts, limiter=limiter))


async def post(http: httpx.AsyncClient, path: str, body: Mapping[str, Any], **headers: str) -> httpx.Response:
    """Posts a call. `who` goes into the header, everything else into the body."""
    rest = dict(body)
    if "who" in rest:
        headers[CALLER_HEADER] = json.dumps(rest.pop("who"))
    return await http.post(path, json=rest, headers=headers)


def body_schema(operation: Schema, models: Mapping[str, Schema]) -> Schema:
    """Returns the schema of an operation's body, with `who` as a field if it has a caller."""
    schema: Schema = {"type": "object", "properties": {}}
    if "requestBody" in operation:
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        schema = models[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if any(parameter["name"] == CALLER_HEADER for parameter in operation.get("parameters", ())):
        fields = {"who": Who.model_json_schema(), **schema["properties"]}
        return {**schema, "properties": fields, "required": ["who", *schema.get("required", ())]}
    return schema
