"""Signed links to the web editor: who may answer which question there, and until when. It serves nothing itself."""

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
from bot.core.cards import Card, Form, Link, TextField
from bot.core.events import Event, Submit
from service.wire import Where, Who

LIVES = timedelta(hours=24)
LABEL = "Open the editor"
OWN_PAGES = ("web",)
"""Chats that open an editor of their own."""
_PLATFORMS = ("web", "console", "discord", "slack")


class LinkWrong(Exception):
    """The link opens nothing; the message is for whoever followed it."""


class LinkOld(LinkWrong):
    """It was ours and has run out."""


@dataclass(frozen=True, slots=True)
class Editing:
    """What a link allows: this member answers this question."""

    who: Who
    where: Where
    ref: str


class _Lean:
    """JSON with as few characters as can be: a button's address may have 512."""

    @staticmethod
    def dumps(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    loads = staticmethod(json.loads)


class Links:
    """Makes links beneath the address `url` and opens them again. Whoever has a link may answer as its member, so it is
    shown to that member alone."""

    def __init__(self, url: str, secret: str) -> None:
        self._url = url.rstrip("/")
        self._links = URLSafeSerializer(secret, salt="dailygrad.editor", serializer=_Lean)
        self._posts = URLSafeSerializer(secret, salt="dailygrad.editor.post")

    def editor(self, who: Who, where: Where, ref: str, now: datetime) -> Link:
        """A link to the editor for the code question `ref`, good for a day or until its round closes."""
        until = int((now + LIVES).timestamp())
        place = _PLATFORMS.index(who.platform)
        token = self._links.dumps([place, who.workspace, who.member, who.name, where.channel, ref, until])
        return Link(LABEL, f"{self._url}/e/{_text(token)}")

    def opened(self, token: str, now: datetime) -> Editing:
        """What a link's token allows. Raises LinkOld or LinkWrong."""
        try:
            said = self._links.loads(token)
            if _text(self._links.dumps(said)) != token:
                raise ValueError("another spelling: the last bits of base64 say nothing")
            place, workspace, member, name, channel, ref, until = said
            who = Who(platform=_PLATFORMS[place], workspace=workspace, member=member, name=name)
            editing = Editing(who, Where(channel=channel), ref)
            ends = datetime.fromtimestamp(until, UTC)
        except (BadData, ValueError, TypeError, IndexError, ValidationError):
            raise LinkWrong("This link is not whole. Open the editor from the question again.") from None
        if now >= ends:
            raise LinkOld("This link is more than a day old. Open the editor from the question again.")
        return editing

    def post_token(self, token: str) -> str:
        """What the link's own page carries and another site cannot know."""
        return _text(self._posts.dumps(hashlib.sha256(token.encode()).hexdigest()))

    def beside(self, said: Card | Form, event: Event) -> Card | Form:
        """The form of a code question, or what came of one, with a link to the editor; anything else as it is."""
        ref = _code_ref(said, event)
        if ref is None or event.who.platform in OWN_PAGES:
            return said
        return replace(said, links=(*said.links, self.editor(event.who, event.where, ref, event.at)))


def _code_ref(said: Card | Form, event: Event) -> str | None:
    """The code question that this is about, as the service knows it."""
    if isinstance(said, Form):
        about = said.action if any(isinstance(field, TextField) and field.code for field in said.fields) else ""
    else:
        about = event.action if isinstance(event, Submit) and "code" in event.values else ""
    try:
        action = actions.decode(about)
    except actions.BadAction:
        return None
    return actions.parted(action.ref)[0] if isinstance(action, actions.Fill | actions.Try) else None


def _text(token: str | bytes) -> str:
    return token if isinstance(token, str) else token.decode()


def hosts_of(url: str) -> tuple[str, ...]:
    """The name in an address, as the server behind it will be asked by."""
    found = re.match(r"https?://(\[[^\]]+\]|[^/:]+)", url)
    return (found[1],) if found else ()
