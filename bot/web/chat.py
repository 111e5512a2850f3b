"""The web chat as a Platform: the courier posts here, and open pages are told that something is new."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable, Mapping
from datetime import datetime

from bot.core.cards import Card, Form, PickField, Reply, TextField
from bot.core.dispatcher import DeliveryRefused, Target
from bot.web.store import ChatStore, Message
from service.wire import Platform as PlatformName

WORKSPACE = "local"
CHANNEL = "daily"

Clock = Callable[[], datetime]
Values = Mapping[str, tuple[str, ...]]


class WebChat:
    """Fills `core.platform.Platform` with the messages of a ChatStore. For one event loop."""

    name: PlatformName = "web"

    def __init__(self, store: ChatStore, clock: Clock) -> None:
        self.store = store
        self.clock = clock
        self._news = asyncio.Event()
        self._closed = False

    # For the courier

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Make a message once per `key`. Raises Refused for a place or a member that is not here."""
        if target.workspace != WORKSPACE or target.channel not in (CHANNEL, ""):
            raise DeliveryRefused(
                f"the web chat has one channel, {WORKSPACE}/{CHANNEL}, and no {target.workspace}/{target.channel}"
            )
        if target.member is not None and self.store.person(target.member) is None:
            raise DeliveryRefused(f"nobody here has the id {target.member!r}; they have to join first")
        reply_to = int(target.reply_to) if target.reply_to and target.reply_to.isdecimal() else None
        message = self.store.post(CHANNEL, card, self.clock(), key=key, member=target.member, reply_to=reply_to)
        self.tell()
        return str(message)

    async def find(self, target: Target, key: str) -> str | None:
        found = self.store.find(key)
        return None if found is None else str(found)

    # For the pages

    def whisper(self, member: str, reply: Reply, event: str, cause: int = 0, editor: int = 0) -> int:
        """Tell one member alone what became of an event, once; returns the message to look at.

        `cause` is the message whose button or form it was, `editor` the one beneath which that was shown. An editor
        stays, with its latest result beneath, and whoever asks for the same question from there stays in it.
        """
        message: int | None = None
        if isinstance(reply.said, Form):
            open_now = self._own(member, editor)
            message = editor if open_now is not None and _same(open_now.said, reply.said) else None
        elif (own := self._own(member, cause)) is not None:
            message = self._placed(member, own, reply.said, event, reply.replaces)
        if message is None:
            message = self.store.post(CHANNEL, reply.said, self.clock(), event=event, member=member)
        self.tell()
        return message

    def _own(self, member: str, message: int) -> Message | None:
        found = self.store.message(message, member)
        return found if found is not None and found.member == member else None

    def _placed(self, member: str, own: Message, said: Card, event: str, replaces: bool) -> int | None:
        """The message that takes a card in answer to a private one; None when it needs one of its own."""
        if not is_editor(own.said):
            return own.id if replaces and self.store.replace(own.id, member, said) else None
        result = self.store.result(own.id, member)
        if result is not None and self.store.replace(result, member, said):
            return result
        return self.store.post(CHANNEL, said, self.clock(), event=event, member=member, answers=own.id)

    def keep(self, member: str, message: int, values: Values) -> None:
        """Keep what was typed in an editor, so that a page without scripts shows it again."""
        editor = self._own(member, message)
        if editor is not None and isinstance(editor.said, Form) and is_editor(editor.said):
            fields = tuple(filled(field, values) for field in editor.said.fields)
            if fields != editor.said.fields:
                self.store.replace(message, member, dataclasses.replace(editor.said, fields=fields))

    def say(self, member: str, name: str, text: str, event: str) -> int:
        """A member's own words, for all to read, once per event."""
        message = self.store.post(CHANNEL, text, self.clock(), event=event, author=name)
        self.tell()
        return message

    # For the streams

    def tell(self) -> None:
        """Wake every page that follows."""
        self._news.set()
        self._news = asyncio.Event()

    def close(self) -> None:
        """End every page's stream, so that the server can stop."""
        self._closed = True
        self.tell()

    async def follow(self, member: str, after: int) -> AsyncIterator[Message]:
        """Every message this member may see that is new or changed since a version, as it comes."""
        while not self._closed:
            news = self._news
            for message in sorted(self.store.seen_by(member, CHANNEL, after), key=lambda message: message.version):
                after = message.version
                yield message
            await news.wait()


def is_editor(said: Card | Form | str) -> bool:
    """Whether it is filled in on a page of its own: code needs room."""
    return isinstance(said, Form) and any(isinstance(field, TextField) and field.code for field in said.fields)


def _same(one: Card | Form | str, other: Form) -> bool:
    return isinstance(one, Form) and is_editor(one) and one.action == other.action


def filled(field: TextField | PickField, values: Values) -> TextField | PickField:
    """The field with what was typed or picked, where a browser that keeps to the field's own limits could send it."""
    given = values.get(field.name, ())
    if isinstance(field, PickField):
        known = {value for value, _ in field.options}
        return dataclasses.replace(field, picked=tuple(value for value in given if value in known))
    fits = len(given) == 1 and len(given[0]) <= field.max_length
    return dataclasses.replace(field, value=given[0]) if fits else field
