"""The container of docker-compose.yml on a real engine; skipped, with the reason, where there is none."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from sandbox.client import SandboxClient

ROOT = Path(__file__).resolve().parents[2]
IMAGE = "dailygrad-sandbox"
USER = 10002


def said(*words: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """A command run to its end."""
    env = {**os.environ, **(environment or {})}
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, env=env, cwd=ROOT)


def compose() -> tuple[str, ...] | None:
    """How compose is called here."""
    if shutil.which("docker-compose"):
        return ("docker-compose",)
    return ("docker", "compose") if said("docker", "compose", "version").returncode == 0 else None


@dataclass(frozen=True, slots=True)
class Container:
    """One that compose started."""

    words: tuple[str, ...]
    folder: Path
    environment: dict[str, str]

    def compose(self, *words: str) -> str:
        """What a command of compose says. Raises AssertionError when it fails."""
        done = said(*self.words, *words, environment=self.environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    @property
    def name(self) -> str:
        """What docker calls it."""
        return self.compose("ps", "--all", "--quiet", "sandbox")

    @property
    def client(self) -> SandboxClient:
        """A client at the shared socket."""
        return SandboxClient(next(self.folder.glob("*.sock")))

    def shell(self, script: str) -> str:
        """What a script says inside, as the container's user and with its walls."""
        return said("docker", "exec", self.name, "sh", "-c", script).stdout.strip()

    def shown(self, template: str) -> str:
        """A field of `docker inspect`."""
        return said("docker", "inspect", "--format", template, self.name).stdout.strip()


def missing() -> str:
    """Why no container can be started here, if so."""
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
    """A container of this test's own, healthy."""
    with running() as one:
        yield one


@pytest.fixture(scope="module")
def container(image: str) -> Iterator[Container]:
    """A container for all tests of a file, healthy."""
    with running() as one:
        yield one


@contextlib.contextmanager
def running() -> Iterator[Container]:
    """A container, healthy, for the length of the block."""
    words = compose() or ()
    with tempfile.TemporaryDirectory(prefix="dailygrad-container-") as made:
        folder = Path(made)
        if os.getuid() == 0:
            os.chown(folder, USER, USER)
        folder.chmod(0o777 if os.getuid() else 0o750)
        files = ("-f", "docker-compose.yml", "-f", "tests/container/compose.test.yml")
        environment = {"SANDBOX_CALLER": str(os.getuid()), "SANDBOX_FOLDER": made}
        one = Container((*words, "-p", folder.name, *files), folder, environment)
        try:
            one.compose("up", "--detach", "--wait", "--no-build", "sandbox")
            yield one
        finally:
            one.compose("down", "--volumes", "--timeout", "2")
