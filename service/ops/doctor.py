"""Health checks: each says what was found and how to fix it. They change nothing."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import Connection
from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from sandbox.client import SandboxUnreachable
from sandbox.load_balancer import SandboxPool
from service.config import InvalidSettings, Settings, read_settings
from service.domain.calendar import get_zone
from service.rounds import schedules
from service.sandboxes import ReportsHealth, SandboxPort, Workers
from service.store import banks, migrations, monitoring, snapshots
from service.store import schedules as rows
from service.store.members import Caller
from service.store.monitoring import LEADER_LOCK
from service.store.session import libpq_url
from service.store.tables import Channel, Schedule
from service.wire import Check, ScheduleSpec

MOST_SKEW = timedelta(seconds=5)
"""Largest accepted difference between this machine's clock and the database's."""
LATE = timedelta(minutes=2)
"""Age after which an undelivered message is reported."""
LOW = 10
"""Number of slots for which a schedule should still have questions."""


async def examine(
    session: AsyncSession, caller: Caller, sandbox: ReportsHealth | None, newest_revision: str, now: datetime
) -> tuple[Check, ...]:
    """Returns the checks of one workspace: database and sandbox, then its bank, schedules and messages."""
    found = await rows.list_schedules(session, caller.workspace_id)
    return (
        *await _database(session, newest_revision, now),
        await _sandbox(sandbox),
        await _bank(session, caller),
        *[check for schedule, channel in found for check in await _schedule(session, schedule, channel, now)],
        *([] if found else [_no_schedule()]),
        await _outbox(session, caller, now),
    )


async def _database(session: AsyncSession, newest_revision: str, now: datetime) -> list[Check]:
    version, clock = await monitoring.server_version_and_clock(session)
    revision = await monitoring.schema_revision(session)
    skew = abs(clock - now)
    return [
        Check(name="database", ok=True, said=f"PostgreSQL {version} answers"),
        _check(
            "migrations",
            revision == newest_revision,
            f"the schema is at {revision}",
            f"run `dailygrad migrate`: this program needs {newest_revision}",
        ),
        _check(
            "clock",
            skew <= MOST_SKEW,
            f"{skew.total_seconds():.1f} s between the service's clock and the database's",
            "let both machines keep time by NTP: slots and deadlines are read off these clocks",
        ),
    ]


async def _sandbox(sandbox: ReportsHealth | None) -> Check:
    cure = (
        "start it with `dailygrad sandbox` and name its socket in DAILYGRAD_SANDBOX_SOCKET, or name workers that reach "
        "it in DAILYGRAD_WORKER_URL"
    )
    if sandbox is None:
        return Check(name="sandbox", ok=False, said="none is connected, so code questions wait", cure=cure)
    try:
        health = await sandbox.health()
    except SandboxUnreachable as error:
        return Check(name="sandbox", ok=False, said=str(error), cure=cure)
    torch = health.versions.get("torch", "")
    said = f"{health.ready} children ready, isolation {health.isolation}{torch and f', torch {torch}'}"
    if health.trouble:
        return Check(name="sandbox", ok=False, said=f"{said}; {health.trouble}", cure="read the sandbox's log")
    lacks = "; ".join(health.lacks)
    said += (lacks and f"; {lacks}") + (health.gpu and f"; GPU: {health.gpu}")
    return _check("sandbox", health.isolation == "full", said, "mend what is named")


async def _bank(session: AsyncSession, caller: Caller) -> Check:
    count = sum(number for _, number in await banks.count_topics(session, caller.workspace_id))
    waiting = await banks.count_waiting_for_gpu(session, caller.workspace_id)
    gpu = f"; {waiting} more once a sandbox has a GPU" if waiting else ""
    said = f"{_many(count, 'question')} may be asked{gpu}"
    return _check("bank", count > 0, said, "import a bank with bank import")


async def _schedule(session: AsyncSession, schedule: Schedule, channel: Channel, now: datetime) -> list[Check]:
    name = f"schedule {schedule.id} in {channel.name or channel.external_id}"
    left = await schedules.count_left(session, schedule, now)
    enough = _check(
        f"{name}: questions",
        left >= LOW,
        f"{_many(left, 'slot')} until one is repeated",
        "import more questions, or widen the schedule's topics, levels and kinds",
    )
    return [enough, await _slots(session, schedule, name, now)]


async def _slots(session: AsyncSession, schedule: Schedule, name: str, now: datetime) -> Check:
    spec = ScheduleSpec.model_validate(schedule.spec)
    if schedule.paused_at is not None:
        return Check(name=f"{name}: next", ok=True, said="paused", cure="")
    timetable = schedules.build_timetable(spec, await rows.list_skips(session, schedule.id))
    zone = get_zone(spec.zone)
    slots = [slot.instant.astimezone(zone) for slot in schedules.next_slots(timetable, now)]
    said = ", ".join(f"{slot:%a} {slot:%Y-%m-%d %H:%M}" for slot in slots)
    return _check(
        f"{name}: next",
        bool(slots),
        f"{said} {spec.zone}" if slots else "no slot within a year",
        "its holidays and skips leave no day: change them",
    )


async def _outbox(session: AsyncSession, caller: Caller, now: datetime) -> Check:
    waiting = await monitoring.summarize_undelivered(session, caller.workspace_id, now)
    if waiting.oldest is None:
        return Check(name="messages", ok=True, said="nothing waits to be delivered")
    age = now - waiting.oldest
    said = f"{_many(waiting.count, 'message')} to deliver, the oldest for {int(age.total_seconds())} s"
    said += f": {waiting.error}" if waiting.error else ""
    return _check("messages", age <= LATE, said, "see that the bot runs, and that it may write in the channel")


def _no_schedule() -> Check:
    return Check(name="schedules", ok=False, said="none, so nothing is posted", cure="make one with schedule add")


def _check(name: str, ok: bool, said: str, cure: str) -> Check:
    return Check(name=name, ok=ok, said=said, cure="" if ok else cure)


def _many(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


# Checks of a deployment from one of its machines. They need no running service.

OLDEST_SERVER = 15
LEAST_SPACE = 1 << 30
"""Least free disk space, bytes. PostgreSQL stops when its disk is full, and a backup needs space too."""
PATIENCE_S = 5

_OURS = re.compile(r"DAILYGRAD_|DATABASE_|DISCORD_|SLACK_|POSTGRES_")
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|KEY")

Clock = Callable[[], datetime]


def service_settings() -> tuple[Settings | None, Check]:
    """Returns the service's settings from the environment, or None if they are invalid, with the check."""
    named = any(os.environ.get(f"DAILYGRAD_SERVICE_TOKEN{end}") for end in ("", "_FILE"))
    try:
        settings = read_settings() if named else read_settings(service_token=SecretStr("stands for none " * 2))
    except InvalidSettings as wrong:
        return None, Check(name="settings", ok=False, said="they cannot be used", cure=str(wrong))
    note = "DAILYGRAD_SERVICE_TOKEN is not set: only `dailygrad run` goes without" if not named else ""
    return settings, Check(name="settings", ok=True, said="they can be used", cure=note)


