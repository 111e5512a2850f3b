"""The web chat's people, sessions and messages, kept by the service and shared by all processes of the chat.

Secrets of browsers and sign-in links do not leave this process: the service gets their hashes.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from bot.core.cards import Card, Form, as_data, from_data
from service.client import ServiceClient
from service.wire import (
    LONGEST_TYPED_NAME,
    WEB_WORKSPACE,
    WebChanges,
    WebMessage,
    WebPerson,
    WebPost,
    WebSession,
    secret_digest,
)

LAST_ID: Final = 2**63 - 1
"""Above every id of a message."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message as it is shown. Every change to any message gives it the next `version`."""

    id: int
    version: int
    member: str | None
    """Who alone may see it."""
    author: str | None
    """Name of the member who wrote it; None for ours."""
    reply_to: int | None
    answers: int | None
    """The editor whose result this is."""
    delivered: bool
    """Whether the dispatcher delivered it."""
    content: Card | Form | str
    at: datetime


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages of a page, and the version up to which they include every change."""

    version: int
    messages: tuple[Message, ...]


class ChatStore:
    """The store of one chat. Every call raises ServiceUnavailable or ServiceRefused as the client does."""

    def __init__(self, client: ServiceClient, workspace: str = WEB_WORKSPACE) -> None:
        self._client = client
        self._workspace = workspace

    async def secret(self) -> str:
        """Returns the secret with which all processes sign forms and cookies."""
        return await self._client.web_secret(self._workspace)

    # People

    async def join(self, name: str) -> WebPerson:
        """Adds a person. Raises ServiceRefused with `NameRefused` for a name that nobody can have."""
        return await self._client.web_join(self._workspace, name[:LONGEST_TYPED_NAME])

    async def people(self, *members: str) -> dict[str, WebPerson]:
        """Returns those of these members who are in the chat, by id."""
        found = await self._client.web_people(self._workspace, members) if members else ()
        return {person.id: person for person in found}

    async def make_admin(self, member: str, admin: bool = True) -> None:
        await self._client.web_role(self._workspace, member, admin)

    # Sessions

    async def begin_session(self, member: str, agent: str) -> str:
        """Returns the secret of a new session."""
        code = secrets.token_urlsafe(18)
        await self._client.web_session_begin(self._workspace, member, secret_digest(code), agent[:300])
        return code

    async def use_sessions(self, codes: Sequence[str]) -> dict[str, WebSession]:
        """Returns the sessions with these secrets that have not ended, by secret and in this order."""
        if not codes:
            return {}
        digests = {code: secret_digest(code) for code in codes}
        found = await self._client.web_session_use(self._workspace, tuple(digests.values()))
        return {code: found[digest] for code, digest in digests.items() if digest in found}

    async def list_sessions(self, member: str | None) -> tuple[WebSession, ...]:
        """Returns the sessions of one person or of all, most recently used first."""
        return await self._client.web_session_list(self._workspace, member)

    async def end_sessions(self, sessions: Sequence[int], member: str | None = None) -> int:
        """Ends sessions, of that person only if one is given. Returns how many there were."""
        return await self._client.web_session_end(self._workspace, tuple(sessions), member) if sessions else 0

    # Sign-in links

    async def make_sign_in(self, member: str, lifetime: timedelta) -> str:
        """Returns the code of a new link that signs a person in, once within that time."""
        code = secrets.token_urlsafe(24)
        seconds = round(lifetime.total_seconds())
        await self._client.web_sign_in_make(self._workspace, member, secret_digest(code), seconds)
        return code

    async def find_sign_in(self, code: str) -> WebPerson | None:
        """Returns the person that the link signs in; None if it was used, is too old or never existed."""
        return await self._client.web_sign_in_find(self._workspace, secret_digest(code))

    async def use_sign_in(self, code: str) -> WebPerson | None:
        """Like `find_sign_in`, and uses the link up."""
        return await self._client.web_sign_in_use(self._workspace, secret_digest(code))

    # Accounts at an OpenID provider

    async def find_account(self, digest: str) -> WebPerson | None:
        """Returns the person that an account signs in, or None."""
        return await self._client.web_account_find(self._workspace, digest)

    async def join_with_account(self, digest: str, name: str, member: str | None = None) -> WebPerson | None:
        """Returns the person that the account signs in from now on: a new one, or that member. None if the
        member has another account. Raises ServiceRefused like `join`."""
        return await self._client.web_account_join(self._workspace, digest, name[:LONGEST_TYPED_NAME], member)

    async def without_account(self, members: Sequence[str]) -> tuple[WebPerson, ...]:
        """Returns the people among these that no account signs in."""
        return await self._client.web_account_free(self._workspace, tuple(members)) if members else ()

    # Messages

    async def post(
        self,
        channel: str,
        content: Card | Form | str,
        *,
        key: str | None = None,
        event: str | None = None,
        member: str | None = None,
        author: str | None = None,
        reply_to: int | None = None,
        answers: int | None = None,
    ) -> Message | None:
        """Stores a message and returns it, or the existing one if the key or event is known. None if its author or
        reader is not in the chat."""
        post = WebPost(
            channel=channel,
            content=_dumped(content),
            key=key,
            event=event,
            member=member,
            author=author,
            reply_to=reply_to,
            answers=answers,
        )
        return _optional(await self._client.web_message_post(self._workspace, post))

    async def replace(self, message: int, member: str, content: Card | Form) -> Message | None:
        """Replaces the content of a member's private message. Returns None if it is not theirs or no longer exists."""
        changed = await self._client.web_message_replace(self._workspace, message, _dumped(content), member)
        return _optional(changed)

    async def edit(self, message: int, content: Card) -> bool:
        """Replaces the content of a delivered message. Returns False if it does not exist."""
        return await self._client.web_message_replace(self._workspace, message, _dumped(content), None) is not None

    async def find(self, key: str) -> int | None:
        """Returns the id of the message stored under `key`, or None."""
        return await self._client.web_message_key(self._workspace, key)

    async def message(self, message: int, member: str) -> Message | None:
        """Returns a message if the member may see it."""
        if not 0 < message <= LAST_ID:
            return None
        return _optional(await self._client.web_message_find(self._workspace, message, member))

    async def results(self, editor: int, member: str, limit: int = 5) -> Messages:
        """Returns an editor's result and later private deliveries, the latest change first."""
        found = await self._client.web_message_results(self._workspace, editor, member, limit)
        return Messages(found.version, tuple(map(decoded, found.messages)))

    async def seen_by(
        self, member: str, channel: str, after: int = 0, limit: int = 200, before: int = LAST_ID
    ) -> Messages:
        """Returns the newest messages the member may see in the channel, or those changed since a version, oldest
        first. `before` is the id of a message: only older ones."""
        found = await self._client.web_message_list(self._workspace, member, channel, after, before, limit)
        return Messages(found.version, tuple(map(decoded, found.messages)))

    async def changes(self, after: int, sign_outs: int, wait_s: float) -> WebChanges:
        """Returns what changed, waiting up to `wait_s` for something."""
        return await self._client.web_changes(self._workspace, after, sign_outs, wait_s)


def decoded(message: WebMessage) -> Message:
    """Returns a message with its content as a card, a form or a text."""
    return Message(
        message.id,
        message.version,
        message.member,
        message.author,
        message.reply_to,
        message.answers,
        message.delivered,
        from_data(json.loads(message.content)),
        message.at,
    )


def _optional(message: WebMessage | None) -> Message | None:
    return None if message is None else decoded(message)


def _dumped(content: Card | Form | str) -> str:
    return json.dumps(as_data(content), ensure_ascii=False)
