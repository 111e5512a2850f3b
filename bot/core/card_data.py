"""Cards and forms to JSON-ready data and back, for a platform that keeps its own messages."""

from __future__ import annotations

import base64
import dataclasses
from typing import Any

from bot.core import cards

KNOWN: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        cards.Bar,
        cards.Bars,
        cards.Button,
        cards.Card,
        cards.Code,
        cards.Form,
        cards.Lettered,
        cards.Link,
        cards.Options,
        cards.PickField,
        cards.Picture,
        cards.Small,
        cards.Table,
        cards.Text,
        cards.TextField,
    )
}


def as_data(value: object) -> Any:
    """`value`, a card or any part of one, with each part's kind named under `is`."""
    if dataclasses.is_dataclass(value):
        parts = {field.name: as_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"is": type(value).__name__, **parts}
    if isinstance(value, bytes):
        return {"is": "bytes", "base64": base64.b64encode(value).decode()}
    return [as_data(item) for item in value] if isinstance(value, tuple) else value


def from_data(data: Any) -> Any:
    """The inverse of `as_data`. Raises KeyError for a kind it does not know."""
    if isinstance(data, dict):
        if data["is"] == "bytes":
            return base64.b64decode(data["base64"])
        return KNOWN[data["is"]](**{name: from_data(part) for name, part in data.items() if name != "is"})
    return tuple(from_data(item) for item in data) if isinstance(data, list) else data
