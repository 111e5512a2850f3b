"""Short codes that link chats and members: how one is made, and what of it is kept. Pure; rows are the store's."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from datetime import timedelta

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Nothing that is mistaken for something else when read aloud or typed from another screen."""
LENGTH = 8
GOOD_FOR = timedelta(minutes=15)
GUESSES = 20
"""Codes that may be tried in one workspace within `GOOD_FOR`: of some 656 thousand million there are."""


def code_for(secret: str, what: str, chat_id: int, event_id: str) -> str:
    """The code that an event asks for: the same for its duplicates, and not to be guessed without the secret."""
    number = int.from_bytes(_keyed(secret, f"make {what} {chat_id} {event_id}"))
    letters = []
    for _ in range(LENGTH):
        number, place = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[place])
    return "".join(letters)


def made(secrets: Sequence[str], what: str, chat_id: int, event_id: str) -> dict[str, str]:
    """Of each secret the code that an event asks for, by what is kept of it; the newest secret's first."""
    codes = {secret: code_for(secret, what, chat_id, event_id) for secret in secrets}
    return {digest_of(secret, what, code): code for secret, code in codes.items()}


def as_typed(code: str) -> str:
    """A code without what people put between and around its letters."""
    return "".join(letter for letter in code.upper() if letter.isalnum())


def digest_of(secret: str, what: str, code: str) -> str:
    """What is kept of a code: without the secret it does not even help to try all codes."""
    return _keyed(secret, f"keep {what} {as_typed(code)}").hex()


def digests_of(secrets: Sequence[str], what: str, code: str) -> list[str]:
    """What may be kept of a code: while secrets are changed it may have been made with any of them."""
    return [digest_of(secret, what, code) for secret in secrets]


def _keyed(secret: str, text: str) -> bytes:
    return hmac.digest(secret.encode(), text.encode(), hashlib.sha256)
