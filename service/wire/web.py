"""The web chat's people, browsers and messages. Only the bots of the web chat read and write them."""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Annotated

from pydantic import Field

from service.wire.base import Model

WEB_BOT_NAME = "Dailygrad"
"""Name under which the chat shows the quiz's own messages. Nobody can join under it."""

INSTALLATION = "installation"
"""Id of the member under whom `dailygrad run` adds the first schedule. Nobody can sign in as that member."""
WEB_WORKSPACE = "local"
"""Id of the workspace that an installation's web chat is."""
LONGEST_TYPED_NAME = 200
"""Limit of a name as it is typed, characters. The name that is kept is shorter."""
MOST_CHANGES = 200
"""Changed messages that one call returns, at most."""


def secret_digest(secret: str) -> str:
    """Returns what the service keeps of the secret of a browser or a sign-in link."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class WebPerson(Model):
    """A person in the web chat. The first one to join is the admin."""

    id: str
    name: str
    admin: bool


class WebSession(Model):
    """A browser that may act as a person. Its secret is in the browser's cookie; the service knows a hash of it."""

    id: int
    person: WebPerson
    agent: str
    """What the browser calls itself."""
    began: datetime
    used: datetime
    """When it was last used, to the hour."""


class WebPost(Model):
    """A new message. With a `key` or an `event`, it is stored once."""

    channel: Annotated[str, Field(min_length=1, max_length=200)]
    content: Annotated[str, Field(max_length=6_000_000)]
    """A card, a form or a text as JSON, which only bots read."""
    key: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    """Idempotency key of a message that the dispatcher delivers."""
    event: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Id of the event that the message answers."""
    member: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Id of the only person who may see it."""
    author: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    """Id of the person who wrote it; None for the quiz's own."""
    reply_to: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    answers: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """The editor whose result this is."""


class WebMessage(Model):
    """A message. Every change to any message of the chat gives it the next `version`."""

    id: int
    version: int
    channel: str
    member: str | None
    """Id of the only person who may see it."""
    author: str | None
    """Name of the person who wrote it; None for the quiz's own."""
    reply_to: int | None
    answers: int | None
    """The editor whose result this is."""
    delivered: bool
    """Whether the dispatcher delivered it."""
    content: str
    at: datetime


class WebMessages(Model):
    """Messages that a person may see, oldest first."""

    version: int
    """Version of the latest change that the list takes into account."""
    messages: tuple[WebMessage, ...]


class WebChanges(Model):
    """What changed in the chat after a version: for one process, which passes it on to the pages that are open."""

    version: int
    """Version up to which all changes are included."""
    sign_outs: int
    """Number of times that sessions ended or roles changed: after another, open pages check theirs."""
    messages: tuple[WebMessage, ...]
    """New and changed messages, in the order of their versions. Only the last `MOST_CHANGES` of them."""
