"""Two applications on one service, such as production's bot and staging's: each gets the messages of its own chats."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import pytest

from service.client import ServiceClient
from service.store.tables import Chat
from service.wire import Delivery, Platform, ScheduleSpec, Where, Who
from tests.conftest import MONDAY, TOKEN, Clock
from tests.service.daily_channel import SPEC, DailyChannel, choice

NINE = MONDAY + timedelta(hours=1)
QUIZ = Where(channel="1", name="#quiz")


@dataclass
class Bot:
    """A bot as one application, and the admin who uses it in a chat of that name."""

    daily: DailyChannel
    client: ServiceClient

    @property
    def boss(self) -> Who:
        return self.who(self.client.application)

    def who(self, workspace: str) -> Who:
        return Who(platform="discord", workspace=workspace, member="1", name="Boss", admin=True)

    async def schedules(self, spec: ScheduleSpec = SPEC) -> None:
        await self.client.schedule_add(self.boss, f"add {self.client.application}", QUIZ, spec)

    async def claim(self, platform: Platform = "discord") -> list[Delivery]:
        found = await self.client.outbox_claim(platform)
        return [each for each in found if each.body.kind == "question"]

    async def serves(self) -> list[str]:
        return [place.workspace for place in await self.client.outbox_places("discord")]


def bot(daily: DailyChannel, application: str) -> Bot:
    client = ServiceClient.inside(daily.service.api, TOKEN)
    client.application = application
    return Bot(daily, client)


@pytest.fixture
async def bots(daily: DailyChannel, clock: Clock) -> tuple[Bot, Bot]:
    """Production's bot and staging's, each with a schedule in a chat of its own, at nine."""
    await daily.bank(choice(), choice("second"))
    two = bot(daily, "production"), bot(daily, "staging")
    for one in two:
        await one.schedules()
    clock.now = NINE
    await daily.service.tick()
    return two


async def test_each_claims_only_its_own_posts(bots: tuple[Bot, Bot]) -> None:
    production, staging = bots
    assert [each.workspace for each in await staging.claim()] == ["staging"]
    assert await staging.claim() == []
    assert [each.workspace for each in await production.claim()] == ["production"]


async def test_a_bot_that_names_no_application_gets_none_of_theirs(bots: tuple[Bot, Bot], daily: DailyChannel) -> None:
    assert await daily.client.outbox_claim("discord") == ()


async def test_staging_does_not_report_productions_servers_as_left(bots: tuple[Bot, Bot], daily: DailyChannel) -> None:
    production, staging = bots
    assert await staging.serves() == ["staging"]
    await staging.client.chat_presence("discord", "production", False)
    assert [chat.left_at for chat in await daily.rows(Chat)] == [None, None]
    assert len(await production.claim()) == 1


async def test_a_second_application_in_the_same_chat_takes_nothing(bots: tuple[Bot, Bot], clock: Clock) -> None:
    """Members may use it; the posts stay with the first while one of its bots runs."""
    production, staging = bots
    await production.client.outbox_claim("discord", limit=1)
    await staging.client.join(production.who("production"), QUIZ)
    await staging.client.chat_presence("discord", "production", True)
    assert await staging.serves() == ["staging"] and await production.serves() == ["production"]


async def test_another_application_takes_over_from_one_that_is_silent(bots: tuple[Bot, Bot], clock: Clock) -> None:
    production, staging = bots
    assert len(await production.claim()) == 1
    clock.advance(minutes=9)
    await staging.client.join(production.who("production"), QUIZ)
    assert await staging.serves() == ["staging"]
    clock.advance(minutes=1)
    await staging.client.join(production.who("production"), QUIZ)
    assert await staging.serves() == ["production", "staging"] and await production.serves() == []
    assert {each.workspace for each in await staging.claim()} == {"production", "staging"}


async def test_another_application_takes_over_from_one_that_was_removed(bots: tuple[Bot, Bot]) -> None:
    production, staging = bots
    assert len(await production.claim()) == 1
    await production.client.chat_presence("discord", "production", False)
    await staging.client.chat_presence("discord", "production", True)
    assert await staging.serves() == ["production", "staging"]
