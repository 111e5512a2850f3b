"""Settings of the Discord bot: from the environment or a file, with one clear sentence for an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.discord.client import journal_name
from bot.discord.settings import API, parse_shards, read_discord_settings
from service.process import CommandFailed


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISCORD_TOKEN", "DISCORD_TOKEN_FILE", "DISCORD_API_URL", "DISCORD_APPLICATION_ID", "DISCORD_SHARDS"):
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
    ("given", "numbers", "count"), [("", None, 0), ("0/2", [0], 2), ("1/2", [1], 2), (" 4-7/16 ", [4, 5, 6, 7], 16)]
)
def test_shards_are_those_of_this_process(
    monkeypatch: pytest.MonkeyPatch, given: str, numbers: list[int] | None, count: int
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "a.b.c")
    monkeypatch.setenv("DISCORD_SHARDS", given)
    shards = read_discord_settings().own_shards
    assert (shards and shards.numbers, shards.count if shards else 0) == (numbers, count)


@pytest.mark.parametrize("given", ["2", "2/2", "-1/2", "3-2/4", "0/0", "0-4/4", "a/b", "0/2/4", "0/1000000"])
def test_what_are_no_shards_is_refused_with_the_fix(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "a.b.c")
    with pytest.raises(CommandFailed, match="is not a range of shards: write the first"):
        read_discord_settings(shards=given)


def test_processes_that_share_a_folder_have_journals_of_their_own() -> None:
    names = [journal_name(None), *(journal_name(parse_shards(one)) for one in ("0/2", "1/2", "0-1/4"))]
    assert names == ["discord.sqlite", "discord-0-of-2.sqlite", "discord-1-of-2.sqlite", "discord-0-1-of-4.sqlite"]


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
