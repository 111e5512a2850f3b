"""Sprints when chats are linked and when two accounts turn out to be one person."""

from __future__ import annotations

import asyncio

import pytest

from service.competitions import sprints
from service.store.cards import CardRow
from service.store.competition_tables import Sprint, SprintAnswer, SprintQuestion
from service.store.tables import Identity
from service.wire import AnswerInput, SprintPodium, SprintQuestionPost, SprintRefused, SprintReveal
from tests.conftest import Clock
from tests.service.competitions.sprint_scene import one_of, pass_time, several
from tests.service.daily_channel import DailyChannel
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused
from tests.service.two_chats import GUILD, HERE, TEAM, TwoChats


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    await daily.bank(*several(2))
    return TwoChats(daily, clock)


async def asked(chats: TwoChats) -> SprintQuestionPost:
    """Begins the next question of the sprint."""
    for _ in range(9):
        await chats.daily.service.tick()
        bodies = [each.body for each in await chats.deliver() if each.edits is None]
        if posts := [body for body in bodies if isinstance(body, SprintQuestionPost)]:
            await chats.daily.service.tick()
            return posts[0]
        await pass_time(chats.daily, 5)
    raise AssertionError("no question was posted")


async def test_a_chat_joins_after_its_sprint_and_brings_it_along(chats: TwoChats) -> None:
    client = chats.daily.client
    await client.sprint_start(chats.boss("slack"), "sprint", TEAM, 1, 20)
    post = await asked(chats)
    await chats.answer("Ada", "slack", post.ref)
    with refused(SprintRefused(why="running")):
        await chats.join_chats()
    await client.sprint_stop(chats.boss("slack"), "stop", TEAM)
    for _ in range(2):
        await chats.daily.service.tick()
        await chats.deliver()
    await chats.join_chats()
    (home,) = {row.workspace_id for row in await chats.daily.rows(Sprint)}
    assert [row.workspace_id for row in await chats.daily.rows(SprintQuestion)] == [home]
    assert [row.workspace_id for row in await chats.daily.rows(SprintAnswer)] == [home]
    # The questions that the other chat played are known here too.
    await client.sprint_start(chats.boss("discord"), "next", GUILD, 2, 20)


@pytest.mark.parametrize("better", ["discord", "slack"])
async def test_of_two_answers_of_one_person_the_better_one_stays(chats: TwoChats, better: str) -> None:
    await chats.daily.client.join(chats.who("Ada", "discord"), GUILD)
    await chats.daily.client.join(chats.who("Ada", "slack"), TEAM)
    await chats.join_chats()
    await chats.daily.client.sprint_start(chats.boss("discord"), "sprint", GUILD, 2, 20)
    first = await asked(chats)
    for platform in HERE:
        given = AnswerInput(options=("a" if platform == better else "b",))
        who = chats.who("Ada", platform)
        await chats.daily.client.answer(who, HERE[platform], platform, first.ref, given, chats.clock.now)
    await pass_time(chats.daily, 20)
    await chats.daily.service.tick()
    assert one_of(await chats.deliver(), SprintReveal).answers == 2
    # The accounts are linked while the second question is asked.
    second = await asked(chats)
    await chats.answer("Ada", "slack", second.ref)
    await chats.link("Ada")
    await pass_time(chats.daily, 20)
    await chats.daily.service.tick()
    assert one_of(await chats.deliver(), SprintReveal).answers == 1
    await pass_time(chats.daily, 10)
    await chats.daily.service.tick()
    podium = one_of(await chats.deliver(), SprintPodium)
    assert (podium.players, [(row.name, row.right) for row in podium.standings]) == (1, [("Ada", 2)])
    assert len(await chats.daily.rows(SprintAnswer)) == 2


async def test_the_card_of_a_wrong_answer_that_is_settled_while_accounts_are_linked_is_that_of_the_member(
    chats: TwoChats,
) -> None:
    for platform in HERE:
        await chats.daily.client.join(chats.who("Ada", platform), HERE[platform])
    await chats.join_chats()
    sprint = await chats.daily.client.sprint_start(chats.boss("discord"), "sprint", GUILD, 1, 20)
    post = await asked(chats)
    await chats.answer("Ada", "slack", post.ref, "b")
    await pass_time(chats.daily, 20)
    async with chats.daily.service.sessions.begin() as leader:
        await sprints.advance(leader, sprint.id, chats.clock.now)
        linking = asyncio.create_task(chats.link("Ada"))
        await until_locked_out(leader, linking)
    await linking
    (ada,) = {row.member_id for row in await chats.daily.rows(Identity) if row.name == "Ada"}
    assert [row.member_id for row in await chats.daily.rows(CardRow)] == [ada]
