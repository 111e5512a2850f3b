"""Settings of a bot process: links are configured completely or not at all, secrets come from files, and errors are
one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.settings import BotSettings, LinkSettings, load_settings
from service.process import CommandFailed

TOKEN = "a-token-long-enough"
URL = "https://quiz.example.com"


@pytest.fixture
def env(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment without any setting of ours."""
    for name in ("LINK_URL", "LINK_SECRET", "LINK_SECRET_FILE", "SERVICE_TOKEN", "SERVICE_TOKEN_FILE", "WEB_PORT"):
        monkeypatch.delenv(f"DAILYGRAD_{name}", raising=False)
    return monkeypatch


def test_without_settings_there_are_no_links(env: pytest.MonkeyPatch) -> None:
    assert load_settings(LinkSettings).links is None


def test_an_address_and_a_secret_make_links(env: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("a-secret-from-a-file\n", encoding="utf-8")
    env.setenv("DAILYGRAD_LINK_URL", URL)
    env.setenv("DAILYGRAD_LINK_SECRET_FILE", str(file))
    settings = load_settings(LinkSettings)
    assert settings.secret == "a-secret-from-a-file"
    assert settings.links is not None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"LINK_URL": URL}, "DAILYGRAD_LINK_SECRET is not: links to the web editor need"),
        ({"LINK_SECRET": TOKEN}, "DAILYGRAD_LINK_URL is not: links to the web editor need"),
        ({"LINK_URL": URL, "LINK_SECRET": "short"}, "has 5 characters; it needs at least 16"),
        (
            {"LINK_URL": "quiz.example.com", "LINK_SECRET": TOKEN},
            "must be a URL without a path, such as https://quiz.example.com",
        ),
        ({"LINK_URL": f"{URL}/below", "LINK_SECRET": TOKEN}, "must be a URL without a path"),
        ({"LINK_URL": URL, "LINK_SECRET_FILE": "/no/such"}, "names /no/such, which cannot be read (No such file"),
    ],
)
def test_half_a_setting_is_refused_with_its_cure(env: pytest.MonkeyPatch, given: dict[str, str], said: str) -> None:
    for name, value in given.items():
        env.setenv(f"DAILYGRAD_{name}", value)
    with pytest.raises(CommandFailed) as refused:
        load_settings(LinkSettings)
    assert said in str(refused.value)
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("SERVICE_URL", "service:8000", "DAILYGRAD_SERVICE_URL must be a URL, such as http://service:8000"),
        ("TRACES_URL", "jaeger:4318", "DAILYGRAD_TRACES_URL must be a URL, such as http://collector:4318"),
        ("WEB_HOSTS", "https://quiz.example.com", "'https://quiz.example.com' is not a host name"),
        ("WEB_HOSTS", "a.example.com,b.example.com", "separate several by spaces"),
        ("WEB_HOSTS", "quiz.example.com:443", "is not a host name"),
    ],
)
def test_an_address_of_the_wrong_form_is_named(env: pytest.MonkeyPatch, name: str, value: str, said: str) -> None:
    env.setenv("DAILYGRAD_SERVICE_TOKEN", TOKEN)
    env.setenv("DAILYGRAD_WEB_HOSTS", "quiz.example.com  quiz-2.example.com ")
    env.setenv("DAILYGRAD_TRACES_URL", "http://collector:4318/v2")
    assert load_settings(BotSettings).traces_url
    env.setenv(f"DAILYGRAD_{name}", value)
    with pytest.raises(CommandFailed) as refused:
        load_settings(BotSettings)
    assert said in str(refused.value)


def test_a_bot_needs_the_services_token(env: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="DAILYGRAD_SERVICE_TOKEN is not set: set it"):
        load_settings(BotSettings)
    file = tmp_path / "token"
    file.write_text(TOKEN, encoding="utf-8")
    env.setenv("DAILYGRAD_SERVICE_TOKEN_FILE", str(file))
    assert tuple(load_settings(BotSettings).tokens.all) == (TOKEN,)
    env.setenv("DAILYGRAD_WEB_PORT", "seventy")
    with pytest.raises(CommandFailed, match="DAILYGRAD_WEB_PORT: input should be a valid integer"):
        load_settings(BotSettings)
