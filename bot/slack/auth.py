"""Installations and tokens: one workspace from the settings, or many by OAuth, kept and refreshed through the service.

Token rotation does not use `slack_sdk`'s `AsyncTokenRotator`. It decides by the machine's clock which token is due,
which the service has already decided by its own; it returns None both for "not due" and for an answer it does not
understand, although that answer has used up the refresh token; and it needs each `Installation` converted to a `Bot`
and back.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any

from aiohttp import ClientError
from pydantic import SecretStr
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.oauth.installation_store import Bot
from slack_sdk.oauth.installation_store import Installation as Given
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.text import slack as text
from bot.slack.manifest import BOT_SCOPES
from bot.slack.settings import SlackSettings
from bot.slack.web_api import DEAD_TOKEN_CODES, NotInstalled, SlackWeb, error_code
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.process import Clock
from service.wire import Installation, InstallationKey

_LOG = logging.getLogger(__name__)
Key = tuple[str, str]
Installed = Callable[[Installation], Awaitable[None]]
INSTALL_PATH, REDIRECT_PATH = "/slack/install", "/slack/oauth_redirect"
_MAX_AGE = timedelta(minutes=5)
"""Cache lifetime: another process may refresh a token; the old one still works a while. Docs: using token rotation."""
_MAX_ENTRIES = 5_000
"""Cached installations."""
_INTERVAL_S = 60.0
"""Interval at which tokens that expire soon are refreshed, seconds."""
_SAVE_TRIES = 8
"""Attempts to save a new token, which Slack returns only once."""


class TokenRejected(Exception):
    """Slack rejects the configured token."""


class InstallationTokens:
    """The installation of each workspace, from the settings or from the service, cached for five minutes."""

    def __init__(self, client: ServiceClient, clock: Clock, single: Installation | None = None) -> None:
        self._client = client
        self._clock = clock
        self._single = single
        self._found: OrderedDict[Key, tuple[Installation, datetime]] = OrderedDict()

    async def find(self, team: str, enterprise: str = "") -> Installation:
        """Returns a workspace's installation. Raises NotInstalled, or what the client raises."""
        if (cached := self.cached(team, enterprise)) is not None:
            return cached
        found = None if self._single else await self._client.installation_find("slack", team, enterprise)
        if found is None:
            raise NotInstalled(team)
        self.remember(team, enterprise, found)
        return found

    async def client_of(
        self, web: SlackWeb, team: str, enterprise: str = "", *, retries: bool = False
    ) -> AsyncWebClient:
        """Returns a client with a workspace's token, as `SlackWeb.client`. Raises as `find`."""
        installation = await self.find(team, enterprise)
        return web.client(installation.token.get_secret_value(), retries=retries)

    def cached(self, team: str, enterprise: str = "") -> Installation | None:
        """Returns the cached installation, without a request."""
        if self._single is not None:
            return self._single if self._single.team == team else None
        found, since = self._found.get((team, enterprise), (None, self._clock()))
        return found if found is not None and self._clock() - since < _MAX_AGE else None

    def remember(self, team: str, enterprise: str, found: Installation) -> None:
        self._found[team, enterprise] = (found, self._clock())
        self._found.move_to_end((team, enterprise))
        if len(self._found) > _MAX_ENTRIES:
            self._found.popitem(last=False)

    def invalidate(self, team: str, enterprise: str = "") -> None:
        """Drops cached installations: the token was refreshed or revoked."""
        for key in [key for key in self._found if key[0] == team or (enterprise and key[1] == enterprise)]:
            del self._found[key]

    async def delete(self, team: str, enterprise: str, removed_at: datetime) -> None:
        """Deletes an installation: the app was removed, or its token revoked. A newer one stays."""
        self.invalidate(team, enterprise)
        if self._single is None:
            await self._client.installation_forget("slack", team, enterprise, removed_at)


class CachedAuthorization(AsyncAuthorize):
    """Bolt's authorization, from the cache only: it runs before the acknowledgement, so it makes no request."""

    def __init__(self, tokens: InstallationTokens) -> None:
        self._tokens = tokens

    async def __call__(
        self,
        *,
        context: AsyncBoltContext,
        enterprise_id: str | None,
        team_id: str | None,
        user_id: str | None,
        actor_enterprise_id: str | None = None,
        actor_team_id: str | None = None,
        actor_user_id: str | None = None,
    ) -> AuthorizeResult:
        cached = self._tokens.cached(team_id or "", enterprise_id or "")
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_token=cached.token.get_secret_value() if cached else None,
            bot_id=cached.bot_id if cached else None,
            bot_user_id=cached.bot_user if cached else None,
        )


async def single_installation(web: SlackWeb, token: SecretStr) -> Installation:
    """Looks up the installation of the configured token. Raises TokenRejected, or what a Slack call raises."""
    try:
        info = await web.client(token.get_secret_value()).auth_test()
    except SlackApiError as error:
        if error_code(error) in DEAD_TOKEN_CODES:
            raise TokenRejected(
                f"Slack rejects SLACK_BOT_TOKEN ({error_code(error)}); copy the Bot User OAuth Token from the "
                "app's page, OAuth & Permissions"
            ) from None
        raise
    if info.get("is_enterprise_install"):
        raise TokenRejected(f"SLACK_BOT_TOKEN belongs to a whole organization. {text.ORGANIZATION_WIDE}")
    return Installation(
        platform="slack",
        team=info.get("team_id") or "",
        enterprise=info.get("enterprise_id") or "",
        token=token,
        bot_id=info.get("bot_id") or "",
        bot_user=info.get("user_id") or "",
        name=info.get("team") or "",
    )


# Installation by OAuth


