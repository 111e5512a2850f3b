"""Building blocks for checks of JSON bodies, so that a platform's documented rules can be written as tables.

A check takes a value and its path and yields what is wrong with it. Tables name each field once, with its limit; any
other field is rejected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Check = Callable[[Any, str], Iterator[str]]
Rule = Callable[[dict[str, Any], str], Iterator[str]]
Fields = Mapping[str, Check]
Count = Callable[[str], int]


def utf16(text: str) -> int:
    """Returns the length of a text in UTF-16 code units, as Discord's clients count."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def string(most: int | None = None, least: int = 0, *, like: str = "", count: Count = len) -> Check:
    """Checks a string of `least` to `most` characters that matches a pattern."""

    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, str):
            yield f"{path}: not a string: {value!r}"
        elif count(value) < least:
            yield f"{path}: fewer than {least} characters"
        elif most is not None and count(value) > most:
            yield f"{path}: more than {most} characters ({count(value)})"
        elif like and not re.fullmatch(like, value):
            yield f"{path}: {value!r} does not match {like}"

    return check


def number(least: float | None = None, most: float | None = None, *, whole: bool = True) -> Check:
    """Checks a number within bounds."""

    def check(value: Any, path: str) -> Iterator[str]:
        if isinstance(value, bool) or not isinstance(value, int if whole else (int, float)):
            yield f"{path}: not {'an integer' if whole else 'a number'}: {value!r}"
        elif (least is not None and value < least) or (most is not None and value > most):
            yield f"{path}: {value} is not between {least} and {most}"

    return check


def flag(value: Any, path: str) -> Iterator[str]:
    """Checks a boolean."""
    if not isinstance(value, bool):
        yield f"{path}: not a boolean: {value!r}"


def one_of(*values: object) -> Check:
    """Checks a value from a list; `1` and `True` are different."""

    def check(value: Any, path: str) -> Iterator[str]:
        if not any(value == one and isinstance(value, bool) == isinstance(one, bool) for one in values):
            yield f"{path}: {value!r} is not one of {values}"

    return check


def nullable(check: Check) -> Check:
    """Checks a value that may be null."""

    def checked(value: Any, path: str) -> Iterator[str]:
        if value is not None:
            yield from check(value, path)

    return checked


def array(item: Check, least: int = 0, most: int | None = None, *, distinct: bool = False) -> Check:
    """Checks a list of `least` to `most` items; with `distinct`, they must differ."""

    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, list):
            yield f"{path}: not a list: {value!r}"
            return
        if len(value) < least or (most is not None and len(value) > most):
            yield f"{path}: {len(value)} items, not between {least} and {most}"
        if distinct and any(one in value[:place] for place, one in enumerate(value)):
            yield f"{path}: an item twice"
        for place, one in enumerate(value):
            yield from item(one, f"{path}/{place}")

    return check


def shape(required: Fields | None = None, optional: Fields | None = None, *rules: Rule) -> Check:
    """Checks an object with all `required` fields, any `optional` ones and no others.

    `rules` check fields that depend on one another. They run only if all fields are valid on their own.
    """
    needed = dict(required or {})
    known = {**(optional or {}), **needed}

    def check(value: Any, path: str) -> Iterator[str]:
        if not isinstance(value, dict):
            yield f"{path}: not an object: {value!r}"
            return
        found = [f"{path}: {name} is missing" for name in needed if name not in value]
        for name, part in value.items():
            if name in known:
                found += known[name](part, f"{path}/{name}")
            else:
                found.append(f"{path}: unknown field {name}")
        yield from found
        if not found:
            for rule in rules:
                yield from rule(value, path)

    return check


def typed(table: Mapping[Any, Check], *types: object) -> Check:
    """Checks an object by the table row of its `type`. The table is looked up when the check runs."""

    def check(value: Any, path: str) -> Iterator[str]:
        kind = value.get("type") if isinstance(value, dict) else None
        if isinstance(kind, bool) or kind not in (types or table):
            yield f"{path}: no type that fits here: {kind!r}" if isinstance(value, dict) else f"{path}: not an object"
        else:
            inner = {name: part for name, part in value.items() if name != "type"}
            yield from table[kind](inner, f"{path}({kind})")

    return check


def either(*names: str) -> Rule:
    """Checks that at least one of the fields is present."""

    def rule(value: dict[str, Any], path: str) -> Iterator[str]:
        if not any(name in value for name in names):
            yield f"{path}: none of {', '.join(names)}"

    return rule


def exactly_one(*names: str) -> Rule:
    """Checks that exactly one of the fields is present."""

    def rule(value: dict[str, Any], path: str) -> Iterator[str]:
        if sum(name in value for name in names) != 1:
            yield f"{path}: not exactly one of {', '.join(names)}"

    return rule


def ordered(least: str, most: str) -> Rule:
    """Checks that one number is at most another if both are present."""

    def rule(value: dict[str, Any], path: str) -> Iterator[str]:
        if least in value and most in value and value[least] > value[most]:
            yield f"{path}: {least} is larger than {most}"

    return rule
