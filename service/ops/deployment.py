"""Checks of a deployment from one of its machines, worded for its operator. They need no running service."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg import Connection

from sandbox.client import SandboxUnreachable
from service.config import InvalidSettings, Settings, has_service_token, read_command_settings
from service.credentials import TokenCipher
from service.process import Clock
from service.sandboxes import SandboxPort, own_sandboxes
from service.store import migrations, monitoring, snapshots
from service.store.monitoring import LEADER_LOCK
from service.store.session import libpq_url


@dataclass(frozen=True, slots=True)
class Check:
    """One check and its result."""

    name: str
    ok: bool
    found: str
    fix: str = ""
    """What to do; for a check that is ok, a hint."""


MOST_SKEW = timedelta(seconds=5)
"""Largest accepted difference between this machine's clock and the database's."""

WITHOUT_SECRETS = "the web chat or apps in Slack do not work"
FIND_KEY = (
    "add that key behind the others; it is in the store of keys on the machine of the backup. If it is lost, run "
    "`dailygrad reencrypt --forget`"
)
OLDEST_SERVER = 15
"""Oldest supported major version of PostgreSQL."""
LEAST_SPACE = 1 << 30
"""Least free disk space, bytes. PostgreSQL stops when its disk is full, and a backup needs space too."""
TIMEOUT_SECONDS = 5
"""Time in which the database answers, seconds; the sandbox gets twice as long."""

_OURS = re.compile(r"DAILYGRAD_|DATABASE_|DISCORD_|SLACK_|POSTGRES_")
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|KEY")


def service_settings() -> tuple[Settings | None, Check]:
    """Returns the service's settings from the environment, or None if they are invalid, with the check."""
    try:
        settings = read_command_settings()
    except InvalidSettings as wrong:
        return None, Check(name="settings", ok=False, found="they cannot be used", fix=str(wrong))
    note = "DAILYGRAD_SERVICE_TOKEN is not set: only `dailygrad run` goes without" if not has_service_token() else ""
    return settings, Check(name="settings", ok=True, found="they can be used", fix=note)


def examine_database(url: str, clock: Clock) -> Iterator[Check]:
    """Checks that the database is reachable, migrated and on time, and that a worker leads."""
    try:
        with psycopg.connect(libpq_url(url), connect_timeout=TIMEOUT_SECONDS, autocommit=True) as connection:
            yield from _server(connection, clock)
            at = snapshots.revision(connection)
            yield _revision(at)
            if at == migrations.newest():
                yield _worker(connection)
    except psycopg.Error as problem:
        cause = str(problem).strip().splitlines()[0]
        cure = f"check DATABASE_URL, DATABASE_PASSWORD_FILE and that PostgreSQL runs there: {cause}"
        yield Check(name="database", ok=False, found="it cannot be used", fix=cure)


def examine_secrets(settings: Settings) -> Iterator[Check]:
    """Checks that the keys in DAILYGRAD_TOKEN_KEY decrypt what the database keeps encrypted, if that can be read."""
    cipher = TokenCipher(settings.token_keys)
    with suppress(psycopg.Error):
        with psycopg.connect(libpq_url(settings.database_url), connect_timeout=TIMEOUT_SECONDS) as connection:
            stored = monitoring.encrypted_secrets(connection)
        lost = sum(not cipher.fits(one) for one in stored)
        if stored and not lost:
            yield Check(name="keys", ok=True, found=f"they fit all {len(stored)} stored secrets")
        elif lost:
            state = (
                f"{lost} of {len(stored)} stored secrets were encrypted with a key that is not in DAILYGRAD_TOKEN_KEY"
            )
            yield Check(name="keys", ok=False, found=f"{state}, so that {WITHOUT_SECRETS}", fix=FIND_KEY)


def _server(connection: Connection, clock: Clock) -> Iterator[Check]:
    version, size = snapshots.server_version(connection), monitoring.database_size(connection)
    new_enough = connection.info.server_version >= OLDEST_SERVER * 10_000
    cure = "" if new_enough else f"use PostgreSQL {OLDEST_SERVER} or later"
    yield Check(name="database", ok=new_enough, found=f"PostgreSQL {version}, {_bytes(size)}", fix=cure)
    before = clock()
    theirs = monitoring.server_clock(connection)
    skew = max(before - theirs, theirs - clock(), timedelta())
    cure = "" if skew <= MOST_SKEW else "set both machines' clocks by NTP, for example: timedatectl set-ntp true"
    state = f"the database's is {skew.total_seconds():,.1f} s from this machine's"
    yield Check(name="clock", ok=skew <= MOST_SKEW, found=state, fix=cure)


