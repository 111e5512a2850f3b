"""A rate-limited reply is repeated if the wait is short; no other call is repeated."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState

from bot.core.cards import Card, Text
from bot.slack.auth import InstallationTokens, single_installation
from bot.slack.replies import Replies, waiting_view
from bot.slack.route import Route
from bot.slack.uploads import Uploads
from bot.slack.web_api import RateLimitRetry, SlackWeb
from service.client import ServiceClient
from tests.conftest import Clock
from tests.doubles.slack.double import SlackDouble
from tests.doubles.slack.faults import How

CARD = Card("A title", "In short.", (Text("Hello."),))


@dataclass
class Scene:
    slack: SlackDouble
    replies: Replies
    route: Route

    @property
    def told(self) -> int:
        return len([one for one in self.slack.world.ephemerals if one.user == self.route.user])


@pytest.fixture
async def scene(slack: SlackDouble, clock: Clock) -> AsyncIterator[Scene]:
    team = slack.team()
    ann = slack.user(team, "Ann")
    daily = slack.channel(team, "daily", ann)
    slack.limits.on = False
    async with SlackWeb(slack.api_url) as web, ServiceClient.over_http("http://127.0.0.1:9", "nobody") as nobody:
        tokens = InstallationTokens(nobody, clock, await single_installation(web, SecretStr(slack.bot_token(team))))
        route = Route(team=team.id, user=ann.id, channel=daily.id, trigger="1.2")
        yield Scene(slack, Replies(web, tokens, Uploads(web)), route)


async def test_a_reply_is_repeated_after_a_short_wait(scene: Scene) -> None:
    fault = scene.slack.fail("chat.postEphemeral", "429", times=2, seconds=0)
    await scene.replies.send_card(scene.route, CARD)
    assert (fault.met, scene.told) == (2, 1)


async def test_a_third_refusal_is_an_error(scene: Scene) -> None:
    fault = scene.slack.fail("chat.postEphemeral", "429", times=9, seconds=0)
    with pytest.raises(SlackApiError):
        await scene.replies.send_card(scene.route, CARD)
    assert (fault.met, scene.told) == (3, 0)


@pytest.mark.parametrize(("how", "seconds"), [("429", 31.0), ("500", 0.0)])
async def test_a_long_wait_or_another_failure_is_an_error_at_once(scene: Scene, how: How, seconds: float) -> None:
    fault = scene.slack.fail("chat.postEphemeral", how, times=9, seconds=seconds)
    with pytest.raises(SlackApiError):
        await scene.replies.send_card(scene.route, CARD)
    assert (fault.met, scene.told) == (1, 0)


async def test_a_view_is_not_opened_again_after_its_trigger_expired(scene: Scene) -> None:
    fault = scene.slack.fail("views.open", "429", times=9, seconds=2.5)
    assert await scene.replies.open_view(scene.route, waiting_view()) is None
    assert fault.met == 1


async def test_a_view_is_opened_again_while_its_trigger_lives(scene: Scene) -> None:
    fault = scene.slack.fail("views.open", "429", times=2, seconds=0)
    await scene.replies.open_view(scene.route, waiting_view())
    assert fault.met == 2
    assert scene.slack.log.count("call", method="views.open") == 1, "the third was let through"


@pytest.mark.parametrize(
    ("header", "repeated"),
    [("30", True), ("0.05", True), ("30.5", False), ("soon", True), ("inf", True), ("-1", True), ("", True)],
)
async def test_unusual_headers_are_parsed(header: str, repeated: bool) -> None:
    response = HttpResponse(status_code=429, headers={"Retry-After": header})
    asked = await RateLimitRetry().can_retry_async(
        state=RetryState(), request=HttpRequest(method="POST", url="", headers={}), response=response
    )
    assert asked is repeated
