"""A call that meets a process on its way out, over real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import httpx
import pytest

from service.client import RETRY_DELAYS, with_retries

GONE = b""
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


async def called(url: str, *, idempotent: bool) -> int:
    async with httpx.AsyncClient() as http:
        return (await with_retries(partial(http.post, url), idempotent=idempotent)).status_code


async def test_lost_connection_is_retried_for_idempotent_calls() -> None:
    async with answering(GONE, GONE, WELL) as (url, heard):
        assert await called(url, idempotent=True) == 200
        assert len(heard) == 3


async def test_what_may_have_had_its_effect_is_not_done_twice() -> None:
    async with answering(GONE, WELL) as (url, heard):
        with pytest.raises(httpx.RemoteProtocolError):
            await called(url, idempotent=False)
        assert len(heard) == 1


async def test_it_gives_up_and_says_why() -> None:
    async with answering(GONE) as (url, heard):
        with pytest.raises(httpx.RemoteProtocolError):
            await called(url, idempotent=True)
        assert len(heard) == len(RETRY_DELAYS) + 1


@pytest.mark.parametrize("idempotent", [True, False])
async def test_where_nobody_listens_another_is_tried_once(idempotent: bool) -> None:
    async with answering(WELL) as (url, heard):
        for first, status in ((1, 200), (2, None)):
            tries = 0

            async def send(refused: int = first) -> httpx.Response:
                nonlocal tries
                tries += 1
                async with httpx.AsyncClient() as http:
                    return await http.post(url if tries > refused else "http://127.0.0.1:1")

            if status is None:
                with pytest.raises(httpx.ConnectError):
                    await with_retries(send, idempotent=idempotent)
            else:
                assert (await with_retries(send, idempotent=idempotent)).status_code == status
            assert tries == 2
        assert len(heard) == 1


async def test_one_that_went_away_is_waited_for() -> None:
    async with answering(GONE, WELL) as (url, heard):
        places = iter((url, "http://127.0.0.1:1", "http://127.0.0.1:1", url))

        async def send() -> httpx.Response:
            async with httpx.AsyncClient() as http:
                return await http.post(next(places))

        assert (await with_retries(send, idempotent=True)).status_code == 200
        assert len(heard) == 2