def examine_database(url: str, clock: Clock) -> Iterator[Check]:
    """Checks that the database is reachable, migrated and on time, and that a worker leads."""
    try:
        with psycopg.connect(libpq_url(url), connect_timeout=PATIENCE_S, autocommit=True) as connection:
            yield from _server(connection, clock)
            at = snapshots.revision(connection)
            yield _revision(at)
            if at == migrations.newest():
                yield _worker(connection)
    except psycopg.Error as problem:
        said = str(problem).strip().splitlines()[0]
        cure = f"check DATABASE_URL, DATABASE_PASSWORD_FILE and that PostgreSQL runs there: {said}"
        yield Check(name="database", ok=False, said="it cannot be used", cure=cure)


def _server(connection: Connection, clock: Clock) -> Iterator[Check]:
    version, size = snapshots.server_version(connection), monitoring.database_size(connection)
    new_enough = connection.info.server_version >= OLDEST_SERVER * 10_000
    cure = "" if new_enough else f"use PostgreSQL {OLDEST_SERVER} or later"
    yield Check(name="database", ok=new_enough, said=f"PostgreSQL {version}, {_bytes(size)}", cure=cure)
    before = clock()
    theirs = monitoring.server_clock(connection)
    skew = max(before - theirs, theirs - clock(), timedelta())
    cure = "" if skew <= MOST_SKEW else "set both machines' clocks by NTP, for example: timedatectl set-ntp true"
    said = f"the database's is {skew.total_seconds():,.1f} s from this machine's"
    yield Check(name="clock", ok=skew <= MOST_SKEW, said=said, cure=cure)


