"""Two replicas behind a load balancer: an event is answered once, a click outlives the replica that took it, and the
commands of one person are answered in order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from bot.core.events import Command, Event, Press
from bot.core.journal import Journal
from bot.slack.inbox import SharedInbox
from service.app import Service
from service.client import ServiceClient
from service.store.bots import LEASE, ORDER_LIMIT, RETENTION, ReceivedEvent
from service.wire import Where, Who
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DailyChannel

ANN = Who(platform="slack", workspace="T1", member="U1", name="Ann")
PATIENCE_S = 60.0
ROUTE = {"team": "T1", "channel": "C1", "trigger": "1.2", "response_url": "https://hooks.slack.com/secret"}


class AskingClient(ServiceClient):
    """Tells the test when a command must wait."""

    told_to_wait: asyncio.Event

    async def event_turn(self, platform: str, event: str) -> bool:
        turn = await super().event_turn(platform, event)
        if not turn:
            self.told_to_wait.set()
        return turn


@dataclass
class Replica:
    """A process of the bot, with a journal of its own."""

    inbox: SharedInbox
    journal: Journal
    client: AskingClient
    asked: asyncio.Event = field(init=False)
    """Set when a command was told to wait."""

    def __post_init__(self) -> None:
        self.asked = self.client.told_to_wait

    async def takes(self, event: Event) -> bool:
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
        client = AskingClient.inside(daily.service.api, TOKEN)
        client.told_to_wait = asyncio.Event()
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


# The order of one person's commands


def typed(clock: Clock, number: int, member: str = "U1") -> Command:
    who = Who(platform="slack", workspace="T1", member=member, name="Ann")
    return Command(f"slack:{number}", clock.now, who, Where(channel="C1"), "quiz-admin", f"schedule pause {number}")


async def begins(replica: Replica, event: Event) -> bool:
    """Returns whether the event may begin now."""

    async def takes_its_turn() -> None:
        async with replica.inbox.turn(event):
            return

    beginning = asyncio.create_task(takes_its_turn())
    waiting = asyncio.create_task(replica.asked.wait())
    await asyncio.wait({beginning, waiting}, return_when=asyncio.FIRST_COMPLETED)
    began = not waiting.done()
    for task in (beginning, waiting):
        task.cancel()
    await asyncio.gather(beginning, waiting, return_exceptions=True)
    replica.asked.clear()
    return began


async def test_a_command_waits_for_an_earlier_one_at_another_replica(
    replicas: tuple[Replica, Replica], clock: Clock
) -> None:
    one, two = replicas
    first, second, third = (typed(clock, number) for number in (1, 2, 3))
    assert await one.takes(first)
    assert await two.takes(second)
    assert await one.takes(third)
    assert await begins(one, first)
    assert not await begins(two, second)
    assert not await begins(one, third), "nor does a replica overtake what the other received"
    await one.inbox.mark_answered(first.id)
    assert await begins(two, second)
    assert not await begins(one, third)
    await two.inbox.mark_answered(second.id)
    assert await begins(one, third)


async def test_other_people_and_buttons_wait_for_nobody(replicas: tuple[Replica, Replica], clock: Clock) -> None:
    one, two = replicas
    assert await one.takes(typed(clock, 1))
    for event in (typed(clock, 2, "U2"), click(clock, 3)):
        assert await two.takes(event)
        assert await begins(two, event)


async def test_a_command_that_waits_keeps_its_lease_and_follows_what_a_dead_replica_left(
    replicas: tuple[Replica, Replica], clock: Clock, daily: DailyChannel
) -> None:
    one, two = replicas
    first, second = typed(clock, 1), typed(clock, 2)
    await one.takes(first)
    await two.takes(second)
    clock.advance(seconds=LEASE.total_seconds() - 1)
    assert not await begins(two, second)
    clock.advance(seconds=1)
    assert await one.finds() == [first.id], "the second is held by the one that waits with it"
    assert not await begins(two, second)
    await one.inbox.mark_answered(first.id)
    assert await begins(two, second)
    assert [row.author for row in await daily.rows(ReceivedEvent) if row.content is None] == [""]


async def test_a_command_that_nobody_can_answer_holds_up_its_author_for_a_while_only(
    replicas: tuple[Replica, Replica], clock: Clock
) -> None:
    one, two = replicas
    first, second = typed(clock, 1), typed(clock, 2)
    await one.takes(first)
    await two.takes(second)
    assert not await begins(two, second)
    clock.advance(seconds=ORDER_LIMIT.total_seconds())
    assert await begins(two, second)


async def test_without_the_service_commands_of_one_process_keep_their_order(tmp_path: Path, clock: Clock) -> None:
    journal = Journal(tmp_path / "journal")
    async with ServiceClient.over_http("http://127.0.0.1:9", TOKEN) as away:
        inbox = SharedInbox(away, journal)
        first, second = typed(clock, 1), typed(clock, 2)
        assert await inbox.record(first, ROUTE)
        assert await inbox.record(second, ROUTE)
        begun: list[str] = []

        async def runs(event: Event) -> None:
            async with inbox.turn(event):
                begun.append(event.id)

        async with inbox.turn(first):
            later = asyncio.create_task(runs(second))
            for _ in range(10):
                await asyncio.sleep(0)
            assert begun == []
        await later
    journal.close()
