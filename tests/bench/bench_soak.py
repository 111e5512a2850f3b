"""Benchmark: half an hour of a busy installation, whose database is compared with what every member was told.

`python -m tests.bench.bench_soak [--minutes 30] [--rate 200] [--teams 40]`. Members of many teams answer at that rate,
whatever the service takes, and change their answers; rounds open and close by the clock; others look at boards,
practice and send code. Prints a line a minute, and the first, a middle and the last part beside each other. Exit
status 1 if an answer was lost, counted twice or counted late, or if a round was not closed and revealed once.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from itertools import takewhile
from pathlib import Path
from time import monotonic
from typing import Final

import psutil
import psycopg

from sandbox import embedded
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.store.session import libpq_url
from service.wire import AnswerInput, ExtraRound, ScheduleSpec, Who
from tests.bench.bench_answers import TOKEN, WHERE, request, service_running
from tests.bench.rounds import database, worker_running
from tests.bench.rush import percentile
from tests.chaos.processes import until_awaited
from tests.faults.backend import BANK, many_questions

MEMBERS: Final = 50
"""Members of a team."""
CONNECTIONS: Final = 16
"""Connections over which answers are sent."""
CODE: Final = {True: "def add_one(x):\n    return x + 1\n", False: "def add_one(x):\n    return x - 1\n"}
OFTEN_S: Final = {"board": 0.1, "practice": 0.2, "code": 2.0}
"""Seconds from one call of a kind to the next."""
GRACE_S: Final = 90.0
"""Time in which the last rounds close and the last code is judged, seconds."""
TABLES: Final = ("answer", "standing", "ledger", "inbox", "outbox")
JOIN: Final = """
    with made as (
        insert into member (workspace_id, name, joined_at)
        select workspace_id, external_id || ' ' || n, now() from chat, generate_series(1, %(members)s) n
        returning id, workspace_id, name
    )
    insert into identity (workspace_id, chat_id, member_id, external_id, name)
    select made.workspace_id, chat.id, made.id, made.name, made.name
    from made join chat on chat.workspace_id = made.workspace_id
"""
STANDING: Final = """
    select s.round_id, i.external_id, a.event_id, a.given -> 'options' ->> 0
    from standing s join answer a on a.id = s.answer_id join identity i on i.member_id = s.member_id
"""
UNEVEN: Final = {
    "rounds that were not closed": "select count(*) from round where closed_at is null and skipped is null",
    "rounds that were not revealed once": """
        select count(*) from round r where skipped is null and
            (select count(*) from outbox o where o.round_id = r.id and o.kind = 'reveal') <> 1""",
    "answers without points booked once": """
        select count(*) from standing s where
            (select count(*) from ledger l where l.round_id = s.round_id and l.member_id = s.member_id
                and l.reason = 'round') <> 1""",
    "messages that were not delivered": "select count(*) from outbox where state not in ('sent', 'skipped')",
}


def team_of(number: int) -> str:
    return f"soak-{number}"


def person(team: int, member: int) -> Who:
    name = f"{team_of(team)} {member}"
    return Who(platform="web", workspace=team_of(team), member=name, name=name)


def boss_of(team: int) -> Who:
    return Who(platform="web", workspace=team_of(team), member="boss", name="Boss", admin=True)


@dataclass(frozen=True, slots=True)
class Told:
    """What a member was told about an answer: the status of its receipt, or `unknown`."""

    event: str
    option: str
    status: str


@dataclass
class Diary:
    """The client's own log."""

    answers: dict[tuple[int, str], list[Told]] = field(default_factory=lambda: defaultdict(list))
    """By round and member, in order: nobody has two answers under way."""
    times: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))
    """By kind of call: the instant for which it was planned and the time it took, seconds."""
    failed: Counter[str] = field(default_factory=Counter)
    code: Counter[str] = field(default_factory=Counter)

    def note(self, kind: str, planned: float) -> None:
        self.times[kind].append((planned, monotonic() - planned))


