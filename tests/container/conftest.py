"""The container of docker-compose.yml on a real engine. Skipped, with the reason, where there is none."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdist.workermanage import WorkerController

from sandbox.client import SandboxClient
from tests.container.engine import compose, said
from tests.container.whole import Report, Whole, everything

IMAGE = "dailygrad-sandbox"
USER = 10002


@dataclass(frozen=True, slots=True)
class Container:
    """A container that compose started."""

    words: tuple[str, ...]
    folder: Path
    environment: dict[str, str]
    service: str

    def compose(self, *words: str) -> str:
        """Returns the output of a compose command. Raises AssertionError if it fails."""
        done = said(*self.words, *words, environment=self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @property
    def name(self) -> str:
        """Docker's name of the container."""
        return self.compose("ps", "--all", "--quiet", self.service)

    @property
    def client(self) -> SandboxClient:
        """A client for the shared socket."""
        return SandboxClient(next(self.folder.glob("*.sock")))

    def shell(self, script: str) -> str:
        """Returns the output of a script inside, as the container's user and with its confinement."""
        return said("docker", "exec", self.name, "sh", "-c", script).stdout.strip()

    def shown(self, template: str) -> str:
        """Returns a field of `docker inspect`."""
        return said("docker", "inspect", "--format", template, self.name).stdout.strip()


def missing() -> str:
    """Returns why no container can be started here; empty if one can."""
    if shutil.which("docker") is None or said("docker", "version").returncode != 0:
        return "no docker engine answers here"
    if said("docker", "image", "inspect", IMAGE).returncode != 0:
        return f"there is no image {IMAGE}: docker build -f sandbox/Dockerfile -t {IMAGE} ."
    return "" if compose() else "no docker compose is installed here"


@pytest.fixture(scope="session")
def image() -> str:
    """The built image."""
    if why := missing():
        pytest.skip(why)
    return IMAGE


@pytest.fixture
def started(image: str) -> Iterator[Container]:
    """A healthy container for this test only."""
    with running() as one:
        yield one


@pytest.fixture(scope="module")
def container(image: str) -> Iterator[Container]:
    """A healthy container for all tests of a file."""
    with running() as one:
        yield one


@pytest.fixture(scope="session")
def whole() -> Iterator[Whole]:
    """All services of compose, healthy, with the data of earlier tests."""
    with everything() as one:
        yield one


_MEASURED = pytest.StashKey[Report]()


@pytest.fixture(scope="session")
def measured(pytestconfig: pytest.Config) -> Report:
    """Measurements that are shown at the end of the run."""
    return pytestconfig.stash.setdefault(_MEASURED, {})


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hands what one of several processes measured to the one that reports."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["measured"] = session.config.stash.get(_MEASURED, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: WorkerController) -> None:
    """Takes what one of several processes measured."""
    node.config.stash.setdefault(_MEASURED, {}).update(getattr(node, "workeroutput", {}).get("measured", {}))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the table of measurements."""
    found = config.stash.get(_MEASURED, {})
    if not found:
        return
    terminalreporter.section("containers: what was measured")
    width = max(map(len, found))
    for name, value in found.items():
        terminalreporter.write_line(f"{name:<{width}}  {value}")


@contextlib.contextmanager
def running(
    service: str = "sandbox", files: tuple[str, ...] = (), more: Mapping[str, str] | None = None
) -> Iterator[Container]:
    """Yields a healthy container of that service. More files of compose, and their variables, may be laid over it."""
    words = compose() or ()
    with tempfile.TemporaryDirectory(prefix="dailygrad-container-") as made:
        folder = Path(made)
        if os.getuid() == 0:
            os.chown(folder, USER, USER)
        folder.chmod(0o777 if os.getuid() else 0o750)
        layers = ("docker-compose.yml", "tests/container/compose.test.yml", *files)
        environment = {"SANDBOX_CALLER": str(os.getuid()), "SANDBOX_FOLDER": made, **(more or {})}
        chosen = [word for file in layers for word in ("-f", file)]
        one = Container((*words, "-p", folder.name, *chosen), folder, environment, service)
        try:
            one.compose("up", "--detach", "--wait", "--no-build", service)
            yield one
        finally:
            one.compose("down", "--volumes", "--timeout", "2")
