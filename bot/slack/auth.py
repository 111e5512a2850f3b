"""Installing into many workspaces by OAuth: Bolt's flow, with its states and installations kept by the service."""

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

from bot.slack.manifest import BOT_SCOPES
from bot.slack.settings import SlackSettings
from bot.slack.web_api import DEAD_TOKEN, NotInstalled, SlackWeb, code_of
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Installation, InstallationKey

# The token of each workspace: the one from the settings, or those the service keeps. Slack is asked about one once.


# Another process may have refreshed a token; the old one stays good for a while (docs: using token rotation).
_FRESH = timedelta(minutes=5)
_MANY = 5_000

Key = tuple[str, str]


class TokenWrong(Exception):
    """The token of the settings is none that Slack knows."""


class InstallationTokens:
    """Installations by team; what was found is remembered for some minutes."""

    def __init__(self, client: ServiceClient, clock: Callable[[], datetime], only: Installation | None = None) -> None:
        self._client = client
        self._clock = clock
        self._only = only
        self._found: OrderedDict[Key, tuple[Installation, datetime]] = OrderedDict()

    async def of(self, team: str, enterprise: str = "") -> Installation:
        """The team's installation. Raises NotInstalled, or what the client raises."""
        if (known := self.known(team, enterprise)) is not None:
            return known
        found = None if self._only else await self._client.installation_find("slack", team, enterprise)
        if found is None:
            raise NotInstalled(team)
        self.keep(team, enterprise, found)
        return found

    def known(self, team: str, enterprise: str = "") -> Installation | None:
        """What is remembered; asks nobody."""
        if self._only is not None:
            return self._only if self._serves(team, enterprise) else None
        found, since = self._found.get((team, enterprise), (None, self._clock()))
        return found if found is not None and self._clock() - since < _FRESH else None

    def _serves(self, team: str, enterprise: str) -> bool:
        assert self._only is not None
        return self._only.team in ("", team) or (bool(enterprise) and self._only.enterprise == enterprise)

    def keep(self, team: str, enterprise: str, found: Installation) -> None:
        self._found[team, enterprise] = (found, self._clock())
        self._found.move_to_end((team, enterprise))
        if len(self._found) > _MANY:
            self._found.popitem(last=False)

    def drop(self, team: str, enterprise: str = "") -> None:
        """Forget what is remembered: it was refreshed, or Slack does not take it any more."""
        for key in [key for key in self._found if key[0] == team or (enterprise and key[1] == enterprise)]:
            del self._found[key]

    async def forget(self, team: str, enterprise: str = "") -> None:
        """The app was uninstalled, or its token revoked."""
        self.drop(team, enterprise)
        if self._only is None:
            await self._client.installation_forget("slack", team, enterprise)


class Authorized(AsyncAuthorize):
    """For Bolt, before it acknowledges: what is remembered, else nothing but the ids. Never a call of any kind."""

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
        known = self._tokens.known(team_id or enterprise_id or "", enterprise_id or "")
        return AuthorizeResult(
            enterprise_id=enterprise_id,
            team_id=team_id,
            bot_token=known.token.get_secret_value() if known else None,
            bot_id=known.bot_id if known else None,
            bot_user_id=known.bot_user if known else None,
        )


async def the_only(web: SlackWeb, token: SecretStr) -> Installation:
    """The installation that a single token stands for. Raises TokenWrong, or what a call of Slack's raises."""
    try:
        said = await web.client(token.get_secret_value()).auth_test()
    except SlackApiError as error:
        if code_of(error) in DEAD_TOKEN:
            raise TokenWrong(
                f"Slack does not take SLACK_BOT_TOKEN ({code_of(error)}); copy the Bot User OAuth Token from the app's "
                "page, OAuth & Permissions"
            ) from None
        raise
    return Installation(
        platform="slack",
        team=said.get("team_id") or "",
        enterprise=said.get("enterprise_id") or "",
        token=token,
        bot_id=said.get("bot_id") or "",
        bot_user=said.get("user_id") or "",
        name=said.get("team") or "",
    )


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
    settings: SlackSettings, web: SlackWeb, client: ServiceClient, tokens: InstallationTokens, installed: Installed
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


# Refreshes tokens before they expire, one process at a time: the service leases a refresh token to a single caller.
#
# `slack_sdk`'s `AsyncTokenRotator` does not fit. It decides by the machine's clock what is due, which the service has
# already decided by its own; it returns None both for "not due" and for an answer it does not understand, although that
# answer has used up the refresh token; and it needs each `Installation` turned into a `Bot` and back.


_EVERY_S = 60.0
_KEEP_TRIES = 8


class Rotation:
    """For many workspaces; where no token ever expires, nothing is due."""

    def __init__(
        self,
        settings: SlackSettings,
        web: SlackWeb,
        client: ServiceClient,
        tokens: InstallationTokens,
        clock: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._web = web
        self._client = client
        self._tokens = tokens
        self._clock = clock

    async def run(self) -> None:
        """Refresh until cancelled."""
        while True:
            await self.once()
            await asyncio.sleep(_EVERY_S)

    async def once(self) -> int:
        """Refresh what is due; returns how many were."""
        refreshed = 0
        try:
            for key in await self._client.installation_due("slack"):
                refreshed += await self._refresh(key)
        except (ServiceUnavailable, ServiceRefused) as error:
            _LOG.warning("tokens could not be refreshed now: %s", error)
        return refreshed

    async def _refresh(self, key: InstallationKey) -> bool:
        refresh = await self._client.installation_lease("slack", key.team, key.enterprise)
        known = await self._client.installation_find("slack", key.team, key.enterprise) if refresh else None
        if refresh is None or known is None:
            return False
        assert self._settings.client_secret is not None, "many workspaces are installed by OAuth"
        try:
            said = await self._web.client().oauth_v2_access(
                client_id=self._settings.client_id,
                client_secret=self._settings.client_secret.get_secret_value(),
                grant_type="refresh_token",
                refresh_token=refresh.get_secret_value(),
            )
        except SlackApiError as error:
            _LOG.error(
                "Slack does not refresh the token of %s (%s); if that goes on, install the app there again",
                known.name or key.team,
                code_of(error),
            )
            return False
        except (ClientError, TimeoutError) as error:
            _LOG.warning("the token of %s could not be refreshed now: %s", key.team, error or type(error).__name__)
            return False
        await self._keep(refreshed(known, said, self._clock()))
        self._tokens.drop(key.team, key.enterprise)
        return True

    async def _keep(self, installation: Installation) -> None:
        """The old refresh token is spent, so the new one must not be lost to a moment without the service."""
        for attempt in range(_KEEP_TRIES):
            try:
                await self._client.installation_keep(installation)
                return
            except ServiceUnavailable:
                await asyncio.sleep(0.25 * 2**attempt)
        await self._client.installation_keep(installation)


def refreshed(known: Installation, said: Any, now: datetime) -> Installation:
    """The installation with the tokens Slack gave."""
    expires = said.get("expires_in")
    return known.model_copy(
        update={
            "token": SecretStr(str(said["access_token"])),
            "refresh": SecretStr(str(said["refresh_token"])) if said.get("refresh_token") else None,
            "expires_at": now + timedelta(seconds=int(expires)) if expires else None,
        }
    )
