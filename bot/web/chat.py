"""The web chat as a platform: has the service store messages, and follows its changes for open pages."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from datetime import datetime
from enum import Enum

from bot.core.cards import Card, Field, Form, PickField, Reply, TextField
from bot.core.dispatcher import DeliveryRefused, Target
from bot.core.rendering import as_typed
from bot.web.feed import RETRY_S, Feed
from bot.web.store import LAST_ID, ChatStore, Message
from service.client import ServiceUnavailable
from service.process import Clock
from service.wire import WEB_WORKSPACE, WebPerson, Where, Who
from service.wire import Platform as PlatformName

CHANNEL = "daily"
WHERE = Where(channel=CHANNEL, name=CHANNEL)
PING_S = 15
"""Interval of the pings that keep an open event stream from being closed by proxies, seconds."""

Values = Mapping[str, tuple[str, ...]]


class Connection(Enum):
    """Whether new messages arrive."""

    OPEN = "open"
    LOST = "lost"


class WebChat:
    """Implements `core.dispatcher.Platform` with a ChatStore. Belongs to one event loop."""

    name: PlatformName = "web"

    def __init__(self, store: ChatStore, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._feed = Feed(store)
        self._closing = asyncio.Event()

    # For the dispatcher

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Posts a message once per `key`. Raises DeliveryRefused if the channel or the member does not exist."""
        if target.workspace != WEB_WORKSPACE or target.channel not in (CHANNEL, ""):
            raise DeliveryRefused(
                f"the web chat has one channel, {WEB_WORKSPACE}/{CHANNEL}, and no {target.workspace}/{target.channel}"
            )
        reply_to = int(target.reply_to) if target.reply_to and target.reply_to.isdecimal() else None
        message = await self.store.post(CHANNEL, card, key=key, member=target.member, reply_to=reply_to)
        if message is None:
            raise DeliveryRefused(f"nobody here has the id {target.member!r}; they have to join first")
        return str(message.id)

    async def edit(self, target: Target, card: Card, ref: str, key: str) -> None:
        """Replaces a posted message. Raises DeliveryRefused if it does not exist."""
        if not (ref.isdecimal() and 0 < int(ref) <= LAST_ID and await self.store.edit(int(ref), card)):
            raise DeliveryRefused(f"there is no message {ref!r} to edit")

    async def find(self, target: Target, key: str) -> str | None:
        found = await self.store.find(key)
        return None if found is None else str(found)

    # For the pages

    async def post_reply(self, member: str, reply: Reply, event: str, cause: int = 0, editor: int = 0) -> Message:
        """Shows a reply to one member, once per event; returns the message to show.

        `cause` is the message whose button or form caused the event, and `editor` the editor on whose page it was
        shown. An editor stays open with its latest result below it; asking for the same question there keeps it open.
        """
        message: Message | None = None
        if isinstance(reply.content, Form):
            open_now = await self._private_message(member, editor)
            message = open_now if open_now is not None and _is_same_form(open_now.content, reply.content) else None
            message = message or await self._replace_form(member, cause, reply.content)
        elif (own := await self._private_message(member, cause)) is not None:
            message = await self._replace_in_place(member, own, reply.content, event, reply.replaces)
        if message is None:
            message = await self.store.post(CHANNEL, reply.content, event=event, member=member)
        if message is None:
            # The event made the member leave, so it is shown and not kept.
            message = Message(0, 0, member, None, None, None, False, reply.content, self.clock())
        return message

    async def _private_message(self, member: str, message: int) -> Message | None:
        found = await self.store.message(message, member)
        return found if found is not None and found.member == member else None

    async def _replace_in_place(
        self, member: str, own: Message, content: Card, event: str, replaces: bool
    ) -> Message | None:
        """Puts a card into the place of the private message it answers; returns None if it needs a new message."""
        if not is_editor(own.content):
            return await self.store.replace(own.id, member, content) if replaces else None
        for result in (await self.store.results(own.id, member, limit=100)).messages:
            if result.answers == own.id and (replaced := await self.store.replace(result.id, member, content)):
                return replaced
        return await self.store.post(CHANNEL, content, event=event, member=member, answers=own.id)

    async def _replace_form(self, member: str, cause: int, form: Form) -> Message | None:
        """Puts a form into the place of the one that was submitted, with a preview; returns None if it is another."""
        own = await self._private_message(member, cause)
        if own is None or not isinstance(own.content, Form) or own.content.action != form.action or is_editor(form):
            return None
        return await self.store.replace(own.id, member, form)

    async def save_input(self, member: str, message: int, values: Values) -> None:
        """Saves the input of an editor, so that a page without scripts shows it again."""
        editor = await self._private_message(member, message)
        if editor is not None and isinstance(editor.content, Form) and is_editor(editor.content):
            fields = tuple(with_values(field, values) for field in editor.content.fields)
            if fields != editor.content.fields:
                await self.store.replace(message, member, dataclasses.replace(editor.content, fields=fields))

    async def say(self, member: str, text: str, event: str) -> Message | None:
        """Posts a member's message to the channel, once per event. Returns None if they are not here any more."""
        return await self.store.post(CHANNEL, text, event=event, author=member)

    # For the event streams

    def close(self) -> None:
        """Ends the stream of every page, so that the server can stop."""
        self._closing.set()
        self._feed.notify()

    async def pause(self, seconds: float) -> bool:
        """Waits this long. Returns False at once if the chat is closed."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        return not self._closing.is_set()

    async def follow(
        self, member: str, after: int, is_signed_in: Callable[[], Awaitable[bool]], ends_at: datetime | None = None
    ) -> AsyncGenerator[Message | Connection, None]:
        """Yields each message visible to the member that is new or changed since a version, as it arrives, until they
        are signed out or `ends_at`; and whether the service answers, when that changes."""
        async with self._feed.reading(after):
            checked, connection = -1, Connection.OPEN
            while not self._closing.is_set():
                if ends_at is not None and self.clock() >= ends_at:
                    return
                news = self._feed.next_news()
                if (now := Connection.LOST if self._feed.is_away else Connection.OPEN) is not connection:
                    connection = now
                    yield now
                if connection is Connection.OPEN:
                    sign_outs = self._feed.sign_outs
                    try:
                        if sign_outs != checked and not await is_signed_in():
                            return
                        checked = sign_outs
                        found = await self._feed.changes(member, CHANNEL, after)
                    except ServiceUnavailable:
                        await self.pause(RETRY_S)
                        continue
                    for message in found.messages:
                        yield message
                    after = found.version
                left = None if ends_at is None else (ends_at - self.clock()).total_seconds()
                with suppress(TimeoutError):
                    async with asyncio.timeout(left):
                        await news.wait()


def who_of(person: WebPerson) -> Who:
    """Returns a person as the service's member."""
    return Who(platform="web", workspace=WEB_WORKSPACE, member=person.id, name=person.name, admin=person.admin)


def is_editor(content: Card | Form | str) -> bool:
    """Returns whether it is a form with a code field, which gets a page of its own."""
    return isinstance(content, Form) and any(isinstance(field, TextField) and field.code for field in content.fields)


def _is_same_form(one: Card | Form | str, other: Form) -> bool:
    return isinstance(one, Form) and is_editor(one) and one.action == other.action


def with_values(shown: Field, values: Values) -> TextField | PickField:
    """Returns the field with the submitted values, ignoring values that the field does not allow."""
    field = as_typed(shown)
    given = values.get(field.name, ())
    if isinstance(field, PickField):
        known = {value for value, _ in field.options}
        return dataclasses.replace(field, picked=tuple(value for value in given if value in known))
    fits = len(given) == 1 and len(given[0]) <= field.max_length
    return dataclasses.replace(field, value=given[0]) if fits else field
