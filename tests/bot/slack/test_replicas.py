"""Two replicas behind a load balancer: an event is answered once, and a click outlives the replica that took it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.core.events import Press
from bot.core.journal import Journal
from bot.slack.inbox import SharedInbox
from service.app import Service
from service.client import ServiceClient
from service.store.bot_tables import ReceivedEvent
from service.store.received_events import LEASE, RETENTION
from service.wire import Where, Who
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DailyChannel

ANN = Who(platform="slack", workspace="T1", member="U1", name="Ann")
PATIENCE_S = 60.0
ROUTE = {"team": "T1", "channel": "C1", "trigger": "1.2", "response_url": "https://hooks.slack.com/secret"}


@dataclass
class Replica:
    """A process of the bot, with a journal of its own."""

    inbox: SharedInbox
    journal: Journal
    client: ServiceClient

    async def takes(self, event: Press) -> bool:
        return await self.inbox.record(event, ROUTE)

    async def finds(self) -> list[str]:
        return [left.event.id for left in await self.inbox.unanswered()]


@pytest.fixture
def daily(service: Service, client: ServiceClient) -> DailyChannel:
    return DailyChannel(service, client)


@pytest.fixture
async def replicas(daily: DailyChannel, tmp_path: Path) -> AsyncIterator[tuple[Replica, Replica]]:
    made = []
    for name in ("one", "two"):
        client = ServiceClient.inside(daily.service.api, TOKEN)
        client.application = "app"
        journal = Journal(tmp_path / name)
        made.append(Replica(SharedInbox(client, journal, PATIENCE_S), journal, client))
    yield made[0], made[1]
    for one in made:
        one.journal.close()


def click(clock: Clock, number: int = 1) -> Press:
    return Press(f"slack:{number}", clock.now, ANN, Where(channel="C1"), "a:r1")


async def test_an_event_delivered_to_both_is_answered_by_one(replicas: tuple[Replica, Replica], clock: Clock) -> None:
    one, two = replicas
    assert await one.takes(click(clock))
    assert not await two.takes(click(clock))
    await one.inbox.mark_answered("slack:1")
    assert not await two.takes(click(clock)), "also after it was answered"


async def test_what_a_dead_replica_left_is_answered_by_the_other(
    replicas: tuple[Replica, Replica], clock: Clock, daily: DailyChannel
) -> None:
    one, two = replicas
    await one.takes(click(clock))
    assert await two.finds() == [], "the first may still be at it"
    clock.advance(seconds=LEASE.total_seconds())
    (left,) = await two.inbox.unanswered()
    assert left.event == click(Clock(clock.now - LEASE))
    assert left.route == {"team": "T1", "channel": "C1"}, "nothing that anybody could answer with is kept"
    assert await one.finds() == [], "leased again"
    await two.inbox.mark_answered("slack:1")
    clock.advance(seconds=LEASE.total_seconds())
    assert await one.finds() == []
    assert [row.content for row in await daily.rows(ReceivedEvent)] == [None], "an answered event is emptied"


async def test_another_application_takes_none_of_them(replicas: tuple[Replica, Replica], clock: Clock) -> None:
    one, two = replicas
    two.client.application = "staging"
    await one.takes(click(clock))
    clock.advance(seconds=LEASE.total_seconds())
    assert await two.finds() == []
    assert await two.takes(click(clock)), "an id of another application is another event"


async def test_old_ids_are_deleted(replicas: tuple[Replica, Replica], clock: Clock, daily: DailyChannel) -> None:
    one, _ = replicas
    for number in (1, 2):
        await one.takes(click(clock, number))
    await one.inbox.mark_answered("slack:1")
    clock.advance(seconds=(RETENTION + timedelta(seconds=1)).total_seconds())
    assert await one.finds() == ["slack:2"]
    assert [row.event_id for row in await daily.rows(ReceivedEvent)] == ["slack:2"]


async def test_the_journal_takes_events_while_the_service_is_away(tmp_path: Path, clock: Clock) -> None:
    journal = Journal(tmp_path / "journal")
    async with ServiceClient.over_http("http://127.0.0.1:9", TOKEN) as away:
        inbox = SharedInbox(away, journal)
        assert await inbox.record(click(clock), ROUTE)
        assert not await inbox.record(click(clock), ROUTE)
        (left,) = await inbox.unanswered()
        assert (left.event, left.route) == (click(clock), ROUTE)
        await inbox.mark_answered("slack:1")
        assert journal.unanswered() == []
    journal.close()
