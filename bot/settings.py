"""Settings every bot process shares, from the environment: the service, the web server, and links to the editor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import Field, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from bot.core.links import Links
from service.concurrency import DEFAULT_LIMIT
from service.credentials import MIN_TOKEN_LENGTH, ServiceTokens, TokenFile, parse_tokens
from service.process import DATA, CommandFailed

WEB_PORT = 8765
SHORTEST_SECRET = 16
_MAKE_ONE = "for example from `openssl rand -hex 32`"
_WEB_ADDRESS = re.compile(r"https?://[^/\s?#]+(/[^\s?#]*)?")

S = TypeVar("S", bound=BaseSettings)


class LinkSettings(BaseSettings):
    """URL of links to the web editor and the secret that signs them. Without both there are no links."""

    model_config = SettingsConfigDict(env_prefix="DAILYGRAD_", extra="ignore", env_ignore_empty=True)

    link_url: str = ""
    """Public URL of the web editor, such as https://quiz.example.com."""
    link_secret: SecretStr = SecretStr("")
    link_secret_file: Path | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Log level of this process."""
    limit_concurrency: int = Field(default=DEFAULT_LIMIT, ge=1)
    """Requests to the web chat at once, beyond which others are refused. Every open page of the channel is one."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        secret = self.secret
        if bool(self.link_url) != bool(secret):
            given, missing = ("URL", "SECRET") if self.link_url else ("SECRET", "URL")
            raise ValueError(
                f"DAILYGRAD_LINK_{given} is set but DAILYGRAD_LINK_{missing} is not: links to the web editor need its "
                f"public URL and a secret, {_MAKE_ONE}"
            )
        if secret and len(secret) < SHORTEST_SECRET:
            raise ValueError(f"DAILYGRAD_LINK_SECRET has {len(secret)} characters; it needs at least 16, {_MAKE_ONE}")
        if self.link_url and not re.match(r"https?://[^/\s?#]+/?$", self.link_url):
            raise ValueError("DAILYGRAD_LINK_URL must be a URL without a path, such as https://quiz.example.com")
        return self

    @property
    def secret(self) -> str:
        """The secret; empty if not set."""
        return secret_of(self.link_secret, self.link_secret_file, "DAILYGRAD_LINK_SECRET_FILE")

    @property
    def links(self) -> Links | None:
        """Makes links to the web editor; None if not configured."""
        return Links(self.link_url, self.secret) if self.link_url else None


