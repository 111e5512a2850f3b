"""The commands of docs/operating.md for Docker Compose, as an operator types them."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.container.engine import ROOT
from tests.container.whole import LASTING, Whole, project
from tests.docs.pages import DOCS, section_of

pytestmark = [pytest.mark.container, pytest.mark.timeout(900)]

PAGE = DOCS / "operating.md"


def commands(heading: str) -> list[str]:
    """Returns the commands that a section shows for Compose, without comments."""
    lines = [line.split("  #")[0].strip() for line in section_of(PAGE, heading).splitlines()]
    return [line for line in lines if line.startswith("docker compose ")]


BACKING_UP, CHECKING, SAVING_KEY, STOPPING, REPLACING, STARTING, GIVING_KEY, DATABASE, FILLING, _ = commands(
    "With Docker Compose"
)
EXECUTED = [line for line in commands("Docker Compose") if line.startswith("docker compose exec ")]


def typed(
    whole: Whole, command: str, stands_for: Mapping[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs a command in a shell, with other words for the placeholders."""
    for word, other in {"docker compose": shlex.join(whole.words), **stands_for}.items():
        command = command.replace(word, other)
    return subprocess.run(
        ["bash", "-euc", command],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        cwd=stands_for.get("folder", ROOT),
        env={**os.environ, **whole.environment},
        timeout=700,
    )


def test_commands_run_in_the_containers(whole: Whole) -> None:
    whole.up()
    said = {}
    for line in EXECUTED:
        container = line.split()[3]
        if container in LASTING:
            done = typed(whole, line.replace("exec ", "exec -T "), {}, "select 'it is ' || 1 + 1;")
            said[line.removeprefix("docker compose exec ")] = (done.returncode, done.stdout + done.stderr)
    assert len(said) == len(EXECUTED) - 1, "all but the bot's of Discord"
    for line, (status, text) in said.items():
        assert status == (2 if "sign-in" in line else 0), text
    assert "ok     worker: one is alive" in said["service dailygrad doctor"][1]
    assert "A worker is running." in said["service dailygrad ops"][1]
    assert "ok     token: accepted by the service" in said["web dailygrad doctor"][1]
    assert "it is 2" in said["postgres psql --username dailygrad"][1]
    (sign_in,) = [text for line, (_, text) in said.items() if "sign-in" in line]
    assert sign_in == "dailygrad: nobody in the web chat is called 'NAME'\n"


def test_a_backup_and_its_key_bring_everything_back_on_a_new_machine(whole: Whole, tmp_path: Path) -> None:
    whole.up()
    whole.compose("exec", "-T", "service", "python", "-c", SECRET)
    backups = tmp_path / "backups"
    backups.mkdir()
    stands_for = {
        "/srv/backups": str(backups),
        "> token_key": f"> {tmp_path}/token_key",
        "< token_key": f"< {tmp_path}/token_key",
    }
    assert typed(whole, BACKING_UP, stands_for).returncode == 0
    (made,) = backups.glob("dailygrad-*.dump")
    assert made.stat().st_uid == os.getuid() and made.stat().st_mode & 0o777 == 0o600
    checked = typed(whole, CHECKING, stands_for)
    assert "ok     backups: the newest of 1 " in checked.stdout, checked.stderr
    assert typed(whole, SAVING_KEY, stands_for).returncode == 0
    stands_for |= {"/backups/FILE": f"/backups/{made.name}"}
    assert typed(whole, STOPPING, stands_for).returncode == 0
    replaced = typed(whole, REPLACING, stands_for)
    assert replaced.returncode == 0 and "Restored " in replaced.stderr, replaced.stderr
    assert "But " not in replaced.stderr
    assert STARTING == "docker compose up --detach"
    with project("new") as new:
        given = typed(new, GIVING_KEY, stands_for)
        assert "Keys of stored tokens: 1" in given.stdout, given.stderr
        assert typed(new, f"{DATABASE} --no-build", stands_for).returncode == 0
        filled = typed(new, FILLING, stands_for)
        assert filled.returncode == 0 and "Restored " in filled.stderr, filled.stderr
        assert "But " not in filled.stderr
    whole.up()


SECRET = """
import asyncio, os
from pathlib import Path
from service.client import ServiceClient
from service.credentials import ServiceTokens, parse_tokens

async def main():
    tokens = ServiceTokens(*parse_tokens(Path("/run/keys/service_token").read_text()))
    async with ServiceClient.over_http("http://127.0.0.1:8000", tokens) as client:
        await client.web_secret("local")

asyncio.run(main())
"""
"""Has the service make the web chat's secret, which is stored encrypted."""
