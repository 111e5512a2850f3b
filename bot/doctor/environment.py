"""The check for variables that no setting has, such as a name with a typing error."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from typing import Any, Final

from pydantic_settings import BaseSettings

from bot.discord.settings import DiscordSettings
from bot.doctor.checks import CheckResult
from bot.settings import BotSettings, OidcSettings
from bot.slack.settings import SlackSettings

BOT_SETTINGS: Final[tuple[type[BaseSettings], ...]] = (BotSettings, OidcSettings, DiscordSettings, SlackSettings)
_OTHERS: Final = frozenset({"DAILYGRAD_ALIVE_FILE", "DAILYGRAD_BACKUPS", "SLACK_CONFIG_TOKEN"})
"""Variables that are no field of a class of settings."""
_SHARED: Final = ("DISCORD_", "SLACK_", "DATABASE_")
"""Prefixes that other programs use too: only names that resemble a setting are reported."""
_ALIKE: Final = 0.85
"""Minimum similarity of a suggestion, 0 to 1."""


def variables_of(kind: type[BaseSettings]) -> set[str]:
    """Returns the variables that a class of settings reads, and those that may name a file with the same."""
    found = set()
    for name, field in kind.model_fields.items():
        alias: Any = field.validation_alias
        prefix = kind.model_config.get("env_prefix") or "DAILYGRAD_"
        names = map(str, getattr(alias, "choices", [alias])) if alias else [f"{prefix}{name}".upper()]
        for one in names:
            found |= {one} if one.endswith("_FILE") else {one, f"{one}_FILE"}
    return found


def find_unknown(given: Collection[str], *kinds: type[BaseSettings]) -> Iterator[CheckResult]:
    """Reports variables that look like settings and that no process reads."""
    known = _OTHERS.union(*map(variables_of, kinds))
    for name in sorted(set(given) - known):
        alike = get_close_matches(name, known, 1, _ALIKE)
        if name.startswith("DAILYGRAD_") or (alike and name.startswith(_SHARED)):
            cure = f"write {alike[0]} if you mean that" if alike else "docs/settings.md lists every setting"
            yield CheckResult(False, f"settings: nothing reads {name}", cure)
