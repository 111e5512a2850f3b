"""Posting to the Slack double: once, in parts, with pictures, and found again."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from aiohttp import ClientError
from pydantic import SecretStr
from slack_sdk.errors import SlackApiError

from bot.core.cards import Bar, Bars, Card, Code, Picture, Text
from bot.core.dispatcher import DeliveryDelayed, DeliveryRefused, Target
from bot.slack.auth import InstallationTokens, TokenRejected, single_installation
from bot.slack.people import AdminUnknown, MemberDirectory
from bot.slack.platform import PartlyPosted, SlackPlatform
from bot.slack.rate_limit import RateLimit, RateLimiter
from bot.slack.uploads import Uploads
from bot.slack.web_api import SlackWeb
from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.wire import Who
from tests.conftest import TOKEN, Clock
from tests.doubles.slack.double import SlackDouble
from tests.doubles.slack.faults import How
from tests.doubles.slack.surfaces import Message
from tests.doubles.slack.world import Channel, Team, User

CARD = Card("A title", "In short.", (Text("Hello **you**."),))
LONG = Card("A long one", "In short.", tuple(Code(f"{number}\n" * 1500) for number in range(8)))
TOKEN_KEY = base64.urlsafe_b64encode(bytes(32)).decode()
PNG = b"\x89PNG\r\n\x1a\n" + bytes(64)


@dataclass
class Post:
    """A platform on a workspace of the double, without the service."""

    slack: SlackDouble
    team: Team
    ann: User
    daily: Channel
    web: SlackWeb
    tokens: InstallationTokens
    platform: SlackPlatform
    clock: Clock

    @property
    def target(self) -> Target:
        return Target(self.team.id, self.daily.id)

    @property
    def there(self) -> list[Message]:
        return self.slack.world.messages(self.daily)


@pytest.fixture
async def post(slack: SlackDouble, clock: Clock) -> AsyncIterator[Post]:
    team = slack.team()
    ann = slack.user(team, "Ann", admin=True)
    daily = slack.channel(team, "daily", ann)
    slack.limits.on = False
    async with SlackWeb(slack.api_url) as web, ServiceClient.over_http("http://127.0.0.1:9", "nobody") as nobody:
        tokens = InstallationTokens(nobody, clock, await single_installation(web, SecretStr(slack.bot_token(team))))
        limiter = RateLimiter(lambda: 0.0, RateLimit(1000, 1000), RateLimit(1000, 1000))
        platform = SlackPlatform(web, tokens, clock, limiter, Uploads(web, pauses=(0, 0, 0)))
        yield Post(slack, team, ann, daily, web, tokens, platform, clock)


async def test_a_post_is_found_by_its_key(post: Post) -> None:
    assert await post.platform.find(post.target, "k") is None
    ref = await post.platform.post(post.target, CARD, "k")
    assert ref == post.there[0].ref
    assert await post.platform.find(post.target, "k") == ref
    assert await post.platform.find(post.target, "k/1") is None
    post.slack.must_be_well()


async def test_a_reply_is_posted_and_found_in_the_thread(post: Post) -> None:
    ref = await post.platform.post(post.target, CARD, "k")
    beneath = Target(post.team.id, post.daily.id, reply_to=ref)
    reply = await post.platform.post(beneath, CARD, "r")
    assert post.there[1].thread_ts == post.there[0].ts
    assert await post.platform.find(beneath, "r") == reply


async def test_a_broadcast_is_shown_in_the_channel_too(post: Post) -> None:
    ref = await post.platform.post(post.target, CARD, "k")
    everyone = Target(post.team.id, post.daily.id, reply_to=ref, broadcast=True)
    reply = await post.platform.post(everyone, CARD, "o")
    assert (post.there[1].thread_ts, post.there[1].broadcast) == (post.there[0].ts, True)
    assert await post.platform.find(everyone, "o") == reply
    post.slack.must_be_well()


async def test_an_edit_replaces_the_message_which_is_still_found(post: Post) -> None:
    ref = await post.platform.post(post.target, CARD, "k")
    await post.platform.edit(post.target, Card("Changed", "It is."), ref, "k")
    (shown,) = post.there
    assert "Changed" in shown.words and shown.edited == 1
    assert await post.platform.find(post.target, "k") == ref
    with pytest.raises(DeliveryRefused, match="message_not_found"):
        await post.platform.edit(post.target, CARD, f"{post.daily.id}/1.000001", "k")


async def test_a_private_post_is_a_direct_message(post: Post) -> None:
    target = Target(post.team.id, post.daily.id, member=post.ann.id)
    ref = await post.platform.post(target, CARD, "k")
    assert post.there == []
    assert [one.ref for one in post.slack.world.messages(post.slack.world.im(post.ann))] == [ref]
    assert await post.platform.find(target, "k") == ref
    assert post.slack.log.count("call", method="conversations.open") == 1


async def test_a_long_card_is_posted_in_parts(post: Post) -> None:
    ref = await post.platform.post(post.target, LONG, "k")
    keys = [one.key for one in post.there]
    assert keys == [f"k/{number}" for number in range(1, len(keys) + 1)]
    assert len(keys) > 1
    assert await post.platform.find(post.target, "k") == ref == post.there[0].ref
    post.slack.must_be_well()


@pytest.mark.parametrize("how", ["cut before", "cut after"])
async def test_only_the_missing_messages_of_a_card_are_posted_again(post: Post, how: How) -> None:
    await post.platform.post(post.target, LONG, "whole")
    parts = len(post.there)
    fault = post.slack.fail("chat.postMessage", how)
    fault.fits = lambda args: "k/2" in str(args["metadata"])
    with pytest.raises(ClientError):
        await post.platform.post(post.target, LONG, "k")
    assert await post.platform.find(post.target, "k") is None
    assert await post.platform.post(post.target, LONG, "k") == await post.platform.find(post.target, "k")
    found = sorted(one.key for one in post.there if one.key.startswith("k/"))
    assert found == [f"k/{number}" for number in range(1, parts + 1)]


async def test_a_rate_limit_within_a_card_needs_a_search_first(post: Post) -> None:
    post.slack.limits.on = True
    post.slack.limits.channel_burst, post.slack.limits.channel_rate = 1, 0.001
    with pytest.raises(PartlyPosted):
        await post.platform.post(post.target, LONG, "k")
    assert len(post.there) == 1
    post.slack.limits.on = False
    assert await post.platform.find(post.target, "k") is None


async def test_a_rate_limit_at_the_start_says_when_to_retry(post: Post) -> None:
    post.slack.fail("chat.postMessage", "429", seconds=3)
    with pytest.raises(DeliveryDelayed) as caught:
        await post.platform.post(post.target, CARD, "k")
    assert caught.value.seconds >= 3
    assert post.there == []


async def test_a_picture_is_uploaded_with_its_alt_text(post: Post) -> None:
    card = Card("Board", "In short.", (Picture(PNG, "Ann leads by two."), Text("Well done.")))
    await post.platform.post(post.target, card, "k")
    images = [block for block in post.there[0].blocks if block["type"] == "image"]
    assert [image["alt_text"] for image in images] == ["Ann leads by two."]
    assert post.slack.world.contents[images[0]["slack_file"]["id"]] == PNG
    post.slack.must_be_well()


async def test_a_picture_that_is_shown_again_is_uploaded_once(post: Post) -> None:
    for key in ("one", "two", "three"):
        card = Card("Formula", "In short.", (Picture(PNG, f"The softmax, {key}."),))
        await post.platform.post(post.target, card, key)
    assert post.slack.log.count("file") == 1
    other = Card("Formula", "In short.", (Picture(PNG + b"1", "Another."),))
    await post.platform.post(post.target, other, "four")
    assert post.slack.log.count("file") == 2


async def test_a_picture_that_was_deleted_is_uploaded_again(post: Post) -> None:
    """An admin may delete files, and a workspace may drop old ones."""
    card = Card("Formula", "In short.", (Picture(PNG, "The softmax."),))
    ref = await post.platform.post(post.target, card, "one")
    shown = image_in(post.there[0])
    del post.slack.world.files[shown]
    await post.platform.post(post.target, card, "two")
    again = image_in(post.there[1])
    assert again != shown and post.slack.world.contents[again] == PNG
    assert post.slack.log.count("file") == 2
    del post.slack.world.files[again]
    await post.platform.edit(post.target, card, ref, "one")
    assert post.there[0].edited == 1 and image_in(post.there[0]) not in (shown, again)
    post.slack.fail("files.getUploadURLExternal", "error", code="missing_scope", times=9)
    del post.slack.world.files[image_in(post.there[0])]
    await post.platform.post(post.target, card, "three")
    assert "The softmax." in post.there[2].words and post.slack.log.count("file") == 3


def image_in(message: Message) -> str:
    """Returns the id of the file in a message."""
    (image,) = [block for block in message.blocks if block["type"] == "image"]
    return str(image["slack_file"]["id"])


async def test_a_failed_upload_becomes_its_alt_text(post: Post) -> None:
    post.slack.fail("files.getUploadURLExternal", "error", code="missing_scope")
    card = Card("Board", "In short.", (Picture(PNG, "Ann leads by two."),))
    await post.platform.post(post.target, card, "k")
    assert "Ann leads by two." in post.there[0].words
    assert all(block["type"] != "image" for block in post.there[0].blocks)


async def test_a_picture_being_processed_is_awaited(post: Post) -> None:
    post.slack.fail("chat.postMessage", "error", code="invalid_blocks")
    await post.platform.post(post.target, Card("Board", "In short.", (Picture(PNG, "Alt."),)), "k")
    assert [block["type"] for block in post.there[0].blocks].count("image") == 1
    assert len(post.there) == 1


async def test_a_chart_that_a_workspace_does_not_have_is_left_out(post: Post) -> None:
    bars = Bars((Bar("(3, 2)", 3, 0.75, "right"), Bar("(2, 3)", 1, 0.25, "wrong")), "Answers")
    await post.platform.post(post.target, Card("The answer", "In short.", (bars,)), "k")
    assert [block["type"] for block in post.there[0].blocks].count("data_visualization") == 1
    post.slack.fail("chat.postMessage", "error", code="invalid_blocks")
    await post.platform.post(post.target, Card("The answer", "In short.", (bars,)), "other")
    assert len(post.there) == 2
    assert "data_visualization" not in [block["type"] for block in post.there[1].blocks]
    assert "1 (25%) wrong: (2, 3)" in post.there[1].words


async def test_permanent_refusals_name_the_fix(post: Post) -> None:
    shut = post.slack.channel(post.team, "shut", post.ann, private=True, bot=False)
    with pytest.raises(DeliveryRefused, match="/invite"):
        await post.platform.post(Target(post.team.id, shut.id), CARD, "k")
    with pytest.raises(DeliveryRefused, match="not installed in the workspace"):
        await post.platform.post(Target("T-other", "C1"), CARD, "k")
    post.slack.uninstall(post.team)
    with pytest.raises(DeliveryRefused, match="install the app again"):
        await post.platform.post(post.target, CARD, "k")


async def test_uncertain_failures_are_passed_on(post: Post) -> None:
    post.slack.fail("chat.postMessage", "500")
    with pytest.raises(SlackApiError):
        await post.platform.post(post.target, CARD, "k")


async def test_an_unreachable_slack_is_retried_later(clock: Clock, post: Post) -> None:
    async with SlackWeb("http://127.0.0.1:9/api/") as away:
        platform = SlackPlatform(away, post.tokens, clock, RateLimiter(lambda: 0.0), Uploads(away))
        with pytest.raises(DeliveryDelayed):
            await platform.post(post.target, CARD, "k")


async def test_messages_that_fail_together_because_of_a_replaced_token_are_sent_again(
    post: Post, database_url: str, clock: Clock
) -> None:
    service = build(Settings(database_url=database_url, service_token=TOKEN, token_key=TOKEN_KEY), clock)
    async with service.running(), ServiceClient.inside(service.api, TOKEN) as client:
        good = await post.tokens.find(post.team.id)
        await client.installation_keep(good)
        tokens = InstallationTokens(client, clock)
        tokens.remember(post.team.id, "", good.model_copy(update={"token": SecretStr("xoxb-replaced")}))
        limiter = RateLimiter(lambda: 0.0, RateLimit(1000, 1000), RateLimit(1000, 1000))
        platform = SlackPlatform(post.web, tokens, clock, limiter, Uploads(post.web, pauses=(0, 0, 0)))
        failing = (platform.post(post.target, CARD, f"k{number}") for number in range(4))
        done = await asyncio.gather(*failing, return_exceptions=True)
        assert all(isinstance(each, DeliveryDelayed) for each in done), done
        assert await platform.post(post.target, CARD, "k") == post.there[0].ref


async def test_a_rejected_token_is_reported_at_the_start(post: Post) -> None:
    with pytest.raises(TokenRejected, match="SLACK_BOT_TOKEN"):
        await single_installation(post.web, SecretStr("xoxb-wrong"))


async def test_a_token_of_a_whole_organization_is_refused(post: Post) -> None:
    post.slack.app.organization = "E1"
    with pytest.raises(TokenRejected, match="Install it in each workspace"):
        await single_installation(post.web, SecretStr(post.slack.bot_token(post.team)))


def who(user: User) -> Who:
    return Who(platform="slack", workspace=user.team, member=user.id, name=user.id)


async def test_members_are_cached(post: Post) -> None:
    people = MemberDirectory(post.web, post.tokens, post.clock, managers=())
    bob = post.slack.user(post.team, "Bob")
    for _ in range(3):
        assert (await people.resolve(who(post.ann))).admin
        assert not (await people.resolve(who(bob), admin_matters=True)).admin
    assert post.slack.log.count("call", method="users.list") == 1, "one listing names everybody"
    assert post.slack.log.count("call", method="users.info") == 0
    post.clock.advance(minutes=6)
    assert (await people.resolve(who(post.ann))).name == "Ann"
    assert post.slack.log.count("call", method="users.info") == 0, "a name lasts longer than rights"
    assert (await people.resolve(who(post.ann), admin_matters=True)).admin
    assert post.slack.log.count("call", method="users.info") == 1


async def test_a_change_of_name_is_known_at_once(post: Post) -> None:
    people = MemberDirectory(post.web, post.tokens, post.clock, managers=())
    await people.resolve(who(post.ann))
    post.ann.name, post.ann.admin = "Ada", False
    people.update(post.team.id, post.ann.body())
    found = await people.resolve(who(post.ann), admin_matters=True)
    assert (found.name, found.admin) == ("Ada", False)


async def test_a_member_who_joined_after_the_listing_is_looked_up(post: Post) -> None:
    people = MemberDirectory(post.web, post.tokens, post.clock, managers=())
    await people.resolve(who(post.ann))
    eve = post.slack.user(post.team, "Eve")
    assert (await people.resolve(who(eve))).name == "Eve"
    assert post.slack.log.count("call", method="users.list") == 1
    assert post.slack.log.count("call", method="users.info") == 1


async def test_managers_are_admins(post: Post) -> None:
    bob = post.slack.user(post.team, "Bob")
    people = MemberDirectory(post.web, post.tokens, post.clock, managers={bob.id})
    post.slack.fail("users.list", "error", times=3, code="missing_scope")
    post.slack.fail("users.info", "error", times=3, code="missing_scope")
    assert (await people.resolve(who(bob), admin_matters=True)).admin
    assert not (await people.resolve(who(post.ann))).admin
    with pytest.raises(AdminUnknown, match="users:read"):
        await people.resolve(who(post.ann), admin_matters=True)


async def test_cached_rights_are_used_for_an_hour_while_slack_is_down(post: Post) -> None:
    people = MemberDirectory(post.web, post.tokens, post.clock, managers=())
    await people.resolve(who(post.ann), admin_matters=True)
    post.clock.advance(minutes=6)
    post.slack.fail("users.info", "500")
    assert (await people.resolve(who(post.ann), admin_matters=True)).admin
    post.clock.advance(minutes=55)
    post.slack.fail("users.info", "500")
    with pytest.raises(AdminUnknown):
        await people.resolve(who(post.ann), admin_matters=True)
