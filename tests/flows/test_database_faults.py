"""A database that is silent for a while: no answer is lost, and none counts twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol
from zoneinfo import ZoneInfo

import httpx
import psutil
import psycopg
import pytest
from sqlalchemy.engine import make_url

from service.client import ServiceClient, ServiceUnavailable
from service.store.session import libpq_url, start_postgres
from service.wire import AnswerInput, AnswerResult, Ref, ScheduleSpec, Where, Who
from tests.faults.backend import many_questions
from tests.flows.test_processes import EVERY_DAY, TOKEN, Parts, done, leader, parts

__all__ = ["parts"]
pytestmark = pytest.mark.slow

HERE = Where(channel="daily", name="#daily")
SOCKET = ".s.PGSQL.5432"
CHECKS = 20
"""Health checks that are answered while the database is silent."""


def who(name: str) -> Who:
    return Who(platform="web", workspace="local", member=name.lower(), name=name, admin=name == "Boss")


class Fault(Protocol):
    """Makes the database silent for a service, and lets it speak again."""

    url: str

    def begin(self) -> None: ...

    def end(self) -> None: ...


class Frozen:
    """Stops PostgreSQL's processes as a debugger or a machine that swaps does: connections stay open."""

    def __init__(self, url: str, data: Path) -> None:
        self.url = url
        self._pid = int((data / "postmaster.pid").read_text().splitlines()[0])

    def _signal(self, number: int) -> None:
        first = psutil.Process(self._pid)
        for process in [first, *first.children(recursive=True)]:
            with contextlib.suppress(psutil.NoSuchProcess):
                os.kill(process.pid, number)

    def begin(self) -> None:
        self._signal(signal.SIGSTOP)

    def end(self) -> None:
        self._signal(signal.SIGCONT)


class StalledRelay:
    """A relay between service and database that holds back every byte while it is stalled."""

    def __init__(self, url: str, folder: Path, socket: Path) -> None:
        self.url = make_url(url).update_query_dict({"host": str(folder)}).render_as_string(hide_password=False)
        self._socket = socket
        self._open = asyncio.Event()
        self._open.set()
        self._talks: set[asyncio.Task[None]] = set()

    def begin(self) -> None:
        self._open.clear()

    def end(self) -> None:
        self._open.set()

    def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._relay(reader, writer))
        self._talks.add(task)
        task.add_done_callback(self._talks.discard)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(self._socket)
        await asyncio.gather(self._pass(reader, back), self._pass(there, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._open.wait()
                writer.write(data)
                await writer.drain()
        writer.close()

    async def close(self) -> None:
        """Waits until the processes have closed their connections."""
        await asyncio.gather(*self._talks)


@pytest.fixture
def server(parts: Parts) -> Iterator[tuple[str, Path]]:
    """A PostgreSQL of this test's own: its URL and data folder."""
    parts.folder.chmod(0o711)
    postgres = start_postgres(parts.folder / "postgres")
    yield libpq_url(postgres.url), postgres.directory
    postgres.stop()


@asynccontextmanager
async def fault_of(kind: str, url: str, data: Path, folder: Path) -> AsyncIterator[Fault]:
    if kind == "frozen":
        yield Frozen(url, data)
        return
    there = Path(str(make_url(url).query["host"])) / SOCKET
    await asyncio.to_thread(folder.mkdir)
    relay = StalledRelay(url, folder, there)
    async with await asyncio.start_unix_server(relay.meet, folder / SOCKET):
        yield relay
        await relay.close()


async def answer(client: ServiceClient, name: str, ref: Ref) -> AnswerResult:
    """Answers until that is confirmed, always with the same event, as a bot does from its journal."""
    given, at = AnswerInput(options=("a",)), datetime.now(ZoneInfo("UTC"))
    while True:
        with contextlib.suppress(ServiceUnavailable):
            return await client.answer(who(name), HERE, f"answer of {name}", ref, given, at)


@pytest.mark.parametrize("kind", ["frozen", "stalled"])
async def test_a_silent_database_costs_no_answer(parts: Parts, server: tuple[str, Path], kind: str) -> None:
    url, data = server
    done("migrate", DATABASE_URL=url)
    async with fault_of(kind, url, data, parts.folder / "relay") as fault:
        settings = {"DATABASE_URL": fault.url, "DAILYGRAD_SERVICE_TOKEN": TOKEN}
        serving = parts.start("serve", DAILYGRAD_PORT="0", **settings)
        parts.start("work", **settings)
        address = (await asyncio.to_thread(serving.wait_for, r"listens on ([0-9.:]+)"))[1]
        await asyncio.to_thread(leader, url)
        async with (
            ServiceClient.over_http(f"http://{address}", TOKEN) as client,
            httpx.AsyncClient(base_url=f"http://{address}", timeout=60) as http,
        ):
            await client.join(who("Boss"), HERE)
            assert (await client.bank_import(who("Boss"), "import", "many.md", many_questions(3), True)).applied
            schedule = await client.schedule_add(who("Boss"), "add", HERE, ScheduleSpec(weekdays=EVERY_DAY))
            round_ = await client.post_now(who("Boss"), "post", schedule.id)
            ref = f"r{round_.id}"
            await answer(client, "Before", ref)
            fault.begin()
            try:
                during = [asyncio.create_task(answer(client, f"During {number}", ref)) for number in range(5)]
                health = [(await http.get("/healthz")).status_code for _ in range(CHECKS)]
                assert health == [200] * CHECKS, "a process whose database is silent does not hang itself"
                assert not any(task.done() for task in during)
            finally:
                fault.end()
            answered = await asyncio.gather(*during)
            await answer(client, "After", ref)
            assert (await client.close_now(who("Boss"), "close", HERE)).closed
        await asyncio.to_thread(leader, url)
        for part in parts.started:
            part.process.send_signal(signal.SIGTERM)
        assert [await asyncio.to_thread(part.process.wait, 60) for part in parts.started] == [0, 0]
    assert {one.status for one in answered} == {"recorded"}
    with psycopg.connect(url) as connection:
        rows = connection.execute("select name, count(*) from answer group by name order by name").fetchall()
        points = connection.execute("select count(*), count(distinct member_id) from ledger").fetchone()
    names = sorted(["Before", "After", *(f"During {number}" for number in range(5))])
    assert rows == [(name, 1) for name in names]
    assert points is not None and points[0] == points[1] == len(names)
