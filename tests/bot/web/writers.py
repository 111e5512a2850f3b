"""Writes into a web chat without a browser."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from bot.core.cards import Card, Form
from bot.web.chat import CHANNEL, WebChat

_JOINED: WeakKeyDictionary[WebChat, dict[str, str]] = WeakKeyDictionary()


async def joined(chat: WebChat, name: str) -> str:
    """Returns the id of a member without a browser, who joins when first named."""
    known = _JOINED.setdefault(chat, {})
    if name not in known:
        known[name] = (await chat.store.join(name)).id
    return known[name]


async def says(chat: WebChat, name: str, text: str, event: str) -> int:
    """Says something as a member without a browser; returns the message's number."""
    message = await chat.say(await joined(chat, name), text, event)
    assert message is not None, "they are in the chat"
    return message.id


async def posted(chat: WebChat, content: Card | Form | str, **about: Any) -> int:
    """Posts a message; returns its number."""
    message = await chat.store.post(CHANNEL, content, **about)
    assert message is not None, "its member is in the chat"
    return message.id


async def contents(chat: WebChat, member: str) -> list[Card | Form | str]:
    """Returns what a member sees in the channel, oldest first."""
    return [message.content for message in (await chat.store.seen_by(member, CHANNEL)).messages]


async def latest_version(chat: WebChat) -> int:
    """Returns the version of the latest change."""
    return (await chat.store.seen_by("anyone", CHANNEL)).version
