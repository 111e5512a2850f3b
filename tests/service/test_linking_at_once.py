"""Linking while others do the same, and while answers come in: one wins, nothing is counted twice or lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy import select

from service.banks.imports import import_bank
from service.client import ServiceRefused, ServiceUnavailable
from service.people.linking import GUESSES
from service.rounds.posting import post_batch
from service.store.members import lock_in_order
from service.store.tables import AnswerRow, CurrentAnswer, Identity, Member, Workspace
from service.wire import ChatLinked, LinkRefused, LinkWaits, MemberLinked, Platform
from tests.conftest import Clock
from tests.service.daily_channel import DailyChannel, choice
from tests.service.lock_waits import until_locked_out
from tests.service.scenes import reading
from tests.service.two_chats import HERE, TEAM, TwoChats


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    await daily.bank(*(choice(f"q{number}") for number in range(20)))
    return TwoChats(daily, clock)


async def test_of_two_chats_that_type_one_code_one_joins(chats: TwoChats) -> None:
    client = chats.daily.client
    code = (await client.chat_link(chats.boss("discord"), "make")).code
    bosses = [chats.who("Boss", "slack", admin=True, workspace=f"T{number}") for number in range(4)]
    done = await asyncio.gather(
        *(client.chat_join(boss, f"join {number}", code, True) for number, boss in enumerate(bosses)),
        return_exceptions=True,
    )
    assert sum(isinstance(each, ChatLinked) for each in done) == 1
    assert all(isinstance(each, ChatLinked | ServiceRefused) for each in done), done
    assert len(await chats.daily.rows(Workspace)) == 4


async def test_guesses_made_at_once_are_as_few_as_those_made_one_by_one(chats: TwoChats) -> None:
    client = chats.daily.client
    await client.hello(chats.boss("slack"), "hello", TEAM)
    guesses = (client.chat_join(chats.boss("slack"), f"guess {n}", "ABCDEFGH", True) for n in range(2 * GUESSES))
    done = await asyncio.gather(*guesses, return_exceptions=True)
    refused = [each.refusal for each in done if isinstance(each, ServiceRefused)]
    assert refused.count(LinkRefused(what="chat", why="wrong code")) == GUESSES
    assert refused.count(LinkRefused(what="chat", why="too many codes")) == GUESSES


async def test_two_chats_that_join_one_another_at_once_become_one_workspace(chats: TwoChats) -> None:
    client = chats.daily.client
    here, there = chats.boss("discord"), chats.boss("slack")
    codes = [(await client.chat_link(boss, "make")).code for boss in (here, there)]
    done = await asyncio.gather(
        client.chat_join(here, "join", codes[1], True),
        client.chat_join(there, "join", codes[0], True),
        return_exceptions=True,
    )
    assert sum(isinstance(each, ChatLinked) for each in done) == 1, done
    assert len(await chats.daily.rows(Workspace)) == 1


async def test_of_two_members_who_type_one_code_one_is_linked(chats: TwoChats) -> None:
    await chats.join_chats()
    client = chats.daily.client
    code = (await client.link(chats.who("Ada", "discord"), "make")).code
    done = await asyncio.gather(
        *(client.link_with(chats.who(name, "slack"), f"link {name}", code) for name in ("Ada", "Bo", "Cy")),
        return_exceptions=True,
    )
    assert sum(isinstance(each, MemberLinked) for each in done) == 1
    assert sum(row.merged_into is not None for row in await chats.daily.rows(Member)) == 1


async def test_answers_that_come_while_accounts_are_linked_count_once(chats: TwoChats) -> None:
    await chats.join_chats()
    await chats.schedule("discord")
    ref = await chats.asked()
    await chats.answer("Ada", "discord", ref, "b", after=1)
    await chats.answer("Ada", "slack", ref, "b", after=2)
    code = (await chats.daily.client.link(chats.who("Ada", "discord"), "make")).code
    platforms: tuple[Platform, ...] = ("slack", "discord", "slack", "discord")
    answers = [chats.answer("Ada", there, ref, "a", after=3 + number) for number, there in enumerate(platforms)]
    linking = chats.daily.client.link_with(chats.who("Ada", "slack"), "link", code)
    done = await asyncio.gather(*answers[:2], linking, *answers[2:], return_exceptions=True)
    assert not [each for each in done if isinstance(each, ServiceUnavailable | ServiceRefused)], done
    assert len(await chats.daily.rows(AnswerRow)) == 6
    (standing,) = await chats.daily.rows(CurrentAnswer)
    assert {row.member_id for row in await chats.daily.rows(Identity) if row.name == "Ada"} == {standing.member_id}
    await chats.closed()
    assert await chats.standing() == [(1, "Ada", 10, 1)]


async def test_two_accounts_are_locked_in_the_order_of_everyone_who_locks_two_members(chats: TwoChats) -> None:
    client = chats.daily.client
    await chats.join_chats()
    for platform in HERE:
        await client.join(chats.who("Ada", platform), HERE[platform])
    first, second = sorted({row.member_id for row in await chats.daily.rows(Identity) if row.name == "Ada"})
    code = (await client.link(chats.who("Ada", "discord"), "make")).code
    async with chats.daily.service.sessions.begin() as session:
        await lock_in_order(session, [first])
        linking = asyncio.create_task(client.link_with(chats.who("Ada", "slack"), "link", code))
        await until_locked_out(session, linking)
        # It holds neither of the two while it waits for the first.
        free = select(Member.id).where(Member.id == second).with_for_update(nowait=True, key_share=True)
        assert await session.scalar(free) == second
    assert (await linking).name == "Ada"


async def test_a_close_that_comes_while_accounts_are_linked_books_once(chats: TwoChats) -> None:
    await chats.join_chats()
    await chats.schedule("discord")
    ref = await chats.asked()
    await chats.answer("Ada", "discord", ref, "b", after=1)
    await chats.answer("Ada", "slack", ref, "a", after=2)
    chats.clock.advance(hours=8, minutes=1)
    code = (await chats.daily.client.link(chats.who("Ada", "discord"), "make")).code
    linking = chats.daily.client.link_with(chats.who("Ada", "slack"), "link", code)
    await asyncio.gather(chats.daily.service.tick(), linking)
    assert await chats.standing() == [(1, "Ada", 10, 1)]


async def test_accounts_that_are_linked_during_a_correction_keep_the_corrected_points(chats: TwoChats) -> None:
    await chats.join_chats()
    await chats.schedule("discord")
    ref = await chats.asked()
    await chats.answer("Ada", "slack", ref, "a")
    await chats.answer("Bo", "slack", ref, "b")
    await chats.closed()
    assert [name for _, name, points, _ in await chats.standing() if points] == ["Ada"]
    client = chats.daily.client
    code = (await client.link(chats.who("Ada", "discord"), "make")).code
    options = tuple(replace(option, right=option.id == "b") for option in choice().options)
    corrected = [replace(choice(f"q{number}"), options=options, answer="`x.clone()`") for number in range(20)]
    async with chats.daily.service.sessions.begin() as session:
        await import_bank(session, reading(*corrected, name="home"), None, chats.clock.now, True)
        linking = asyncio.create_task(client.link_with(chats.who("Ada", "slack"), "link", code))
        await until_locked_out(session, linking)
    await linking
    assert [name for _, name, points, _ in await chats.standing() if points] == ["Bo"]


async def test_a_chat_that_joins_while_its_question_is_being_posted_waits_for_it(chats: TwoChats) -> None:
    client = chats.daily.client
    await chats.schedule("slack")
    chats.clock.advance(hours=1)
    code = (await client.chat_link(chats.boss("discord"), "make")).code
    async with chats.daily.service.sessions.begin() as session:
        await post_batch(session, chats.clock.now)
        joining = asyncio.create_task(client.chat_join(chats.boss("slack"), "join", code, True))
        await until_locked_out(session, joining)
    with pytest.raises(ServiceRefused) as told:
        await joining
    assert isinstance(told.value.refusal, LinkWaits)
