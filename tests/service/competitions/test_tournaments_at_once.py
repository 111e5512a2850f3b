"""Members who join, leave or are made captains while they are forgotten, or while their accounts are linked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from service.people import linking
from service.store import privacy
from service.store.competition_tables import TournamentMember, TournamentTeam
from service.store.members import resolve_caller
from service.store.tables import Identity
from service.wire import NotFound, Platform, TournamentPlan, TournamentView
from tests.conftest import Clock
from tests.service.competitions.tournament_scene import TUESDAY
from tests.service.daily_channel import DailyChannel, choice
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused
from tests.service.two_chats import GUILD, HERE, TwoChats


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    """Two chats with a tournament of captains, in which Bo takes part and Ada, who is in both, does not yet."""
    await daily.bank(*(choice(f"q{number}") for number in range(4)))
    made = TwoChats(daily, clock)
    await made.schedule()
    await made.join_chats()
    for platform in HERE:
        await daily.client.join(made.who("Ada", platform), HERE[platform])
    plan = TournamentPlan(title="Cup", first_day=TUESDAY, days=2, teams="captains")
    await daily.client.tournament_plan(made.boss("discord"), made.event(), GUILD, plan)
    await daily.client.tournament_join(made.who("Bo", "discord"), made.event())
    return made


async def member_of(chats: TwoChats, platform: Platform, name: str = "Ada") -> int:
    wanted = chats.who(name, platform).member
    (found,) = [row.member_id for row in await chats.daily.rows(Identity) if row.external_id == wanted]
    return found


async def players(chats: TwoChats) -> set[int]:
    return {row.member_id for row in await chats.daily.rows(TournamentMember)}


def asks(chats: TwoChats, what: str) -> Awaitable[TournamentView]:
    """Returns a call for Ada, by the name or id of her account on Slack."""
    client, ada = chats.daily.client, chats.who("Ada", "slack")
    if what == "captain":
        return client.tournament_captain(chats.boss("discord"), chats.event(), ada.member)
    call = client.tournament_join if what == "join" else client.tournament_leave
    return call(ada, chats.event())


@asynccontextmanager
async def merging(chats: TwoChats) -> AsyncIterator[AsyncSession]:
    """Merges Ada on Slack into Ada on Discord, in a transaction that ends with the block."""
    kept, gone = await member_of(chats, "discord"), await member_of(chats, "slack")
    async with chats.daily.service.sessions.begin() as session:
        await linking.merge(session, kept, gone, chats.clock.now)
        yield session


@pytest.mark.parametrize("what", ["join", "captain"])
async def test_who_comes_in_while_their_accounts_are_linked_takes_part_as_the_member(
    chats: TwoChats, what: str
) -> None:
    async with merging(chats) as session:
        coming = asyncio.ensure_future(asks(chats, what))
        await until_locked_out(session, coming)
    await coming
    kept, bo = await member_of(chats, "discord"), await member_of(chats, "discord", "Bo")
    assert await players(chats) == {kept, bo}
    captains = [team.captain_id for team in await chats.daily.rows(TournamentTeam)]
    assert captains == ([kept] if what == "captain" else [])


async def test_who_leaves_while_their_accounts_are_linked_has_left(chats: TwoChats) -> None:
    await asks(chats, "join")
    async with merging(chats) as session:
        leaving = asyncio.ensure_future(asks(chats, "leave"))
        await until_locked_out(session, leaving)
    await leaving
    assert await players(chats) == {await member_of(chats, "discord", "Bo")}


@pytest.mark.parametrize("what", ["join", "captain"])
async def test_nobody_comes_in_who_was_just_forgotten(chats: TwoChats, what: str) -> None:
    async with chats.daily.service.sessions.begin() as session:
        ada = chats.who("Ada", "slack")
        caller = await resolve_caller(session, ada, None, chats.clock.now)
        await privacy.forget_member(session, caller, chats.clock.now)
        coming = asyncio.ensure_future(asks(chats, what))
        await until_locked_out(session, coming)
    with refused(NotFound(what="member", name=ada.member if what == "captain" else "Ada")):
        await coming
    assert await players(chats) == {await member_of(chats, "discord", "Bo")}
    assert await chats.daily.rows(TournamentTeam) == []
