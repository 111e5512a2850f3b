"""All of docker-compose.yml, started once for all tests and controlled with compose and docker."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.container.engine import ROOT, compose, said
from tests.machine import free_port

IMAGES = {"dailygrad-service": 500, "dailygrad-bot": 700, "dailygrad-sandbox": 1200}
"""Most memory of each service, megabytes."""
LASTING = ("postgres", "service", "worker", "sandbox", "web")
Report = dict[str, str]
"""Measurements, shown at the end of the run."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A compose project with all services."""

    words: tuple[str, ...]
    environment: dict[str, str]
    ready_s: float = 0.0

    @property
    def address(self) -> str:
        return f"http://{self.environment['WEB_ADDRESS']}"

    def tried(self, *words: str, stdin: str | bytes = "") -> subprocess.CompletedProcess[bytes]:
        """Runs a compose command to its end."""
        return subprocess.run(
            [*self.words, *words],
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            check=False,
            env={**os.environ, **self.environment},
            cwd=ROOT,
            timeout=700,
        )

    def compose(self, *words: str, stdin: str = "") -> str:
        """Returns the output of a compose command. Raises AssertionError if it fails."""
        done = self.tried(*words, stdin=stdin)
        assert done.returncode == 0, (done.stderr[-3000:] + done.stdout[-3000:]).decode(errors="replace")
        return done.stdout.decode()

    def up(self, *words: str) -> None:
        """Starts everything and waits until it is healthy."""
        self.compose("up", "--detach", "--wait", "--wait-timeout", "600", "--no-build", *words, *LASTING)

    def began(self, service: str, *words: str) -> subprocess.Popen[str]:
        """Starts a command in a container without waiting."""
        return subprocess.Popen(
            [*self.words, "exec", "-T", service, *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **self.environment},
            cwd=ROOT,
        )

    def containers(self, *services: str) -> list[str]:
        """Returns the container ids."""
        return self.compose("ps", "--quiet", *services).split()

    def inspected(self, service: str) -> list[dict[str, Any]]:
        """Returns docker's data about each container of a service."""
        names = self.compose("ps", "--all", "--quiet", service).split()
        found: list[dict[str, Any]] = json.loads(said("docker", "inspect", *names).stdout)
        return found

    def sql(self, query: str) -> str:
        """Returns the unformatted result of a query."""
        words = ("psql", "-U", "dailygrad", "-d", "dailygrad", "-tA", "-v", "ON_ERROR_STOP=1", "-c", query)
        return self.compose("exec", "-T", "postgres", *words).strip()

    def warnings(self, *services: str) -> str:
        """Returns the newest lines of the logs that are more than information."""
        lines = self.compose("logs", "--no-color", *services).splitlines()
        return "\n".join([line for line in lines if '"level": "info"' not in line][-60:])

    def logs(self) -> str:
        return self.tried("logs", "--tail", "40").stdout.decode(errors="replace")[-6000:]


def missing() -> str:
    """Returns why compose cannot be started here; empty if it can."""
    for image in (*IMAGES, "postgres:16"):
        if said("docker", "image", "inspect", image).returncode != 0:
            return f"there is no image {image} here"
    return "" if compose() else "no docker compose is installed here"


@contextmanager
def project(name: str) -> Iterator[Whole]:
    """Yields a project with nothing started, and removes it afterwards."""
    if why := missing():
        pytest.skip(why)
    empty = ("DISCORD_TOKEN", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET", "SLACK_CLIENT_SECRET")
    environment = {"WEB_ADDRESS": f"127.0.0.1:{free_port()}", "SLACK_ADDRESS": f"127.0.0.1:{free_port()}"}
    environment |= dict.fromkeys(empty, "")
    one = Whole((*(compose() or ()), "-p", f"dailygrad-{name}-{os.getpid()}", "-f", "docker-compose.yml"), environment)
    try:
        yield one
    except AssertionError as problem:
        raise AssertionError(f"{problem}\n{one.logs()}") from None
    finally:
        one.tried(
            "--profile", "discord", "--profile", "slack", "--profile", "tls", "down", "--volumes", "--timeout", "5"
        )


@contextmanager
def everything() -> Iterator[Whole]:
    """Yields a project in which everything runs."""
    began = time.monotonic()
    with project("test") as one:
        one.up()
        yield Whole(one.words, one.environment, time.monotonic() - began)


def script(name: str) -> str:
    """Returns the source of a script for a container, such as `day.py`."""
    return (Path(__file__).parent / name).read_text()
