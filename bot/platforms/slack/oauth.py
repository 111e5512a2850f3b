"""Installing into many workspaces by OAuth: Bolt's flow, with its states and installations kept by the service."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from html import escape

from pydantic import SecretStr
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.response import BoltResponse
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.installation_store import Installation as Given
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore

from bot.platforms.slack.manifest import BOT_SCOPES
from bot.platforms.slack.settings import SlackSettings
from bot.platforms.slack.tokens import Tokens
from bot.platforms.slack.web import SlackWeb
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Installation

_LOG = logging.getLogger(__name__)
INSTALL_PATH, REDIRECT_PATH = "/slack/install", "/slack/oauth_redirect"

Installed = Callable[[Installation], Awaitable[None]]

_REASONS = {
    "access_denied": "You did not allow it. Nothing was installed.",
    "invalid_browser": "The page was opened in another browser than it was left in. Begin again at /slack/install.",
    "invalid_state": "The link is too old, or was used before. Begin again at /slack/install.",
    "invalid_code": "Slack did not take the code. Begin again at /slack/install.",
}


class States(AsyncOAuthStateStore):
    """A state goes along to Slack and comes back once."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    @property
    def logger(self) -> logging.Logger:
        return _LOG

    async def async_issue(self, *args: object, **kwargs: object) -> str:
        try:
            return await self._client.oauth_issue("slack")
        except (ServiceUnavailable, ServiceRefused) as error:
            raise BoltError(str(error)) from error

    async def async_consume(self, state: str) -> bool:
        try:
            return await self._client.oauth_consume("slack", state)
        except (ServiceUnavailable, ServiceRefused) as error:
            raise BoltError(str(error)) from error


class Store(AsyncInstallationStore):
    """What Bolt's flow leaves behind, handed to the service; reading is `Tokens`' business."""

    def __init__(self, client: ServiceClient, tokens: Tokens, installed: Installed) -> None:
        self._client = client
        self._tokens = tokens
        self._installed = installed

    @property
    def logger(self) -> logging.Logger:
        return _LOG

    async def async_save(self, installation: Given) -> None:
        kept = installation_from(installation)
        try:
            await self._client.installation_keep(kept)
        except (ServiceUnavailable, ServiceRefused) as error:
            raise BoltError(str(error)) from error
        self._tokens.drop(kept.team, kept.enterprise)
        await self._installed(kept)

    async def async_save_bot(self, bot: Bot) -> None:
        raise BoltError("a bot is kept with its installation")


def installation_from(given: Given) -> Installation:
    """An installation as the service keeps it. Raises BoltError where Slack gave no bot token."""
    if not given.bot_token:
        raise BoltError("Slack gave no bot token")
    expires = given.bot_token_expires_at
    return Installation(
        platform="slack",
        team="" if given.is_enterprise_install else given.team_id or "",
        enterprise=given.enterprise_id or "",
        token=SecretStr(given.bot_token),
        refresh=SecretStr(given.bot_refresh_token) if given.bot_refresh_token else None,
        expires_at=datetime.fromtimestamp(expires, UTC) if expires else None,
        app=given.app_id or "",
        bot_id=given.bot_id or "",
        bot_user=given.bot_user_id or "",
        scopes=tuple(given.bot_scopes or ()),
        installed_by=given.user_id or "",
        name=(given.team_name or given.enterprise_name or "")[:200],
    )


def oauth_flow(
    settings: SlackSettings, web: SlackWeb, client: ServiceClient, tokens: Tokens, installed: Installed
) -> AsyncOAuthFlow:
    """The flow behind `/slack/install` and `/slack/oauth_redirect`; `installed` is told of every installation."""
    assert settings.client_secret is not None, "settings with a client id have its secret"
    return AsyncOAuthFlow(
        client=web.client(),
        settings=AsyncOAuthSettings(
            client_id=settings.client_id,
            client_secret=settings.client_secret.get_secret_value(),
            scopes=list(BOT_SCOPES),
            user_scopes=[],
            redirect_uri=settings.redirect_uri or None,
            install_path=INSTALL_PATH,
            redirect_uri_path=REDIRECT_PATH,
            install_page_rendering_enabled=False,
            authorization_url=consent_url(settings.api_url),
            installation_store=Store(client, tokens, installed),
            state_store=States(client),
            callback_options=AsyncCallbackOptions(success=_succeeded, failure=_failed),
        ),
    )


def consent_url(api_url: str) -> str:
    """Slack's consent page, on the host of its API."""
    return api_url.removesuffix("/").removesuffix("/api") + "/oauth/v2/authorize"


async def _succeeded(args: AsyncSuccessArgs) -> BoltResponse:
    name = args.installation.team_name or "your workspace"
    return _page(200, "Dailygrad is installed", f"It is in {name} now, and has written to you there. Type /quiz help.")


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    _LOG.warning("an installation failed: %s %s", args.reason, args.error or "")
    said = _REASONS.get(args.reason, f"Slack says: {args.reason}. Begin again at /slack/install.")
    if args.reason == "storage_error":
        said = f"The installation could not be kept: {args.error}"
    return _page(args.suggested_status_code, "Dailygrad was not installed", said)


def _page(status: int, title: str, said: str) -> BoltResponse:
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<h1>{escape(title)}</h1><p>{escape(said)}</p></html>"
    )
    return BoltResponse(status=status, body=body, headers={"Content-Type": "text/html; charset=utf-8"})
