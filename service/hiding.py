"""Keeps out of a log what must not stand there: known secrets, what looks like one, and what others quote of members'
texts. Pure but for what it was told; where lines go is `logs`' business."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from urllib.parse import quote, quote_plus, unquote, urlsplit

from pydantic import BaseModel, SecretStr

MASK = "[hidden]"
SHORTEST = 4
"""Characters of a known secret: to hide one that is shorter would spoil every line, and it protects nothing."""
LONGEST = 20_000
"""Characters of one text in a log line."""
_DEEPEST = 6

# Each takes the place of all that it matches but its groups. None backtracks over more than a word or a line.
_SHAPES = tuple(
    re.compile(shape)
    for shape in (
        # The password in an address; in PostgreSQL's it may hold what should have been quoted.
        r"(\bpostgres(?:ql)?(?:\+\w+)?://[^\s:/@]*:)\S+(@)",
        r"(\w://[^\s:/@\"']*:)[^\s/@\"']+(@)",
        r"(\bpassword=)(?:'(?:[^'\\]|\\.)*'|[^\s&\"']+)",
        # Slack: tokens of bots, users, apps and their refreshing, and addresses to answer at.
        r"\bx(?:ox[a-z](?:\.xox[a-z])?|app)-[\w.-]{4,}",
        r"(\bhttps?://hooks\.slack(?:-gov)?\.com/)[^\s\"'<>]+",
        # Discord: a bot's token, and an interaction's, alone and in an address.
        r"(?<![\w.-])[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}",
        r"\baW50ZXJhY3Rpb246[\w+/=-]{20,}",
        r"(/(?:webhooks|interactions)/\w+/)[^\s/?\"']+",
        # Headers, and what browsers and chats bring back in an address.
        r"((?i:\bBearer)\s+)[\w.~+/=-]{8,}",
        r"((?i:\b(?:Basic|Bot))\s+)[\w.~+/=-]{20,}",
        r"((?i:[?&](?:code|state|ticket|token|sig|signature|secret|password|client_secret|refresh_token)=))[^\s&\"'<>#]+",
        # Links to the editor: whoever has one answers for its member.
        r"(/e/)[\w.~=-]{16,}",
        # What libraries quote of what people wrote: PostgreSQL of rows, pydantic and FastAPI of input.
        r"(?m)(\b(?:DETAIL|CONTEXT):  ?)\S.*(?:\n(?!\[SQL: |The above exception |During handling ).*)*",
        r"(\binput_value=).*(, input_type=)",
        r"(['\"]input['\"]: ).*",
        r"(?m)(\[parameters: ).*(\])$",
    )
)
# Fields that hold a secret by their very name.
_NAMED = re.compile(r"token|secret|password|authorization|cookie", re.IGNORECASE)


class Hiding:
    """The secrets one process knows, and how texts and values look without any."""

    def __init__(self) -> None:
        self._known: frozenset[str] = frozenset()
        self._pattern: re.Pattern[str] | None = None

    def add(self, *secrets: str) -> None:
        """Hide these from now on, also as they stand in addresses and in quoted text."""
        fresh = {form for secret in secrets for form in _forms(secret.strip()) if len(secret.strip()) >= SHORTEST}
        if fresh <= self._known:
            return
        self._known |= fresh
        # The longest first: one may be the beginning of another.
        self._pattern = re.compile("|".join(map(re.escape, sorted(self._known, key=len, reverse=True))))

    def text(self, text: str) -> str:
        """The text without secrets, such that it can be written in UTF-8."""
        if self._pattern is not None:
            text = self._pattern.sub(MASK, text)
        for shape in _SHAPES:
            text = shape.sub(_masked, text)
        text = text.encode("utf-8", "backslashreplace").decode()
        return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"

    def value(self, value: object, name: str = "", depth: int = 0) -> object:
        """A value as JSON can hold it, without secrets. `name` is its field's."""
        if value is None or isinstance(value, bool | int | float):
            return value
        if _NAMED.search(name):
            return MASK
        if isinstance(value, str):
            return self.text(value)
        if depth < _DEEPEST and isinstance(value, Mapping):
            return {self.text(str(key)): self.value(held, str(key), depth + 1) for key, held in value.items()}
        if depth < _DEEPEST and isinstance(value, list | tuple | set | frozenset):
            return [self.value(one, "", depth + 1) for one in value]
        return self.text(str(value) if isinstance(value, date | Path | BaseException) else repr(value))


def secrets_of(settings: BaseModel) -> Iterator[str]:
    """Every secret that settings hold: secret fields, the files that fields ending in `_file` name, and passwords in
    addresses. A file that cannot be read holds none."""
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            yield from _parts(value.get_secret_value())
        elif isinstance(value, Path) and name.endswith("_file"):
            yield from _parts(_read(value))
        elif isinstance(value, str) and "://" in value:
            yield from _passwords(value)


def _forms(secret: str) -> set[str]:
    """How a secret is written: as it is, in an address, in JSON and in Python."""
    plain = repr(secret)[1:-1]
    return {secret, quote(secret, safe=""), quote(secret), quote_plus(secret), json.dumps(secret)[1:-1], plain}


def _masked(found: re.Match[str]) -> str:
    first, *rest = (group or "" for group in found.groups()) if found.groups() else ("",)
    return f"{first}{MASK}{''.join(rest)}"


def _parts(text: str) -> Iterator[str]:
    """A secret, and each of those that stand in it apart by commas or lines."""
    yield text
    yield from re.split(r"[\s,]+", text)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _passwords(address: str) -> Iterator[str]:
    try:
        password = urlsplit(address).password or ""
    except ValueError:
        return
    yield password
    yield unquote(password)
