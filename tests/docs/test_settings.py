"""docs/settings.md names exactly the settings that the processes read, with their defaults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bot.discord.settings import DiscordSettings
from bot.settings import BotSettings, LinkSettings, OidcSettings
from bot.slack.settings import SlackSettings
from service.config import Settings
from service.credentials import MIN_TOKEN_LENGTH
from tests.docs.pages import DOCS, PAGES, ROOT, name_of, rows_of, section_of, text_of

PAGE = DOCS / "settings.md"
COMPOSE = "".join(
    (ROOT / name).read_text(encoding="utf-8") for name in ("docker-compose.yml", "deploy/point-in-time.yml")
)
BOTS = ("Every bot", "Web editor", "Web chat")


def fields_of(settings: Any) -> dict[str, Any]:
    """Returns the first variable of each field with its default, if any."""
    found = {}
    for name, field in settings.model_fields.items():
        alias = field.validation_alias
        prefix = settings.model_config["env_prefix"] or "DAILYGRAD_"
        variable = str(getattr(alias, "choices", [alias])[0]) if alias else f"{prefix}{name}".upper()
        found[variable] = None if field.is_required() else field.default
    return found


def documented(*headings: str) -> dict[str, str]:
    """Returns each variable in the tables of these sections with its documented default."""
    rows = [row for heading in headings for row in rows_of(section_of(PAGE, heading))]
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0].strip("`"): row[1].strip("`") for row in rows}


@pytest.mark.parametrize(
    ("settings", "headings"),
    [
        (Settings, ("Service and worker",)),
        (BotSettings, BOTS),
        (OidcSettings, ("Sign-in with an OpenID provider",)),
        (DiscordSettings, ("Discord",)),
        (SlackSettings, ("Slack",)),
    ],
)
def test_a_section_lists_the_fields_of_its_class_with_their_defaults(settings: Any, headings: tuple[str, ...]) -> None:
    fields, written = fields_of(settings), documented(*headings)
    assert set(written) == set(fields)
    for variable, default in fields.items():
        if variable == "DAILYGRAD_SLACK_PORT":  # none, which stands for 3000 where a server is needed
            continue
        if str(default) not in ("None", "", "**********") and written[variable] != "required":
            shown = f"{default:g}" if isinstance(default, float) else str(default)
            assert written[variable] == shown, variable


@pytest.mark.parametrize(
    "settings", [Settings, LinkSettings, BotSettings, OidcSettings, DiscordSettings, SlackSettings]
)
def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    needed = {
        "DATABASE_URL": "postgresql://localhost/quiz",
        "DAILYGRAD_SERVICE_TOKEN": "a-token-long-enough",
        "DISCORD_TOKEN": "a.b.c",
        "SLACK_BOT_TOKEN": "xoxb-1",
        "SLACK_APP_TOKEN": "xapp-1",
    }
    for name in fields_of(settings):
        monkeypatch.delenv(name, raising=False)
    for name, value in needed.items():
        monkeypatch.setenv(name, value)
    given = settings()
    for name in set(fields_of(settings)) - set(needed):
        monkeypatch.setenv(name, "")
        assert settings() == given, name


def test_link_settings_are_those_of_the_web_editor_and_its_process() -> None:
    shared = {"DAILYGRAD_LOG_LEVEL", "DAILYGRAD_LIMIT_CONCURRENCY"}
    assert set(fields_of(LinkSettings)) == set(documented("Web editor")) | shared


def test_variables_of_compose_are_documented_with_their_defaults() -> None:
    defaults = dict(re.findall(r"\$\{(\w+):-([^}]*)\}", COMPOSE))
    written = documented("Docker Compose")
    own = {name for name in defaults if not name.startswith(("DAILYGRAD_", "DISCORD_", "SLACK_"))} | {"SLACK_ADDRESS"}
    assert set(written) == own
    assert {name: defaults[name] for name in own} == written


def test_the_shortest_service_token_is_the_one_that_is_accepted() -> None:

    assert f"at least {MIN_TOKEN_LENGTH} characters" in section_of(PAGE, "Service and worker")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_document_names_an_unknown_variable(page: Path) -> None:
    known = set(re.findall(r"`([A-Z][A-Z_]+)`", text_of(PAGE)))
    named = set(re.findall(r"\b(?:DAILYGRAD|DISCORD|SLACK|DATABASE|SANDBOX|POSTGRES)_[A-Z_]*[A-Z]\b", text_of(page)))
    assert {name for name in named if not {name, name.removesuffix("_FILE")} & known} == set()


def test_every_variable_in_the_code_is_documented() -> None:
    documents = text_of(PAGE)
    for package in ("bot", "service", "sandbox"):
        for module in (ROOT / package).rglob("*.py"):
            source = module.read_text(encoding="utf-8")
            for name in re.findall(r"[\"']((?:DAILYGRAD|DISCORD|SLACK)_[A-Z_]*[A-Z])[\"']", source):
                assert f"`{name.removesuffix('_FILE')}" in documents, f"{module}: {name}"
