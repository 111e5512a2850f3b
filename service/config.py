"""The service's settings, read once from the environment. An invalid one stops the start with one clear sentence."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from sandbox.tls import DEFAULT_PORT, Certificates
from service.concurrency import DEFAULT_LIMIT
from service.credentials import (
    KEY_COMMAND,
    MIN_TOKEN_LENGTH,
    BotTokenFile,
    BotTokens,
    ServiceTokens,
    TokenCipher,
    TokenFile,
    parse_bot_tokens,
    parse_tokens,
)


class InvalidSettings(Exception):
    """The settings are invalid. The message names the variable, the cause and the fix."""


class Settings(BaseSettings):
    """The settings of an operator: `DAILYGRAD_` plus the name in capitals, and `DATABASE_URL`."""

    model_config = SettingsConfigDict(
        env_prefix="DAILYGRAD_", env_ignore_empty=True, frozen=True, extra="ignore", populate_by_name=True
    )

    database_url: str = Field(validation_alias=AliasChoices("DATABASE_URL", "DAILYGRAD_DATABASE_URL"))
    """Database to use: `postgresql://user:password@host:5432/name`."""
    database_password_file: Path | None = Field(
        default=None, validation_alias=AliasChoices("DATABASE_PASSWORD_FILE", "DAILYGRAD_DATABASE_PASSWORD_FILE")
    )
    """File with the database password; it replaces the one in `database_url`."""
    monitor_password_file: Path | None = None
    """File with the password of the role `dailygrad_monitor`, which `migrate` creates for PostgreSQL's exporter."""
    service_token: SecretStr | None = Field(default=None, validate_default=False)
    """Token for every call, which services send to workers. During a rotation, several separated by commas, newest
    first. Set either this or `service_token_file`."""
    service_token_file: Path | None = None
    """File with service tokens, one per line. It is read again when it changes."""
    bot_tokens: SecretStr | None = None
    """Tokens for the bots of one platform each, such as `discord=TOKEN,slack=TOKEN`. Set this or `bot_tokens_file`."""
    bot_tokens_file: Path | None = None
    """File with tokens of bots, one per line. It is read again when it changes."""
    token_key: SecretStr | None = None
    """Key that encrypts the tokens of installations. During a rotation, several separated by commas, newest first. Set
    either this or `token_key_file`; without a key, installations cannot be stored."""
    token_key_file: Path | None = None
    """File with the token keys."""
    sandbox_socket: Path | None = None
    """The sandbox's Unix socket or a folder of sockets; separate several with `:`. Without one, code questions wait."""
    sandbox_url: str = ""
    """Sandboxes on other machines: addresses of their gates, such as tls://sandbox:8443, separated by spaces or
    commas. A host name may resolve to several. They need the three files below."""
    sandbox_cert: Path | None = None
    """File with the certificate that the worker shows to sandboxes on other machines."""
    sandbox_key: Path | None = None
    """File with its key."""
    sandbox_ca: Path | None = None
    """File with the authority that signs the certificates of these sandboxes."""
    worker_url: str = ""
    """Instead of `sandbox_socket`: addresses of workers that relay runs, such as http://worker:8001, separated by
    spaces or commas. A host name may resolve to several workers."""
    relay_port: int | None = Field(default=None, ge=0, le=65535)
    """Port where a worker relays runs for services. Without it, the worker relays none."""
    metrics_host: str = "127.0.0.1"
    """Address to serve metrics on."""
    metrics_port: int | None = Field(default=None, ge=0, le=65535)
    """Port where Prometheus reads this process's metrics without a token. Without it, none are served."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(default=8000, ge=0, le=65535)
    """Port to listen on."""
    limit_concurrency: int = Field(default=DEFAULT_LIMIT, ge=1)
    """Calls at once, beyond which others are refused and repeated by their bots. Health checks are always answered."""
    retention_inbox_days: int = Field(default=30, ge=0)
    """How long replies to chats' events are kept, so that a repeated event gets the same one; 0 keeps them forever."""
    retention_outbox_days: int = Field(default=365, ge=0)
    """How long private messages and notices that were sent are kept. Messages of rounds stay."""
    retention_audit_days: int = Field(default=0, ge=0)
    """How long admins' actions are kept; by default forever."""
    retention_failed_jobs_days: int = Field(default=30, ge=0)
    """How long jobs that failed are kept."""
    retention_answer_text_days: int = Field(default=0, ge=0)
    """How long the text and code of answers are kept, 30 days at least; by default forever. Points and statistics
    stay."""
    retention_web_messages_days: int = Field(default=0, ge=0)
    """How long messages of the web chat are kept; by default forever."""
    contestant_url: str = ""
    """Base address of an OpenAI-compatible endpoint whose model answers the daily questions of schedules that say
    `contestant:on`, such as http://localhost:11434/v1; none does without."""
    contestant_model: str = ""
    """Name of that model, as the endpoint knows it."""
    contestant_key: SecretStr | None = None
    """Key for the endpoint, if it asks for one. Set either this or `contestant_key_file`."""
    contestant_key_file: Path | None = None
    """File with the key."""
    contestant_timeout_s: float = Field(default=60.0, ge=1, le=600)
    """Time that the model has for an answer, seconds."""
    traces_url: str = ""
    """Address of an OTLP collector that gets traces over HTTP, such as http://collector:4318; none are made without."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest level of log messages that are written."""

    @field_validator("retention_answer_text_days")
    @classmethod
    def _check_answer_text(cls, days: int) -> int:
        if 0 < days < 30:
            raise ValueError("answers are marked and corrected for weeks: keep their text for 30 days, or 0 forever")
        return days

    @field_validator("traces_url")
    @classmethod
    def _check_traces_url(cls, url: str) -> str:
        if url and not re.fullmatch(r"https?://[^/\s?#]+(/[^\s?#]*)?", url):
            raise ValueError("it must be a URL such as http://collector:4318")
        return url

    @field_validator("database_url")
    @classmethod
    def _check_database_url(cls, url: str) -> str:
        try:
            name = make_url(url).get_backend_name()
        except ArgumentError:
            name = ""
        if name not in ("postgresql", "postgres"):
            raise ValueError("it must look like postgresql://user:password@host:5432/name")
        return url

    @model_validator(mode="after")
    def _check_service_token(self) -> Self:
        try:
            assert self.tokens.all
        except OSError as error:
            raise ValueError(_unreadable("DAILYGRAD_SERVICE_TOKEN_FILE", self.service_token_file, error)) from None
        except ValueError as error:
            given = self.service_token is not None and self.service_token.get_secret_value()
            reason = error if given or self.service_token_file is not None else "it is not set"
            raise ValueError(
                f"DAILYGRAD_SERVICE_TOKEN: {reason}; set at least {MIN_TOKEN_LENGTH}, for example "
                "the output of `openssl rand -hex 32`, or name a file with the token in DAILYGRAD_SERVICE_TOKEN_FILE"
            ) from None
        return self

    @model_validator(mode="after")
    def _check_bot_tokens(self) -> Self:
        try:
            shared = {one.token for one in self.bots.all} & set(self.tokens.all)
        except OSError as error:
            raise ValueError(_unreadable("DAILYGRAD_BOT_TOKENS_FILE", self.bot_tokens_file, error)) from None
        except ValueError as error:
            raise ValueError(
                f"DAILYGRAD_BOT_TOKENS: {error}; write each as PLATFORM=TOKEN with at least {MIN_TOKEN_LENGTH} "
                "characters, for example the output of `openssl rand -hex 32`"
            ) from None
        if shared:
            raise ValueError(
                "DAILYGRAD_BOT_TOKENS: one of them is also a service token, which is valid for every call; give each "
                "bot a token of its own"
            )
        return self

    @model_validator(mode="after")
    def _check_sandbox(self) -> Self:
        own = self.sandbox_paths or self.sandbox_nodes
        if self.worker_urls and own:
            raise ValueError(
                "DAILYGRAD_WORKER_URL and DAILYGRAD_SANDBOX_SOCKET or _URL are both set: the service reaches the "
                "sandbox either through workers or by itself; unset one"
            )
        if self.relay_port is not None and not own:
            raise ValueError(
                "DAILYGRAD_RELAY_PORT is set but DAILYGRAD_SANDBOX_SOCKET and _URL are not: a worker relays runs to "
                "the sandbox there; set one, or unset the port"
            )
        if self.sandbox_nodes and None in (self.sandbox_cert, self.sandbox_key, self.sandbox_ca):
            raise ValueError(
                "DAILYGRAD_SANDBOX_URL is set, so DAILYGRAD_SANDBOX_CERT, _KEY and _CA must name the certificate, the "
                "key and the authority for sandboxes on other machines"
            )
        for url in self.worker_urls:
            if not re.fullmatch(r"http://(\[[0-9a-fA-F:.]+\]|[^/\s?#@:\[\]]+)(:\d{1,4}|:[1-6]\d{4})?", url):
                raise ValueError(f"DAILYGRAD_WORKER_URL: {url!r} is not an address such as http://worker:8001")
        return self

    @model_validator(mode="after")
    def _check_contestant(self) -> Self:
        if not self.contestant_url:
            return self
        # A password in the address would be logged, and a query would be in front of the path that is added.
        host = r"(\[[0-9a-fA-F:.]+\]|[^/\s?#@:\[\]]+)(:\d{1,5})?"
        if not re.fullmatch(rf"https?://{host}(/[^\s?#@]*)?", self.contestant_url):
            raise ValueError(
                "DAILYGRAD_CONTESTANT_URL: it is not an address such as https://models.example.com/v1, without a "
                "password, query or fragment"
            )
        if not self.contestant_model:
            raise ValueError("DAILYGRAD_CONTESTANT_URL is set, so DAILYGRAD_CONTESTANT_MODEL must name the model there")
        assert self.contestant_secret is not None
        return self

    @model_validator(mode="after")
    def _check_token_keys(self) -> Self:
        keys = self.token_keys
        try:
            TokenCipher(keys)
        except ValueError:
            raise ValueError(
                f"DAILYGRAD_TOKEN_KEY: it contains an invalid key; each must be the output of {KEY_COMMAND}"
            ) from None
        return self

    @property
    def full_database_url(self) -> str:
        """Returns the database URL with the password from its file. Raises ValueError if the file cannot be read."""
        if self.database_password_file is None:
            return self.database_url
        password = _read("DATABASE_PASSWORD_FILE", self.database_password_file)
        return make_url(self.database_url).set(password=password).render_as_string(hide_password=False)

    @property
    def retention_days(
        self,
    ) -> dict[Literal["inbox", "outbox", "audit", "failed_jobs", "answer_text", "web_messages"], int]:
        """Returns how long each kind of row is kept, days; 0 is forever."""
        return {
            "inbox": self.retention_inbox_days,
            "outbox": self.retention_outbox_days,
            "audit": self.retention_audit_days,
            "failed_jobs": self.retention_failed_jobs_days,
            "answer_text": self.retention_answer_text_days,
            "web_messages": self.retention_web_messages_days,
        }

    @property
    def token_keys(self) -> tuple[str, ...]:
        """Returns the token keys, newest first."""
        given = self.token_key.get_secret_value() if self.token_key is not None else ""
        if self.token_key is None and self.token_key_file is not None:
            given = _read("DAILYGRAD_TOKEN_KEY_FILE", self.token_key_file)
        return tuple(given.replace(",", " ").split())

    @property
    def monitor_password(self) -> str:
        """Returns the password of the exporter's role. Raises ValueError if its file cannot be read."""
        assert self.monitor_password_file is not None
        return _read("DAILYGRAD_MONITOR_PASSWORD_FILE", self.monitor_password_file)

    @property
    def contestant_secret(self) -> str:
        """Returns the key of the contestant's endpoint; empty without one."""
        if self.contestant_key is None and self.contestant_key_file is not None:
            return _read("DAILYGRAD_CONTESTANT_KEY_FILE", self.contestant_key_file)
        return self.contestant_key.get_secret_value() if self.contestant_key is not None else ""

    @property
    def sandbox_paths(self) -> tuple[Path, ...]:
        """Returns every socket or folder of sockets in `sandbox_socket`."""
        named = str(self.sandbox_socket) if self.sandbox_socket is not None else ""
        return tuple(Path(place) for place in named.split(os.pathsep) if place)

    @property
    def sandbox_nodes(self) -> tuple[tuple[str, int], ...]:
        """Returns host and port of every address in `sandbox_url`. Raises ValueError for anything else."""
        found = []
        for url in self.sandbox_url.replace(",", " ").split():
            parts = re.fullmatch(r"tls://(?:\[([0-9a-fA-F:.]+)\]|([^/\s?#@:\[\]]+))(?::(\d{1,5}))?/?", url)
            if parts is None or not 0 < int(parts[3] or DEFAULT_PORT) < 65536:
                raise ValueError(
                    f"DAILYGRAD_SANDBOX_URL: {url!r} is not an address such as tls://sandbox:{DEFAULT_PORT}"
                )
            found.append((parts[1] or parts[2], int(parts[3] or DEFAULT_PORT)))
        return tuple(found)

    @property
    def sandbox_certificates(self) -> Certificates | None:
        """Returns the files for sandboxes on other machines, if they are set."""
        if self.sandbox_cert is None or self.sandbox_key is None or self.sandbox_ca is None:
            return None
        return Certificates(self.sandbox_cert, self.sandbox_key, self.sandbox_ca)

    @property
    def worker_urls(self) -> tuple[str, ...]:
        """Returns every address in `worker_url`."""
        return tuple(url.rstrip("/") for url in self.worker_url.replace(",", " ").split())

    @property
    def tokens(self) -> ServiceTokens:
        """Returns the service tokens. Raises ValueError or OSError if none can be used."""
        if self.service_token is None and self.service_token_file is not None:
            return TokenFile(self.service_token_file)
        return ServiceTokens(
            *parse_tokens(self.service_token.get_secret_value() if self.service_token is not None else "")
        )

    @property
    def bots(self) -> BotTokens:
        """Returns the tokens of bots, perhaps none. Raises ValueError or OSError if they cannot be used."""
        if self.bot_tokens is None and self.bot_tokens_file is not None:
            return BotTokenFile(self.bot_tokens_file)
        return BotTokens(*parse_bot_tokens(self.bot_tokens.get_secret_value() if self.bot_tokens is not None else ""))

    @property
    def token(self) -> str:
        """Returns the newest service token."""
        return self.tokens.all[0]


