"""Creates and verifies signed links to the web editor. A link says who may answer which question, and until when."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from itsdangerous import BadData, URLSafeSerializer
from pydantic import ValidationError

from bot.core import actions
from bot.core.actions import split_ref
from bot.core.cards import Card, Form, Link, TextField
from bot.core.events import Event, Submit
from service.wire import Where, Who

LINK_LIFETIME = timedelta(hours=24)
LABEL = "Open the editor"
PLATFORMS_WITH_EDITOR = ("web",)
"""Platforms with an editor of their own."""
_PLATFORMS = ("web", "console", "discord", "slack")


class InvalidLink(Exception):
    """A link that this application did not make."""


class ExpiredLink(InvalidLink):
    """A genuine link that has expired."""


@dataclass(frozen=True, slots=True)
class EditorAccess:
    """What a link permits: this member answers this question."""

    who: Who
    where: Where
    ref: str


class _CompactJson:
    """Compact JSON: a button's URL may have at most 512 characters."""

    @staticmethod
    def dumps(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    loads = staticmethod(json.loads)


class Links:
    """Creates and verifies links under `url`.

    A link lets anyone answer as its member, so it is shown to that member only.
    """

    def __init__(self, url: str, secret: str) -> None:
        self._url = url.rstrip("/")
        self._links = URLSafeSerializer(secret, salt="dailygrad.editor", serializer=_CompactJson)
        self._posts = URLSafeSerializer(secret, salt="dailygrad.editor.post")

    def editor(self, who: Who, where: Where, ref: str, now: datetime) -> Link:
        """Returns a link to the editor for the code question `ref`, valid for a day or until the round closes."""
        until = int((now + LINK_LIFETIME).timestamp())
        place = _PLATFORMS.index(who.platform)
        token = self._links.dumps([place, who.workspace, who.member, who.name, where.channel, ref, until])
        return Link(LABEL, f"{self._url}/e/{_text(token)}")

    def verify(self, token: str, now: datetime) -> EditorAccess:
        """Verifies a link's token and returns what it permits. Raises ExpiredLink or InvalidLink."""
        try:
            content = self._links.loads(token)
            if _text(self._links.dumps(content)) != token:
                raise ValueError("another spelling: the last bits of base64 say nothing")
            place, workspace, member, name, channel, ref, until = content
            who = Who(platform=_PLATFORMS[place], workspace=workspace, member=member, name=name)
            access = EditorAccess(who, Where(channel=channel), ref)
            ends = datetime.fromtimestamp(until, UTC)
        except (BadData, ValueError, TypeError, IndexError, ValidationError):
            raise InvalidLink from None
        if now >= ends:
            raise ExpiredLink
        return access

    def post_token(self, token: str) -> str:
        """Returns the CSRF token of a link's page."""
        return _text(self._posts.dumps(hashlib.sha256(token.encode()).hexdigest()))

    def with_editor_link(self, content: Card | Form, event: Event) -> Card | Form:
        """Adds a link to the editor to the form of a code question, or to the result of a submission."""
        ref = _code_ref(content, event)
        if ref is None or event.who.platform in PLATFORMS_WITH_EDITOR:
            return content
        return replace(content, links=(*content.links, self.editor(event.who, event.where, ref, event.at)))


def _code_ref(content: Card | Form, event: Event) -> str | None:
    """Returns the ref of the code question that a form or a result is about."""
    if isinstance(content, Form):
        about = content.action if any(isinstance(field, TextField) and field.code for field in content.fields) else ""
    else:
        about = event.action if isinstance(event, Submit) and "code" in event.values else ""
    try:
        action = actions.decode(about)
    except actions.BadAction:
        return None
    return split_ref(action.ref)[0] if isinstance(action, actions.Fill | actions.Try) else None


def _text(token: str | bytes) -> str:
    return token if isinstance(token, str) else token.decode()


def hosts_of(url: str) -> tuple[str, ...]:
    """Returns the host of a URL, as browsers send it."""
    found = re.match(r"https?://(\[[^\]]+\]|[^/:]+)", url)
    return (found[1],) if found else ()
