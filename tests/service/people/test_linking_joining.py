"""Two chats linked to one workspace: what comes along, what is refused, and that nothing is lost on the way."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest

from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.people import linking
from service.store.audits import Audit
from service.store.chats import LinkCodeRow, LinkGuess
from service.store.tables import BankRow, Base, Retirement, Season, Workspace
from service.wire import AdminsOnly, ChannelNeeded, LinkRefused, LinkWaits, Platform, QuestionPost, ScheduleSpec
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DailyChannel, choice
from tests.service.refusals import refused
from tests.service.two_chats import GUILD, TEAM, TwoChats

BOTH: tuple[Platform, ...] = ("discord", "slack")
DOCUMENT = "### 1. Does `x.t()` copy?\n\n**Answer:** No, it returns a view.\n"


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    await daily.bank(*(choice(key) for key in ("views", "grad", "cast", *(f"q{number}" for number in range(20)))))
    return TwoChats(daily, clock)


async def played(chats: TwoChats) -> None:
    """Plays a round in each chat, on separate schedules, with two answers each."""
    for platform in BOTH:
        await chats.schedule(platform)
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    for delivery in await chats.deliver():
        assert isinstance(delivery.body, QuestionPost)
        for name, option in (("Ada", "a"), ("Bo", "b")):
            await chats.answer(name, delivery.platform, delivery.body.ref, option)
    await chats.closed()


async def test_a_chat_without_history_is_linked_at_once(chats: TwoChats) -> None:
    linked = await chats.join_chats(sure=False)
    assert (linked.done, linked.platforms, linked.schedules, linked.points) == (True, ("discord", "slack"), 0, 0)
    assert len(await chats.daily.rows(Workspace)) == 1
    schedule = await chats.schedule("discord")
    (seen,) = await chats.daily.client.schedule_list(chats.boss("slack"))
    assert (seen.id, seen.platform, seen.channel) == (schedule, "discord", GUILD.channel)


async def test_history_is_shown_before_all_of_it_is_moved(chats: TwoChats) -> None:
    await played(chats)
    before = await chats.standing("discord"), await chats.standing("slack")
    told = await chats.join_chats(sure=False)
    assert (told.done, told.schedules, told.members, told.points) == (False, 1, 3, 10)
    assert (await chats.standing("discord"), await chats.standing("slack")) == before
    done = await chats.join_chats()
    assert done == told.model_copy(update={"done": True})
    both = [(1, "Ada", 10, 1), (1, "Ada", 10, 1)]
    assert await chats.standing("slack") == await chats.standing("discord") == both
    assert len(await chats.daily.client.schedule_list(chats.boss("discord"))) == 2
    assert (await chats.daily.client.me(chats.who("Ada", "slack"))).streak == 1


async def test_both_schedules_go_on_in_their_own_channels(chats: TwoChats) -> None:
    await played(chats)
    await chats.join_chats()
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    posts = {each.platform: (each.workspace, each.channel) for each in await chats.deliver()}
    assert posts == {"discord": ("guild", GUILD.channel), "slack": ("T1", TEAM.channel)}


async def test_the_channels_boards_stay_their_own(chats: TwoChats) -> None:
    await played(chats)
    await chats.join_chats()
    board = await chats.daily.client.board(chats.who("Ada", "slack"), TEAM, "all")
    assert [(row.name, row.points, row.me) for row in board.rows] == [("Ada", 10, True)]


async def test_while_a_round_is_open_nothing_is_joined_and_the_code_stays_good(chats: TwoChats) -> None:
    await chats.schedule("slack")
    await chats.asked()
    code = (await chats.daily.client.chat_link(chats.boss("discord"), "make")).code
    with refused(LinkWaits(channel="#ml-quiz", closes_at=chats.clock.now + timedelta(hours=8))):
        await chats.daily.client.chat_join(chats.boss("slack"), "join", code, True)
    await chats.daily.client.close_now(chats.boss("slack"), "close", TEAM)
    assert (await chats.daily.client.chat_join(chats.boss("slack"), "join", code, True)).done


async def test_a_round_that_is_open_on_the_other_side_goes_on(chats: TwoChats) -> None:
    await chats.schedule("discord")
    ref = await chats.asked()
    await chats.join_chats()
    assert (await chats.answer("Ada", "discord", ref)).status == "recorded"
    assert (await chats.answer("Eve", "slack", ref)).status == "recorded"


async def test_a_running_season_ends_with_its_board_and_names_that_are_taken_get_a_number(chats: TwoChats) -> None:
    client = chats.daily.client
    for platform in BOTH:
        await client.season_start(chats.boss(platform), f"season {platform}", "Spring")
    await played(chats)
    for platform in BOTH:
        await client.bank_import(chats.boss(platform), f"import {platform}", "own.md", DOCUMENT, True)
    linked = await chats.join_chats()
    assert (linked.seasons, linked.banks, linked.ending) == (1, 1, "Spring")
    first, second = await chats.daily.rows(Season)
    assert (first.name, first.ends_at) == ("Spring", None)
    assert (second.name, second.ends_at) == ("Spring 2", chats.clock.now)
    assert [row["name"] for row in second.archive or ()] == ["Ada"]
    assert sorted(bank.name for bank in await chats.daily.rows(BankRow)) == ["home", "own", "own 2"]


async def test_what_either_side_retired_stays_retired(chats: TwoChats) -> None:
    for platform, questions in zip(BOTH, (("views", "grad"), ("grad", "cast")), strict=True):
        for question in questions:
            await chats.daily.client.bank_retire(chats.boss(platform), f"{platform} {question}", question, True)
    await chats.join_chats()
    assert len({row.question_id for row in await chats.daily.rows(Retirement)}) == 3
    assert {row.workspace_id for row in await chats.daily.rows(Retirement)} == {1}


async def test_the_record_comes_along_and_says_who_joined(chats: TwoChats) -> None:
    await played(chats)
    await chats.daily.client.member_adjust(chats.boss("slack"), "gift", "Bo", 5, "a good report")
    await chats.join_chats()
    trail = [(entry.by, entry.action) for entry in await chats.daily.client.audit(chats.boss("discord"))]
    assert trail[0] == ("Boss", "chat join")
    assert ("Boss", "member adjust") in trail
    assert {row.workspace_id for row in await chats.daily.rows(Audit)} == {1}


async def test_no_row_belongs_to_the_removed_workspace(chats: TwoChats) -> None:
    await played(chats)
    await chats.join_chats()
    for mapper in Base.registry.mappers:
        if "workspace_id" in mapper.columns:
            rows = await chats.daily.rows(mapper.class_)
            assert {getattr(row, "workspace_id") for row in rows} <= {1, None}, mapper.class_  # noqa: B009


async def test_a_code_is_good_once_and_for_a_quarter_of_an_hour(chats: TwoChats) -> None:
    client = chats.daily.client
    made = await client.chat_link(chats.boss("discord"), "make")
    assert made.expires_at - chats.clock.now == timedelta(minutes=15)
    assert set(made.code) <= set(linking.ALPHABET)
    assert len(made.code) == 8
    typed = f" {made.code[:4].lower()}-{made.code[4:]} "
    assert (await client.chat_join(chats.boss("slack"), "join", typed, True)).done
    third = chats.who("Boss", "slack", admin=True, workspace="T2")
    with refused(LinkRefused(what="chat", why="wrong code")):
        await client.chat_join(third, "join", made.code, True)
    again = await client.chat_link(chats.boss("discord"), "make again")
    chats.clock.advance(minutes=15)
    with refused(LinkRefused(what="chat", why="wrong code")):
        await client.chat_join(third, "join late", again.code, True)


async def test_a_duplicate_of_the_event_gets_the_same_code_and_the_same_answer(chats: TwoChats) -> None:
    client = chats.daily.client
    made = await client.chat_link(chats.boss("discord"), "make")
    assert await client.chat_link(chats.boss("discord"), "make") == made
    joined = await client.chat_join(chats.boss("slack"), "join", made.code, True)
    assert await client.chat_join(chats.boss("slack"), "join", made.code, True) == joined
    assert await client.chat_link(chats.boss("discord"), "make") == made
    assert await chats.daily.rows(LinkCodeRow) == []


async def test_a_code_outlives_a_change_of_the_service_token(database_url: str, clock: Clock, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN)
    settings = Settings(database_url=database_url, service_token_file=path)
    async with (
        build(settings, clock).running() as service,
        ServiceClient.inside(service.api, settings.tokens) as client,
    ):
        chats = TwoChats(DailyChannel(service, client), clock)
        made = await client.chat_link(chats.boss("discord"), "make")
        mine = await client.link(chats.who("Ada", "discord"), "mine")
        path.write_text(f"another-token-of-theirs\n{TOKEN}")
        assert await client.chat_link(chats.boss("discord"), "make") == made
        assert await client.link(chats.who("Ada", "discord"), "mine") == mine
        assert (await client.chat_join(chats.boss("slack"), "join", made.code, True)).done
        assert await client.link_with(chats.who("Ada", "slack"), "link", mine.code)


async def test_a_newer_code_takes_the_place_of_the_older(chats: TwoChats) -> None:
    client = chats.daily.client
    first = await client.chat_link(chats.boss("discord"), "one")
    second = await client.chat_link(chats.boss("discord"), "two")
    with refused(LinkRefused(what="chat", why="wrong code")):
        await client.chat_join(chats.boss("slack"), "join", first.code, True)
    assert (await client.chat_join(chats.boss("slack"), "join again", second.code, True)).done


async def test_no_row_holds_a_code(chats: TwoChats) -> None:
    made = await chats.daily.client.chat_link(chats.boss("discord"), "make")
    mine = await chats.daily.client.link(chats.who("Ada", "discord"), "mine")
    for mapper in Base.registry.mappers:
        for row in await chats.daily.rows(mapper.class_):
            said = str({column.key: getattr(row, column.key) for column in mapper.column_attrs})
            assert made.code not in said and mine.code not in said
    (chat, member) = await chats.daily.rows(LinkCodeRow)
    assert chat.digest == linking.digest_of(TOKEN, "chat", made.code)
    assert member.digest != linking.digest_of(TOKEN, "chat", mine.code)


def test_the_limits_are_those_of_the_page_on_security() -> None:
    found = (linking.LENGTH, len(set(linking.ALPHABET)), linking.GOOD_FOR, linking.GUESSES)
    assert found == (8, 30, timedelta(minutes=15), 20)


async def test_guessing_is_stopped_for_a_while_even_with_the_right_code(chats: TwoChats) -> None:
    client = chats.daily.client
    made = await client.chat_link(chats.boss("discord"), "make")
    for number in range(linking.GUESSES):
        with refused(LinkRefused(what="chat", why="wrong code")):
            await client.chat_join(chats.boss("slack"), f"guess {number}", "ABCDEFGH", True)
    with refused(LinkRefused(what="chat", why="too many codes")):
        await client.chat_join(chats.boss("slack"), "right", made.code, True)
    other = chats.who("Boss", "slack", admin=True, workspace="T2")
    assert (await client.chat_join(other, "right", made.code, True)).done
    chats.clock.advance(minutes=15)
    again = await client.chat_link(chats.boss("discord"), "again")
    assert (await client.chat_join(chats.boss("slack"), "in time", again.code, True)).done
    assert {row.workspace_id for row in await chats.daily.rows(LinkGuess)} <= {1}


async def test_only_admins_link_chats_and_not_twice(chats: TwoChats) -> None:
    client = chats.daily.client
    for call in (
        client.chat_link(chats.who("Ada", "discord"), "e1"),
        client.chat_join(chats.who("Ada", "slack"), "e2", "ABCDEFGH", True),
    ):
        with refused(AdminsOnly()):
            await call
    # Every member may make a code that links their own accounts.
    own = await client.link(chats.who("Ada", "discord"), "e3")
    with refused(LinkRefused(what="chat", why="wrong code")):
        await client.chat_join(chats.boss("slack"), "e4", own.code, True)
    await chats.join_chats()
    with refused(LinkRefused(what="chat", why="linked")):
        await chats.join_chats()


async def test_each_chat_is_greeted_once(chats: TwoChats) -> None:
    client = chats.daily.client
    nowhere = TEAM.model_copy(update={"channel": ""})
    events: list[tuple[Literal["discord", "slack"], str]] = [
        ("discord", "1"),
        ("discord", "2"),
        ("slack", "1"),
        ("slack", "2"),
    ]
    said = [await client.hello(chats.boss(platform), event, nowhere) for platform, event in events]
    assert said == [True, False, True, False]
    # Whoever crashed before it was said asks again, for the same event.
    assert [await client.hello(chats.boss(platform), event, nowhere) for platform, event in events] == said
    await client.schedule_add(chats.boss("discord"), "first", GUILD, ScheduleSpec())
    with refused(ChannelNeeded()):
        await client.schedule_add(
            chats.boss("discord"), "nowhere", GUILD.model_copy(update={"channel": ""}), ScheduleSpec()
        )
