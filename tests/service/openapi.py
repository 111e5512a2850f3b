"""The API described by OpenAPI, for tests that go through all of it. The service itself serves no description."""

from __future__ import annotations

from typing import Any

from fastapi.openapi.utils import get_openapi

from service.api import ROUTES


def describe_api() -> dict[str, Any]:
    """Returns the description of every route."""
    return get_openapi(title="Dailygrad question service", version="1", routes=ROUTES.all())
