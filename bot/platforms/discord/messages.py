"""Our messages as Discord takes and knows them: one key, one nonce, one pair of component ids. Pure.

Discord makes one message of posts with the same `nonce` and `enforce_nonce` within a few minutes (docs, resources/
message). Beyond those the message is known again by the ids of its first two components, which only we choose.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b32encode
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any, Final

import discord

from bot.core.cards import Card
from bot.platforms.discord.custom_ids import placed_body
from bot.platforms.discord.render import Body, bodies, pictures

_NONCE: Final = 24
_COUNT_BITS: Final = 6
MOST_PARTS: Final = 40
"""Messages of one card that are told apart."""
_EPOCH_MS: Final = 1_420_070_400_000


def nonce_of(key: str) -> str:
    """At most 25 characters are taken, so a hash stands for the key."""
    return b32encode(hashlib.sha256(key.encode()).digest()).decode()[:_NONCE]


def ids_of(key: str, count: int = 1) -> tuple[int, int]:
    """Two component ids of 31 bits; the second says in its last six how many messages the card takes.

    Small ids are left to Discord, which numbers the other components with them.
    """
    digest = hashlib.sha256(key.encode()).digest()
    first, second = (int.from_bytes(digest[start : start + 4]) >> 1 | 1 << 20 for start in (0, 4))
    second = second >> _COUNT_BITS << _COUNT_BITS | min(count, MOST_PARTS)
    return first, second if second != first else second ^ 1 << 21


def part_keys(key: str, count: int) -> list[str]:
    """The key of each message of a card that takes several; of a single one the card's own."""
    return [key] if count == 1 else [f"{key}/{number}" for number in range(1, count + 1)]


def parts_of_card(card: Card, *, private: bool = False, guild: str = "", channel: str = "") -> list[Body]:
    """The bodies of a card; with `guild` each button says the server it belongs to."""
    found = bodies(card, private=private)
    return [placed_body(body, guild, channel) for body in found] if guild else found


def keyed(body: Body, key: str, count: int = 1) -> Body:
    """The body with its nonce and ids, so that it is made once and known again."""
    container, *rest = body["components"]
    text, *others = container["components"]
    first, second = ids_of(key, count)
    marked = {**container, "id": first, "components": [{**text, "id": second}, *others]}
    return {**body, "components": [marked, *rest], "nonce": nonce_of(key), "enforce_nonce": True}


class Marks:
    """Tells the messages made under a key among others."""

    def __init__(self, key: str) -> None:
        parts = [key, *(f"{key}/{number}" for number in range(1, MOST_PARTS + 1))]
        self._parts = {ids_of(part)[0]: (max(1, place), part) for place, part in enumerate(parts)}

    def read(self, message: Mapping[str, Any]) -> tuple[int, int] | None:
        """Which message of how many it is; None when it is none of them."""
        components = message.get("components") or [{}]
        inner = components[0].get("components") or [{}]
        first, second = components[0].get("id"), inner[0].get("id")
        if first not in self._parts or not isinstance(second, int):
            return None
        place, part = self._parts[first]
        count = second & (1 << _COUNT_BITS) - 1
        return (place, count) if ids_of(part, count) == (first, second) else None


def attached(card: Card, body: Body) -> list[discord.File]:
    """The files of the pictures a body shows."""
    wanted = body.get("attachments") or ()
    shown: Sequence[bytes] = pictures(card) if wanted else ()
    return [
        discord.File(BytesIO(shown[int(one["id"])]), filename=one["filename"], description=one["description"])
        for one in wanted
    ]


def renumbered(body: Body) -> Body:
    """The body with its attachments counted from 0, as the files of one request are."""
    if not body.get("attachments"):
        return body
    return {**body, "attachments": [{**one, "id": str(place)} for place, one in enumerate(body["attachments"])]}


def multipart(body: Body, files: Iterable[discord.File]) -> list[dict[str, Any]]:
    """The parts of a request that carries files beside its body."""
    parts: list[dict[str, Any]] = [
        {"name": "payload_json", "value": json.dumps(body), "content_type": "application/json"}
    ]
    for place, file in enumerate(files):
        parts.append(
            {
                "name": f"files[{place}]",
                "value": file.fp,
                "filename": file.filename,
                "content_type": "image/png",
            }
        )
    return parts


def instant_ms(snowflake: str) -> int:
    """When an id was made, in milliseconds of Unix time: docs, reference, snowflakes."""
    return (int(snowflake) >> 22) + _EPOCH_MS