def _read(variable: str, path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ValueError(_unreadable(variable, path, error)) from error


def _unreadable(variable: str, path: Path | None, error: OSError) -> str:
    return f"{variable}: {path} cannot be read ({error.strerror}); check its path and owner"


def has_service_token() -> bool:
    """Returns whether the environment names a service token."""
    return any(os.environ.get(f"DAILYGRAD_SERVICE_TOKEN{end}") for end in ("", "_FILE"))


def read_command_settings(**given: Any) -> Settings:
    """Reads the settings of a command that needs no service token, but uses the one that is set to reach workers."""
    if not has_service_token():
        given["service_token"] = SecretStr("stands for none " * 2)
    return read_settings(**given)


def read_settings(**given: Any) -> Settings:
    """Returns the settings; `given` values override the environment. Raises InvalidSettings."""
    try:
        settings = Settings(**given)
        return settings.model_copy(update={"database_url": settings.full_database_url})
    except ValidationError as error:
        raise InvalidSettings(_explain(error)) from None
    except ValueError as error:
        raise InvalidSettings(f"{error}.") from None


def _explain(error: ValidationError) -> str:
    """Returns a sentence about the first error, without the value, which may be a secret."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    reason = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"Settings: {reason}."
    name = str(first["loc"][0])
    variable = name if name.isupper() else f"DAILYGRAD_{name.upper()}"
    if name in ("DATABASE_URL", "database_url"):
        variable = "DATABASE_URL"
    if first["type"] == "missing":
        reason = "it is not set; set it to postgresql://user:password@host:5432/name"
    return f"{variable}: {reason[0].lower()}{reason[1:]}."
