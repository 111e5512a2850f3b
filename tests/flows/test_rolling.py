"""A rolling restart of every part during continuous answers: none is lost, refused or recorded twice."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count

import psycopg
import pytest

from service.banks.imports import import_path
from service.client import ServiceClient, ServiceRefused
from service.process import now
from service.store.session import libpq_url, make_engine, make_sessions
from service.wire import AnswerInput, ScheduleSpec, TooManyCalls, Where, Who
from tests.flows.test_processes import BANK, EVERY_DAY, TOKEN, Part, Parts, parts

pytestmark = pytest.mark.slow

__all__ = ["parts"]

HERE = Where(channel="daily", name="daily")
MEMBERS = 6
GRACE_S = 120.0
"""Grace period before SIGKILL, seconds, as in docker compose."""


@dataclass
class Address:
    """One address for several services, like an engine's DNS name; skips those that do not listen."""

    ports: list[int]
    turns: Iterator[int] = field(default_factory=count)
    talks: list[asyncio.Task[None]] = field(default_factory=list)
    ends: list[asyncio.StreamWriter] = field(default_factory=list)

    def meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.ends.append(writer)
        self.talks.append(asyncio.ensure_future(self.lead(reader, writer)))

    async def close(self) -> None:
        """Closes all connections: one that outlives its event loop would cause a warning in a later test."""
        for end in self.ends:
            end.close()
        await asyncio.gather(*self.talks)

    async def lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connects a caller to a running service."""
        for _ in self.ports:
            port = self.ports[next(self.turns) % len(self.ports)]
            with contextlib.suppress(OSError):
                there, back = await asyncio.open_connection("127.0.0.1", port)
                self.ends.append(back)
                await asyncio.gather(carry(reader, back), carry(there, writer))
                return
        writer.close()


async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copies one direction of a connection until it ends."""
    with contextlib.suppress(OSError):
        while said := await reader.read(65536):
            writer.write(said)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()


@contextlib.asynccontextmanager
async def address(ports: list[int]) -> AsyncIterator[str]:
    one = Address(ports)
    server = await asyncio.start_server(one.meet, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await one.close()


def served(parts: Parts, settings: dict[str, str]) -> tuple[Part, int]:
    """Starts a service and returns its port."""
    part = parts.start("serve", DAILYGRAD_PORT="0", **settings)
    return part, int(part.wait_for(r"listens on [0-9.]+:(\d+)")[1])


def ended(parts: Parts, part: Part) -> None:
    """Stops a part with SIGTERM; it ends cleanly within the grace period."""
    part.process.send_signal(signal.SIGTERM)
    assert part.process.wait(GRACE_S) == 0, part.said
    assert "Traceback" not in part.said
    part.close()
    parts.started.remove(part)


async def asked(url: str, database_url: str) -> str:
    """Posts a question and returns the ref of its round."""
    engine = make_engine(database_url)
    await import_path(make_sessions(engine), BANK, now())
    await engine.dispose()
    boss = Who(platform="web", workspace="local", member="boss", name="Boss", admin=True)
    async with ServiceClient.over_http(url, TOKEN) as client:
        spec = ScheduleSpec(kinds=("choice",), weekdays=EVERY_DAY)
        schedule = await client.schedule_add(boss, "add", HERE, spec)
        return f"r{(await client.post_now(boss, 'post', schedule.id)).id}"


async def burst(url: str, ref: str, member: int, done: asyncio.Event) -> list[str]:
    """Answers repeatedly as one member until done; returns the acknowledged events."""
    who = Who(platform="web", workspace="local", member=f"m{member}", name=f"Member {member}")
    acknowledged = []
    async with ServiceClient.over_http(url, TOKEN) as client:
        form = await client.ask(who, HERE, ref)
        options = [option.id for option in form.question.options]
        for number in count():
            event = f"answer {member} {number}"
            given = AnswerInput(options=(options[number % len(options)],))
            try:
                receipt = await client.answer(who, HERE, event, ref, given, datetime.now(UTC))
            except ServiceRefused as refused:
                # A member may do ten calls a second, and the service answers faster.
                assert isinstance(refused.refusal, TooManyCalls)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(refused.refusal.retry_s):
                        await done.wait()
            else:
                assert receipt.status in ("recorded", "changed")
                acknowledged.append(event)
            if done.is_set():
                return acknowledged
    raise AssertionError("it counts without end")


async def test_no_answer_is_lost_while_every_part_is_restarted(parts: Parts, database_url: str) -> None:
    settings = {"DATABASE_URL": database_url, "DAILYGRAD_SERVICE_TOKEN": TOKEN}
    worker = parts.start("work", **settings)
    services = [served(parts, settings) for _ in range(2)]
    ports = [port for _, port in services]
    done = asyncio.Event()
    async with address(ports) as url:
        ref = await asked(url, database_url)
        members = [asyncio.create_task(burst(url, ref, member, done)) for member in range(MEMBERS)]
        for place, (part, _) in enumerate(services):
            await asyncio.to_thread(ended, parts, part)
            _, ports[place] = await asyncio.to_thread(served, parts, settings)
        await asyncio.to_thread(worker.wait_for, "The worker is ready")
        await asyncio.to_thread(ended, parts, worker)
        done.set()
        acknowledged = [event for events in await asyncio.gather(*members) for event in events]
    assert len(acknowledged) > MEMBERS
    kept = logged(database_url)
    assert sorted(kept) == sorted(acknowledged)
    assert len(set(kept)) == len(kept)
    assert counting(database_url) == {f"m{member}": last(acknowledged, member) for member in range(MEMBERS)}
    parts.stop()


def logged(url: str) -> list[str]:
    """Returns the events of the logged answers."""
    with psycopg.connect(libpq_url(url)) as connection:
        return [event for (event,) in connection.execute("select event_id from answer").fetchall()]


def counting(url: str) -> dict[str, str]:
    """Returns the event of the answer that counts, by member."""
    with psycopg.connect(libpq_url(url)) as connection:
        query = (
            "select external_id, event_id from standing join answer on answer.id = answer_id "
            "join identity on identity.member_id = standing.member_id"
        )
        return dict(connection.execute(query).fetchall())


def last(events: list[str], member: int) -> str:
    return [event for event in events if event.startswith(f"answer {member} ")][-1]
