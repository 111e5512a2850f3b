"""Claims of messages: they cost the same however much waits, and find what may be sent after any sequence of events."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import delete, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from service.store import claims, outbox
from service.store.session import Sessions
from service.store.tables import UNSENT, Outbox
from tests.conftest import MONDAY
from tests.service.scenes import Stage
from tests.service.statements import blocks_of

QUEUES = """
    with team as (insert into workspace (created_at) select now() from generate_series(1, :chats) returning id),
    chats as (
        insert into chat (workspace_id, platform, external_id, created_at)
        select id, case when id % 3 = 0 then 'slack' else 'discord' end, 'g' || id, now() from team
        returning id, workspace_id
    )
    insert into channel (workspace_id, chat_id, external_id, name)
    select workspace_id, id, 'c' || id || '-' || n, 'daily' from chats, generate_series(1, :channels) n
"""
WAITING = """
    insert into outbox (key, workspace_id, chat_id, channel_id, kind, body, due_at, not_before)
    select 'k' || n || '-' || id, workspace_id, chat_id, id, case when n % 3 = 0 then 'notice' else 'question' end,
        '{}', :now, :now
    from channel, generate_series(cast(:first as int), :last) n
    order by id, n on conflict do nothing
"""
ADDED = """
    insert into outbox (key, workspace_id, chat_id, channel_id, kind, body, due_at, not_before, give_up_at)
    select 'a' || :number || '-' || n, workspace_id, chat_id, id, :kind, '{}', :due, :due, :due + interval '1 hour'
    from channel, generate_series(1, :count) n where id = :channel
