"""Boards name members by their id on Discord, which its client shows as a name to press."""

from __future__ import annotations

import pytest

from service.wire import AnswerInput, Platform, QuestionPost, RevealPost, Where
from tests.conftest import Clock
from tests.service.daily_channel import SPEC, DailyChannel, choice
from tests.service.two_chats import GUILD, TwoChats


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    await daily.bank(*(choice(f"q{number}") for number in range(5)))
    return TwoChats(daily, clock)


async def ids(chats: TwoChats, platform: Platform = "discord", workspace: str = "") -> dict[str, str]:
    """Returns the id in each row of the board of a whole workspace, by name."""
    boss = chats.who("Boss", platform, admin=True, workspace=workspace)
    board = await chats.daily.client.board(boss, None, "all")
    return {row.name: row.discord for row in board.rows}


async def test_linked_members_have_their_id_on_every_board_and_slacks_own_none(chats: TwoChats) -> None:
    await chats.join_chats()
    await chats.link("Ada")
    await chats.schedule()
    ref = await chats.asked()
    await chats.answer("Ada", "slack", ref, "a")
    await chats.answer("Bo", "discord", ref, "a", after=2)
    await chats.answer("Cy", "slack", ref, "a", after=3)
    await chats.daily.client.season_start(chats.boss("discord"), chats.event(), "Spring")
    known = {"Ada": "discord-ada", "Bo": "discord-bo", "Cy": ""}
    (reveal, *_) = [one.body for one in await chats.closed() if isinstance(one.body, RevealPost)]
    assert {row.name: row.discord for row in reveal.board} == known
    assert await ids(chats) == await ids(chats, "slack") == known
    ended = await chats.daily.client.season_end(chats.boss("slack"), chats.event())
    assert {row.name: row.discord for row in ended.archive} == known
    (listed,) = await chats.daily.client.season_list(chats.boss("discord"))
    assert listed == ended

    # Who hides or leaves is named no more, nor is their id, not even in an archive.
    await chats.daily.client.privacy(chats.who("Bo", "discord"), chats.event(), "hide")
    await chats.daily.client.privacy(chats.who("Ada", "discord"), chats.event(), "forget")
    assert await ids(chats) == {"Cy": ""}
    (listed,) = await chats.daily.client.season_list(chats.boss("discord"))
    assert [row.discord for row in listed.archive] == [""]


async def test_each_workspace_has_the_ids_of_its_own_members(chats: TwoChats) -> None:
    """People have the same id in every server, so ids are taken from the members of the asking workspace."""
    elsewhere, there = "elsewhere", Where(channel="999", name="#quiz")
    boss = chats.who("Boss", "discord", admin=True, workspace=elsewhere)
    await chats.daily.client.schedule_add(boss, chats.event(), there, SPEC)
    await chats.schedule()
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    posts = {one.workspace: one.body for one in await chats.deliver() if isinstance(one.body, QuestionPost)}
    given = AnswerInput(options=("a",))
    for name, workspace, where in (("Ada", "guild", GUILD), ("Bo", elsewhere, there), ("Ada", elsewhere, there)):
        who = chats.who(name, "discord", workspace=workspace)
        await chats.daily.client.answer(who, where, chats.event(), posts[workspace].ref, given, chats.clock.now)
    await chats.closed()
    assert await ids(chats) == {"Ada": "discord-ada"}
    assert await ids(chats, workspace=elsewhere) == {"Ada": "discord-ada", "Bo": "discord-bo"}
