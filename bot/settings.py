"""What a bot process is told by its environment, whatever its chat: the service, the web pages, the links to them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.core.links import Links
from service.credentials import SHORTEST_TOKEN, ServiceTokens, TokenFile, tokens_in
from service.process import DATA, CommandFailed

WEB_PORT = 8765
SHORTEST_SECRET = 16
_MAKE_ONE = "for example from `openssl rand -hex 32`"

S = TypeVar("S", bound=BaseSettings)


class LinkSettings(BaseSettings):
    """Where links to the web editor lead and what signs them. Without either there are no links."""

    model_config = SettingsConfigDict(env_prefix="DAILYGRAD_", extra="ignore")

    link_url: str = ""
    """The public address of the process that serves the editor, such as https://quiz.example.com."""
    link_secret: SecretStr = SecretStr("")
    link_secret_file: Path | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Of this process's log."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        secret = self.secret
        if bool(self.link_url) != bool(secret):
            there, missing = ("URL", "SECRET") if self.link_url else ("SECRET", "URL")
            raise ValueError(
                f"DAILYGRAD_LINK_{there} is set and DAILYGRAD_LINK_{missing} is not: links to the web editor need the "
                f"address it is served at and a secret, {_MAKE_ONE}"
            )
        if secret and len(secret) < SHORTEST_SECRET:
            raise ValueError(f"DAILYGRAD_LINK_SECRET has {len(secret)} characters, set at least 16: {_MAKE_ONE}")
        if self.link_url and not re.match(r"https?://[^/\s?#]+/?$", self.link_url):
            raise ValueError("DAILYGRAD_LINK_URL is no bare address such as https://quiz.example.com")
        return self

    @property
    def secret(self) -> str:
        """The secret; empty where none was set."""
        return secret_of(self.link_secret, self.link_secret_file, "DAILYGRAD_LINK_SECRET_FILE")

    @property
    def links(self) -> Links | None:
        """The links, where there are any."""
        return Links(self.link_url, self.secret) if self.link_url else None


class BotSettings(LinkSettings):
    """What a bot process needs to reach its service, and to be reached as a web chat."""

    service_url: str = "http://127.0.0.1:8000"
    service_token: SecretStr = SecretStr("")
    service_token_file: Path | None = None
    data: Path = DATA
    web_host: str = "127.0.0.1"
    web_port: int = Field(default=WEB_PORT, ge=0, le=65535)
    web_hosts: str = ""
    """Public names the web chat is reached by, apart by spaces; addresses and local names need not be named."""
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Where Prometheus reads this process's metrics, without a token; without one it does not."""

    @model_validator(mode="after")
    def _has_a_token(self) -> Self:
        try:
            assert self.tokens.all
        except OSError as error:
            raise ValueError(_unreadable("DAILYGRAD_SERVICE_TOKEN_FILE", self.service_token_file, error)) from None
        except ValueError as error:
            raise ValueError(
                f"DAILYGRAD_SERVICE_TOKEN has {error}: set the one the service was started with, of at least "
                f"{SHORTEST_TOKEN}, or name a file that holds it in DAILYGRAD_SERVICE_TOKEN_FILE"
            ) from None
        return self

    @property
    def tokens(self) -> ServiceTokens:
        """What the service wants to be shown. Raises ValueError or OSError where there is none that can be used."""
        given = self.service_token.get_secret_value()
        if not given and self.service_token_file is not None:
            return TokenFile(self.service_token_file)
        return ServiceTokens(*tokens_in(given))


def secret_of(value: SecretStr, file: Path | None, named_by: str) -> str:
    """A secret from its setting or from its file. Raises ValueError where the file cannot be read."""
    if value.get_secret_value() or file is None:
        return value.get_secret_value().strip()
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ValueError(_unreadable(named_by, file, error)) from None


def _unreadable(named_by: str, file: Path | None, error: OSError) -> str:
    return f"{named_by} names {file}, which cannot be read ({error.strerror})"


def settings_read(kind: type[S]) -> S:
    """Settings from the environment. Raises Refused with one sentence that never holds a value."""
    try:
        return kind()
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False, include_context=False)[0]
        said = first["msg"].removeprefix("Value error, ")
        if first["type"] == "value_error":
            raise CommandFailed(said) from None
        prefix = str(kind.model_config.get("env_prefix", ""))
        place = str(first["loc"][0]) if first["loc"] else ""
        name = place if place.isupper() else f"{prefix}{place}".upper()
        raise CommandFailed(f"{name}: {said[:1].lower()}{said[1:]}") from None
    except ValueError as unreadable:  # a file that a variable names
        raise CommandFailed(str(unreadable)) from None
