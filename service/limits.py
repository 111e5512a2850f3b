"""The limits of the wire, said to people when a value breaks one. The models of `wire` hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pydantic_core import ErrorDetails

_WORDS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "string_too_long": lambda limit: f"that is too long; at most {limit['max_length']:,} characters fit",
    "string_too_short": lambda limit: "that is empty" if limit["min_length"] == 1 else "that is too short",
    "greater_than_equal": lambda limit: f"that is too little; at least {limit['ge']:,} is needed",
    "less_than_equal": lambda limit: f"that is too much; at most {limit['le']:,} is taken",
}


def limit_words(errors: Sequence[ErrorDetails], skip: int = 0) -> str:
    """`open minutes: that is too little; …`: the first error, its place without `skip` leading parts."""
    first = errors[0]
    place = " ".join(str(part) for part in first["loc"][skip:]).replace("_", " ")
    words = _WORDS.get(first["type"])
    said = words(first["ctx"]) if words else first["msg"].removeprefix("Value error, ")
    return f"{place}: {said}" if place else said
