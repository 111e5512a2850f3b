"""The dispatcher over the real outbox: every message once, even if the chat fails, and none lost at shutdown."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass, field

import psycopg
import pytest

from bot.core.cards import Card
from bot.core.dispatcher import DeliveryDelayed, DeliveryRefused, Dispatcher, Target
from service.client import ServiceClient
from service.store.session import libpq_url
from service.wire import Where
from tests.bench import rounds
from tests.bot.conftest import Room, Wall


@dataclass
class Moody(Wall):
    """A chat that fails on demand: `before` or `after` it has stored the message."""

    before: list[Exception] = field(default_factory=list)
    after: list[Exception] = field(default_factory=list)
    looked: int = 0

    async def post(self, target: Target, card: Card, key: str) -> str:
        if self.before:
            raise self.before.pop(0)
        ref = await super().post(target, card, key)
        if self.after:
            raise self.after.pop(0)
        return ref

    async def find(self, target: Target, key: str) -> str | None:
        self.looked += 1
        return await super().find(target, key)


@dataclass
class Gated(Wall):
    """A chat whose posts to the channel `slow` wait until the gate opens."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    passed: asyncio.Event = field(default_factory=asyncio.Event)

    async def post(self, target: Target, card: Card, key: str) -> str:
        if target.channel == "slow":
            self.reached.set()
            await self.gate.wait()
        ref = await super().post(target, card, key)
        self.passed.set()
        return ref


@dataclass
class Counted(Wall):
    """A chat that makes as many posts as it is let; the others wait, and at one time `most`."""

    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    waiting: int = 0
    most: int = 0
    let: int = 0

    async def post(self, target: Target, card: Card, key: str) -> str:
        async with self.changed:
            self.waiting += 1
            self.most = max(self.most, self.waiting)
            self.changed.notify_all()
            await self.changed.wait_for(lambda: self.let > 0)
            self.let -= 1
            self.waiting -= 1
            self.changed.notify_all()
            return await super().post(target, card, key)

    async def lets(self, many: int, once_waiting: int) -> None:
        """Lets this many posts proceed once that many are waiting."""
        async with asyncio.timeout(60), self.changed:
            await self.changed.wait_for(lambda: self.let == 0 and self.waiting >= once_waiting)
            self.let = many
            self.changed.notify_all()


async def test_what_waits_is_posted_once_and_reported(room: Room) -> None:
    await room.schedules(room.where)
    courier = Dispatcher(room.client, room.wall)
    while await courier.once():
        pass
    room.moving.advance(hours=1)
    assert await courier.once() == 0
    assert room.wall.questions == ["daily"]
    assert Target("home", "daily") in [target for target, _ in room.wall.posts]


async def test_a_message_that_may_have_arrived_is_looked_for_first(room: Room) -> None:
    await room.schedules(room.where)
    chat = Moody(after=[ConnectionResetError("cut off")])
    await settle(room, chat)
    assert (chat.questions, chat.looked) == (["daily"], 1)


async def test_a_message_that_did_not_arrive_is_made_again(room: Room) -> None:
    await room.schedules(room.where)
    chat = Moody(before=[ConnectionResetError("cut off")])
    await settle(room, chat)
    assert (chat.questions, chat.looked) == (["daily"], 1)


async def test_a_busy_chat_is_left_alone_as_long_as_it_asks(room: Room) -> None:
    await room.schedules(room.where)
    chat = Moody(before=[DeliveryDelayed(90)])
    courier = Dispatcher(room.client, chat)
    await courier.once()
    room.moving.advance(seconds=60)
    while await courier.once():
        assert chat.questions == []
    room.moving.advance(seconds=31)
    await courier.once()
    assert (chat.questions, chat.looked) == (["daily"], 0)


async def test_a_refused_message_is_never_tried_again(room: Room) -> None:
    await room.schedules(room.where)
    chat = Moody(before=[DeliveryRefused("the channel is gone")])
    await settle(room, chat)
    assert chat.questions == []


async def settle(room: Room, chat: Wall) -> None:
    """Lets the dispatcher retry for an hour."""
    courier = Dispatcher(room.client, chat)
    for _ in range(12):
        await courier.once()
        room.moving.advance(minutes=5)


async def test_in_one_channel_a_message_waits_for_the_one_before(room: Room) -> None:
    """A question and a notice to the admins are claimed together, as they wait in queues of their own."""
    await room.schedules(room.where)
    chat = Counted()
    run = asyncio.create_task(Dispatcher(room.client, chat, wait_s=0.1).run())
    for _ in range(2):
        await chat.lets(0, once_waiting=1)
        await room.client.today(room.boss, room.where)  # takes long enough for another post to begin
        await chat.lets(1, once_waiting=1)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert (len(chat.posts), chat.most) == (2, 1)


async def test_a_slow_channel_holds_up_no_other(room: Room) -> None:
    await room.schedules(Where(channel="slow", name="slow"), room.where)
    chat = Gated()
    run = asyncio.create_task(Dispatcher(room.client, chat, wait_s=0.1).run())
    await chat.reached.wait()
    await chat.passed.wait()
    assert chat.questions == ["daily"]
    chat.gate.set()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert chat.questions == ["daily", "slow"]


async def test_no_more_are_carried_at_once_than_may_be(room: Room, database_url: str) -> None:
    await room.schedules(room.where)
    async with await psycopg.AsyncConnection.connect(libpq_url(database_url)) as rows:
        await rounds.shared(rows, room.where.channel)
        await rounds.more_channels(rows, room.boss.workspace, [f"room-{number}" for number in range(11)])
        await rounds.copied(rows, 1)
    chat = Counted()
    run = asyncio.create_task(Dispatcher(room.client, chat, at_once=2, wait_s=0.1).run())
    for _ in range(8):
        await chat.lets(1, once_waiting=2)
    # What it carries by now it carries to the end.
    run.cancel()
    await chat.lets(12, once_waiting=1)
    with pytest.raises(asyncio.CancelledError):
        await run
    assert chat.most == 2


async def test_a_post_under_way_is_finished_and_reported_when_stopped(room: Room) -> None:
    await room.schedules(Where(channel="slow", name="slow"))
    chat = Gated()
    run = asyncio.create_task(Dispatcher(room.client, chat, wait_s=0.1).run())
    await chat.reached.wait()
    run.cancel()
    chat.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await run
    room.moving.advance(hours=1)
    assert await Dispatcher(room.client, chat).once() == 0
    assert chat.questions == ["slow"]


async def test_an_unreachable_service_is_retried_ever_more_slowly() -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 9:
            raise asyncio.CancelledError

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with ServiceClient.over_http(f"http://127.0.0.1:{unused.getsockname()[1]}", "token") as client:
            with pytest.raises(asyncio.CancelledError):
                await Dispatcher(client, Wall(), pause=pause).run()
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


async def test_the_time_for_which_the_outbox_cannot_be_read_is_measured() -> None:
    now = [100.0]
    measured: list[float] = []

    async def pause(seconds: float) -> None:
        measured.append(courier.failing_s)
        now[0] += 60
        if len(measured) == 4:
            raise asyncio.CancelledError

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        async with ServiceClient.over_http(f"http://127.0.0.1:{unused.getsockname()[1]}", "token") as client:
            courier = Dispatcher(client, Wall(), pause=pause, steady=lambda: now[0])
            assert courier.failing_s == 0
            with pytest.raises(asyncio.CancelledError):
                await courier.run()
    assert measured == [0, 60, 120, 180]
