"""A bot's container is known to live: it touches the file that the probes of Compose and the chart look at."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from service.healthcheck import FILE_VARIABLE

ROOT = Path(__file__).parents[2]
UNREACHABLE = "http://127.0.0.1:9/"
# Nobody answers either of them, and a bot that cannot reach its chat lives on and tries again.
CHATS = {
    "discord": {"DISCORD_TOKEN": "a.b.c", "DISCORD_API_URL": UNREACHABLE},
    "slack": {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_URL": UNREACHABLE},
    "web": {"DAILYGRAD_WEB_PORT": "0"},
}


@pytest.mark.parametrize("chat", CHATS)
def test_a_bot_shows_that_it_lives(chat: str, tmp_path: Path) -> None:
    place = tmp_path / "alive"
    settings = {
        **CHATS[chat],
        FILE_VARIABLE: str(place),
        "DAILYGRAD_SERVICE_TOKEN": "a-token-the-operator-made",
        "DAILYGRAD_SERVICE_URL": UNREACHABLE,
        "DAILYGRAD_DATA": str(tmp_path),
    }
    words = [sys.executable, "-m", "dailygrad", "bot", chat]
    with subprocess.Popen(words, cwd=ROOT, env=os.environ | settings, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while not place.exists() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        lives = place.exists()
        process.terminate()
        _, said = process.communicate(timeout=60)
    assert lives, said[-2000:]