@dataclass
class Team:
    """A team's open round, and the members who have no answer under way."""

    number: int
    ref: str = ""
    options: Sequence[str] = ()
    free: set[int] = field(default_factory=lambda: set(range(1, MEMBERS + 1)))


@dataclass
class Soak:
    """The run."""

    client: ServiceClient
    port: int
    teams: list[Team]
    until: float
    diary: Diary = field(default_factory=Diary)
    chance: random.Random = field(default_factory=lambda: random.Random(7))
    waiting: asyncio.Queue[tuple[float, Team, int] | None] = field(default_factory=asyncio.Queue)

    async def host(self, team: Team) -> None:
        """Opens one round after the other; the worker closes them."""
        boss, number = boss_of(team.number), 0
        # Teams do not open their rounds at the same time.
        await asyncio.sleep(60 * team.number / len(self.teams))
        while monotonic() < self.until:
            number += 1
            wanted = ExtraRound(kinds=("choice",), open_minutes=1)
            try:
                view = await self.client.ask_extra(boss, f"ask {number}", WHERE, wanted)
            except (ServiceUnavailable, ServiceRefused) as error:
                self.diary.failed[f"ask: {error}"] += 1
                await asyncio.sleep(5)
                continue
            team.options = tuple(option.id for option in view.question.options)
            team.ref = f"r{view.id}"
            # Until the close and a little longer, so that some answers come too late.
            await asyncio.sleep(max(0.0, (view.closes_at - datetime.now(UTC)).total_seconds()) + 0.3)
            team.ref = ""

    async def plan(self, rate: float) -> None:
        """Plans answers at the rate, and ends the connections."""
        begun, number = monotonic(), 0
        while (planned := begun + number / rate) < self.until:
            number += 1
            if (delay := planned - monotonic()) > 0:
                await asyncio.sleep(delay)
            team = self.chance.choice(self.teams)
            if team.ref and team.free:
                member = self.chance.choice(tuple(team.free))
                team.free.discard(member)
                self.waiting.put_nowait((planned, team, member))
        for _ in range(CONNECTIONS):
            self.waiting.put_nowait(None)

    async def answer(self) -> None:
        """Sends planned answers over one connection."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        while (chosen := await self.waiting.get()) is not None:
            planned, team, member = chosen
            if ref := team.ref:
                who, option = person(team.number, member), self.chance.choice(list(team.options))
                event = f"{ref} {member} {planned}"
                try:
                    writer.write(request(who, event, ref, option))
                    status = await _status(reader)
                except (OSError, asyncio.IncompleteReadError):
                    status = "unknown"
                    reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                self.diary.note("answer", planned)
                self.diary.answers[int(ref[1:]), who.member].append(Told(event, option, status))
            team.free.add(member)
        writer.close()

    async def repeat(self, kind: str, call: Callable[[Who], Awaitable[None]]) -> None:
        """Makes calls of a kind, one each so many seconds, whatever each takes."""
        begun, number = monotonic(), 0
        async with asyncio.TaskGroup() as tasks:
            while (planned := begun + number * OFTEN_S[kind]) < self.until:
                number += 1
                await asyncio.sleep(max(0.0, planned - monotonic()))
                who = person(self.chance.randrange(len(self.teams)), self.chance.randint(1, MEMBERS))
                tasks.create_task(self._timed(kind, planned, call(who)))

    async def _timed(self, kind: str, planned: float, work: Awaitable[None]) -> None:
        try:
            await work
        except (ServiceUnavailable, ServiceRefused) as error:
            self.diary.failed[f"{kind}: {error}"] += 1
        else:
            self.diary.note(kind, planned)

    async def board(self, who: Who) -> None:
        await self.client.board(who, self.chance.choice((WHERE, None)), self.chance.choice(("day", "week", "all")))

    async def practice(self, who: Who) -> None:
        form = await self.client.practice(who, WHERE, kind="choice")
        if form is not None:
            given = AnswerInput(options=(form.question.options[0].id,))
            now = datetime.now(UTC)
            await self.client.answer(who, WHERE, f"practice {now.isoformat()} {who.member}", form.ref, given, now)

    async def code(self, who: Who) -> None:
        form = await self.client.practice(who, WHERE, kind="code")
        if form is None:
            return
        right, now = self.chance.random() < 0.5, datetime.now(UTC)
        given = AnswerInput(code=CODE[right])
        await self.client.answer(who, WHERE, f"code {now.isoformat()} {who.member}", form.ref, given, now)

        async def judged() -> str | None:
            verdict = (await self.client.practice_attempt(who, form.ref)).verdict
            return verdict.verdict if verdict else None

        verdict = await until_awaited(judged, GRACE_S)
        self.diary.code["as expected" if verdict == ("accepted" if right else "wrong") else f"not {verdict}"] += 1

    async def deliver(self) -> None:
        """Delivers messages as a bot does, until the task is cancelled."""
        while True:
            for delivery in await self.client.outbox_claim("web", 50, wait_s=1):
                await self.client.outbox_sent(delivery.id, f"m{delivery.id}")


async def _status(reader: asyncio.StreamReader) -> str:
    """Returns the status of the receipt, or `refused` with the HTTP status."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
    body = json.loads(await reader.readexactly(length))
    code = head.split(" ", 2)[1]
    return str(body["status"]) if code == "200" else f"refused {code}"


