"""Settings of the Discord bot: from the environment or a file, with one clear sentence for an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.discord.settings import API, read_discord_settings
from service.process import CommandFailed


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCORD_TOKEN", "DISCORD_TOKEN_FILE", "DISCORD_API_URL", "DISCORD_APPLICATION_ID", "DAILYGRAD_DATA"):
        monkeypatch.delenv(name, raising=False)


def test_only_the_token_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", " a.b.c\n")
    settings = read_discord_settings()
    assert (settings.bot_token, settings.api_url, settings.application_id) == ("a.b.c", API, None)
    assert "a.b.c" not in repr(settings)


def test_the_token_may_be_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("a.b.c\n")
    monkeypatch.setenv("DISCORD_TOKEN_FILE", str(tmp_path / "token"))
    assert read_discord_settings().bot_token == "a.b.c"


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("DISCORD_TOKEN", "", "DISCORD_TOKEN is not set: copy the token"),
        ("DISCORD_TOKEN", '"secret.b.c"', "DISCORD_TOKEN contains spaces or quotes"),
        ("DISCORD_TOKEN", "Bot secret.b.c", "DISCORD_TOKEN contains spaces or quotes"),
        ("DISCORD_TOKEN_FILE", "/nowhere/token", "DISCORD_TOKEN_FILE names /nowhere/token, which cannot be read"),
        ("DISCORD_API_URL", "discord.com", "DISCORD_API_URL is 'discord.com'; set it to a URL such as"),
        ("DISCORD_APPLICATION_ID", "abc", "DISCORD_APPLICATION_ID: "),
    ],
)
def test_invalid_settings_are_explained_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, said: str
) -> None:
    if name not in ("DISCORD_TOKEN", "DISCORD_TOKEN_FILE"):
        monkeypatch.setenv("DISCORD_TOKEN", "a.b.c")
    monkeypatch.setenv(name, value)
    with pytest.raises(CommandFailed) as refused:
        read_discord_settings()
    assert str(refused.value).startswith(said)
    assert "secret" not in str(refused.value)
