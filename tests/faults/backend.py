"""The real service on a real port and PostgreSQL, with bots as separate processes, for fault tests."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import uvicorn

from service.app import Service, build
from service.client import ServiceClient
from service.config import Settings
from service.wire import Platform as PlatformName
from service.wire import RoundView, ScheduleSpec, Where, Who
from tests.forked import Forked

ROOT = Path(__file__).parent.parent.parent
BANK = ROOT / "tests" / "bot" / "fixtures" / "room.md"
QUESTIONS = ("one-right", "two-right", "the-shape", "two-lines", "why-scale", "add-one")
TOKEN = "a-token-only-the-tests-know"
TOKEN_KEY = base64.urlsafe_b64encode(bytes(32)).decode()
"""What the tokens of installations are encrypted with."""
PATIENCE_S = 60.0
EVERY_DAY = tuple(range(7))
LEASE_S = 31
"""After so long a delivery whose bot died is given to another."""


@dataclass
class RunningClock:
    """The machine's clock, which a test can move forward."""

    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead

    def advance(self, **delta: float) -> None:
        """Moves forward by `days`, `hours`, `minutes` and `seconds`."""
        self.ahead += timedelta(**delta)


@dataclass
class Backend:
    """The service, for bots at `url` and for tests through `client`. Ticks only when `tick` is called."""

    service: Service
    client: ServiceClient
    clock: RunningClock
    url: str
    database_url: str

    async def tick(self) -> None:
        """Posts, closes and grades what is due now."""
        await self.service.tick()
        await self.service.jobs.run_pending()

    async def import_bank(self, boss: Who, *only: str) -> None:
        """Imports the test bank; with `only`, retires the other questions."""
        view = await self.client.bank_import(boss, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
        assert view.applied, view.findings
        for question in QUESTIONS:
            if only and question not in only:
                await self.client.bank_retire(boss, f"retire:{question}", question, True)

    async def import_many(self, boss: Who, count: int) -> None:
        """Imports a bank of that many choice questions."""
        view = await self.client.bank_import(boss, "import", "many.md", many_questions(count), True)
        assert view.applied, view.findings

    async def posts_now(self, boss: Who, *channels: Where) -> list[RoundView]:
        """A round in each channel, its question left in the outbox."""
        rounds = []
        for where in channels:
            event = f"{where.channel}:{self.clock().timestamp()}"
            schedule = await self.client.schedule_add(boss, f"add:{event}", where, ScheduleSpec(weekdays=EVERY_DAY))
            rounds.append(await self.client.post_now(boss, f"post:{event}", schedule.id))
        return rounds


def many_questions(count: int) -> str:
    """Returns a bank of different choice questions."""
    head = "---\nbank: many\ntitle: Many\nlicense: MIT\n---\n\n# sums\n"
    asked = "\n## sum-{n} · choice · mid\n\nWhat is {n} + {n}?\n\n- [x] `{twice}`\n- [ ] `{more}` — one too many\n"
    return head + "".join(asked.format(n=n, twice=2 * n, more=2 * n + 1) for n in range(1, count + 1))


@contextlib.asynccontextmanager
async def backend_running(database_url: str) -> AsyncIterator[Backend]:
    """Runs a service on a port until the block exits."""
    clock = RunningClock()
    settings = Settings(database_url=database_url, service_token=TOKEN, token_key=TOKEN_KEY)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with (
            build(settings, clock).running() as service,
            _served(service, listener),
            ServiceClient.inside(service.api, TOKEN) as client,
        ):
            yield Backend(service, client, clock, url, database_url)


class _Server(uvicorn.Server):
    """A server without signal handlers, which belong to pytest."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def _served(service: Service, listener: socket.socket) -> AsyncIterator[None]:
    config = uvicorn.Config(
        service.api, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2, ws="none"
    )
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        service.stopping.set()
        server.should_exit = True
        await task


@dataclass
class Bot:
    """A `dailygrad` process and its output so far."""

    process: subprocess.Popen[bytes]
    lines: list[str] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.reader = asyncio.create_task(self._follow())

    async def _follow(self) -> None:
        assert self.process.stdout is not None
        stream = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), self.process.stdout)
        async for line in stream:
            self.lines.append(line.decode(errors="replace"))
            self.news.set()
        self.news.set()

    @property
    def said(self) -> str:
        return "".join(self.lines)

    async def says(self, pattern: str) -> re.Match[str]:
        """Waits until it prints something that matches."""
        async with asyncio.timeout(PATIENCE_S):
            while (found := re.search(pattern, self.said)) is None:
                assert self.process.poll() is None, f"it ended before {pattern}:\n{self.said}"
                self.news.clear()
                await self.news.wait()
        return found

    async def kill(self) -> None:
        """Kills it with SIGKILL."""
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        await self._ended()

    def asked_to_stop(self) -> None:
        """Sends SIGTERM without waiting."""
        self.process.send_signal(signal.SIGTERM)

    async def ends_well(self) -> None:
        """Waits for its end and checks that it logged no errors."""
        async with asyncio.timeout(PATIENCE_S):
            await self._ended()
        assert self.process.returncode == 0, self.said
        assert "Traceback" not in self.said, self.said

    async def stop(self) -> None:
        """Sends SIGTERM and checks that it ends well."""
        self.asked_to_stop()
        await self.ends_well()

    async def _ended(self) -> None:
        await asyncio.to_thread(self.process.wait)
        await self.reader


@dataclass
class Bots:
    """Starts bots for a backend, all with these `settings`."""

    backend: Backend
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    started: list[Bot] = field(default_factory=list)
    make_process: Callable[..., subprocess.Popen[bytes]] = Forked

    async def start(self, *words: str, data: str = "data", **settings: str) -> Bot:
        """Starts `dailygrad` with these arguments. Bots with different `data` share no journal."""
        folder = self.folder / data
        folder.mkdir(exist_ok=True)
        ours = {
            "PYTHONUNBUFFERED": "1",
            "DAILYGRAD_SERVICE_URL": self.backend.url,
            "DAILYGRAD_SERVICE_TOKEN": TOKEN,
            "DAILYGRAD_DATA": str(folder),
        }
        bot = Bot(
            self.make_process(
                [sys.executable, "-m", "dailygrad", *words],
                cwd=ROOT,
                env=_surroundings() | ours | self.settings | settings,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        )
        self.started.append(bot)
        return bot

    async def clear(self) -> None:
        """Kills the remaining processes."""
        for bot in self.started:
            await bot.kill()


def _surroundings() -> dict[str, str]:
    """Returns the environment without Dailygrad's settings."""
    ours = ("DAILYGRAD_", "DATABASE_URL", "DISCORD_", "SLACK_")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def boss_of(platform: PlatformName, workspace: str, member: str) -> Who:
    """Returns an admin of a workspace."""
    return Who(platform=platform, workspace=workspace, member=member, name="Boss", admin=True)