async def prepare(url: str, client: ServiceClient, teams: int) -> list[Team]:
    """Makes the teams, their members and schedules, and a bank that all of them share."""
    later = (datetime.now(UTC).weekday() + 3) % 7
    spec = ScheduleSpec(weekdays=(later,), at=time(9), zone="UTC")
    for number in range(teams):
        await client.join(boss_of(number), WHERE)
    for name, text in (("many.md", many_questions(100)), (BANK.name, BANK.read_text(encoding="utf-8"))):
        await client.bank_import(boss_of(0), f"import {name}", name, text, True)
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as rows:
        await rows.execute("update bank set workspace_id = null")
        await rows.execute(JOIN, {"members": MEMBERS})
        await rows.execute("vacuum analyze")
    for number in range(teams):
        await client.schedule_add(boss_of(number), "add", WHERE, spec)
    return [Team(number) for number in range(teams)]


async def compare(url: str, diary: Diary) -> list[str]:
    """Returns how the database differs from what the members were told."""
    wrong = []
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as rows:
        stored = Counter(event for (event,) in await (await rows.execute("select event_id from answer")).fetchall())
        standing = {
            (round_id, member): (event, option)
            for round_id, member, event, option in await (await rows.execute(STANDING)).fetchall()
        }
        for what, query in UNEVEN.items():
            row = await (await rows.execute(query.encode())).fetchone()
            if row and row[0]:
                wrong.append(f"{row[0]:,} {what}")
    lost = sum(stored[one.event] != 1 for told in diary.answers.values() for one in told if _acknowledged(one))
    if lost:
        wrong.append(f"{lost:,} answers that are not stored once")
    uncounted = 0
    for key, told in diary.answers.items():
        found = standing.pop(key, None)
        uncounted += found not in _may_count(told) if found or any(map(_is_kept, told)) else 0
    if uncounted:
        wrong.append(f"{uncounted:,} members whose last answer in time does not count")
    if standing:
        wrong.append(f"{len(standing):,} answers that count and that nobody gave")
    return wrong


def _may_count(told: Sequence[Told]) -> set[tuple[str, str]]:
    """Returns the events and options that may count: of the last answer in time, also as it was given right before, and
    of those after it that ended without a reply."""
    end = max((place for place, one in enumerate(told, 1) if _is_kept(one)), default=0)
    newest = told[end - 1].option if end else ""
    before = takewhile(lambda one: one.option == newest or one.status == "unknown", reversed(told[:end]))
    after = (one for one in told[end:] if one.status == "unknown")
    return {(one.event, one.option) for one in (*before, *after)}


def _is_kept(told: Told) -> bool:
    return told.status in ("recorded", "changed")


def _acknowledged(told: Told) -> bool:
    return told.status in ("recorded", "changed", "late")


