"""The web chat as a platform: stores messages and notifies open pages of new ones."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from datetime import datetime

from bot.core.cards import Card, Field, Form, PickField, Reply, TextField
from bot.core.dispatcher import DeliveryRefused, Target
from bot.core.rendering import as_typed
from bot.web.store import ChatStore, Message, Person
from service.wire import Platform as PlatformName
from service.wire import Where, Who

WORKSPACE = "local"
CHANNEL = "daily"
WHERE = Where(channel=CHANNEL, name=CHANNEL)

Clock = Callable[[], datetime]
Values = Mapping[str, tuple[str, ...]]


class WebChat:
    """Implements `core.dispatcher.Platform` with a ChatStore. Belongs to one event loop."""

    name: PlatformName = "web"

    def __init__(self, store: ChatStore, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._news = asyncio.Event()
        self._closing = asyncio.Event()

    # For the dispatcher

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Posts a message once per `key`. Raises DeliveryRefused if the channel or the member does not exist."""
        if target.workspace != WORKSPACE or target.channel not in (CHANNEL, ""):
            raise DeliveryRefused(
                f"the web chat has one channel, {WORKSPACE}/{CHANNEL}, and no {target.workspace}/{target.channel}"
            )
        if target.member is not None and self.store.person(target.member) is None:
            raise DeliveryRefused(f"nobody here has the id {target.member!r}; they have to join first")
        reply_to = int(target.reply_to) if target.reply_to and target.reply_to.isdecimal() else None
        message = self.store.post(CHANNEL, card, self.clock(), key=key, member=target.member, reply_to=reply_to)
        self.notify()
        return str(message)

    async def edit(self, target: Target, card: Card, ref: str, key: str) -> None:
        """Replaces a posted message. Raises DeliveryRefused if it does not exist."""
        if not (ref.isdecimal() and self.store.edit(int(ref), card)):
            raise DeliveryRefused(f"there is no message {ref!r} to edit")
        self.notify()

    async def find(self, target: Target, key: str) -> str | None:
        found = self.store.find(key)
        return None if found is None else str(found)

    # For the pages

    def post_reply(self, member: str, reply: Reply, event: str, cause: int = 0, editor: int = 0) -> int:
        """Shows a reply to one member, once per event; returns the number of the message to show.

        `cause` is the message whose button or form caused the event, and `editor` the editor on whose page it was
        shown. An editor stays open with its latest result below it; asking for the same question there keeps it open.
        """
        message: int | None = None
        if isinstance(reply.content, Form):
            open_now = self._private_message(member, editor)
            message = editor if open_now is not None and _is_same_form(open_now.content, reply.content) else None
            message = message or self._replace_form(member, cause, reply.content)
        elif (own := self._private_message(member, cause)) is not None:
            message = self._replace_in_place(member, own, reply.content, event, reply.replaces)
        if message is None:
            message = self.store.post(CHANNEL, reply.content, self.clock(), event=event, member=member)
        self.notify()
        return message

    def _private_message(self, member: str, message: int) -> Message | None:
        found = self.store.message(message, member)
        return found if found is not None and found.member == member else None

    def _replace_in_place(self, member: str, own: Message, content: Card, event: str, replaces: bool) -> int | None:
        """Puts a card into the place of the private message it answers; returns None if it needs a new message."""
        if not is_editor(own.content):
            return own.id if replaces and self.store.replace(own.id, member, content) else None
        result = self.store.result(own.id, member)
        if result is not None and self.store.replace(result, member, content):
            return result
        return self.store.post(CHANNEL, content, self.clock(), event=event, member=member, answers=own.id)

    def _replace_form(self, member: str, cause: int, form: Form) -> int | None:
        """Puts a form into the place of the one that was submitted, with a preview; returns None if it is another."""
        own = self._private_message(member, cause)
        if own is None or not isinstance(own.content, Form) or own.content.action != form.action or is_editor(form):
            return None
        return own.id if self.store.replace(own.id, member, form) else None

    def save_input(self, member: str, message: int, values: Values) -> None:
        """Saves the input of an editor, so that a page without scripts shows it again."""
        editor = self._private_message(member, message)
        if editor is not None and isinstance(editor.content, Form) and is_editor(editor.content):
            fields = tuple(with_values(field, values) for field in editor.content.fields)
            if fields != editor.content.fields:
                self.store.replace(message, member, dataclasses.replace(editor.content, fields=fields))

    def say(self, member: str, name: str, text: str, event: str) -> int:
        """Posts a member's message to the channel, once per event."""
        message = self.store.post(CHANNEL, text, self.clock(), event=event, author=name)
        self.notify()
        return message

    # For the event streams

    def notify(self) -> None:
        """Notifies every open page."""
        self._news.set()
        self._news = asyncio.Event()

    def close(self) -> None:
        """Ends the stream of every page, so that the server can stop."""
        self._closing.set()
        self.notify()

    async def pause(self, seconds: float) -> bool:
        """Waits this long. Returns False at once if the chat is closed."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._closing.wait(), seconds)
        return not self._closing.is_set()

    async def follow(self, member: str, after: int) -> AsyncIterator[Message]:
        """Yields each message visible to the member that is new or changed since a version, as it arrives."""
        while not self._closing.is_set():
            news = self._news
            for message in sorted(self.store.seen_by(member, CHANNEL, after), key=lambda message: message.version):
                after = message.version
                yield message
            await news.wait()


def who_of(person: Person) -> Who:
    """Returns a person as the service's member."""
    return Who(platform="web", workspace=WORKSPACE, member=person.id, name=person.name, admin=person.admin)


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
