"""`dailygrad bot …` as it is typed: what is missing is named with its cure, and a chat needs its own packages alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
import structlog

from dailygrad import main

ROOT = Path(__file__).parent.parent.parent
TOKEN = "a-token-the-operator-made"
OURS = ("DAILYGRAD_", "DISCORD_", "SLACK_", "DATABASE_URL")
LIBRARIES = {"discord": ("discord",), "slack": ("slack_bolt", "slack_sdk")}


def typed(
    *words: str, without: Sequence[str] = (), settings: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command on a machine without some packages."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    program = f"import sys; sys.modules.update(dict.fromkeys({tuple(without)!r})); from dailygrad import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=ROOT,
        env=kept | dict(settings or {}),
        capture_output=True,
        text=True,
        timeout=60,
    )


class Typed:
    """Runs commands in this process, where everything is imported already."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *words: str, settings: Mapping[str, str]) -> tuple[object, str, str]:
        """Returns the exit status and what was written on stdout and stderr."""
        for name in [name for name in os.environ if name.startswith(OURS)]:
            self._monkeypatch.delenv(name)
        for name, value in settings.items():
            self._monkeypatch.setenv(name, value)
        self._monkeypatch.setattr(sys, "argv", ["dailygrad", *words])
        logs = structlog.get_config()
        try:
            with pytest.raises(SystemExit) as ended:
                main()
        finally:
            structlog.configure(**logs)
        return ended.value.code, *self._capsys.readouterr()


@pytest.fixture
def typed_here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(monkeypatch, capsys)


@pytest.mark.parametrize("chat", LIBRARIES)
def test_a_chat_without_its_packages_says_what_to_install(chat: str) -> None:
    done = typed("bot", chat, without=LIBRARIES[chat])
    assert (done.returncode, done.stdout) == (2, "")
    assert f", which is not installed: pip install 'dailygrad[{chat}]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_web_chat_starts_without_the_other_chats_packages() -> None:
    without = tuple(name for names in LIBRARIES.values() for name in names)
    settings = {"DAILYGRAD_SERVICE_TOKEN": TOKEN, "DAILYGRAD_WEB_PORT": "0"}
    done = typed("bot", "web", "--links-only", without=without, settings=settings)
    assert done.returncode == 2
    assert done.stderr == ("dailygrad: links are not configured: set DAILYGRAD_LINK_URL and DAILYGRAD_LINK_SECRET\n")


@pytest.mark.parametrize(
    ("words", "settings", "said"),
    [
        (("discord",), {}, "DISCORD_TOKEN is not set"),
        (("discord-sync",), {}, "DISCORD_TOKEN is not set"),
        (("discord",), {"DISCORD_TOKEN": "abc.def"}, "DAILYGRAD_SERVICE_TOKEN is not set: set it"),
        (("slack",), {}, "neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET"),
        (("slack",), {"SLACK_APP_TOKEN_FILE": "/none"}, "SLACK_APP_TOKEN_FILE names /none, which cannot be read"),
        (("discord",), {"DISCORD_APPLICATION_ID": ""}, "DISCORD_TOKEN is not set"),
        (("slack",), {"SLACK_APP_TOKEN": "xapp-1", "SLACK_BOT_TOKEN": "xoxb-1"}, "DAILYGRAD_SERVICE_TOKEN is not set"),
        (("web",), {"DAILYGRAD_SERVICE_TOKEN": TOKEN, "DAILYGRAD_LINK_URL": "x"}, "DAILYGRAD_LINK_SECRET is not"),
        (("console",), {}, "DAILYGRAD_SERVICE_TOKEN is not set: set it"),
    ],
)
def test_a_missing_setting_is_reported_in_one_sentence(
    typed_here: Typed, words: tuple[str, ...], settings: dict[str, str], said: str
) -> None:
    status, out, error = typed_here("bot", *words, settings=settings)
    assert (status, out) == (2, "")
    assert error.startswith("dailygrad: ")
    assert said in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_the_manifest_is_printed_for_each_way_of_reaching_slack() -> None:
    socket, http = (json.loads(typed("bot", "slack-manifest", *way).stdout) for way in ((), ("--http", "https://q.x")))
    assert socket["settings"]["socket_mode_enabled"] is True
    assert http["settings"]["event_subscriptions"]["request_url"].startswith("https://q.x/")
    assert typed("bot", "slack-manifest", "--http", "http://q.x").returncode == 2


@pytest.mark.parametrize(
    ("chat", "settings", "said"),
    [
        ("discord", {}, "broken settings: DISCORD_TOKEN is not set"),
        ("slack", {}, "broken settings: neither SLACK_APP_TOKEN"),
        ("slack", {"DAILYGRAD_SERVICE_TOKEN": "short"}, "broken settings: DAILYGRAD_SERVICE_TOKEN has 5 characters"),
        (
            "discord",
            {"DISCORD_TOKEN": "abc.def", "DISCORD_API_URL": "http://127.0.0.1:9/api/v10"},
            "broken connection: http://127.0.0.1:9/api/v10",
        ),
    ],
)
def test_the_doctor_of_a_chat_ends_with_what_is_broken(
    typed_here: Typed, chat: str, settings: dict[str, str], said: str
) -> None:
    status, out, error = typed_here("doctor", chat, settings=settings)
    assert status == 1
    assert out.startswith(said)
    assert "Traceback" not in error