class BotSettings(LinkSettings):
    """Settings of a bot process: its service, the web chat and metrics."""

    service_url: str = "http://127.0.0.1:8000"
    service_token: SecretStr = SecretStr("")
    service_token_file: Path | None = None
    data: Path = DATA
    web_host: str = "127.0.0.1"
    web_port: int = Field(default=WEB_PORT, ge=0, le=65535)
    web_hosts: str = ""
    """Public host names of the web chat, separated by spaces. IP addresses and local names are always allowed."""
    metrics_host: str = "127.0.0.1"
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Port of the Prometheus metrics, served without authentication. Default: not served."""
    traces_url: str = ""
    """Address of an OTLP collector that gets traces over HTTP. Default: no traces."""

    @model_validator(mode="after")
    def _has_addresses(self) -> Self:
        if not _WEB_ADDRESS.fullmatch(self.service_url):
            raise ValueError("DAILYGRAD_SERVICE_URL must be a URL, such as http://service:8000")
        if self.traces_url and not _WEB_ADDRESS.fullmatch(self.traces_url):
            raise ValueError("DAILYGRAD_TRACES_URL must be a URL, such as http://collector:4318")
        for name in self.web_hosts.split():
            if not re.fullmatch(r"[\w-]+(\.[\w-]+)*", name):
                raise ValueError(
                    f"DAILYGRAD_WEB_HOSTS (in Compose, SITE too): {name!r} is not a host name such as "
                    "quiz.example.com; separate several by spaces"
                )
        return self

    @model_validator(mode="after")
    def _has_a_token(self) -> Self:
        try:
            assert self.tokens.all
        except OSError as error:
            raise ValueError(_unreadable("DAILYGRAD_SERVICE_TOKEN_FILE", self.service_token_file, error)) from None
        except ValueError as error:
            given = self.service_token.get_secret_value() or self.service_token_file is not None
            reason = f"has {error}" if given else "is not set"
            raise ValueError(
                f"DAILYGRAD_SERVICE_TOKEN {reason}: set it to the service's token, of at least {MIN_TOKEN_LENGTH}, "
                "or set DAILYGRAD_SERVICE_TOKEN_FILE to a file that contains it"
            ) from None
        return self

    @property
    def tokens(self) -> ServiceTokens:
        """The tokens for the service. Raises ValueError or OSError if there is no usable one."""
        given = self.service_token.get_secret_value()
        if not given and self.service_token_file is not None:
            return TokenFile(self.service_token_file)
        return ServiceTokens(*parse_tokens(given))


class OidcSettings(BaseSettings):
    """Sign-in to the web chat with an OpenID provider. Off without an issuer."""

    model_config = SettingsConfigDict(env_prefix="DAILYGRAD_OIDC_", extra="ignore", env_ignore_empty=True)

    issuer: str = ""
    """Issuer, exactly as the provider names itself, such as https://login.example.com/realms/team."""
    client_id: str = ""
    client_secret: SecretStr = SecretStr("")
    client_secret_file: Path | None = None
    url: str = ""
    """Public URL of the web chat, such as https://quiz.example.com."""
    scopes: str = "openid profile"
    name_claim: str = "name"
    """Claim with the name that a member joins under."""
    admin_claim: str = "groups"
    """Claim that is compared with `admin_group`: a text or a list."""
    admin_group: str = ""
    """Group whose members are admins of the quiz. Default: the first to sign in is the admin."""
    session_days: int = Field(default=30, ge=1, le=365)
    """Days after which a browser has to sign in again."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if not self.issuer:
            if self.client_id or self.url:
                raise ValueError("DAILYGRAD_OIDC_ISSUER is not set, but other settings of the OpenID provider are")
            return self
        for name, value in (("ISSUER", self.issuer), ("URL", self.url)):
            if not re.match(r"https://[^/\s?#]+|http://(localhost|127\.0\.0\.1)(:\d+)?(/|$)", value):
                raise ValueError(f"DAILYGRAD_OIDC_{name} must be a URL with https, such as https://login.example.com")
        if not re.fullmatch(r"https?://[^/\s?#]+/?", self.url):
            raise ValueError("DAILYGRAD_OIDC_URL must be a URL without a path, such as https://quiz.example.com")
        if not self.client_id:
            raise ValueError("DAILYGRAD_OIDC_CLIENT_ID is not set: the provider gives one to each application")
        if "openid" not in self.scopes.split():
            raise ValueError("DAILYGRAD_OIDC_SCOPES must contain openid")
        assert self.secret is not None
        return self

    @property
    def secret(self) -> str:
        """The client's secret; empty for a public client, which PKCE alone protects."""
        return secret_of(self.client_secret, self.client_secret_file, "DAILYGRAD_OIDC_CLIENT_SECRET_FILE")

    @property
    def redirect_uri(self) -> str:
        """Where the provider sends browsers back to, which has to be registered there."""
        return f"{self.url.rstrip('/')}/account/callback"


def secret_of(value: SecretStr, file: Path | None, named_by: str) -> str:
    """Returns a secret from its setting or its file. Raises ValueError if the file cannot be read."""
    if value.get_secret_value() or file is None:
        return value.get_secret_value().strip()
    try:
        return file.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ValueError(_unreadable(named_by, file, error)) from None


def _unreadable(named_by: str, file: Path | None, error: OSError) -> str:
    return f"{named_by} names {file}, which cannot be read ({error.strerror})"


def load_settings(kind: type[S]) -> S:
    """Reads settings from the environment. Raises CommandFailed; its message never contains a value."""
    try:
        return kind()
    except ValidationError as wrong:
        first = wrong.errors(include_url=False, include_input=False, include_context=False)[0]
        problem = first["msg"].removeprefix("Value error, ")
        if first["type"] == "value_error":
            raise CommandFailed(problem) from None
        prefix = str(kind.model_config.get("env_prefix", ""))
        place = str(first["loc"][0]) if first["loc"] else ""
        name = place if place.isupper() else f"{prefix}{place}".upper()
        raise CommandFailed(f"{name}: {problem[:1].lower()}{problem[1:]}") from None
    except ValueError as unreadable:  # a file that a variable names
        raise CommandFailed(str(unreadable)) from None
