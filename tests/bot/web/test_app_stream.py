"""The web chat's stream of news: to whom, from where, and until when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.core.cards import Card, Form, TextField
from bot.core.dispatcher import Target
from bot.web.chat import WebChat
from bot.web.store import ChatStore
from service.client import ServiceClient
from tests.bot.web.http_browser import Browser
from tests.bot.web.writers import posted

CODE = Form("Write it", "f:r1", (TextField("code", "Your code", code=True),))


async def test_news_come_to_those_they_are_for(ann: Browser, bob: Browser, chat: WebChat) -> None:
    to_ann, to_bob = ann.listens(), bob.listens()
    await posted(chat, Card("Secret", "For Ann."), member=ann.member)
    await bob.sends("say", text="hello")

    first, second = await to_ann.next(), await to_ann.next()
    assert first is not None and second is not None
    assert (first[0], second[0]) == ("1", "2")
    assert "Secret" in first[1]
    only = await to_bob.next()
    assert only is not None
    assert only[0] == "2"
    assert "hello" in only[1]
    await to_ann.leave()
    await to_bob.leave()


async def test_a_stream_resumes_where_it_broke_off(ann: Browser) -> None:
    for text in ("one", "two", "three"):
        await ann.sends("say", text=text)

    again = ann.listens("events?after=0", **{"Last-Event-ID": "2"})
    fresh = ann.listens("events?after=1")
    first, second = await again.next(), await fresh.next()
    assert first is not None and second is not None
    assert (first[0], second[0]) == ("3", "2")
    await again.leave()
    await fresh.leave()


@pytest.mark.parametrize("after", ["", "x", "-1", "9" * 40, "\u0662"])
async def test_a_stream_without_a_position_starts_at_the_beginning(ann: Browser, after: str) -> None:
    await ann.sends("say", text="hello")
    stream = ann.listens(f"events?after={after}")

    first = await stream.next()

    assert first is not None
    assert first[0] == "1"
    await stream.leave()


async def test_the_editors_stream_brings_what_belongs_beneath_it(ann: Browser, chat: WebChat) -> None:
    private = Target("local", "daily", member=ann.member)
    await chat.post(private, Card("Before", ""), "k1")
    form = await posted(chat, CODE, member=ann.member)
    stream = ann.listens(f"events?editor={form}&after=0")
    await ann.sends("say", text="hello")
    await posted(chat, Card("A board", ""), member=ann.member)
    result = await posted(chat, Card("A result", ""), member=ann.member, answers=form)
    verdict = await chat.post(private, Card("A verdict", ""), "k2")

    came = [await stream.next(), await stream.next()]

    assert [f'id="m{number}"' in event[1] for event, number in zip(came, (result, verdict), strict=True) if event] == [
        True,
        True,
    ]
    await stream.leave()


async def test_a_stream_ends_when_its_sign_in_becomes_too_old(client: ServiceClient) -> None:
    """Nothing has to happen in the chat for that."""
    chat = WebChat(ChatStore(client), lambda: datetime.now(UTC))

    async def is_signed_in() -> bool:
        return True

    ends_at = datetime.now(UTC) + timedelta(milliseconds=50)
    assert [one async for one in chat.follow("nobody", 0, is_signed_in, ends_at)] == []
    chat.close()


async def test_streams_end_with_the_chat(ann: Browser, chat: WebChat) -> None:
    stream = ann.listens()
    await ann.sends("say", text="hello")
    assert await stream.next() is not None

    chat.close()

    assert await stream.next() is None
    late = ann.listens()
    assert await late.next() is None