@dataclass
class Meter:
    """What the processes and tables hold, the CPU they take and the times of calls, minute by minute."""

    url: str
    diary: Diary
    processes: dict[str, psutil.Process]
    begun: float = field(default_factory=monotonic)
    taken: list[tuple[float, dict[str, float]]] = field(default_factory=list)
    """Instants, and by then the CPU of each process and the time in which all waited for the disk, seconds."""

    async def watch(self) -> None:
        """Prints a line every minute, until the task is cancelled."""
        minute = 0
        times = f"p50; p99, ms: {', '.join(('answer', *OFTEN_S))}"
        used = ("Memory, MB", "CPU, cores", "Size, MB (dead rows, %)", "Load", "All wait for the disk")
        heads = ("Minute", "Answers a second", times, *used)
        print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
        while True:
            self.taken.append((monotonic() - self.begun, self._take()))
            await asyncio.sleep(max(0.0, self.begun + 60 * (minute + 1) - monotonic()))
            print(f"| {minute + 1} | {await self.line(60 * minute, 60 * (minute + 1))} |", flush=True)
            minute += 1

    async def line(self, since: float, until: float) -> str:
        """Describes what happened between two instants, seconds from the beginning."""
        spans = {
            kind: [took for at, took in times if since <= at - self.begun < until]
            for kind, times in self.diary.times.items()
        }
        times = ", ".join(
            "; ".join(f"{1000 * percentile(spans.get(kind) or [0.0], share):.0f}" for share in (0.5, 0.99))
            for kind in ("answer", *OFTEN_S)
        )
        memory = ", ".join(f"{name} {_megabytes(process):.0f}" for name, process in self.processes.items())
        rate = len(spans.get("answer", ())) / max(1e-9, until - since)
        shares = self._shares(since, until)
        cores = ", ".join(f"{name} {shares[name]:.2f}" for name in self.processes)
        machine = f"{os.getloadavg()[0]:.1f} | {100 * shares[_DISK]:.1f}%"
        return f"{rate:.0f} | {times} | {memory} | {cores} | {await self._sizes()} | {machine}"

    def _take(self) -> dict[str, float]:
        return {name: _cpu_s(one) for name, one in self.processes.items()} | {_DISK: _disk_wait_s()}

    def _shares(self, since: float, until: float) -> dict[str, float]:
        """Returns what was taken in a second between about these instants, by name."""
        noted = [*self.taken, (monotonic() - self.begun, self._take())]
        first, last = (min(noted, key=lambda one: abs(one[0] - at)) for at in (since, until))
        return {name: (last[1][name] - first[1][name]) / max(1e-9, last[0] - first[0]) for name in last[1]}

    async def _sizes(self) -> str:
        query = (
            "select relname, pg_total_relation_size(relid), n_live_tup, n_dead_tup from pg_stat_user_tables "
            "where relname = any (%s) order by relname"
        )
        async with await psycopg.AsyncConnection.connect(libpq_url(self.url), autocommit=True) as rows:
            found = await (await rows.execute(query, [list(TABLES)])).fetchall()
        return ", ".join(
            f"{name} {size / 1e6:.0f} ({100 * dead / max(1, live + dead):.0f})" for name, size, live, dead in found
        )


_DISK = "disk"
_FULL = re.compile(r"^full .*total=([0-9]+)$", re.MULTILINE)


def _disk_wait_s() -> float:
    """Returns the time since the machine's start in which all that had work waited for the disk, seconds. 0 where the
    kernel does not count it."""
    with contextlib.suppress(OSError):
        if found := _FULL.search(Path("/proc/pressure/io").read_text()):
            return int(found[1]) / 1e6
    return 0.0


def _cpu_s(process: psutil.Process) -> float:
    """Returns the CPU time of a process and its children, those that ended included, seconds."""
    total = 0.0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            total += sum(one.cpu_times()[:4])
    return total


def _megabytes(process: psutil.Process) -> float:
    """Returns the memory of a process and its children, each shared page once."""
    total = 0
    for one in (process, *process.children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):
            total += one.memory_full_info().pss
    return total / 1e6


