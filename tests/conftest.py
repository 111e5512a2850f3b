"""What every test may stand on: a real PostgreSQL, one database per test, a clock one sets, the service and its client.

Without DATABASE_URL an embedded PostgreSQL is started once for the run.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from os import environ, getpid
from pathlib import Path

import psycopg
import pytest
import structlog
from sqlalchemy.engine import make_url

from service.app import Service, build
from service.client import ServiceClient
from service.config import Settings
from service.store import migrations
from service.store.embedded import start_postgres
from service.store.session import libpq_url
from service.wire import Where, Who

TOKEN = "a-token-only-the-tests-know"
MONDAY = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
"""When a test begins, unless it says otherwise: a Monday without a change of clocks near."""

PLAIN = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)

MakeWho = Callable[..., Who]
MakeDatabase = Callable[[], str]

# Its own renderer of tracebacks draws every frame with its variables, for seconds in which our doubles hear nobody.
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], PLAIN])

_numbers = count(1)


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    now: datetime = MONDAY

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **delta: float) -> datetime:
        """Move on by so many `days`, `hours`, `minutes`, `seconds`; returns the new instant."""
        self.now += timedelta(**delta)
        return self.now


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A server on which databases may be made."""
    if url := environ.get("DATABASE_URL"):
        yield libpq_url(url)
        return
    with tempfile.TemporaryDirectory(prefix="dailygrad-pg-") as folder:
        Path(folder).chmod(0o711)
        server = start_postgres(Path(folder) / "data")
        try:
            with _connected(libpq_url(server.url)) as connection:
                # Nothing here outlives the run, so nothing needs to reach the disk.
                for setting in ("fsync", "synchronous_commit", "full_page_writes"):
                    connection.execute(f"alter system set {setting} = off".encode())
                connection.execute("select pg_reload_conf()")
            yield libpq_url(server.url)
        finally:
            server.stop()


@pytest.fixture(scope="session")
def template(postgres_url: str) -> Iterator[str]:
    """The name of a migrated, empty database."""
    name = f"dailygrad_template_{getpid()}"
    _create(postgres_url, name, "template0")
    migrations.upgrade(_named(postgres_url, name))
    yield name
    _drop(postgres_url, name)


@pytest.fixture
def new_database(postgres_url: str) -> Iterator[MakeDatabase]:
    """Makes empty databases, not migrated, that are dropped after the test."""
    made: list[str] = []

    def make(template: str = "template0") -> str:
        made.append(f"dailygrad_test_{getpid()}_{next(_numbers)}")
        _create(postgres_url, made[-1], template)
        return _named(postgres_url, made[-1])

    yield make
    for name in made:
        _drop(postgres_url, name)


@pytest.fixture
def database_url(new_database: Callable[[str], str], template: str) -> str:
    """A migrated, empty database of this test's own."""
    return new_database(template)


@pytest.fixture
def settings(database_url: str) -> Settings:
    return Settings(database_url=database_url, service_token=TOKEN)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def service(settings: Settings, clock: Clock) -> AsyncIterator[Service]:
    """The service without a sandbox; nothing ticks by itself: call `service.tick()` and `service.jobs.work_off()`."""
    async with build(settings, clock).running() as running:
        yield running


@pytest.fixture
async def client(service: Service) -> AsyncIterator[ServiceClient]:
    async with ServiceClient.inside(service.api, TOKEN) as client:
        yield client


@pytest.fixture
def who() -> MakeWho:
    """Makes members: `who("Ada")`, `who("Boss", admin=True)`, `who("Eve", workspace="other")`."""

    def make(name: str = "Ada", *, admin: bool = False, workspace: str = "home", member: str = "") -> Who:
        return Who(platform="web", workspace=workspace, member=member or name.lower(), name=name, admin=admin)

    return make


@pytest.fixture
def where() -> Where:
    return Where(channel="daily", name="#daily")


@contextmanager
def _connected(url: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection


def _named(server_url: str, name: str) -> str:
    return make_url(server_url).set(database=name).render_as_string(hide_password=False)


def _create(server_url: str, name: str, template: str) -> None:
    with _connected(server_url) as connection:
        connection.execute(f'create database "{name}" template "{template}"'.encode())


def _drop(server_url: str, name: str) -> None:
    with _connected(server_url) as connection:
        connection.execute(f'drop database if exists "{name}" with (force)'.encode())
