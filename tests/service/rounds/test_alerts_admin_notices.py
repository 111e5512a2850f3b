"""Notices go privately to the admin who made the schedule, or else to its channel."""

from __future__ import annotations

import pytest

from service.store.tables import Round
from service.wire import Delivery, Notice, PostFailed, Where
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice
from tests.service.two_chats import GUILD, TwoChats


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    """A schedule made by Boss on Discord, with a bank that runs low at once."""
    await daily.bank(choice())
    made = TwoChats(daily, clock)
    await made.schedule("discord")
    return made


def notices(made: list[Delivery]) -> list[tuple[str, str | None, str]]:
    return [(each.channel, each.member, each.body.fact.kind) for each in made if isinstance(each.body, Notice)]


async def test_the_creator_of_the_schedule_is_notified_privately_and_once(chats: TwoChats) -> None:
    chats.clock.advance(hours=1)
    for _ in range(2):
        await chats.daily.service.tick()
    assert notices(await chats.deliver()) == [("", "discord-boss", "bank-low")]


async def test_a_refused_post_is_reported_elsewhere_by_the_name_of_the_channel(chats: TwoChats) -> None:
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    post, low = await chats.daily.client.outbox_claim("discord")
    await chats.daily.client.outbox_sent(low.id, "m0")
    await chats.daily.client.outbox_failed(post.id, post.attempt, "Missing Access", outcome="refused")
    (row,) = await chats.daily.rows(Round)
    assert row.skipped == "not posted"
    failure = PostFailed(message="question", channel="#quiz", attempts=1, error="Missing Access")
    (gave_up,) = [each for each in await chats.deliver() if each.body == Notice(fact=failure)]
    assert (gave_up.channel, gave_up.member) == ("", "discord-boss")


async def test_the_channel_is_notified_if_the_creator_was_forgotten(chats: TwoChats) -> None:
    await chats.daily.client.privacy(chats.boss("discord"), "forget", "forget")
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    assert notices(await chats.deliver()) == [(GUILD.channel, None, "bank-low")]


async def test_in_the_web_chat_all_sit_in_one_room(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.client.schedule_add(daily.who("Boss", admin=True), "add", Where(channel=DAILY.channel), SPEC)
    clock.advance(hours=1)
    await daily.service.tick()
    assert notices(await daily.deliver()) == [(DAILY.channel, None, "bank-low")]
