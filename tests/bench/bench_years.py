"""Benchmark: the service on the database of thousands of teams after years, with a ledger of a hundred million rows.

The tables, indexes and triggers are the real ones. Rows are filled without write-ahead log, and their indexes are built
afterwards; what is measured then runs with both. `--rows 100000000` needs about 45 GB of disk.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import psycopg

from service.ops.parquet import Arrow, write_archive
from service.rounds.leaderboard import BoardQuery, get_board
from service.store import migrations
from service.store.members import Caller
from service.store.retention import delete_old
from service.store.session import EmbeddedPostgres, Sessions, libpq_url, make_engine, make_sessions, start_postgres
from tests.bench.bench_rows import play

MEMBERS = 20
"""Members of a team, who all answer."""
DAYS = 1_000
END = datetime(2026, 3, 1, tzinfo=UTC)
QUESTIONS = 200
BATCH = 1_000_000
"""Rows that one statement fills."""
LOADING = ("wal_level = minimal", "max_wal_senders = 0", "fsync = off", "autovacuum = off", "max_wal_size = '8GB'")
SERVING = ("shared_buffers = '2GB'", "random_page_cost = 1.1")

_TEAMS = """
    insert into workspace (name, created_at) select 'Team ' || n, now() from generate_series(1, {teams}) n;
    insert into chat (workspace_id, platform, external_id, created_at)
    select n, 'slack', 'T' || n, now() from generate_series(1, {teams}) n;
    insert into channel (workspace_id, chat_id, external_id, name)
    select n, n, 'C' || n, 'daily' from generate_series(1, {teams}) n;
    insert into bank (workspace_id, name, title) values (1, 'years', 'Years');
    insert into question (bank_id, key, current) select 1, 'q' || n, 1 from generate_series(1, {questions}) n;
    insert into question_version (question_id, version, kind, topic, answered, digest, body, created_at)
    select n, 1, 'choice', (array['tensors/views', 'tensors', 'autograd'])[1 + n % 3], true, '', '{{}}', now()
    from generate_series(1, {questions}) n;
    insert into schedule (workspace_id, channel_id, spec, since)
    select n, n, '{{"zone": "UTC"}}', now() from generate_series(1, {teams}) n;
    insert into member (workspace_id, name, joined_at)
    select 1 + (n - 1) / {members}, 'Member ' || n, now() from generate_series(1, {teams} * {members}) n;
"""
_ROUNDS = """
    insert into round (schedule_id, day, version_id, opens_at, closes_at, closed_at)
    select 1 + (n - 1) % {teams}, at::date, 1 + (n * 7919) % {questions}, at, at + '8 h', at + '8 h'
    from (select generate_series({first}::bigint, {last}) n) each,
        lateral (select '{end}'::timestamptz - interval '1 day' * ({days} - (n - 1) / {teams}) + '9 h' as at) a
"""
_PLAYED = """
    select n, 1 + (n - 1) / {members} as round_id, 1 + ((n - 1) / {members}) % {teams} as team,
        1 + ((n - 1) / {members}) % {teams} * {members} + (n - 1) % {members} as member_id,
        '{end}'::timestamptz - interval '1 day' * ({days} - (n - 1) / {members} / {teams}) + '9 h' as at,
        abs(hashint8(n)::float) / 2147483648 as luck
    from (select generate_series({first}::bigint, {last}) n) each
"""
_LEDGER = """
    insert into ledger (key, workspace_id, member_id, round_id, points, credit, seconds, reason, at)
    select round_id || ':' || member_id, team, member_id, round_id,
        case when luck < 0.7 then 10 + (luck * 8)::int else 0 end, case when luck < 0.7 then 1 else 0 end,
        round((luck * 28000)::numeric, 3), 'round', at
    from ({played}) played
"""
_ANSWERS = """
    insert into answer (member_id, round_id, version_id, number, event_id, given, name, at, chat_id)
    select member_id, round_id, 1 + (round_id * 7919) % {questions}, 1, 'press:' || n,
        jsonb_build_object('options', jsonb_build_array('b'), 'code', null, 'confidence', null, 'text',
            case when n % 10 = 0 then 'Because the view shares its storage with the tensor that it was made of.' end),
        'Member ' || member_id, at + luck * interval '8 h', team
    from ({played}) played
"""
_STANDING = "insert into standing (round_id, member_id, answer_id) select round_id, member_id, id from answer"
_VERDICTS = """
    insert into verdict (answer_id, version_id, verdict, credit, detail, at)
    select id, version_id, case when id % 10 < 7 then 'accepted' else 'wrong' end,
        case when id % 10 < 7 then 1 else 0 end,
        '{"verdict": "accepted", "cases": [], "judged": "", "message": "", "seconds": null}', at + '8 h'
    from answer
