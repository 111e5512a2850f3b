"""Refreshes tokens before they expire, one process at a time: the service leases a refresh token to a single caller.

`slack_sdk`'s `AsyncTokenRotator` does not fit. It decides by the machine's clock what is due, which the service has
already decided by its own; it returns None both for "not due" and for an answer it does not understand, although that
answer has used up the refresh token; and it needs each `Installation` turned into a `Bot` and back.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from aiohttp import ClientError
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError

from bot.platforms.slack.errors import code_of
from bot.platforms.slack.settings import SlackSettings
from bot.platforms.slack.tokens import Tokens
from bot.platforms.slack.web import SlackWeb
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Installation, InstallationKey

_LOG = logging.getLogger(__name__)
_EVERY_S = 60.0
_KEEP_TRIES = 8


class Rotation:
    """For many workspaces; where no token ever expires, nothing is due."""

    def __init__(
        self,
        settings: SlackSettings,
        web: SlackWeb,
        client: ServiceClient,
        tokens: Tokens,
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