"""
LEASE = timedelta(seconds=30)


async def _queues(session: AsyncSession, chats: int, channels: int) -> Sequence[int]:
    await session.execute(text(QUEUES), {"chats": chats, "channels": channels})
    return (await session.scalars(text("select id from channel order by id"))).all()


async def test_a_claim_reads_as_much_of_a_hundred_messages_as_of_thousands(stage: Stage) -> None:
    """In one channel each, in many channels of few chats, and in many chats."""
    claim = claims._select_claimable.__wrapped__  # type: ignore[attr-defined]
    read = []
    for chats, channels, first, last in ((100, 1, 1, 1), (0, 0, 2, 40), (5, 200, 2, 3), (2000, 1, 2, 3)):
        if chats:
            await _queues(stage.session, chats, channels)
        await stage.session.execute(text(WAITING), {"first": first, "last": last, "now": stage.now})
        await stage.session.execute(text("analyze"))
        read.append(await blocks_of(stage.session, claim(20, "discord", "", stage.now, *[None] * 4)))
    assert max(read) < 3 * read[0], read


class Queues:
    """Messages of a few queues to which anything may happen."""

    def __init__(self, stage: Stage, drawn: random.Random, channels: Sequence[int]) -> None:
        self.session, self.now = stage.session, stage.now
        self.drawn, self.channels = drawn, channels
        self.added = 0

    async def rows(self, *states: str) -> Sequence[Outbox]:
        query = select(Outbox).where(Outbox.state.in_(states)).order_by(Outbox.id)
        return (await self.session.scalars(query.execution_options(populate_existing=True))).all()

    async def some(self, *states: str) -> list[Outbox]:
        rows = await self.rows(*states)
        return self.drawn.sample(list(rows), min(len(rows), self.drawn.choice((1, 2, 30))))

    async def heads(self) -> list[Outbox]:
        """Returns the oldest unsent message of each queue."""
        found: dict[object, Outbox] = {}
        for row in await self.rows(*UNSENT):
            queue = (row.chat_id, row.channel_id, row.member_id, row.kind == "notice", row.edits_id is not None)
            found.setdefault(queue, row)
        return list(found.values())

    async def claimable(self, platform: str) -> list[int]:
        """Returns the heads that may be sent now, in the order in which chats take turns."""
        turns: dict[int, list[Outbox]] = defaultdict(list)
        for row in await self.heads():
            if row.platform == platform and row.not_before <= self.now and (row.claimed_until or self.now) <= self.now:
                turns[row.chat_id].append(row)
        ordered = []
        for rows in turns.values():
            rows.sort(key=lambda row: (row.due_at, row.id))
            ordered += [(turn, row.due_at, row.id) for turn, row in enumerate(rows)]
        return [id_ for _, _, id_ in sorted(ordered)]

    async def claim(self, platform: str, limit: int) -> list[int]:
        return [row.id for row in await claims.lock_claimable(self.session, platform, "", self.now, limit)]

    async def add(self) -> None:
        """Adds messages to a queue, often more than a claim looks at."""
        self.added += 1
        values = {
            "number": self.added,
            "channel": self.drawn.choice(self.channels),
            "kind": self.drawn.choice(("question", "notice")),
            "due": self.now + timedelta(seconds=self.drawn.choice((0, 0, 0, 40))),
            "count": self.drawn.choice((1, 2, 3, 150)),
        }
        await self.session.execute(text(ADDED), values)

    async def lease(self) -> None:
        limit = self.drawn.choice((1, 5, 100))
        for row in await claims.lock_claimable(self.session, "discord", "", self.now, limit):
            outbox.claim(row, self.now, LEASE)

    async def finish(self) -> None:
        for row in await self.some("sending"):
            await outbox.mark_sent(self.session, row.id, f"m{row.id}", self.now)

    async def fail(self) -> None:
        for row in await self.some("sending"):
            row.state, row.claimed_until = self.drawn.choice(("due", "uncertain", "skipped", "lost")), None
            row.not_before = self.now + timedelta(seconds=self.drawn.choice((0, 20)))

    async def give_up(self) -> None:
        for row in await self.some(*UNSENT):
            row.state, row.claimed_until = "skipped", None

    async def bring_back(self) -> None:
        for row in await self.some("skipped"):
            row.state = "due"

    async def drop(self) -> None:
        gone = [row.id for row in await self.some(*UNSENT)]
        await self.session.execute(delete(Outbox).where(Outbox.id.in_(gone)))

    async def drop_channel(self) -> None:
        await self.session.execute(delete(Outbox).where(Outbox.channel_id == self.drawn.choice(self.channels)))

    async def move(self) -> None:
        """Moves messages to other queues, as when the accounts of two members are linked."""
        there = Outbox.channel_id == self.drawn.choice(self.channels)
        await self.session.execute(update(Outbox).where(there).values(kind=self.drawn.choice(("question", "notice"))))

    async def wait(self) -> None:
        self.now += timedelta(seconds=self.drawn.choice((5, 31, 100)))


@pytest.mark.parametrize("seed", range(3))
async def test_claims_find_every_head_after_any_sequence_of_events(stage: Stage, seed: int) -> None:
    drawn = random.Random(seed)
    queues = Queues(stage, drawn, await _queues(stage.session, 4, 3))
    often = (queues.add, queues.lease, queues.finish)
    seldom = (
        queues.fail,
        queues.give_up,
        queues.bring_back,
        queues.drop,
        queues.drop_channel,
        queues.move,
        queues.wait,
    )
    for _ in range(60):
        await drawn.choice((*often, *often, *seldom))()
        await stage.session.flush()
        assert not [row.id for row in await queues.heads() if row.follower], "a head is never a follower"
        for platform in ("discord", "slack"):
            expected = await queues.claimable(platform)
            assert sorted(await queues.claim(platform, 100)) == sorted(expected)
            assert await queues.claim(platform, 2) == expected[:2]


async def test_chats_take_turns_among_more_than_one_claim_looks_at(stage: Stage) -> None:
    """One chat with hundreds of channels whose messages have waited for longest, and a few others."""
    large = await _queues(stage.session, 1, 300)
    await stage.session.execute(text(WAITING), {"first": 1, "last": 1, "now": stage.now - timedelta(hours=1)})
    small = set(await _queues(stage.session, 4, 1)) - set(large)
    await stage.session.execute(
        text(WAITING.replace("from channel,", "from (select * from channel where id > :large),")),
        {"first": 2, "last": 2, "now": stage.now, "large": max(large)},
    )
    rows = await claims.lock_claimable(stage.session, "discord", "", stage.now, 6)
    served = [row.channel_id for row in rows if row.channel_id in small]
    discord = await stage.session.scalars(
        text("select c.id from channel c join chat on chat.id = chat_id where platform = 'discord' and c.id > :large"),
        {"large": max(large)},
    )
    assert sorted(served) == sorted(discord.all())
    assert len(rows) == 6


async def _one_queue(sessions: Sessions, messages: int) -> list[int]:
    async with sessions.begin() as session:
        (channel,) = await _queues(session, 1, 1)
        await session.execute(text("update chat set platform = 'discord'"))
        values = {"number": 0, "channel": channel, "kind": "question", "due": MONDAY, "count": messages}
        await session.execute(text(ADDED), values)
        return list((await session.scalars(text("select id from outbox order by id"))).all())


async def _state(sessions: Sessions, message: int) -> tuple[str, bool]:
    async with sessions.begin() as session:
        row = await session.get_one(Outbox, message)
        return row.state, row.follower


async def test_a_message_whose_predecessor_is_just_leaving_is_no_follower(sessions: Sessions) -> None:
    first, second = await _one_queue(sessions, 2)
    async with sessions.begin() as leaving, sessions.begin() as claiming:
        await outbox.mark_sent(leaving, first, "m", MONDAY)
        assert await claims.lock_claimable(claiming, "discord", "", MONDAY, 100) == []
        await claims_mark(claiming)
    assert await _state(sessions, second) == ("due", False)
    async with sessions.begin() as session:
        assert [row.id for row in await claims.lock_claimable(session, "discord", "", MONDAY, 100)] == [second]


async def claims_mark(session: AsyncSession) -> None:
    """Marks followers, as a claim does that finds too little."""
    await session.execute(*claims._mark_followers("discord", "", MONDAY, None, None, None, None))


async def test_a_message_that_leaves_waits_for_the_mark_of_its_follower(sessions: Sessions) -> None:
    first, second = await _one_queue(sessions, 2)

    async def leave() -> None:
        async with sessions.begin() as leaving:
            await outbox.mark_sent(leaving, first, "m", MONDAY)

    async with sessions.begin() as watching, sessions.begin() as claiming:
        await claims_mark(claiming)
        left = asyncio.create_task(leave())
        waits = text("select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%outbox%'")
        while not await watching.scalar(waits):
            await watching.execute(text("select pg_stat_clear_snapshot()"))
    await left
    assert await _state(sessions, second) == ("due", False)


async def test_a_follower_that_comes_back_after_its_predecessor_left_can_be_claimed(sessions: Sessions) -> None:
    first, second = await _one_queue(sessions, 2)
    async with sessions.begin() as session:
        await claims_mark(session)
        row = await session.get_one(Outbox, second, populate_existing=True)
        assert row.follower
        row.state = "skipped"
        await session.flush()
        await outbox.mark_sent(session, first, "m", MONDAY)
        row.state = "due"
        await session.flush()
        assert [row.id for row in await claims.lock_claimable(session, "discord", "", MONDAY, 100)] == [second]


async def test_a_follower_that_moves_to_another_queue_can_be_claimed(sessions: Sessions) -> None:
    first, second = await _one_queue(sessions, 2)
    async with sessions.begin() as session:
        await claims_mark(session)
        moved = text("update outbox set kind = 'notice' where id = :id and follower returning id")
        assert await session.scalar(moved, {"id": second}) == second
        claimed = await claims.lock_claimable(session, "discord", "", MONDAY, 100)
        assert [row.id for row in claimed] == [first, second]


async def test_dispatchers_at_once_send_every_message_in_order(sessions: Sessions) -> None:
    messages = await _one_queue(sessions, 40)
    sent: list[int] = []

    async def dispatch() -> None:
        while len(sent) < len(messages):
            async with sessions.begin() as session:
                rows = await claims.lock_claimable(session, "discord", "", MONDAY, 100)
                for row in rows:
                    outbox.claim(row, MONDAY, LEASE)
                await claims_mark(session)
            for row in rows:
                sent.append(row.id)
                async with sessions.begin() as session:
                    await outbox.mark_sent(session, row.id, "m", MONDAY)

    async with asyncio.timeout(120):
        await asyncio.gather(*(dispatch() for _ in range(4)))
    assert sent == messages
