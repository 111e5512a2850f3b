"""A call that meets a process on its way out, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from functools import partial

import pytest
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from service.client import ServiceClient, ServiceUnavailable
from service.client.calls import CALLS_AT_ONCE, RETRY_DELAYS, CallSender, with_retries
from service.client.transport import LONG_BODY, ConnectionLost, HttpTransport, NotSent, Reply
from service.process import listen, serve_app
from service.wire import Where, Who
from tests.conftest import TOKEN

GONE = b""
CUT_OFF = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"
NO_HTTP = b"220 mail\r\n\r\n"
NOBODY = "http://127.0.0.1:1"
WELL = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Count = list[bytes]


@asynccontextmanager
async def answering(*answers: bytes) -> AsyncIterator[tuple[str, Count]]:
    """Serves one response per connection and closes it; yields the received requests."""
    heard: Count = []

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        heard.append(head)
        writer.write(answers[min(len(heard), len(answers)) - 1])
        writer.close()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heard


@asynccontextmanager
async def transport_to(url: str) -> AsyncIterator[HttpTransport]:
    transport = HttpTransport(url)
    try:
        yield transport
    finally:
        await transport.close()


async def posted(url: str) -> Reply:
    async with transport_to(url) as transport:
        return await transport.post("/", b"{}", {})


async def called(url: str, *, idempotent: bool) -> int:
    return (await with_retries(partial(posted, url), idempotent=idempotent)).status


async def test_lost_connection_is_retried_for_idempotent_calls() -> None:
    async with answering(GONE, GONE, WELL) as (url, heard):
        assert await called(url, idempotent=True) == 200
        assert len(heard) == 3


@pytest.mark.parametrize("lost", [GONE, CUT_OFF, NO_HTTP])
async def test_what_may_have_had_its_effect_is_not_done_twice(lost: bytes) -> None:
    async with answering(lost, WELL) as (url, heard):
        with pytest.raises(ConnectionLost):
            await called(url, idempotent=False)
        assert len(heard) == 1


async def test_a_client_gives_up_and_says_why() -> None:
    async with answering(GONE) as (url, heard):
        with pytest.raises(ConnectionLost, match="disconnected"):
            await called(url, idempotent=True)
        assert len(heard) == len(RETRY_DELAYS) + 1


@pytest.mark.parametrize("idempotent", [True, False])
async def test_where_nobody_listens_another_is_tried_once(idempotent: bool) -> None:
    async with answering(WELL) as (url, heard):
        for first, status in ((1, 200), (2, None)):
            tries = 0

            async def send(refused: int = first) -> Reply:
                nonlocal tries
                tries += 1
                return await posted(url if tries > refused else NOBODY)

            if status is None:
                with pytest.raises(NotSent, match=r"^no connection to 127\.0\.0\.1:1 \(.*refused.*\)$"):
                    await with_retries(send, idempotent=idempotent)
            else:
                assert (await with_retries(send, idempotent=idempotent)).status == status
            assert tries == 2
        assert len(heard) == 1


async def test_a_client_waits_for_a_service_that_went_away() -> None:
    async with answering(GONE, WELL) as (url, heard):
        places = iter((url, NOBODY, NOBODY, url))

        async def send() -> Reply:
            return await posted(next(places))

        assert (await with_retries(send, idempotent=True)).status == 200
        assert len(heard) == 2


@pytest.mark.parametrize("url", ["http://127.0.0.1:99999", "nowhere", "http://not a host"])
async def test_an_address_that_is_none_is_an_error_of_the_call(url: str) -> None:
    async with CallSender.over_http(url, TOKEN) as caller:
        with pytest.raises(ServiceUnavailable, match=r"^number: \w"):
            await caller.send("number", TypeAdapter(int), repeatable=True)


@pytest.mark.parametrize("length", [10, LONG_BODY, 5_000_000])
async def test_a_body_of_any_length_arrives_as_it_is(length: int) -> None:
    got: list[str] = []

    async def answer(request: Request) -> Response:
        assert request.headers["content-type"] == "application/json"
        got.append((await request.json())["text"])
        return JSONResponse(None)

    app = Starlette(routes=[Route("/v1/keep", answer, methods=["POST"])])
    text = ("ünd∑" * length)[:length]
    with listen("127.0.0.1", 0) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        async with serve_app(app, listener), CallSender.over_http(url, TOKEN) as caller:
            await caller.send("keep", TypeAdapter(None), repeatable=True, text=text)
    assert got == [text]


async def test_calls_given_up_while_they_wait_hold_up_no_later_ones() -> None:
    """A killed service leaves hundreds of calls that are cancelled together, some of which have not had their turn."""
    silent, waiting = True, asyncio.Semaphore(0)
    met: set[asyncio.Task[None] | None] = set()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        met.add(asyncio.current_task())
        # The caller may hang up at any time.
        with suppress(asyncio.IncompleteReadError, ConnectionError), closing(writer):
            await reader.readuntil(b"\r\n\r\n")
            waiting.release()
            if not silent:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n7")
            await reader.read()

    server = await asyncio.start_server(meet, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, CallSender.over_http(url, TOKEN) as caller:

        async def calls() -> int:
            return await caller.send("number", TypeAdapter(int), repeatable=True)

        given_up = [asyncio.create_task(calls()) for _ in range(3 * CALLS_AT_ONCE)]
        for _ in range(CALLS_AT_ONCE):
            await waiting.acquire()
        for one in given_up[:CALLS_AT_ONCE]:
            one.cancel()
        # The next ones have their turn now, and are given up before they connect.
        for _ in range(2):
            await asyncio.sleep(0)
        for one in given_up[CALLS_AT_ONCE:]:
            one.cancel()
        await asyncio.gather(*given_up, return_exceptions=True)
        silent = False
        assert await asyncio.gather(*(calls() for _ in range(CALLS_AT_ONCE))) == [7] * CALLS_AT_ONCE
    # Every connection is closed on this side too, those included that were accepted last.
    for _ in range(10):
        await asyncio.sleep(0)
    await asyncio.gather(*(one for one in met if one is not None))
    for _ in range(2):
        await asyncio.sleep(0)


async def test_a_reply_of_a_newer_service_is_read_without_what_it_added() -> None:
    body = b'{"forms": [], "zone": "Europe/Berlin", "added": {"by": "the next version"}}'
    reply = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    ann = Who(platform="web", workspace="local", member="ann", name="Ann")
    async with answering(reply) as (url, _), ServiceClient.over_http(url, TOKEN) as client:
        assert (await client.today(ann, Where(channel="daily"))).zone == "Europe/Berlin"
