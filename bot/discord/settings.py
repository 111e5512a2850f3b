"""Settings of the Discord bot, from the environment."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from service.process import CommandFailed
from service.wire import Shards

API = "https://discord.com/api/v10"
_PORTAL = "https://discord.com/developers/applications"


class DiscordSettings(BaseSettings):
    """Settings of the Discord bot. `DISCORD_TOKEN_FILE` may name a file that contains the token."""

    model_config = SettingsConfigDict(extra="ignore", populate_by_name=True, frozen=True, env_ignore_empty=True)

    token: SecretStr = Field(SecretStr(""), validation_alias="DISCORD_TOKEN")
    """Bot token, from the developer portal."""
    token_file: Path | None = Field(None, validation_alias="DISCORD_TOKEN_FILE")
    api_url: str = Field(API, validation_alias="DISCORD_API_URL")
    """URL of the REST API, for a proxy or a test. The gateway's URL is requested from it."""
    application_id: int | None = Field(None, validation_alias="DISCORD_APPLICATION_ID")
    """Application id. Optional: the bot reads it from the token."""
    shards: str = Field("", validation_alias="DISCORD_SHARDS")
    """The shards of this process, if several run the bot, such as 0/2, 1/2 or 8-15/32. Empty: all of them."""
    data: Path = Field(Path(".dailygrad"), validation_alias="DAILYGRAD_DATA")
    """Folder of the journal."""

    @field_validator("api_url")
    @classmethod
    def _address(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"DISCORD_API_URL is {url!r}; set it to a URL such as {API}")
        return url.rstrip("/")

    @field_validator("shards")
    @classmethod
    def _shards(cls, given: str) -> str:
        if given:
            parse_shards(given)
        return given

    @property
    def own_shards(self) -> Shards | None:
        """The shards of this process; None for all."""
        return parse_shards(self.shards) if self.shards else None

    @model_validator(mode="after")
    def _has_a_token(self) -> Self:
        token = self.bot_token
        if not token:
            raise ValueError(
                "DISCORD_TOKEN is not set: copy the token from the Bot page of your application at "
                f"{_PORTAL}, or set DISCORD_TOKEN_FILE to a file that contains it"
            )
        if any(character.isspace() or character in "\"'" for character in token):
            raise ValueError(
                "DISCORD_TOKEN contains spaces or quotes: set it to the token alone, without quotes and the word Bot"
            )
        return self

    @property
    def bot_token(self) -> str:
        """The token; empty if not set. Raises ValueError if its file cannot be read."""
        if self.token.get_secret_value() or self.token_file is None:
            return self.token.get_secret_value().strip()
        try:
            return self.token_file.read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ValueError(
                f"DISCORD_TOKEN_FILE names {self.token_file}, which cannot be read ({error.strerror}): "
                "check its path and permissions"
            ) from None


def parse_shards(text: str) -> Shards:
    """Returns the shards that a setting such as 0/2 or 8-15/32 names. Raises ValueError with the fix."""
    found = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?/(\d{1,6})", text.strip())
    try:
        assert found
        shards = Shards(first=int(found[1]), last=int(found[2] or found[1]), count=int(found[3]))
        assert shards.first <= shards.last < shards.count
        return shards
    except (AssertionError, ValueError):
        raise ValueError(
            f"{text!r} is not a range of shards: write the first, perhaps the last, and how many there are in all "
            "processes, counted from 0, such as 0/2 and 1/2, or 0-7/16 and 8-15/16"
        ) from None


def read_discord_settings(**given: Any) -> DiscordSettings:
    """Reads the settings from the environment; `given` ones override it.

    Raises CommandFailed; its message never contains the token.
    """
    try:
        return DiscordSettings(**given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        detail = first["msg"].removeprefix("Value error, ")
        name = f"{first['loc'][0]}: " if first["loc"] and first["type"] != "value_error" else ""
        raise CommandFailed(f"{name}{detail}") from None
