"""The service's settings, read once from the environment. A wrong one stops the start with one clear sentence."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from service.credentials import HOW, SHORTEST_TOKEN, ServiceTokens, TokenCipher, TokenFile, tokens_in


class SettingsWrong(Exception):
    """The settings cannot be used; the message names the variable, the cause and the cure."""


class Settings(BaseSettings):
    """What an operator may set: `DAILYGRAD_` and the name in capitals, and `DATABASE_URL`."""

    model_config = SettingsConfigDict(
        env_prefix="DAILYGRAD_", env_ignore_empty=True, frozen=True, extra="ignore", populate_by_name=True
    )

    database_url: str = Field(validation_alias=AliasChoices("DATABASE_URL", "DAILYGRAD_DATABASE_URL"))
    """`postgresql://user:password@host:5432/name`."""
    database_password_file: Path | None = Field(
        default=None, validation_alias=AliasChoices("DATABASE_PASSWORD_FILE", "DAILYGRAD_DATABASE_PASSWORD_FILE")
    )
    """A file with the password, in the place of the one in `database_url`."""
    service_token: SecretStr | None = Field(default=None, validate_default=False)
    """What bots must show; several apart by commas, the newest first, while it is changed. Either this or
    `service_token_file`."""
    service_token_file: Path | None = None
    """A file with the same, one token a line; it is read again whenever it changes."""
    token_key: SecretStr | None = None
    """What the tokens of installations are encrypted with; several apart by commas, the newest first, while keys are
    changed. Either this or `token_key_file`; without one no installation is kept."""
    token_key_file: Path | None = None
    sandbox_socket: Path | None = None
    """The sandbox's unix socket, or a folder of them, or several of both with `:` between; without one, code questions
    wait."""
    worker_url: str = ""
    """In the place of `sandbox_socket`: where workers pass runs on, such as http://worker:8001; several apart by spaces
    or commas, and a name may stand for many."""
    relay_port: int | None = Field(default=None, ge=0, le=65535)
    """Where a worker passes runs on for services; without one it does not."""
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Where Prometheus reads this process's metrics, without a token; without one it does not."""
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    @field_validator("database_url")
    @classmethod
    def _is_postgres(cls, url: str) -> str:
        try:
            name = make_url(url).get_backend_name()
        except ArgumentError:
            name = ""
        if name not in ("postgresql", "postgres"):
            raise ValueError("it must look like postgresql://user:password@host:5432/name")
        return url

    @model_validator(mode="after")
    def _has_a_token(self) -> Self:
        try:
            assert self.tokens.all
        except OSError as error:
            raise ValueError(_unreadable("DAILYGRAD_SERVICE_TOKEN_FILE", self.service_token_file, error)) from None
        except ValueError as error:
            raise ValueError(
                f"DAILYGRAD_SERVICE_TOKEN: {error}; set at least {SHORTEST_TOKEN}, for example "
                "from `openssl rand -hex 32`, or name a file that holds it in DAILYGRAD_SERVICE_TOKEN_FILE"
            ) from None
        return self

    @model_validator(mode="after")
    def _has_one_way_to_the_sandbox(self) -> Self:
        if self.worker_urls and self.sandbox_places:
            raise ValueError(
                "DAILYGRAD_WORKER_URL and DAILYGRAD_SANDBOX_SOCKET are both set: a service reaches the sandbox through "
                "workers or by its socket; unset one"
            )
        if self.relay_port is not None and not self.sandbox_places:
            raise ValueError(
                "DAILYGRAD_RELAY_PORT is set and DAILYGRAD_SANDBOX_SOCKET is not: a worker passes runs on to a sandbox "
                "whose socket it is told; set it, or unset the port"
            )
        for url in self.worker_urls:
            if not re.fullmatch(r"http://(\[[0-9a-fA-F:.]+\]|[^/\s?#@:\[\]]+)(:\d{1,4}|:[1-6]\d{4})?", url):
                raise ValueError(f"DAILYGRAD_WORKER_URL: {url!r} is no address such as http://worker:8001")
        return self

    @model_validator(mode="after")
    def _has_sound_keys(self) -> Self:
        keys = self.token_keys
        try:
            TokenCipher(keys)
        except ValueError:
            raise ValueError(
                f"DAILYGRAD_TOKEN_KEY: it holds something that is no key; each must be the output of {HOW}"
            ) from None
        return self

    @property
    def whole_database_url(self) -> str:
        """With the password of the file, where one is named. Raises ValueError where it cannot be read."""
        if self.database_password_file is None:
            return self.database_url
        password = _read("DATABASE_PASSWORD_FILE", self.database_password_file)
        return make_url(self.database_url).set(password=password).render_as_string(hide_password=False)

    @property
    def token_keys(self) -> tuple[str, ...]:
        """The keys of `token_key`, the newest first; none where none was set."""
        given = self.token_key.get_secret_value() if self.token_key is not None else ""
        if self.token_key is None and self.token_key_file is not None:
            given = _read("DAILYGRAD_TOKEN_KEY_FILE", self.token_key_file)
        return tuple(given.replace(",", " ").split())

    @property
    def sandbox_places(self) -> tuple[Path, ...]:
        """Every socket or folder of sockets that `sandbox_socket` names."""
        named = str(self.sandbox_socket) if self.sandbox_socket is not None else ""
        return tuple(Path(place) for place in named.split(os.pathsep) if place)

    @property
    def worker_urls(self) -> tuple[str, ...]:
        """Every address that `worker_url` names."""
        return tuple(url.rstrip("/") for url in self.worker_url.replace(",", " ").split())

    @property
    def tokens(self) -> ServiceTokens:
        """The service tokens. Raises ValueError or OSError where there are none that can be used."""
        if self.service_token is None and self.service_token_file is not None:
            return TokenFile(self.service_token_file)
        return ServiceTokens(
            *tokens_in(self.service_token.get_secret_value() if self.service_token is not None else "")
        )

    @property
    def token(self) -> str:
        """The newest of them."""
        return self.tokens.all[0]


def _read(variable: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ValueError(_unreadable(variable, path, error)) from error


def _unreadable(variable: str, path: Path | None, error: OSError) -> str:
    return f"{variable}: {path} cannot be read ({error.strerror}); check its path and its owner"


def read_settings(**given: Any) -> Settings:
    """The settings, `given` before the environment. Raises SettingsWrong."""
    try:
        settings = Settings(**given)
        return settings.model_copy(update={"database_url": settings.whole_database_url})
    except ValidationError as error:
        raise SettingsWrong(_sentence(error)) from None
    except ValueError as error:
        raise SettingsWrong(f"{error}.") from None


def _sentence(error: ValidationError) -> str:
    """The first thing that is wrong, never with the value: it may be a secret."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    said = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"Settings: {said}."
    name = str(first["loc"][0])
    variable = name if name.isupper() else f"DAILYGRAD_{name.upper()}"
    if name in ("DATABASE_URL", "database_url"):
        variable = "DATABASE_URL"
    if first["type"] == "missing":
        said = "it is not set; set it to postgresql://user:password@host:5432/name"
    return f"{variable}: {said[0].lower()}{said[1:]}."
