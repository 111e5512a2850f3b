"""All of docker-compose.yml on a real engine: start, a day inside the containers, and scaling."""

from __future__ import annotations

import contextlib
import json
import re
import socket
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from tests.container.engine import said
from tests.container.whole import IMAGES, LASTING, Report, Whole, script
from tests.machine import free_port

pytestmark = [pytest.mark.container, pytest.mark.timeout(900)]


def test_a_day_inside_the_containers(whole: Whole, measured: Report) -> None:
    day = (Path(__file__).parent / "day.py").read_text()
    seen = [json.loads(line) for line in whole.compose("exec", "-T", "web", "python", "-", stdin=day).splitlines()]
    measured["everything healthy after"] = f"{whole.ready_s:.0f} s"
    measured["a day in the containers"] = ", ".join(f"{one['seen']} {one['after_s']:.1f} s" for one in seen)
    assert [one["seen"] for one in seen] == [
        "snippet",
        "posted",
        "answered",
        "judged",
        "revealed",
        "result",
        "board",
    ]
    assert (seen[0]["status"], seen[0]["stdout"], seen[0]["isolation"]) == ("ok", "tensor(6)\n", "full")
    assert seen[2]["status"] == "judging"
    assert seen[5]["verdict"] in ("wrong", "runtime error", "invalid")
    assert seen[5]["points"] == 0
    assert seen[6]["rows"] == [], "a member without points has no rank"


def test_the_web_chat_is_reached_from_outside(whole: Whole) -> None:
    assert "Dailygrad" in httpx.get(f"{whole.address}/").raise_for_status().text


def test_names_in_any_of_the_usual_scripts_can_be_drawn(whole: Whole) -> None:
    """Chinese, Korean, Japanese, an emoji, Thai, and nine scripts of India."""
    letters = "\u7530\uae40\u3042\U0001f680\u0e01\u0915\u0995\u0a15\u0a95\u0b15\u0b95\u0c15\u0c95\u0d15"
    shown = f"import bot.pictures.canvas as c; print(ascii(c.drawable({letters!r})))"
    assert whole.compose("exec", "-T", "web", "python", "-c", shown).strip() == ascii(letters)


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


@pytest.mark.parametrize("service", ["service", "worker", "web"])
def test_the_doctor_finds_every_part_well(whole: Whole, service: str) -> None:
    said = whole.compose("exec", "-T", service, "python", "-m", "dailygrad", "doctor").splitlines()
    assert said, "it looked at something"
    assert not [line for line in said if not line.startswith(("ok ", " "))], said


def test_the_sandbox_has_no_network_and_strangers_reach_no_secret(whole: Whole) -> None:
    (sandbox,) = whole.inspected("sandbox")
    assert list(sandbox["NetworkSettings"]["Networks"]) == ["none"]
    assert [mount["Destination"] for mount in sandbox["Mounts"]] == ["/run/dailygrad"]
    (web,) = whole.inspected("web")
    assert [mount["Destination"] for mount in web["Mounts"]] == ["/run/keys"]


@pytest.mark.parametrize(
    ("service", "secrets"),
    [
        ("web", ["link_secret", "service_token"]),
        ("postgres", ["postgres_password"]),
        ("service", ["bot_tokens", "postgres_password", "service_token", "token_key"]),
    ],
)
def test_each_container_has_its_own_secrets(whole: Whole, service: str, secrets: list[str]) -> None:
    assert whole.compose("exec", "-T", service, "ls", "/run/keys").split() == secrets


def test_the_exporters_role_has_its_password_and_reads_statistics_only(whole: Whole) -> None:
    script = (
        "import pathlib, psycopg; "
        "password = pathlib.Path('/run/monitor/monitor_password').read_text(); "
        "monitor = psycopg.connect('host=postgres dbname=dailygrad user=dailygrad_monitor', password=password); "
        "print(monitor.execute('select count(*) > 10 from pg_stat_user_tables').fetchone()); "
        "monitor.execute('select 1 from answer')"
    )
    ended = whole.tried("run", "--rm", "--no-deps", "-T", "--entrypoint", "python", "migrate", "-c", script)
    assert ended.stdout.strip() == b"(True,)"
    assert b"permission denied for table answer" in ended.stderr


