"""The token of each workspace: the one from the settings, or those the service keeps. Slack is asked about one once."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta

from pydantic import SecretStr
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.authorization.async_authorize import AsyncAuthorize
from slack_bolt.context.async_context import AsyncBoltContext
from slack_sdk.errors import SlackApiError

from bot.platforms.slack.errors import DEAD_TOKEN, NotInstalled, code_of
from bot.platforms.slack.web import SlackWeb
from service.client import ServiceClient
from service.wire import Installation

_LOG = logging.getLogger(__name__)

# Another process may have refreshed a token; the old one stays good for a while (docs: using token rotation).
_FRESH = timedelta(minutes=5)
_MANY = 5_000

Key = tuple[str, str]


class TokenWrong(Exception):
    """The token of the settings is none that Slack knows."""


class Tokens:
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

    def __init__(self, tokens: Tokens) -> None:
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
