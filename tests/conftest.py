"""Fixtures for every test: PostgreSQL with a database per test, a clock to set, the service and its client.

The service is imported by the fixtures that need it: a test of pure code starts without it.
"""

from __future__ import annotations

import gc
import logging
import signal
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import hypothesis
import pytest
import structlog

from tests.scheduling import Scheduling, rank

if TYPE_CHECKING:
    from xdist.remote import Producer

    from sandbox.client import SandboxClient
    from sandbox.embedded import EmbeddedSandbox
    from service.app import Service
    from service.client import ServiceClient
    from service.config import Settings
    from service.wire import Where, Who
    from tests.databases import Databases

pytest_plugins = ["tests.sandbox.started"]

TOKEN = "a-token-only-the-tests-know"
MONDAY = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
"""Start time of tests: a Monday without a DST change nearby."""

PLAIN = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)

MakeWho: TypeAlias = "Callable[..., Who]"
MakeDatabase = Callable[[], str]

# The default renderer formats the variables of every stack frame, which blocks the doubles for seconds.
structlog.configure(processors=[*structlog.get_config()["processors"][:-1], PLAIN])


# A shell ignores Ctrl-C for what it runs in the background, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A loaded machine fails no test: no example has a deadline. Every run tries the same examples, so that a run does not
# fail by chance; `--hypothesis-profile explore` tries others, ten times as many where a test names no number.
_TIMELESS = hypothesis.settings(
    deadline=None,
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.function_scoped_fixture,  # examples of these tests share a database or a client
    ],
)
hypothesis.settings.register_profile("fixed", _TIMELESS, derandomize=True)
hypothesis.settings.register_profile("explore", _TIMELESS, max_examples=1000)
hypothesis.settings.load_profile("fixed")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collects without the garbage collector: nothing collected is garbage, and later collections need not visit it.

    Tests make many objects and few cycles, so the collector also runs less often than by default. What a test leaves
    open is still found.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(10_000, 20, 10)
        gc.enable()


_LOGGERS = tuple(map(logging.getLogger, ("bot", "dailygrad", "questions", "sandbox", "service")))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Undoes what a command that a test ran in this process did to our loggers: the next test may read the log."""
    for logger in _LOGGERS:
        if logger.level:
            logger.setLevel(logging.NOTSET)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skips files without slow tests if only these are run: importing all of them takes each process eight seconds."""
    skipped = config.option.markexpr == "slow" and collection_path.match("test_*.py") and not _has_slow(collection_path)
    return skipped or None


def _has_slow(file: Path) -> bool:
    return "mark.slow" in file.read_text("utf-8")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts long folders first where pytest-xdist distributes files."""
    for file in {item.path for item in items if item.get_closest_marker("slow")}:
        if not _has_slow(file):
            raise pytest.UsageError(f"{file} has slow tests without `mark.slow`, so `make test-slow` would skip them")
    for item in items:
        if item.get_closest_marker("browser") and not item.get_closest_marker("slow"):
            raise pytest.UsageError(f"{item.nodeid} drives a browser, which takes seconds: mark it as slow, too")
    if hasattr(config, "workerinput"):
        items.sort(key=rank)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None


@dataclass
class Clock:
    """A clock that stands still until it is advanced."""

    now: datetime = MONDAY

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **delta: float) -> datetime:
        """Advances by `days`, `hours`, `minutes` and `seconds`; returns the new time."""
        self.now += timedelta(**delta)
        return self.now


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """URL of a server on which databases can be created."""
    from tests.databases import name_openers, server_running

    name_openers()
    with server_running() as url:
        yield url


@pytest.fixture(scope="session")
def databases(postgres_url: str) -> Iterator[Databases]:
    """The databases of this run."""
    from tests.databases import Databases

    databases = Databases(postgres_url)
    yield databases
    databases.close()


@pytest.fixture
def new_database(databases: Databases) -> Iterator[MakeDatabase]:
    """Creates empty databases without a schema, which are dropped after the test."""
    made: list[str] = []

    def make() -> str:
        made.append(databases.make())
        return databases.url(made[-1])

    yield make
    for name in made:
        databases.drop(name)


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """URL of a migrated, empty database that no other test uses meanwhile."""
    name = databases.lend()
    yield databases.url(name)
    databases.take_back(name)


@pytest.fixture
def settings(database_url: str) -> Settings:
    from service.config import Settings

    return Settings(database_url=database_url, service_token=TOKEN)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def service(settings: Settings, clock: Clock) -> AsyncIterator[Service]:
    """The service without a sandbox. Nothing ticks by itself: call `service.tick()` and `jobs.run_pending()`."""
    from service.app import build
    from tests.databases import keep_connections

    async with build(settings, clock).running() as running:
        yield running
        keep_connections(running.engine)


@pytest.fixture
async def client(service: Service) -> AsyncIterator[ServiceClient]:
    from service.client import ServiceClient

    async with ServiceClient.inside(service.api, TOKEN) as client:
        yield client


@pytest.fixture
def who() -> MakeWho:
    """Creates members: `who("Ada")`, `who("Boss", admin=True)`, `who("Eve", workspace="other")`."""

    from service.wire import Who

    def make(name: str = "Ada", *, admin: bool = False, workspace: str = "home", member: str = "") -> Who:
        return Who(platform="web", workspace=workspace, member=member or name.lower(), name=name, admin=admin)

    return make


@pytest.fixture
def where() -> Where:
    from service.wire import Where

    return Where(channel="daily", name="#daily")


@pytest.fixture
async def sandbox(started_sandbox: EmbeddedSandbox) -> SandboxClient:
    """The real sandbox, ready."""
    await started_sandbox.client.until_ready()
    return started_sandbox.client
