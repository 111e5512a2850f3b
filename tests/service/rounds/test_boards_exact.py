"""A board equals the sum over the ledger after any sequence of answers, corrections, merges and the like."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import delete
from sqlalchemy.ext.asyncio import AsyncSession

from service.people.linking import merge
from service.rounds.board_keys import COMPARABLE_PERIODS, find_key, open_for_posting
from service.store import boards, ledger, members, privacy, schedules
from service.store.board_pages import AROUND, BoardPage, PageWanted, look_at_board
from service.store.boards import BoardKey, BoardLine
from service.store.members import Caller
from service.store.session import Sessions, libpq_url, make_engine, make_sessions
from service.store.tables import Identity, Round, Schedule, Season
from service.wire import Contest, Period, Where
from tests.conftest import MONDAY
from tests.service.board_oracle import Booked, Line, load_ledger, sum_board
from tests.service.scenes import Stage, question

NAMES = ("Ada", "Bo", "Chen", "Dina", "Eve")
TOPICS = ("", "tensors", "tensors/memory", "autograd")
KEYS = ("views", "grad", "near")
DAYS = tuple(date(2026, 2, 23) + timedelta(days=number) for number in range(10))
PERIODS: tuple[Period, ...] = ("day", "week", "month", "season", "all")
CONTESTS: tuple[Contest, ...] = ("points", "rookies", "improved")

people = st.integers(0, len(NAMES) - 1)
slots = st.tuples(st.integers(0, 1), st.integers(0, len(DAYS) - 1))
results = st.tuples(st.integers(0, 3), st.sampled_from([0.0, 1 / 3, 0.5, 2 / 3, 1.0]), st.sampled_from([1.5, 7.0]))
steps = st.one_of(
    st.tuples(st.just("post"), slots, st.dictionaries(people, results, min_size=1)),
    st.tuples(st.just("post"), slots, st.dictionaries(people, results, min_size=1)),
    st.tuples(st.just("take part"), slots, people),
    st.tuples(st.just("correct"), slots, people, results),
    st.tuples(st.just("adjust"), people, st.integers(-4, 4)),
    st.tuples(st.just("hide"), people, st.booleans()),
    st.tuples(st.just("forget"), people),
    st.tuples(st.just("merge"), people, people),
    st.tuples(st.just("share"), st.booleans()),
    st.tuples(st.just("season"), st.booleans()),
    st.tuples(st.just("wait"), st.integers(1, 9)),
    st.tuples(st.just("open"), st.sampled_from(PERIODS), st.sampled_from(TOPICS), st.integers(0, 2)),
)


@dataclass
class World:
    """Two channels with a schedule each, and five members."""

    stage: Stage
    callers: list[Caller] = field(default_factory=list)
    schedules: list[Schedule] = field(default_factory=list)
    rounds: dict[tuple[int, int], Round] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    posted: int = 0

    @property
    def session(self) -> AsyncSession:
        return self.stage.session

    @property
    def workspace_id(self) -> int:
        return self.callers[0].workspace_id

    @classmethod
    async def build(cls, session: AsyncSession) -> World:
        world = cls(Stage(session))
        stage = world.stage
        await stage.bank(
            question("views"), question("grad", topic="Autograd"), question("near", topic="tensors/memory/format")
        )
        world.callers = [await stage.caller(name) for name in NAMES]
        other = await stage.caller("Ada", where=Where(channel="random", name="#random"))
        world.schedules = [
            await stage.schedule(world.callers[0]), await stage.schedule(other, zone="America/New_York"),
        ]  # fmt: skip
        return world

    async def round(self, slot: tuple[int, int]) -> Round:
        if slot not in self.rounds:
            schedule, day = slot
            self.rounds[slot] = await self.stage.round(self.schedules[schedule], DAYS[day], KEYS[sum(slot) % 3])
        return self.rounds[slot]

    async def book(self, rows: list[dict[str, Any]]) -> None:
        """Posts entries of members who are still there, in one statement."""
        fields = {"workspace_id": self.workspace_id, "round_id": None, "credit": None, "seconds": None, "reason": "x"}
        made = []
        for row in rows:
            self.posted += 1
            if row["member_id"] not in self.gone:
                made.append({"key": f"k{self.posted}", **fields, **row})
        await ledger.insert_entries(self.session, made)

    async def post(self, slot: tuple[int, int], given: dict[int, tuple[int, float, float]]) -> None:
        round_ = await self.round(slot)
        await open_for_posting(self.session, self.schedules[slot[0]], round_.opens_at)
        await self.book(
            [
                {"member_id": self.callers[who].member_id, "round_id": round_.id, "at": round_.opens_at,
                 "points": points, "credit": credit, "seconds": seconds}
                for who, (points, credit, seconds) in given.items()
            ]
        )  # fmt: skip

    async def take_part(self, slot: tuple[int, int], who: int) -> None:
        round_ = await self.round(slot)
        row = {"member_id": self.callers[who].member_id, "round_id": round_.id, "at": round_.opens_at, "points": 2}
        await self.book([row])

    async def correct(self, slot: tuple[int, int], who: int, by: tuple[int, float, float]) -> None:
        round_ = await self.round(slot)
        row = {"member_id": self.callers[who].member_id, "round_id": round_.id, "at": round_.opens_at}
        await self.book([{**row, "points": by[0] - 1, "credit": by[1] - 0.5}])

    async def adjust(self, who: int, points: int) -> None:
        await self.book([{"member_id": self.callers[who].member_id, "points": points, "at": self.stage.now}])

    async def hide(self, who: int, hidden: bool) -> None:
        if self.callers[who].member_id not in self.gone:
            await privacy.set_hidden(self.session, self.callers[who].member_id, hidden)

    async def forget(self, who: int) -> None:
        await privacy.forget_member(self.session, self.callers[who], self.stage.now)

    async def merge(self, kept: int, gone: int) -> None:
        one, other = self.callers[kept].member_id, self.callers[gone].member_id
        if one != other and not {one, other} & self.gone:
            await merge_members(self.session, one, other)
            self.gone.add(other)

    async def share(self, shared: bool) -> None:
        channel_id = self.schedules[1].channel_id
        if shared:
            await schedules.add_channel(self.session, self.schedules[0], channel_id, self.stage.now)
        else:
            await schedules.remove_channel(self.session, self.schedules[0], channel_id)

    async def season(self, starts: bool) -> None:
        running = await ledger.get_running_season(self.session, self.workspace_id)
        if starts and running is None:
            self.posted += 1
            self.session.add(Season(workspace_id=self.workspace_id, name=f"s{self.posted}", starts_at=self.stage.now))
        elif running is not None and running.starts_at < self.stage.now:
            running.ends_at = self.stage.now
        await self.session.flush()

    async def wait(self, hours: int) -> None:
        self.stage.now += timedelta(hours=hours * 7)

    async def open(self, period: Period, topic: str, scope: int) -> None:
        if period != "season" or await ledger.get_running_season(self.session, self.workspace_id):
            key, previous, _ = await self.key(period, topic, scope)
            await boards.open_board(self.session, key, previous)

    async def key(self, period: Period, topic: str, scope: int) -> tuple[BoardKey, BoardKey | None, Season | None]:
        channel_id = (None, *[each.channel_id for each in self.schedules])[scope]
        return await find_key(self.session, self.workspace_id, channel_id, period, self.stage.now, topic)

    async def take(self, step: tuple[Any, ...]) -> None:
        await getattr(self, step[0].replace(" ", "_"))(*step[1:])

    async def check(self) -> None:
        """Compares every board with the sums."""
        booked = await load_ledger(self.session)
        for period in PERIODS:
            if period == "season" and await ledger.get_running_season(self.session, self.workspace_id) is None:
                continue
            for topic in TOPICS:
                for scope in range(3):
                    await self._check(booked, period, topic, scope)

    async def _check(self, booked: Booked, period: Period, topic: str, scope: int) -> None:
        key, previous, _ = await self.key(period, topic, scope)
        board_id = await boards.open_board(self.session, key, previous)
        for contest in CONTESTS:
            if contest == "rookies" and period == "all":
                continue
            if contest == "improved" and period not in COMPARABLE_PERIODS:
                continue
            expected = sum_board(booked, key, contest, previous)
            page = await self._page(key, contest, None, 100, board_id)
            assert [as_line(line) for line in page.top] == expected, (key, contest)
            for place, line in enumerate(expected if not topic else ()):
                page = await self._page(key, contest, line.member_id, 1, board_id)
                near = expected[max(0, place - AROUND) : place + AROUND + 1]
                assert ([as_line(each) for each in page.near], page.total) == (near, len(expected))
        ranks = {line.member_id: line.rank for line in sum_board(booked, key, "points")}
        assert await boards.get_ranks(self.session, board_id, [each.member_id for each in self.callers]) == ranks

    async def _page(
        self, key: BoardKey, contest: Contest, member_id: int | None, limit: int, board_id: int
    ) -> BoardPage:
        wanted = PageWanted(key.workspace_id, key.channel_id, key.topic, key.period, contest, member_id, limit)
        page = await look_at_board(self.session, wanted, self.stage.now, board_id)
        assert page is not None
        return page


async def merge_members(session: AsyncSession, kept: int, gone: int) -> None:
    """Merges two members of one chat, as if they were known in different ones."""
    await session.execute(delete(Identity).where(Identity.member_id == gone))
    await merge(session, kept, gone, MONDAY)


def as_line(line: BoardLine) -> Line:
    return Line(line.rank, line.member_id, line.name, line.points, line.answered, line.accuracy, line.gain)


@pytest.fixture
def small_blocks_url(database_url: str) -> str:
    """A database whose blocks are split already at three members."""
    with psycopg.connect(libpq_url(database_url)) as connection:
        connection.execute("create or replace function block_size() returns int language sql immutable as 'select 1'")
    return database_url


@pytest.fixture(params=("made anew", "counted up"))
def kept_blocks_url(small_blocks_url: str, request: pytest.FixtureRequest) -> str:
    """The same, where blocks are made anew from two changes to a board, or never."""
    if request.param == "counted up":
        never = "is_large_part(changes bigint, ranked numeric) returns boolean language sql immutable as 'select false'"
        with psycopg.connect(libpq_url(small_blocks_url)) as connection:
            connection.execute(f"create or replace function {never}".encode())
    return small_blocks_url


@pytest.mark.slow
@settings(max_examples=15, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(taken=st.lists(steps, min_size=4, max_size=25))
def test_every_board_equals_the_sum_over_the_ledger(kept_blocks_url: str, taken: list[tuple[Any, ...]]) -> None:
    async def play() -> None:
        engine = make_engine(kept_blocks_url)
        try:
            async with make_sessions(engine)() as session:
                world = await World.build(session)
                for step in taken:
                    await world.take(step)
                await world.check()
        finally:
            await engine.dispose()

    asyncio.run(play())


async def test_a_mean_credit_is_rounded_to_the_nearest_unit(sessions: Sessions) -> None:
    """Five ninths are 0.555,555,555,6: below the half, a floor would differ."""
    async with sessions() as session:
        world = await World.build(session)
        for day, credit in enumerate((2 / 3, 1.0, 0.0)):
            await world.post((0, day), {0: (1, credit, 1.5)})
        await world.check()
        key, previous, _ = await world.key("all", "", 0)
        board_id = await boards.open_board(session, key, previous)
        page = await look_at_board(session, PageWanted(key.workspace_id, key.channel_id, "", "all", "points", None, 9),
                                   world.stage.now, board_id)  # fmt: skip
        assert page is not None
        assert [line.accuracy for line in page.top] == [0.555555556]


async def test_transactions_that_post_at_once_wait_and_lose_nothing(sessions: Sessions) -> None:
    """Ten transactions post to the same members in different orders, each in two statements."""
    async with sessions.begin() as session:
        world = await World.build(session)
        rounds = [(await world.round((number % 2, number // 2))).id for number in range(10)]
        day = world.rounds[0, 0].opens_at
        await open_for_posting(session, world.schedules[0], day)

    async def post(number: int) -> None:
        async with sessions.begin() as session:
            for part in range(2):
                rows = [
                    {"key": f"{number} {part} {who}", "workspace_id": world.workspace_id, "reason": "x",
                     "member_id": world.callers[(who + number) % 5].member_id, "round_id": rounds[number],
                     "at": day, "points": 1 + who, "credit": 0.5, "seconds": 2.0}
                    for who in range(5)
                ]  # fmt: skip
                await ledger.insert_entries(session, rows)

    await asyncio.gather(*[post(number) for number in range(10)])
    async with sessions.begin() as session:
        world.stage.session, world.stage.now = session, day + timedelta(hours=1)
        await world.check()
        assert await ledger.sum_round(session, rounds[0], [each.member_id for each in world.callers]) != {}
        assert (
            len(await members.get_names(session, world.workspace_id, [each.member_id for each in world.callers])) == 5
        )


async def test_a_regrade_a_merge_and_a_close_at_once_end_without_a_deadlock(sessions: Sessions) -> None:
    """Each takes locks on rounds and members of its own before it locks the boards."""
    async with sessions.begin() as session:
        world = await World.build(session)
        stage = world.stage
        first, second = await world.round((0, 0)), await world.round((0, 1))
        for caller in world.callers[:4]:
            await stage.answer(caller, first)
            await stage.answer(caller, second)
        await world.post((0, 0), {0: (3, 1.0, 1.0), 1: (2, 0.5, 1.0), 2: (1, 0.5, 1.0)})
    ready = asyncio.Barrier(2)

    async def join() -> None:
        async with sessions.begin() as session:
            await ready.wait()
            await privacy.lock_members(session, [world.callers[0].member_id, world.callers[1].member_id])
            await merge_members(session, world.callers[0].member_id, world.callers[1].member_id)

    async def regrade() -> None:
        async with sessions.begin() as session:
            await boards.lock_boards(session, [world.workspace_id])
            await ready.wait()
            row = {"workspace_id": world.workspace_id, "reason": "regrade", "points": 4, "credit": 0.1,
                   "seconds": None, "at": first.opens_at, "round_id": first.id}  # fmt: skip
            own = [{**row, "key": f"r{each.member_id}", "member_id": each.member_id} for each in world.callers[2:4]]
            await ledger.insert_entries(session, own)

    await asyncio.wait_for(asyncio.gather(join(), regrade()), 60)
    async with sessions.begin() as session:
        world.stage.session, world.stage.now = session, first.opens_at + timedelta(hours=1)
        world.gone.add(world.callers[1].member_id)
        await world.check()