def _revision(at: str | None) -> Check:
    newest = migrations.newest()
    if at == newest:
        return Check(name="database", ok=True, found=f"at {at}, this version wants {newest}")
    state = f"at {at or 'no version yet'}, this version wants {newest}"
    newer = at is not None and not migrations.known(at)
    return Check(name="database", ok=False, found=state, fix="update this program" if newer else "dailygrad migrate")


def _worker(connection: Connection) -> Check:
    if monitoring.has_leader_sync(connection, LEADER_LOCK):
        return Check(name="worker", ok=True, found="one is alive and leads the schedules")
    due = monitoring.count_waiting_work(connection)
    if not due:
        return Check(name="worker", ok=True, found="none is alive", fix="nothing waits for one yet: `dailygrad work`")
    return Check(
        name="worker",
        ok=False,
        found=f"none is alive, and {due} schedule{'s' * (due != 1)} or jobs wait for one",
        fix="start `dailygrad work`, or `dailygrad run`; its log says why it ended",
    )


async def examine_sandbox(settings: Settings) -> Check | None:
    """Checks the sandbox that the settings name, and its isolation. Returns None if they name none."""
    if settings.worker_urls:
        from service.workers import Workers

        workers = Workers(settings.worker_urls, settings.tokens)
        try:
            return await _answering(workers, "start `dailygrad work` there, and check DAILYGRAD_WORKER_URL")
        finally:
            await workers.close()
    if (sandboxes := own_sandboxes(settings)) is not None:
        named = "DAILYGRAD_SANDBOX_URL and the certificates" if settings.sandbox_nodes else "DAILYGRAD_SANDBOX_SOCKET"
        return await _answering(sandboxes, f"start `dailygrad sandbox serve` there, and check {named}")
    return None


async def _answering(sandbox: SandboxPort, cure: str) -> Check:
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS * 2):
            health = await sandbox.health()
    except (SandboxUnreachable, TimeoutError) as problem:
        state = "none answers, so code answers wait"
        return Check(name="sandbox", ok=False, found=state, fix=f"{cure}: {str(problem) or 'it takes too long'}")
    state = f"{health.isolation} isolation, {health.ready} ready, {health.running} running, {health.waiting} waiting"
    if not health.ready and not health.running:
        return Check(name="sandbox", ok=False, found=state, fix=health.trouble or "it still starts: look again")
    return Check(name="sandbox", ok=True, found=state, fix="; ".join([*health.lacks, health.gpu]).strip("; "))


def examine_space(folder: Path) -> Check:
    """Checks the free space of a folder's disk."""
    free = shutil.disk_usage(folder).free
    cure = "" if free >= LEAST_SPACE else "make room, or move it to a larger disk: PostgreSQL stops on a full one"
    return Check(name="disk", ok=free >= LEAST_SPACE, found=f"{_bytes(free)} are free at {folder}", fix=cure)


def examine_folder(data: Path) -> Check:
    """Checks that the data folder is writable and has space."""
    place = data if data.exists() else data.parent
    good = os.access(place, os.W_OK)
    cure = "" if good else "name another: --data, or DAILYGRAD_DATA"
    return Check(name="data", ok=good, found=f"{place} can{'' if good else 'not'} be written", fix=cure)


def examine_embedded(data: Path, clock: Clock) -> Iterator[Check]:
    """Checks the database of a running `dailygrad run`, and its disk."""
    if url := running_at(data / "postgres"):
        yield from examine_database(url, clock)
    else:
        state = "DATABASE_URL is not set, `dailygrad run` brings its own"
        yield Check(name="database", ok=True, found=state, fix="it is not running, so it was not checked")
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
            text = value
            if name.endswith("_FILE"):
                with suppress(OSError, ValueError):
                    text = Path(value).read_text(encoding="utf-8")
            yield from (text, *re.split(r"[\s,]+", text))


def running_at(folder: Path) -> str:
    """Returns the URL of the embedded PostgreSQL running on a folder; empty if none runs."""
    try:
        lines = (folder / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        os.kill(int(lines[0]), 0)
    except PermissionError:
        pass  # it exists and belongs to another user
    except (OSError, ValueError, IndexError):
        return ""
    return f"postgresql://postgres@/postgres?host={lines[4]}" if len(lines) > 4 else ""


def _bytes(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20)):
        if count >= size:
            return f"{count / size:,.1f} {unit}"
    return f"{count / 1024:,.0f} KiB"
