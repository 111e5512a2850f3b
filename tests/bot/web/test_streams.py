"""The bound on a member's event streams: the newest page stays live, and the oldest is told."""

from __future__ import annotations

from bot.web.chat import WebChat
from bot.web.streams import MOST_STREAMS
from tests.bot.web.http_browser import Browser, Stream


async def opened(browser: Browser, path: str = "events?after=0") -> Stream:
    """Opens a stream; returns once the server has sent the first message on it."""
    stream = browser.listens(path)
    assert await stream.next() is not None
    return stream


async def test_a_newer_page_takes_the_place_of_the_oldest_of_the_same_member(ann: Browser, bob: Browser) -> None:
    await ann.sends("say", text="hello")
    of_bob = await opened(bob)
    streams = [await opened(ann) for _ in range(MOST_STREAMS)]
    newest = await opened(ann)
    assert await streams[0].next() == ("", "reload")
    assert await streams[0].next() is None
    await bob.sends("say", text="news")
    for stream in (*streams[1:], newest, of_bob):
        news = await stream.next()
        assert news is not None and "news" in news[1]
        await stream.leave()


async def test_a_page_that_was_closed_leaves_its_place(ann: Browser, chat: WebChat) -> None:
    await ann.sends("say", text="hello")
    streams = [await opened(ann) for _ in range(MOST_STREAMS)]
    for _ in range(3):
        await streams.pop().leave()
        streams.append(await opened(ann))
    chat.close()
    assert [await stream.next() for stream in streams] == [None] * MOST_STREAMS