def test_the_web_bot_reaches_the_service_alone_and_as_the_web_only(whole: Whole) -> None:
    found = json.loads(whole.compose("exec", "-T", "web", "python", "-c", script("reached.py")))
    assert found == {"service": 200, "postgres": "unknown name", "worker": "unknown name", "slack tokens": 403}


def test_no_member_takes_the_service_down_with_a_document(whole: Whole, measured: Report) -> None:
    before = {name: whole.inspected(name)[0] for name in ("service", "worker")}
    told = whole.compose("exec", "-T", "web", "python", "-", stdin=script("hostile.py")).splitlines()
    seen = [json.loads(line) for line in told]
    assert [one["outcome"] for one in seen if one["who"] == "member"] == ["admins-only"] * 3, "nothing was read"
    assert [one["outcome"] for one in seen if one["who"] == "admin"] == ["document-refused"] * 3
    for name, one in before.items():
        (now,) = whole.inspected(name)
        assert now["Id"] == one["Id"] and now["RestartCount"] == one["RestartCount"] and not now["State"]["OOMKilled"]
    slowest = max(one["health_s"] for one in seen)
    measured["hostile documents"] = f"6 refused, health checks at most {slowest} s meanwhile"


def test_more_of_each_are_added_while_it_runs(whole: Whole) -> None:
    many = ("--scale", "sandbox=2", "--scale", "worker=2", "--scale", "service=2")
    whole.compose("up", "--detach", "--wait", "--wait-timeout", "600", "--no-build", *many, *LASTING)
    assert [len(whole.inspected(name)) for name in ("sandbox", "worker", "service")] == [2, 2, 2]
    assert len(whole.compose("exec", "-T", "worker", "ls", "/run/dailygrad").split()) == 2


def test_two_containers_of_the_web_chat_are_one_chat(whole: Whole) -> None:
    first = two_free_ports()
    two = replace(whole, environment={**whole.environment, "WEB_ADDRESS": f"127.0.0.1:{first}-{first + 1}"})
    two.up("--scale", "web=2")
    try:
        here, there = f"http://127.0.0.1:{first}", f"http://127.0.0.1:{first + 1}"
        with httpx.Client(timeout=60) as browser:  # sends its cookies to both ports
            home = joins(browser, here, "Two Containers")
            page = browser.get(there + home).raise_for_status().text
            said = {"token": hidden(page, "token"), "event": hidden(page, "event"), "text": "said to the second"}
            assert browser.post(f"{there}{home}say", data=said).status_code == 303
            assert "said to the second" in browser.get(here + home).text
        (web, other) = (one["Id"] for one in two.inspected("web"))
        assert web != other
    finally:
        whole.up("--scale", "web=1")


def two_free_ports() -> int:
    """Returns a free port that is followed by another."""
    while True:
        first = free_port()
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", first + 1)):
            return first


def joins(browser: httpx.Client, address: str, name: str) -> str:
    """Joins the web chat and returns the path of the channel's page."""
    token = hidden(browser.get(f"{address}/").text, "token")
    joined = browser.post(f"{address}/join", data={"token": token, "name": name})
    return f"/m/{joined.headers['location'].split('/')[2]}/"


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found, f"no hidden field {name} on this page"
    return found[1]


def test_images_are_small_and_only_the_sandbox_holds_torch(whole: Whole, measured: Report) -> None:
    for image, most_mb in IMAGES.items():
        size = int(said("docker", "image", "inspect", "--format", "{{.Size}}", image).stdout) / 1e6
        measured[f"image {image}"] = f"{size:.0f} MB"
        assert size < most_mb
    for service in ("service", "web"):
        found = whole.compose(
            "exec", "-T", service, "python", "-c", "import importlib.util as u; print(u.find_spec('torch'))"
        )
        assert found.strip() == "None"
