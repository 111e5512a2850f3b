"""What a component's `custom_id` says beside its action: the server a private message belongs to, and "open the form".

A direct message bears no server, so its buttons bear it: `@` and the numbers of server and channel, then `|`. A `+`
before the action means that the question was read above, so the form is opened however much of it fits. No action
begins with either, see `core.actions`.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from typing import Any

from bot.core.actions import MAX_LENGTH

_DIGITS = string.digits + string.ascii_letters
_PLACED = re.compile(r"@([0-9A-Za-z]{1,11})(?:\.([0-9A-Za-z]{1,11}))?\|(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Pressed:
    """A `custom_id`, read. `guild` and `channel` are empty where it does not say them."""

    action: str
    guild: str = ""
    channel: str = ""
    opens: bool = False
    """Whether it asks for the form however much of its question fits."""


def read_custom_id(custom_id: str) -> Pressed:
    """What a `custom_id` says; one of nobody's making is all action."""
    guild = channel = ""
    if found := _PLACED.fullmatch(custom_id):
        guild, channel, custom_id = str(_number(found[1])), str(_number(found[2])) if found[2] else "", found[3]
    return Pressed(custom_id.removeprefix("+"), guild, channel, custom_id.startswith("+"))


def opening(action: str) -> str:
    """The `custom_id` of a button that opens the form of `action` whatever fits it; the action where it has no room."""
    return f"+{action}" if len(action) < MAX_LENGTH else action


def placed(custom_id: str, guild: str, channel: str = "") -> str:
    """The `custom_id` with the server it belongs to, as far as there is room; unchanged where there is none."""
    if not guild.isdecimal():
        return custom_id
    place = f"@{_short(int(guild))}"
    within = f"{place}.{_short(int(channel))}" if channel.isdecimal() else place
    fitting = [f"{each}|{custom_id}" for each in (within, place) if len(each) + 1 + len(custom_id) <= MAX_LENGTH]
    return fitting[0] if fitting else custom_id


def placed_body(body: dict[str, Any], guild: str, channel: str = "") -> dict[str, Any]:
    """A message or a modal, every `custom_id` that leads on with the server it belongs to."""
    return {key: _placed_in(key, value, guild, channel) for key, value in body.items()}


def _placed_in(key: str, value: Any, guild: str, channel: str) -> Any:
    if key == "custom_id":
        return placed(value, guild, channel)
    if key == "component":
        # A field of a modal: its id is the field's name.
        return value
    if isinstance(value, list):
        return [placed_body(item, guild, channel) if isinstance(item, dict) else item for item in value]
    return value


def _short(number: int) -> str:
    shown = ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        shown = _DIGITS[digit] + shown
    return shown or _DIGITS[0]


def _number(shown: str) -> int:
    number = 0
    for digit in shown:
        number = number * len(_DIGITS) + _DIGITS.index(digit)
    return number