def _revision(at: str | None) -> Check:
    newest = migrations.newest()
    if at == newest:
        return Check(name="database", ok=True, said=f"at {at}, this version wants {newest}")
    said = f"at {at or 'no version yet'}, this version wants {newest}"
    newer = at is not None and not migrations.known(at)
    return Check(name="database", ok=False, said=said, cure="update this program" if newer else "dailygrad migrate")


def _worker(connection: Connection) -> Check:
    if monitoring.has_leader_sync(connection, LEADER_LOCK):
        return Check(name="worker", ok=True, said="one is alive and leads the schedules")
    due = monitoring.count_waiting_work(connection)
    if not due:
        return Check(name="worker", ok=True, said="none is alive", cure="nothing waits for one yet: `dailygrad work`")
    return Check(
        name="worker",
        ok=False,
        said=f"none is alive, and {due} schedule{'s' * (due != 1)} or jobs wait for one",
        cure="start `dailygrad work`, or `dailygrad run`; its log says why it ended",
    )


async def examine_sandbox(settings: Settings) -> Check | None:
    """Checks the sandbox that the settings name, and its isolation. Returns None if they name none."""
    if settings.worker_urls:
        workers = Workers(settings.worker_urls, settings.tokens)
        try:
            return await _answering(workers, "start `dailygrad work` there, and check DAILYGRAD_WORKER_URL")
        finally:
            await workers.close()
    if settings.sandbox_paths:
        cure = "start `dailygrad sandbox serve` there, and check DAILYGRAD_SANDBOX_SOCKET"
        return await _answering(SandboxPool(settings.sandbox_paths), cure)
    return None


async def _answering(sandbox: SandboxPort, cure: str) -> Check:
    try:
        health = await asyncio.wait_for(sandbox.health(), PATIENCE_S * 2)
    except (SandboxUnreachable, TimeoutError) as problem:
        said = "none answers, so code answers wait"
        return Check(name="sandbox", ok=False, said=said, cure=f"{cure}: {problem or 'it takes too long'}")
    said = f"{health.isolation} isolation, {health.ready} ready, {health.running} running, {health.waiting} waiting"
    if not health.ready and not health.running:
        return Check(name="sandbox", ok=False, said=said, cure=health.trouble or "it still starts: look again")
    return Check(name="sandbox", ok=True, said=said, cure="; ".join([*health.lacks, health.gpu]).strip("; "))


def examine_space(folder: Path) -> Check:
    """Checks the free space of a folder's disk."""
    free = shutil.disk_usage(folder).free
    cure = "" if free >= LEAST_SPACE else "make room, or move it to a larger disk: PostgreSQL stops on a full one"
    return Check(name="disk", ok=free >= LEAST_SPACE, said=f"{_bytes(free)} are free at {folder}", cure=cure)


def examine_folder(data: Path) -> Check:
    """Checks that the data folder is writable and has space."""
    place = data if data.exists() else data.parent
    good = os.access(place, os.W_OK)
    cure = "" if good else "name another: --data, or DAILYGRAD_DATA"
    return Check(name="data", ok=good, said=f"{place} can{'' if good else 'not'} be written", cure=cure)


def examine_embedded(data: Path, clock: Clock) -> Iterator[Check]:
    """Checks the database of a running `dailygrad run`, and its disk."""
    if url := running_at(data / "postgres"):
        yield from examine_database(url, clock)
    else:
        said = "DATABASE_URL is not set, `dailygrad run` brings its own"
        yield Check(name="database", ok=True, said=said, cure="it does not run now, so it was not looked at")
    if data.exists():
        yield examine_space(data)


def secrets_in(environ: Mapping[str, str]) -> Iterator[str]:
    """Returns every secret in the environment, or in files that it names."""
    for name, value in environ.items():
        if not _OURS.match(name):
            continue
        if name.endswith("_URL"):
            with suppress(ValueError):
                password = urlsplit(value).password or ""
                yield from (password, unquote(password))
        elif _SECRET.search(name):
            said = value
            if name.endswith("_FILE"):
                with suppress(OSError, ValueError):
                    said = Path(value).read_text(encoding="utf-8")
            yield from (said, *re.split(r"[\s,]+", said))


def running_at(folder: Path) -> str:
    """Returns the URL of the embedded PostgreSQL running on a folder; empty if none runs."""
    try:
        lines = (folder / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        os.kill(int(lines[0]), 0)
    except PermissionError:
        pass  # it is there, and another user's
    except (OSError, ValueError, IndexError):
        return ""
    return f"postgresql://postgres@/postgres?host={lines[4]}" if len(lines) > 4 else ""


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count / 1024:,.0f} KiB"
