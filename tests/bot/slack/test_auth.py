"""Tokens of OAuth installations are refreshed before they expire, and also once they have."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from slack_sdk.oauth.installation_store import Installation as Given

from bot.slack.auth import InstallationTokens, TokenRotation, installation_from, refreshed
from bot.slack.settings import SlackSettings
from bot.slack.web_api import NotInstalled, SlackWeb
from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.people.installations import AHEAD
from service.wire import Installation
from tests.conftest import TOKEN, Clock
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.world import TOKEN_LIFE_S, Team

LIFE = timedelta(seconds=TOKEN_LIFE_S)


@dataclass
class Rotating:
    """One installed workspace whose tokens rotate."""

    slack: SlackDouble
    team: Team
    client: ServiceClient
    tokens: InstallationTokens
    rotation: TokenRotation

    async def keep(self, expires_at: datetime) -> Installation:
        (again,) = self.slack.world.refresh
        token = SecretStr(self.slack.bot_token(self.team))
        kept = Installation(
            platform="slack", team=self.team.id, token=token, refresh=SecretStr(again), expires_at=expires_at
        )
        await self.client.installation_keep(kept)
        return kept


@pytest.fixture
async def rotating(database_url: str, clock: Clock) -> AsyncIterator[Rotating]:
    key = SecretStr(Fernet.generate_key().decode())
    settings = Settings(database_url=database_url, service_token=TOKEN, token_key=key)
    async with (
        slack_double(factor=60) as slack,
        build(settings, clock).running() as service,
        ServiceClient.inside(service.api, TOKEN) as client,
        SlackWeb(slack.api_url) as web,
    ):
        slack.app.rotation = True
        slack_settings = SlackSettings.model_validate(slack.environment())
        tokens = InstallationTokens(client, clock)
        team = slack.team()
        yield Rotating(slack, team, client, tokens, TokenRotation(slack_settings, web, client, tokens, clock))


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")  # slack_sdk's own use of it
@pytest.mark.parametrize("left", [timedelta(0), timedelta(minutes=-5), AHEAD], ids=["now", "expired", "soon"])
async def test_a_token_that_expires_now_or_soon_is_refreshed(rotating: Rotating, clock: Clock, left: timedelta) -> None:
    old = await rotating.keep(clock.now + left)
    assert await rotating.tokens.find(rotating.team.id) == old
    assert await rotating.rotation.refresh_due() == 1
    new = await rotating.tokens.find(rotating.team.id)
    assert new.token != old.token and new.token.get_secret_value() in rotating.slack.world.tokens
    assert new.refresh != old.refresh
    assert new.expires_at == clock.now + LIFE


@pytest.mark.filterwarnings("ignore:BasicAuth is deprecated:DeprecationWarning")  # slack_sdk's own use of it
async def test_a_refreshed_token_is_refreshed_again_ahead_of_its_end(rotating: Rotating, clock: Clock) -> None:
    await rotating.keep(clock.now)
    assert [await rotating.rotation.refresh_due() for _ in range(2)] == [1, 0]
    clock.now += LIFE - AHEAD - timedelta(seconds=1)
    assert await rotating.rotation.refresh_due() == 0
    clock.now += timedelta(seconds=1)
    assert await rotating.rotation.refresh_due() == 1


@pytest.mark.parametrize(("expires_in", "left"), [(0, timedelta(0)), (60, timedelta(minutes=1)), (None, None)])
def test_a_new_token_expires_when_slack_says(clock: Clock, expires_in: int | None, left: timedelta | None) -> None:
    old = Installation(platform="slack", team="T1", token=SecretStr("old"), expires_at=clock.now)
    new = refreshed(old, {"access_token": "new", "expires_in": expires_in}, clock.now)
    assert new.token.get_secret_value() == "new"
    assert new.expires_at == (None if left is None else clock.now + left)


@pytest.mark.parametrize("expires_at", [0, 1_772_438_400, None])
def test_an_installation_expires_when_slack_says(expires_at: int | None) -> None:
    given = Given(user_id="U1", team_id="T1", bot_token="xoxb-1", bot_token_expires_at=expires_at)
    found = installation_from(given).expires_at
    assert (None if found is None else found.timestamp()) == expires_at


async def test_the_token_of_one_workspace_is_used_for_no_other(rotating: Rotating, clock: Clock) -> None:
    own = Installation(platform="slack", team="T1", token=SecretStr("xoxb-1"))
    tokens = InstallationTokens(rotating.client, clock, own)
    assert await tokens.find("T1") == own
    for team in ("T2", ""):
        with pytest.raises(NotInstalled):
            await tokens.find(team)