class OAuthStates(AsyncOAuthStateStore):
    """OAuth states, kept by the service and valid once."""

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


class InstallationStore(AsyncInstallationStore):
    """Saves installations of Bolt's OAuth flow in the service. `InstallationTokens` reads them."""

    def __init__(self, client: ServiceClient, tokens: InstallationTokens, installed: Installed) -> None:
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
        self._tokens.invalidate(kept.team, kept.enterprise)
        await self._installed(kept)

    async def async_save_bot(self, bot: Bot) -> None:
        raise BoltError("a bot is saved with its installation")


def installation_from(given: Given) -> Installation:
    """Converts an installation for the service. Raises BoltError for one of a whole organization, whose one token
    would serve many workspaces, and if Slack gave no bot token."""
    if given.is_enterprise_install:
        raise BoltError(text.ORGANIZATION_WIDE)
    if not given.bot_token:
        raise BoltError("Slack gave no bot token")
    expires = given.bot_token_expires_at
    return Installation(
        platform="slack",
        team=given.team_id or "",
        enterprise=given.enterprise_id or "",
        token=SecretStr(given.bot_token),
        refresh=SecretStr(given.bot_refresh_token) if given.bot_refresh_token else None,
        expires_at=None if expires is None else datetime.fromtimestamp(expires, UTC),
        app=given.app_id or "",
        bot_id=given.bot_id or "",
        bot_user=given.bot_user_id or "",
        scopes=tuple(given.bot_scopes or ()),
        installed_by=given.user_id or "",
        name=(given.team_name or "")[:200],
    )


def oauth_flow(
    settings: SlackSettings, web: SlackWeb, client: ServiceClient, tokens: InstallationTokens, installed: Installed
) -> AsyncOAuthFlow:
    """Returns the OAuth flow; `installed` is called after each installation."""
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
            installation_store=InstallationStore(client, tokens, installed),
            state_store=OAuthStates(client),
            callback_options=AsyncCallbackOptions(success=_show_success, failure=_show_failure),
        ),
    )


def consent_url(api_url: str) -> str:
    """Returns the URL of Slack's consent page, on the API's host."""
    return api_url.removesuffix("/").removesuffix("/api") + "/oauth/v2/authorize"


async def _show_success(args: AsyncSuccessArgs) -> BoltResponse:
    return _page(200, *text.installed(args.installation.team_name or ""))


async def _show_failure(args: AsyncFailureArgs) -> BoltResponse:
    _LOG.warning("an installation failed: %s %s", args.reason, args.error or "")
    return _page(args.suggested_status_code, *text.not_installed(args.reason, str(args.error)))


def _page(status: int, title: str, text: str) -> BoltResponse:
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<h1>{escape(title)}</h1><p>{escape(text)}</p></html>"
    )
    return BoltResponse(status=status, body=body, headers={"Content-Type": "text/html; charset=utf-8"})


# Token rotation


class TokenRotation:
    """Refreshes the tokens of OAuth installations that expire soon."""

    def __init__(
        self,
        settings: SlackSettings,
        web: SlackWeb,
        client: ServiceClient,
        tokens: InstallationTokens,
        clock: Clock,
    ) -> None:
        self._settings = settings
        self._web = web
        self._client = client
        self._tokens = tokens
        self._clock = clock

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await self.refresh_due()
            await asyncio.sleep(_INTERVAL_S)

    async def refresh_due(self) -> int:
        """Refreshes the tokens that are due; returns how many."""
        refreshed = 0
        try:
            for key in await self._client.installation_due("slack"):
                refreshed += await self._refresh(key)
        except (ServiceUnavailable, ServiceRefused) as error:
            _LOG.warning("cannot refresh tokens now: %s", error)
        return refreshed

    async def _refresh(self, key: InstallationKey) -> bool:
        refresh = await self._client.installation_lease("slack", key.team, key.enterprise)
        cached = await self._client.installation_find("slack", key.team, key.enterprise) if refresh else None
        if refresh is None or cached is None:
            return False
        assert self._settings.client_secret is not None, "many workspaces are installed by OAuth"
        try:
            response = await self._web.client().oauth_v2_access(
                client_id=self._settings.client_id,
                client_secret=self._settings.client_secret.get_secret_value(),
                grant_type="refresh_token",
                refresh_token=refresh.get_secret_value(),
            )
        except SlackApiError as error:
            _LOG.error(
                "Slack rejects the refresh token of %s (%s); if this continues, install the app there again",
                cached.name or key.team,
                error_code(error),
            )
            return False
        except (ClientError, TimeoutError) as error:
            _LOG.warning("cannot refresh the token of %s now: %s", key.team, str(error) or type(error).__name__)
            return False
        await self._save(refreshed(cached, response, self._clock()), refresh)
        self._tokens.invalidate(key.team, key.enterprise)
        return True

    async def _save(self, installation: Installation, used: SecretStr) -> None:
        """Saves the new tokens, with retries: the old refresh token is used up, so they must not be lost."""
        for attempt in range(_SAVE_TRIES):
            try:
                await self._client.installation_keep(installation, used.get_secret_value())
                return
            except ServiceUnavailable:
                await asyncio.sleep(0.25 * 2**attempt)
        await self._client.installation_keep(installation, used.get_secret_value())


def refreshed(cached: Installation, response: Any, now: datetime) -> Installation:
    """Returns the installation with its new tokens."""
    expires = response.get("expires_in")
    return cached.model_copy(
        update={
            "token": SecretStr(str(response["access_token"])),
            "refresh": SecretStr(str(response["refresh_token"])) if response.get("refresh_token") else None,
            "expires_at": None if expires is None else now + timedelta(seconds=int(expires)),
        }
    )
