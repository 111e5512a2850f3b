"""Settings of the Slack bot, from the environment. They also decide between Socket Mode and HTTP."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

_API = "https://slack.com/api/"
_ENVIRONMENT = {
    "bot_token": "SLACK_BOT_TOKEN",
    "app_token": "SLACK_APP_TOKEN",
    "signing_secret": "SLACK_SIGNING_SECRET",
    "client_id": "SLACK_CLIENT_ID",
    "client_secret": "SLACK_CLIENT_SECRET",
    "api_url": "SLACK_API_URL",
    "redirect_uri": "SLACK_REDIRECT_URI",
    "host": "DAILYGRAD_SLACK_HOST",
    "port": "DAILYGRAD_SLACK_PORT",
    "managers": "DAILYGRAD_SLACK_MANAGERS",
    "quiet_s": "DAILYGRAD_SLACK_QUIET_S",
    "ping_s": "DAILYGRAD_SLACK_PING_S",
    "view_wait_s": "DAILYGRAD_SLACK_VIEW_WAIT_S",
    "data": "DAILYGRAD_DATA",
}


class Mode(StrEnum):
    """How events arrive."""

    socket = "socket"
    """Socket Mode: the bot connects to Slack, and needs no public address."""
    http = "http"
    """Slack sends signed HTTP requests to the bot."""


class SlackSettings(BaseSettings):
    """Settings of the Slack bot. `NAME_FILE` may name a file that contains the value of `NAME`."""

    model_config = SettingsConfigDict(extra="ignore", populate_by_name=True, env_ignore_empty=True)

    bot_token: SecretStr | None = Field(None, validation_alias=_ENVIRONMENT["bot_token"])
    """Bot token of a single workspace (xoxb-…). Without it, workspaces are installed by OAuth."""
    app_token: SecretStr | None = Field(None, validation_alias=_ENVIRONMENT["app_token"])
    """App-level token for Socket Mode (xapp-…)."""
    signing_secret: SecretStr | None = Field(None, validation_alias=_ENVIRONMENT["signing_secret"])
    """Signing secret, for HTTP."""
    client_id: str = Field("", validation_alias=_ENVIRONMENT["client_id"])
    client_secret: SecretStr | None = Field(None, validation_alias=_ENVIRONMENT["client_secret"])
    """Client secret; with the client id, allows OAuth installation into many workspaces."""
    api_url: str = Field(_API, validation_alias=_ENVIRONMENT["api_url"])
    redirect_uri: str = Field("", validation_alias=_ENVIRONMENT["redirect_uri"])
    """OAuth redirect URL. Needed only if the app lists several."""
    host: str = Field("127.0.0.1", validation_alias=_ENVIRONMENT["host"])
    port: int | None = Field(None, ge=0, le=65_535, validation_alias=_ENVIRONMENT["port"])
    """HTTP port. Default: 3000 for signed HTTP and OAuth; in Socket Mode none, unless set for `/healthz`."""
    managers: str = Field("", validation_alias=_ENVIRONMENT["managers"])
    """Ids of members who are quiz admins besides the workspace's admins, separated by spaces or commas."""
    quiet_s: float = Field(900, gt=0, validation_alias=_ENVIRONMENT["quiet_s"])
    """Socket Mode: silence after which the connection is replaced, seconds."""
    ping_s: float = Field(5, gt=0, validation_alias=_ENVIRONMENT["ping_s"])
    """Socket Mode: ping interval, seconds. A ping that is not answered within half of it replaces the connection."""
    view_wait_s: float = Field(0.5, ge=0, lt=3, validation_alias=_ENVIRONMENT["view_wait_s"])
    """Time a reply may take before a waiting view is opened for it, seconds. A trigger lives three seconds."""
    data: Path = Field(Path(".dailygrad"), validation_alias=_ENVIRONMENT["data"])

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, _Files(settings_cls)

    @field_validator("bot_token", "app_token", "signing_secret", "client_secret", mode="after")
    @classmethod
    def _stripped(cls, value: SecretStr | None) -> SecretStr | None:
        bare = value.get_secret_value().strip() if value is not None else ""
        return SecretStr(bare) if bare else None

    @field_validator("api_url", mode="after")
    @classmethod
    def _with_slash(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"SLACK_API_URL is {value!r}; set it to a URL such as {_API}")
        return value.rstrip("/") + "/"

    @model_validator(mode="after")
    def _is_complete(self) -> SlackSettings:
        if problem := _problem(self):
            raise ValueError(problem)
        return self

    @property
    def mode(self) -> Mode:
        return Mode.socket if self.app_token is not None else Mode.http

    @property
    def many(self) -> bool:
        """Whether the app is installed by OAuth, possibly into many workspaces."""
        return self.bot_token is None

    @property
    def manager_ids(self) -> frozenset[str]:
        return frozenset(self.managers.replace(",", " ").split())

    @property
    def http_port(self) -> int | None:
        """The port to listen on; None if not needed."""
        return 3000 if self.port is None and (self.mode is Mode.http or self.many) else self.port


def _problem(settings: SlackSettings) -> str:
    """Returns the cause and the fix of invalid settings; empty if they are valid."""
    bot, app = settings.bot_token, settings.app_token
    if app is None and settings.signing_secret is None:
        return (
            "neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (signed HTTP) is set; copy one from the "
            "app's page at https://api.slack.com/apps, under Basic Information"
        )
    if app is not None and not app.get_secret_value().startswith("xapp-"):
        return "SLACK_APP_TOKEN does not start with xapp-; create an app-level token with the scope connections:write"
    if bot is not None and not bot.get_secret_value().startswith(("xoxb-", "xoxe.xoxb-")):
        return "SLACK_BOT_TOKEN does not start with xoxb-; copy the Bot User OAuth Token from OAuth & Permissions"
    if bool(settings.client_id) != (settings.client_secret is not None):
        return "only one of SLACK_CLIENT_ID and SLACK_CLIENT_SECRET is set; OAuth needs both"
    if bot is not None and settings.client_id:
        return "both SLACK_BOT_TOKEN (one workspace) and SLACK_CLIENT_ID (many, by OAuth) are set; unset one of them"
    if bot is None and not settings.client_id:
        return (
            "no workspace is configured: set SLACK_BOT_TOKEN for one, or SLACK_CLIENT_ID and SLACK_CLIENT_SECRET for "
            "many"
        )
    return ""


class _Files(PydanticBaseSettingsSource):
    """Settings from files named by `NAME_FILE`, as containers receive secrets."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        name = _ENVIRONMENT[field_name]
        path = os.environ.get(f"{name}_FILE", "")
        if not path:
            return None, name, False
        try:
            return Path(path).read_text(encoding="utf-8").strip(), name, False
        except OSError as error:
            raise ValueError(f"{name}_FILE names {path}, which cannot be read: {error.strerror}") from None

    def __call__(self) -> dict[str, Any]:
        found = {name: self.get_field_value(field, name) for name, field in self.settings_cls.model_fields.items()}
        return {key: value for value, key, _ in found.values() if value}
