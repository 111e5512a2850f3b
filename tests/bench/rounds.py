"""Prepares thousands of rounds that are due at once: the service creates the first, and the others copy its rows."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import psycopg

from service.store import migrations
from service.store.session import libpq_url, start_postgres

NAME = "bench"
"""Name of the channels with rounds."""
_COPY = """
    with base as (
        select o.body, o.round_id, o.due_at, r.day, r.version_id, r.opens_at, r.closes_at, s.spec, s.since
        from outbox o join round r on r.id = o.round_id join schedule s on s.id = r.schedule_id
        where o.kind = 'question' limit 1
    ), planned as (
        insert into schedule (workspace_id, channel_id, spec, since)
        select c.workspace_id, c.id, base.spec, base.since
        from base, generate_series(1, %(each)s), channel c where c.name = %(name)s
        returning id, workspace_id, channel_id
    ), put as (
        insert into round (schedule_id, day, version_id, opens_at, closes_at)
        select planned.id, base.day, base.version_id, base.opens_at, base.closes_at from planned, base
        returning id, schedule_id
    )
    insert into outbox (key, workspace_id, chat_id, channel_id, round_id, kind, body, due_at, not_before, give_up_at)
    select 'round:' || put.id || ':question', c.workspace_id, c.chat_id, c.id, put.id, 'question',
        replace(base.body::text, '"r' || base.round_id || '"', '"r' || put.id || '"')::jsonb,
        base.due_at, base.due_at, base.due_at + interval '1 day'
    from put join planned on planned.id = put.schedule_id join channel c on c.id = planned.channel_id, base
    order by put.id
"""
_CHANNELS = """
    insert into channel (workspace_id, chat_id, external_id, name)
    select workspace_id, id, unnest(%(channels)s::text[]), %(name)s from chat where external_id = %(team)s
"""


async def shared(rows: psycopg.AsyncConnection, channel: str) -> None:
    """Lets a known channel have rounds, and shares the bank, because the copies are in every workspace."""
    await rows.execute("update bank set workspace_id = null")
    await rows.execute("update channel set name = %s where external_id = %s", (NAME, channel))


async def more_channels(rows: psycopg.AsyncConnection, team: str, channels: Sequence[str]) -> None:
    """Adds channels to a workspace."""
    await rows.execute(_CHANNELS.encode(), {"channels": list(channels), "name": NAME, "team": team})


async def copied(rows: psycopg.AsyncConnection, each: int) -> None:
    """Copies the first round several times into every channel; the first round itself is not posted."""
    await rows.execute(_COPY.encode(), {"each": each, "name": NAME})
    await rows.execute("delete from outbox where kind = 'notice' or id = (select min(id) from outbox)")


async def reported(url: str, patience_s: int = 60) -> None:
    """Waits until every question is reported as posted, or time is up."""
    look = f"""do $$ begin
        for i in 1..{patience_s * 20} loop
            exit when not exists (select from outbox where kind = 'question' and state <> 'sent');
            perform pg_sleep(0.05);
        end loop;
    end $$"""
    async with await psycopg.AsyncConnection.connect(libpq_url(url), autocommit=True) as rows:
        await rows.execute(look.encode())


@contextlib.asynccontextmanager
async def worker_running(url: str, **settings: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Runs `dailygrad work` with these settings until the block exits; yields it when it is ready."""
    environment = os.environ | {"DATABASE_URL": url} | settings
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "dailygrad", "work", env=environment, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    async for line in process.stdout:
        if b"ready" in line:
            break
    else:
        raise SystemExit("the worker does not start")
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


@contextlib.contextmanager
def database() -> Iterator[str]:
    """Yields the URL of a migrated database, on the server in DATABASE_URL or on an embedded one."""
    if url := os.environ.get("DATABASE_URL"):
        migrations.upgrade(url)
        yield url
        return
    with tempfile.TemporaryDirectory(prefix="dailygrad-bench-") as folder:
        Path(folder).chmod(0o711)
        server = start_postgres(Path(folder) / "data")
        try:
            migrations.upgrade(server.url)
            yield server.url
        finally:
            server.stop()