@contextlib.asynccontextmanager
async def cancelled_afterwards(*work: Awaitable[None]) -> AsyncIterator[None]:
    """Runs tasks during the block. Raises what one of them raised."""
    tasks = [asyncio.ensure_future(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
    for each in ended:
        if isinstance(each, Exception):
            raise each


async def play(url: str, minutes: float, rate: float, teams: int) -> list[str]:
    """Runs everything. Returns what is wrong."""
    with tempfile.TemporaryDirectory() as folder, service_running(url) as (service, port):
        sandbox = embedded.start(Path(folder) / "sandbox")
        try:
            await sandbox.client.until_ready(120)
            async with (
                worker_running(
                    url,
                    DAILYGRAD_SERVICE_TOKEN=TOKEN,
                    DAILYGRAD_SANDBOX_SOCKET=str(sandbox.socket),
                    DAILYGRAD_LOG_LEVEL="warning",
                ) as worker,
                ServiceClient.over_http(f"http://127.0.0.1:{port}", TOKEN) as client,
            ):
                made = await prepare(url, client, teams)
                soak = Soak(client, port, made, monotonic() + 60 * minutes)
                with psycopg.connect(libpq_url(url)) as rows:
                    postgres = psutil.Process(rows.info.backend_pid).parent()
                assert postgres is not None
                processes = {
                    "service": service,
                    "worker": psutil.Process(worker.pid),
                    "sandbox": psutil.Process(sandbox.process.pid),
                    "PostgreSQL": postgres,
                }
                meter = Meter(url, soak.diary, processes)
                async with cancelled_afterwards(soak.deliver(), meter.watch()):
                    async with asyncio.TaskGroup() as tasks:
                        for team in made:
                            tasks.create_task(soak.host(team))
                        for _ in range(CONNECTIONS):
                            tasks.create_task(soak.answer())
                        for kind, call in (("board", soak.board), ("practice", soak.practice), ("code", soak.code)):
                            tasks.create_task(soak.repeat(kind, call))
                        tasks.create_task(soak.plan(rate))
                    await _settled(url)
                await _report(meter, minutes)
        finally:
            sandbox.stop()
    return await compare(url, soak.diary)


async def _settled(url: str) -> None:
    """Waits until every round is closed and every message delivered, or time is up."""
    until = monotonic() + GRACE_S
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as rows:
        while monotonic() < until:
            left = 0
            for what in ("rounds that were not closed", "messages that were not delivered"):
                row = await (await rows.execute(UNEVEN[what].encode())).fetchone()
                left += row[0] if row else 0
            if not left:
                return
            await asyncio.sleep(0.5)


async def _report(meter: Meter, minutes: float) -> None:
    """Prints the first, a middle and the last part beside each other, and the totals."""
    part = 60 * minutes / 6
    print(f"\n{'first':>8} sixth: {await meter.line(0, part)}")
    print(f"{'a middle':>8} sixth: {await meter.line(2.5 * part, 3.5 * part)}")
    print(f"{'last':>8} sixth: {await meter.line(5 * part, 6 * part)}")
    told = Counter(one.status for answers in meter.diary.answers.values() for one in answers)
    rounds = len({round_id for round_id, _ in meter.diary.answers})
    print(f"answers told: {dict(told)}, in {rounds:,} rounds; code: {dict(meter.diary.code)}")
    if meter.diary.failed:
        print(f"failed: {dict(meter.diary.failed)}")


def main(words: Sequence[str] | None = None) -> None:
    """Runs the command."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--minutes", type=float, default=30)
    asked.add_argument("--rate", type=float, default=200, help="answers a second")
    asked.add_argument("--teams", type=int, default=40)
    given = asked.parse_args(words)
    with database() as url:
        wrong = asyncio.run(play(url, given.minutes, given.rate, given.teams))
    print("Compared with the client's own log:", "; ".join(wrong) or "nothing lost, nothing twice, nothing late")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
