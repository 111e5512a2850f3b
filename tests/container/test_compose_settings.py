"""Compose with wrong settings: a container stops, and says in one sentence what to change."""

from __future__ import annotations

import subprocess
from dataclasses import replace

import pytest

from tests.container.whole import Whole

pytestmark = [pytest.mark.container, pytest.mark.timeout(900)]


@pytest.mark.parametrize(
    ("service", "changed", "sentence"),
    [
        (
            "service",
            "DATABASE_URL=",
            "DATABASE_URL: it is not set; set it to postgresql://user:password@host:5432/name.",
        ),
        (
            "worker",
            "DAILYGRAD_SANDBOX_SOCKET=",
            "DAILYGRAD_RELAY_PORT is set but DAILYGRAD_SANDBOX_SOCKET and _URL are not",
        ),
        ("service", "DATABASE_PASSWORD_FILE=/none", "/none cannot be read (No such file or directory)"),
        ("web", "DAILYGRAD_LINK_SECRET_FILE=/none", "/none, which cannot be read (No such file or directory)"),
    ],
)
def test_a_wrong_setting_stops_a_container_with_one_sentence(
    whole: Whole, service: str, changed: str, sentence: str
) -> None:
    stops(whole.tried("run", "--rm", "--no-deps", "-T", "-e", changed, service), sentence)


@pytest.mark.parametrize(
    ("chat", "changed", "sentence"),
    [
        ("discord", {"DISCORD_TOKEN": ""}, "DISCORD_TOKEN is not set"),
        ("discord", {"DISCORD_TOKEN": "Bot a.b.c"}, "DISCORD_TOKEN contains spaces or quotes"),
        ("slack", {"SLACK_BOT_TOKEN": "xoxb-1"}, "neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET"),
        ("slack", {"SLACK_APP_TOKEN": "xapp-1", "SLACK_BOT_TOKEN": "xapp-1"}, "SLACK_BOT_TOKEN does not start with"),
        ("slack", {"SLACK_SIGNING_SECRET": "0123", "SLACK_CLIENT_ID": "1.2"}, "only one of SLACK_CLIENT_ID and"),
    ],
)
def test_a_chats_settings_in_env_reach_its_container(
    whole: Whole, chat: str, changed: dict[str, str], sentence: str
) -> None:
    given = replace(whole, environment=whole.environment | changed)
    stops(given.tried("--profile", chat, "run", "--rm", "--no-deps", "-T", chat), sentence)


def stops(done: subprocess.CompletedProcess[bytes], sentence: str) -> None:
    """Checks that it ended by itself with this one sentence."""
    lines = done.stderr.decode().strip().splitlines()
    assert done.returncode == 2, lines
    assert sentence in lines[-1]
    assert [line for line in lines if "Traceback" in line or "dailygrad:" in line] == [lines[-1]]