"""


@dataclass(frozen=True)
class Years:
    """Size of the database."""

    rows: int
    """Rows of the ledger."""
    answers: int
    """Rows of answers, of the last days."""

    @property
    def teams(self) -> int:
        return max(1, self.rows // MEMBERS // DAYS)

    @property
    def rounds(self) -> int:
        return self.teams * DAYS

    def filled(self, script: str, first: int = 1, last: int = 0) -> bytes:
        """Returns a statement for rows with these numbers."""
        values = {"teams": self.teams, "members": MEMBERS, "questions": QUESTIONS, "days": DAYS, "end": END.isoformat()}
        played = _PLAYED.format(**values, first=first, last=last)
        return script.format(**values, first=first, last=last, played=played).encode()

    def batches(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        for start in range(first, last + 1, BATCH):
            yield start, min(last, start + BATCH - 1)


@contextmanager
def said(step: str) -> Iterator[None]:
    """Prints how long the block took."""
    began = time.perf_counter()
    yield
    print(f"  {step}: {time.perf_counter() - began:.0f} s, load {os.getloadavg()[0]:.1f}", flush=True)


def restarted(server: EmbeddedPostgres, directory: Path, settings: tuple[str, ...]) -> EmbeddedPostgres:
    """Restarts the server with these settings in place of former ones."""
    with psycopg.connect(libpq_url(server.url), autocommit=True) as connection:
        connection.execute("alter system reset all")
        for setting in settings:
            connection.execute(f"alter system set {setting}".encode())
    server.stop()
    for _ in range(60):
        try:
            return start_postgres(directory)
        except AssertionError:
            # The wheel reads a file that a server which starts slowly has not written whole.
            time.sleep(1)
    raise TimeoutError("the server does not start")


@contextmanager
def without_indexes(connection: psycopg.Connection, table: str) -> Iterator[None]:
    """Empties a table and removes its constraints and indexes until the block ends, in one transaction."""
    with connection.transaction():
        keys = connection.execute(
            "select conrelid::regclass::text, conname, pg_get_constraintdef(oid), contype::text from pg_constraint "
            "where contype in ('f', 'p', 'u') and %s::regclass in (conrelid, confrelid) order by contype <> 'f'",
            [table],
        ).fetchall()
        plain = connection.execute(
            "select indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index "
            "where indrelid = %s::regclass "
            "and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u'))",
            [table],
        ).fetchall()
        for owner, name, _, _ in keys:
            connection.execute(f'alter table {owner} drop constraint "{name}"'.encode())
        for name, _ in plain:
            connection.execute(f"drop index {name}".encode())
        connection.execute(f"truncate {table}".encode())
        yield
        connection.execute("set local maintenance_work_mem = '1GB'")
        for owner, name, definition, kind in reversed(keys):
            if kind != "f":
                with said(f"{table}: {name}"):
                    connection.execute(f'alter table {owner} add constraint "{name}" {definition}'.encode())
        for name, definition in plain:
            with said(f"{table}: {name}"):
                connection.execute(definition.encode())
        for owner, name, definition, kind in keys:
            if kind == "f":
                connection.execute(f'alter table {owner} add constraint "{name}" {definition} not valid'.encode())


def fill(url: str, years: Years) -> None:
    """Fills all tables."""
    with psycopg.connect(libpq_url(url), autocommit=True) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute(years.filled(_TEAMS))
        with said(f"{years.rounds:,} rounds"), without_indexes(connection, "round"):
            for first, last in years.batches(1, years.rounds):
                connection.execute(years.filled(_ROUNDS, first, last))
        with said(f"{years.rows:,} ledger rows"), without_indexes(connection, "ledger"):
            for first, last in years.batches(1, years.rows):
                connection.execute(years.filled(_LEDGER, first, last))
                if last % (10 * BATCH) == 0:
                    print(f"  {last:,} rows of the ledger", flush=True)
        with said(f"{years.answers:,} answers"), without_indexes(connection, "answer"):
            for first, last in years.batches(years.rows - years.answers + 1, years.rows):
                connection.execute(years.filled(_ANSWERS, first, last))
        for table, statement in (("standing", _STANDING), ("verdict", _VERDICTS)):
            with said(table), without_indexes(connection, table):
                connection.execute(statement.encode())


class Measured:
    """Measures one database, and keeps the results by name."""

    def __init__(self, url: str, years: Years) -> None:
        self._url = url
        self._years = years
        self._chance = random.Random(7)
        self.results: dict[str, str] = {}

    def note(self, step: str, result: str) -> None:
        self.results[step] = result
        print(f"  {step}: {result}", flush=True)

    def sizes(self) -> None:
        with psycopg.connect(libpq_url(self._url), autocommit=True) as connection:
            with said("vacuum and analyze everything"):
                connection.execute("vacuum (analyze)")
            for table in ("ledger", "answer", "verdict", "standing", "round"):
                found = connection.execute(
                    "select pg_total_relation_size(%(table)s), pg_indexes_size(%(table)s)", {"table": table}
                ).fetchone()
                assert found
                self.note(f"{table}: size; indexes", f"{found[0] / 1e9:.2f} GB; {found[1] / 1e9:.2f}")

    async def timed(self, step: str, times: int, call: Callable[[int], Awaitable[object]]) -> None:
        """Measures calls, the first of which finds nothing in memory."""
        spent = []
        for number in range(times):
            began = time.perf_counter()
            await call(number)
            spent.append(1000 * (time.perf_counter() - began))
        spent.sort()
        self.note(step, f"{median(spent):.1f}; {spent[round(0.95 * (times - 1))]:.1f}")

    async def boards(self, sessions: Sessions, times: int) -> None:
        """Looks at boards of teams that nobody has looked at, and then once more."""
        teams = [self._chance.randint(1, self._years.teams) for _ in range(times)]

        async def look(number: int) -> None:
            team = teams[number]
            member = (team - 1) * MEMBERS + self._chance.randint(1, MEMBERS)
            query = BoardQuery(period="all" if number % 2 else "month", topic="", contest="points")
            async with sessions.begin() as session:
                caller = Caller(team, member, team, "", False, 1, 1)
                found = await get_board(session, caller, END - timedelta(hours=1), query)
                assert found.rows, f"nobody on the board of {team}"

        await self.timed("first look at a board, ms: p50; p95", times, look)
        await self.timed("second look, ms: p50; p95", times, look)

    async def retention(self, sessions: Sessions, times: int) -> None:
        """Clears the text of the oldest answers."""

        async def clear(_: int) -> None:
            async with sessions.begin() as session:
                cleared = await delete_old(session, "answer_text", END)
                assert cleared > 0, "nothing left to clear"

        await self.timed("clear the text of 2,000 answers, ms: p50; p95", times, clear)

    async def corrections(self, times: int) -> None:
        """Reads what a correction of a question version reads of one round."""
        async with await psycopg.AsyncConnection.connect(libpq_url(self._url), autocommit=True) as connection:

            async def read(_: int) -> None:
                chosen = self._chance.randint(1, self._years.rounds)
                found = await connection.execute("select * from ledger where round_id = %s", [chosen])
                assert len(await found.fetchall()) == MEMBERS

            async def year(_: int) -> None:
                chosen = self._chance.randint(1, self._years.teams * MEMBERS)
                await connection.execute(
                    "select sum(points) from ledger where member_id = %s and at >= %s",
                    [chosen, END - timedelta(days=365)],
                )

            await self.timed("points of a round, ms: p50; p95", times, read)
            await self.timed("a member's last year, ms: p50; p95", times, year)

    def archive(self) -> None:
        """Writes the last month of one team, and of all."""
        month = datetime(2026, 2, 1, tzinfo=UTC)
        for step, workspaces in (("of one team", [self._years.teams // 2 + 1]), ("of all teams", None)):
            with tempfile.TemporaryDirectory() as folder:
                began = time.perf_counter()
                written = write_archive(Arrow(), self._url, Path(folder), END, [month], workspaces)
                seconds, rows = time.perf_counter() - began, written[0].rows
                self.note(f"archive a month {step}", f"{rows:,} rows in {seconds:.1f} s")

    async def everything(self, times: int) -> None:
        engine = make_engine(self._url)
        sessions = make_sessions(engine)
        self.sizes()
        await self.boards(sessions, times)
        await self.corrections(times)
        for step, spent in (await play(self._url, MEMBERS, 20, time.perf_counter)).items():
            self.note(f"{step}, ms on average", f"{spent:.1f}")
        await self.retention(sessions, min(20, self._years.answers // 20_000))
        self.archive()
        await engine.dispose()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the ledger of the large database")
    parser.add_argument("--answers", type=int, default=200_000, help="its answers, of the last days")
    parser.add_argument("--times", type=int, default=200, help="looks of each kind")
    parser.add_argument("--folder", type=Path, help="where its files are made; default: the temporary folder")
    asked = parser.parse_args()
    columns = []
    for years in (Years(200_000, 40_000), Years(asked.rows, asked.answers)):
        print(f"{years.rows:,} ledger rows of {years.teams:,} teams, {years.answers:,} answers", flush=True)
        with tempfile.TemporaryDirectory(prefix="dailygrad-years-", dir=asked.folder) as folder:
            Path(folder).chmod(0o711)
            directory = Path(folder) / "data"
            server = start_postgres(directory)
            try:
                migrations.upgrade(server.url)
                server = restarted(server, directory, LOADING)
                with said("filled"):
                    fill(server.url, years)
                server = restarted(server, directory, SERVING)
                measured = Measured(server.url, years)
                asyncio.run(measured.everything(asked.times))
                columns.append(measured.results)
            finally:
                server.stop()
    print(f"\n| | {Years(200_000, 0).rows:,} rows | {asked.rows:,} rows |\n|---|---|---|")
    for step in columns[1]:
        print(f"| {step} | {columns[0].get(step, '')} | {columns[1][step]} |")


if __name__ == "__main__":
    main()
