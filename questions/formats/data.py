"""Loads data from strangers: JSON, JSON Lines, YAML and TOML. Depth, aliases and the number of values are limited."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from questions.source import Source

MOST_VALUES = 500_000
"""Maximum number of values looked at; YAML aliases can repeat one without end."""


def load_data(source: Source) -> Any:
    """Returns the data of a document; None if it has none, or is broken."""
    text = "\n".join(source.lines)
    suffix = PurePath(source.name).suffix.lower()
    start = text.lstrip()[:1]
    try:
        if suffix == ".toml":
            return tomllib.loads(text)
        if start in ("{", "["):
            return _json(text)
        if suffix in (".yaml", ".yml") and _ASKS.search(text):
            return _yaml(text)
    except (ValueError, RecursionError, yaml.YAMLError, OverflowError):
        return None
    return None


def _yaml(text: str) -> Any:
    """Returns the data of a YAML document from its events, so that depth, aliases and tags cost nothing.

    An alias of a text or a number is that, any other one nothing. Raises ValueError for more depth or values than
    questions need.
    """
    anchored: dict[str | None, Any] = {}
    stack: list[Any] = [[]]
    keys: list[Any] = [_NO_KEY]
    for count, event in enumerate(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))):
        if count > MOST_VALUES or len(stack) > _DEEPEST_YAML:
            raise ValueError("too many values")
        if isinstance(event, yaml.AliasEvent):
            _put(stack, keys, anchored.get(event.anchor))
        elif isinstance(event, yaml.ScalarEvent):
            anchored[event.anchor] = _scalar(event)
            _put(stack, keys, _scalar(event))
        elif isinstance(event, yaml.CollectionStartEvent):
            value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            _put(stack, keys, value)
            stack.append(value)
            keys.append(_NO_KEY)
        elif isinstance(event, yaml.CollectionEndEvent):
            stack.pop()
            keys.pop()
    return stack[0][0] if len(stack[0]) == 1 else stack[0]


_NO_KEY = object()
_DEEPEST_YAML = 20
_ASKS = re.compile(
    r"^[ \t]*(?:-[ \t]+)?[\"']?[^\W\d][\w ]{0,30}[\"']?[ ]?:[ \t]*\S|^-[ \t]*(?:\n[ \t]+)?-[ \t]+\S", re.MULTILINE
)
"""A field with a value, or a list in a list."""


def _put(stack: list[Any], keys: list[Any], value: Any) -> None:
    top = stack[-1]
    if isinstance(top, list):
        top.append(value)
    elif keys[-1] is _NO_KEY:
        keys[-1] = value if isinstance(value, str | int | float | bool) else str(id(value))
    else:
        top[keys[-1]] = value
        keys[-1] = _NO_KEY


def _scalar(event: yaml.ScalarEvent) -> Any:
    """Returns a plain scalar as a number or truth value, any other as text; words such as `yes` stay words."""
    text = str(event.value)
    if event.implicit[0] and text in ("true", "false", "True", "False"):
        return text.lower() == "true"
    return int(text) if event.implicit[0] and re.fullmatch(r"-?\d{1,9}", text) else text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        # JSON Lines: one object in each line.
        return [json.loads(line) for line in text.split("\n") if line.strip()]
