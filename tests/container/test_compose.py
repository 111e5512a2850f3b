"""All of docker-compose.yml on a real engine: up, a day of a team inside the containers, several of each, and down."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.container.conftest import ROOT, compose, said

pytestmark = [pytest.mark.container, pytest.mark.timeout(600)]

IMAGES = {"dailygrad-service": 500, "dailygrad-bot": 700, "dailygrad-sandbox": 1200}
"""And the most megabytes of each."""
LASTING = ("postgres", "service", "worker", "sandbox", "web")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass(frozen=True, slots=True)
class Whole:
    """A project of its own, with everything in it."""

    words: tuple[str, ...]
    environment: dict[str, str]
    ready_s: float = 0.0

    @property
    def address(self) -> str:
        return f"http://{self.environment['WEB_ADDRESS']}"

    def compose(self, *words: str, stdin: str = "") -> str:
        """What a command of compose says. Raises AssertionError when it fails."""
        env = {**os.environ, **self.environment}
        done = subprocess.run(
            [*self.words, *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            env=env,
            cwd=ROOT,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
        return done.stdout

    def inspected(self, service: str) -> list[dict[str, Any]]:
        """What docker knows of each container of a service."""
        names = self.compose("ps", "--all", "--quiet", service).split()
        found: list[dict[str, Any]] = json.loads(said("docker", "inspect", *names).stdout)
        return found


@pytest.fixture(scope="module")
def whole() -> Iterator[Whole]:
    for image in (*IMAGES, "postgres:16"):
        if said("docker", "image", "inspect", image).returncode != 0:
            pytest.skip(f"there is no image {image} here")
    words = compose()
    if words is None:
        pytest.skip("no docker compose is installed here")
    project = f"dailygrad-test-{os.getpid()}"
    environment = {
        "WEB_ADDRESS": f"127.0.0.1:{free_port()}",
        "DISCORD_TOKEN": "",
        "SLACK_BOT_TOKEN": "",
        "SLACK_APP_TOKEN": "",
    }
    one = Whole((*words, "-p", project, "-f", "docker-compose.yml"), environment)
    began = time.monotonic()
    try:
        one.compose("up", "--detach", "--wait", "--wait-timeout", "240", "--no-build", *LASTING)
        yield Whole(one.words, environment, time.monotonic() - began)
    except AssertionError as problem:
        logs = subprocess.run(
            [*one.words, "logs", "--tail", "40"], capture_output=True, text=True, check=False, cwd=ROOT
        )
        raise AssertionError(f"{problem}\n{logs.stdout[-6000:]}") from None
    finally:
        one.compose("down", "--volumes", "--timeout", "5")


def test_a_day_inside_the_containers(whole: Whole) -> None:
    day = (Path(__file__).parent / "day.py").read_text()
    seen = [json.loads(line) for line in whole.compose("exec", "-T", "web", "python", "-", stdin=day).splitlines()]
    print(f"compose: ready after {whole.ready_s:.0f} s", *seen, sep="\n")
    assert [one["seen"] for one in seen] == ["snippet", "posted", "answered", "judged", "revealed", "board"]
    assert (seen[0]["status"], seen[0]["stdout"], seen[0]["isolation"]) == ("ok", "tensor(6)\n", "full")
    assert seen[2]["status"] == "judging"
    assert seen[-1]["rows"] == ["Ann"]


def test_the_web_chat_is_reached_from_outside(whole: Whole) -> None:
    assert "Dailygrad" in httpx.get(f"{whole.address}/").raise_for_status().text


@pytest.mark.parametrize("service", ["keys", "migrate", *LASTING])
def test_every_container_has_as_little_as_it_needs(whole: Whole, service: str) -> None:
    for one in whole.inspected(service):
        host = one["HostConfig"]
        assert not host["Privileged"]
        assert host["ReadonlyRootfs"]
        assert host["CapDrop"] == ["ALL"]
        assert service == "postgres" or not host["CapAdd"]
        assert any(option.startswith("no-new-privileges") for option in host["SecurityOpt"])
        assert 0 < host["PidsLimit"] <= 256
        assert 0 < host["Memory"] <= 3 << 30
        assert service == "postgres" or one["Config"]["User"].split(":")[0] not in ("", "0", "root")
        assert not [mount for mount in one["Mounts"] if "docker.sock" in mount["Source"]]
        assert not [word for word in one["Config"]["Env"] if "password=" in word.lower()]
        assert host["LogConfig"]["Config"] == {"max-file": "3", "max-size": "10m"}


def test_the_sandbox_has_no_network_and_strangers_reach_no_secret(whole: Whole) -> None:
    (sandbox,) = whole.inspected("sandbox")
    assert list(sandbox["NetworkSettings"]["Networks"]) == ["none"]
    assert [mount["Destination"] for mount in sandbox["Mounts"]] == ["/run/dailygrad"]
    (web,) = whole.inspected("web")
    assert sorted(mount["Destination"] for mount in web["Mounts"]) == ["/data", "/run/bot-keys"]
    assert whole.compose("exec", "-T", "web", "ls", "/run/bot-keys").split() == ["link_secret", "service_token"]


def test_more_of_each_are_added_while_it_runs(whole: Whole) -> None:
    many = ("--scale", "sandbox=2", "--scale", "worker=2", "--scale", "service=2")
    whole.compose("up", "--detach", "--wait", "--wait-timeout", "120", "--no-build", *many, *LASTING)
    assert [len(whole.inspected(name)) for name in ("sandbox", "worker", "service")] == [2, 2, 2]
    assert len(whole.compose("exec", "-T", "worker", "ls", "/run/dailygrad").split()) == 2


def test_images_are_small_and_only_the_sandbox_holds_torch(whole: Whole) -> None:
    for image, most_mb in IMAGES.items():
        size = int(said("docker", "image", "inspect", "--format", "{{.Size}}", image).stdout) / 1e6
        print(f"compose: {image} {size:.0f} MB")
        assert size < most_mb
    for service in ("service", "web"):
        found = whole.compose(
            "exec", "-T", service, "python", "-c", "import importlib.util as u; print(u.find_spec('torch'))"
        )
        assert found.strip() == "None"
    stats = said("docker", "stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}").stdout
    print(*(f"compose: {line}" for line in stats.splitlines() if "dailygrad-test" in line), sep="\n")


def test_stopping_drains_every_process(whole: Whole) -> None:
    whole.compose("stop", "--timeout", "20", "web", "worker", "service", "sandbox")
    for service in ("web", "worker", "service", "sandbox"):
        assert {one["State"]["ExitCode"] for one in whole.inspected(service)} == {0}
