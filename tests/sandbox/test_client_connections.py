"""A caller's connections: kept while the other end keeps them, made anew where not, hung up when work is left."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandbox import embedded, wire
from sandbox.client import ConnectionPool, NobodyThere, SandboxClient
from sandbox.wire import Limits, Run

Answer = Callable[[int, int, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[bool]]
"""Answers the n-th frame of the n-th connection; whether to wait for another."""

HERE = wire.encode("health", {"here": True})


class Far:
    """The other end: what came, and over how many connections."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.connections = 0
        self.frames = 0
        self.left = asyncio.Event()
        """Somebody hung up."""
        self.open: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open[asyncio.ensure_future(self._serve(reader, writer))] = writer

    async def close(self) -> None:
        """Closes all connections."""
        for writer in self.open.values():
            writer.close()
        await asyncio.gather(*self.open)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number, frames = self.connections, 0
        while prefix := await reader.read(4):
            header = await reader.readexactly(wire.header_length(prefix))
            await reader.readexactly(wire.read_header(header)[2])
            frames += 1
            self.frames += 1
            if not await self.answer(number, frames, reader, writer):
                break
        else:
            self.left.set()
        writer.close()


@asynccontextmanager
async def far_end(path: Path, answer: Answer) -> AsyncIterator[Far]:
    far = Far(answer)
    async with await asyncio.start_unix_server(far.serve, path):
        try:
            yield far
        finally:
            await far.close()


async def answered(_: int, __: int, ___: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    writer.write(HERE)
    return True


async def test_one_connection_serves_one_question_after_another(tmp_path: Path) -> None:
    async with far_end(tmp_path / "s", answered) as far:
        lines = ConnectionPool(tmp_path / "s")
        for _ in range(5):
            assert await lines.ask(HERE, 20) == ("health", {"here": True}, b"")
        assert (far.connections, far.frames) == (1, 5)


async def test_questions_at_one_time_have_a_connection_each(tmp_path: Path) -> None:
    everybody = asyncio.Event()

    async def together(_: int, __: int, ___: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if far.frames == 4:
            everybody.set()
        await everybody.wait()
        writer.write(HERE)
        return True

    async with far_end(tmp_path / "s", together) as far:
        lines = ConnectionPool(tmp_path / "s")
        await asyncio.gather(*(lines.ask(HERE, 20) for _ in range(4)))
        await asyncio.gather(*(lines.ask(HERE, 20) for _ in range(4)))
        assert (far.connections, far.frames) == (4, 8)


async def test_a_closed_connection_is_replaced(tmp_path: Path) -> None:
    async def once(_: int, __: int, ___: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(HERE)
        return False

    async with far_end(tmp_path / "s", once) as far:
        lines = ConnectionPool(tmp_path / "s")
        for _ in range(3):
            await lines.ask(HERE, 20)
        assert far.frames == 3
        assert far.connections >= 3


async def test_who_hangs_up_on_the_next_question_is_asked_once_more(tmp_path: Path) -> None:
    async def first_only(_: int, frame: int, __: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if frame == 1:
            writer.write(HERE)
        return frame == 1

    async with far_end(tmp_path / "s", first_only) as far:
        lines = ConnectionPool(tmp_path / "s")
        assert [(await lines.ask(HERE, 20))[0] for _ in range(2)] == ["health"] * 2
        assert (far.connections, far.frames) == (2, 3)


@pytest.mark.parametrize(("said", "problem"), [(b"", ConnectionError), (HERE[:9], ConnectionError)])
async def test_an_answer_that_never_comes_whole_is_an_error(
    tmp_path: Path, said: bytes, problem: type[Exception]
) -> None:
    async def torn(_: int, __: int, ___: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(said)
        return False

    async with far_end(tmp_path / "s", torn) as far:
        with pytest.raises(problem):
            await ConnectionPool(tmp_path / "s").ask(HERE, 20)
        assert far.connections == 1


async def test_more_than_was_asked_for_is_believed_in_no_part(tmp_path: Path) -> None:
    async def twice(_: int, __: int, ___: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        writer.write(HERE + HERE)
        return True

    async with far_end(tmp_path / "s", twice):
        with pytest.raises(ValueError, match="more than one frame"):
            await ConnectionPool(tmp_path / "s").ask(HERE, 20)


async def test_a_question_nobody_waits_for_is_hung_up_on(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def never(_: int, __: int, reader: asyncio.StreamReader, ___: asyncio.StreamWriter) -> bool:
        asked.set()
        return True

    async with far_end(tmp_path / "s", never) as far:
        lines = ConnectionPool(tmp_path / "s")
        waiting = asyncio.create_task(lines.ask(HERE, 60))
        await asked.wait()
        waiting.cancel()
        async with asyncio.timeout(60):
            await far.left.wait()
        with pytest.raises(asyncio.CancelledError):
            await waiting


def test_a_client_outlives_its_loop(tmp_path: Path, sandbox: embedded.EmbeddedSandbox) -> None:
    client = SandboxClient(sandbox.socket)
    asyncio.run(client.until_ready())
    for _ in range(2):
        assert asyncio.run(client.run(Run("r", "print(1)", limits=Limits(wall_ms=5000)))).stdout == "1\n"


@pytest.mark.slow
async def test_a_supervisor_that_stops_hangs_up_on_idle_callers(tmp_path: Path) -> None:
    started = embedded.start(tmp_path)
    try:
        client = started.client
        await client.until_ready()
        assert (await client.run(Run("r", "print(1)", limits=Limits(wall_ms=5000)))).status == "ok"
    finally:
        assert await asyncio.to_thread(started.stop) == 0
    with pytest.raises(NobodyThere, match="FileNotFoundError"):
        await client.attempt(Run("r", "print(1)"))
