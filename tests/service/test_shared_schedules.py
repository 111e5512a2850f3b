"""One schedule in several channels, of either chat: one round, a post and a reveal in each, one count."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.store.tables import Outbox, Round, ScheduleChannel
from service.wire import (
    AdminsOnly,
    ChannelView,
    NoOpenRound,
    NotFound,
    Notice,
    PostFailed,
    QuestionPost,
    RevealPost,
    ScheduleChanges,
    ShareRefused,
    Where,
)
from tests.conftest import Clock
from tests.service.competitions.sprint_scene import SprintScene
from tests.service.daily_channel import DailyChannel, choice
from tests.service.refusals import refused
from tests.service.two_chats import GUILD, TEAM, TwoChats

ASIDE = Where(channel="222", name="#aside")


@pytest.fixture
async def chats(daily: DailyChannel, clock: Clock) -> TwoChats:
    """Two linked chats; schedule 1 is at home on Discord and shared with Slack."""
    await daily.bank(*(choice(f"q{number}") for number in range(20)))
    made = TwoChats(daily, clock)
    await made.join_chats()
    schedule = await made.schedule("discord")
    await daily.client.schedule_share(made.boss("slack"), "share", TEAM, schedule)
    return made


async def test_a_round_is_one_with_a_post_and_a_reveal_in_each_channel(chats: TwoChats) -> None:
    chats.clock.advance(hours=1)
    for _ in range(3):
        await chats.daily.service.tick()
    posts = await chats.deliver()
    assert [(each.platform, each.channel, each.key) for each in posts] == [
        ("discord", GUILD.channel, "round:1:question"),
        ("slack", TEAM.channel, "round:1:question:2"),
    ]
    assert len(await chats.daily.rows(Round)) == 1
    for name, platform, option in (("Ada", "discord", "a"), ("Bo", "slack", "b"), ("Cy", "slack", "a")):
        await chats.answer(name, platform, "r1", option)  # type: ignore[arg-type]
    reveals = [each for each in await chats.closed() if each.body.kind == "reveal"]
    bodies = [each.body for each in reveals]
    assert [(each.platform, each.channel) for each in reveals] == [
        ("discord", GUILD.channel), ("slack", TEAM.channel)
    ]  # fmt: skip
    # Each under the post in its own channel.
    assert [each.reply_to for each in reveals] == [f"m{each.id}" for each in posts]
    assert isinstance(bodies[0], RevealPost)
    assert bodies[0] == bodies[1]
    assert (bodies[0].answers, bodies[0].right) == (3, 2)
    assert {person.name for person in bodies[0].points} == {"Ada", "Bo", "Cy"}


async def test_both_channels_have_the_same_board_and_the_open_question(chats: TwoChats) -> None:
    ref = await chats.asked()
    for name, platform, where in (("Ada", "discord", GUILD), ("Bo", "slack", TEAM)):
        today = await chats.daily.client.today(chats.who(name, platform), where)  # type: ignore[arg-type]
        assert [form.ref for form in today.forms] == [ref]
        await chats.answer(name, platform, ref)  # type: ignore[arg-type]
    await chats.closed()
    boards = [
        await chats.daily.client.board(chats.boss(platform), where, "all")  # type: ignore[arg-type]
        for platform, where in (("discord", GUILD), ("slack", TEAM))
    ]
    assert [(row.name, row.points, row.streak) for row in boards[0].rows] == [("Ada", 10, 1), ("Bo", 10, 1)]
    assert boards[0].rows == boards[1].rows
    with refused(NoOpenRound()):
        await chats.daily.client.close_now(chats.boss("slack"), "close", TEAM)


async def test_both_channels_say_when_the_next_question_comes(chats: TwoChats) -> None:
    coming = [
        (await chats.daily.client.today(chats.who("Ada", platform), where)).next_at  # type: ignore[arg-type]
        for platform, where in (("discord", GUILD), ("slack", TEAM), ("discord", ASIDE))
    ]
    assert coming == [chats.clock.now + timedelta(hours=1)] * 2 + [None]


async def test_a_sprint_in_either_channel_leaves_the_next_question_to_the_schedule(chats: TwoChats) -> None:
    client, boss = chats.daily.client, chats.boss("slack")
    coming = (await client.schedule_preview(boss, 1)).question.id
    await client.sprint_start(boss, "sprint", TEAM, 10, 20)
    assert coming not in await SprintScene(chats.daily, chats.clock).chosen()


async def test_the_speed_of_an_answer_is_measured_from_the_post_in_its_own_chat(chats: TwoChats) -> None:
    await chats.daily.client.schedule_edit(chats.boss("discord"), "edit", 1, ScheduleChanges(speed_bonus=True))
    ref = await chats.asked("discord")
    chats.clock.advance(minutes=30)
    await chats.answer("Ada", "discord", ref, after=0)
    await chats.deliver("slack")
    await chats.answer("Bo", "slack", ref, after=0)
    await chats.closed()
    (_, bo, more, _), (_, ada, less, _) = await chats.standing()
    assert (bo, ada) == ("Bo", "Ada")
    assert more > less


async def test_of_two_posts_in_one_chat_the_first_starts_the_clock(chats: TwoChats) -> None:
    client = chats.daily.client
    await client.schedule_edit(chats.boss("discord"), "edit", 1, ScheduleChanges(speed_bonus=True))
    await client.schedule_share(chats.boss("discord"), "share aside", ASIDE, 1)
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    posts = [each for each in await client.outbox_claim("discord") if each.body.kind == "question"]
    await client.outbox_sent(posts[0].id, "m1")
    chats.clock.advance(minutes=30)
    await client.outbox_sent(posts[1].id, "m2")
    await chats.deliver("slack")
    for name, platform in (("Ada", "discord"), ("Bo", "slack")):
        await chats.answer(name, platform, "r1", after=0)  # type: ignore[arg-type]
    await chats.closed()
    (_, bo, more, _), (_, ada, less, _) = await chats.standing()
    assert (bo, ada) == ("Bo", "Ada")
    assert more > less


async def test_a_channel_that_cannot_be_posted_to_holds_up_no_other(chats: TwoChats) -> None:
    ref = await chats.asked("discord")
    (post,) = await chats.daily.client.outbox_claim("slack")
    await chats.daily.client.outbox_failed(post.id, post.attempt, "not_in_channel", outcome="refused")
    (row,) = await chats.daily.rows(Round)
    assert row.skipped is None
    assert (await chats.answer("Ada", "discord", ref)).status == "recorded"
    (notice,) = await chats.deliver()
    # Whoever made the schedule is told, in the chat of its home.
    assert (notice.platform, notice.member) == ("discord", "discord-boss")
    failure = PostFailed(message="question", channel="#ml-quiz", attempts=1, error="not_in_channel")
    assert notice.body == Notice(fact=failure)


async def test_a_round_that_no_channel_saw_is_called_off(chats: TwoChats) -> None:
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    for platform in ("discord", "slack"):
        (post,) = await chats.daily.client.outbox_claim(platform)
        await chats.daily.client.outbox_failed(post.id, post.attempt, "no", outcome="refused")
    (row,) = await chats.daily.rows(Round)
    assert row.skipped == "not posted"


async def test_what_is_shared_and_unshared_is_seen_by_both(chats: TwoChats) -> None:
    client = chats.daily.client
    (seen,) = await client.schedule_list(chats.boss("discord"))
    assert (seen.platform, seen.channel) == ("discord", GUILD.channel)
    assert seen.shared == (ChannelView(platform="slack", channel=TEAM.channel, name=TEAM.name),)
    with refused(ShareRefused(schedule=1, why="shared")):
        await client.schedule_share(chats.boss("discord"), "again", GUILD, 1)
    with refused(ShareRefused(schedule=1, why="not shared")):
        await client.schedule_unshare(chats.boss("discord"), "aside", ASIDE, 1)
    alone = await client.schedule_unshare(chats.boss("slack"), "unshare", TEAM, 1)
    assert alone.shared == ()
    with refused(ShareRefused(schedule=1, why="only channel")):
        await client.schedule_unshare(chats.boss("discord"), "last", GUILD, 1)
    with refused(AdminsOnly()):
        await client.schedule_share(chats.who("Ada", "slack"), "by a member", TEAM, 1)
    actions = [entry.action for entry in await client.audit(chats.boss("slack"))]
    assert actions[:3] == ["schedule unshare", "schedule share", "schedule add"]


async def test_a_schedule_that_leaves_its_home_is_at_home_in_the_next_channel(chats: TwoChats) -> None:
    client = chats.daily.client
    await client.schedule_share(chats.boss("discord"), "aside", ASIDE, 1)
    moved = await client.schedule_unshare(chats.boss("discord"), "home", GUILD, 1)
    assert (moved.platform, moved.channel, moved.shared) == (
        "slack", TEAM.channel, (ChannelView(platform="discord", channel="222", name="#aside"),)
    )  # fmt: skip
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    assert [each.channel for each in await chats.deliver("slack", "discord")] == [TEAM.channel, "222"]


async def test_a_round_is_revealed_where_it_was_posted_even_after_unsharing(chats: TwoChats) -> None:
    ref = await chats.asked()
    await chats.daily.client.schedule_unshare(chats.boss("discord"), "home", GUILD, 1)
    await chats.daily.client.schedule_share(chats.boss("discord"), "aside", ASIDE, 1)
    await chats.answer("Ada", "discord", ref)
    reveals = [each for each in await chats.closed() if each.body.kind == "reveal"]
    assert sorted((each.channel, each.body.kind) for each in reveals) == [
        (GUILD.channel, "reveal"), (TEAM.channel, "reveal")
    ]  # fmt: skip
    assert len({row.key for row in await chats.daily.rows(Outbox)}) == 8


async def test_another_workspace_cannot_share_our_schedule(chats: TwoChats) -> None:
    eve = chats.who("Eve", "slack", admin=True, workspace="elsewhere")
    for number, call in enumerate((chats.daily.client.schedule_share, chats.daily.client.schedule_unshare)):
        with refused(NotFound(what="schedule", name="1")):
            await call(eve, f"eve {number}", TEAM, 1)
    assert len(await chats.daily.rows(ScheduleChannel)) == 1


async def test_the_post_says_the_same_day_and_close_everywhere(chats: TwoChats) -> None:
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    first, second = [each.body for each in await chats.deliver()]
    assert isinstance(first, QuestionPost)
    assert first == second
    assert first.closes_at == chats.clock.now + timedelta(hours=8)


async def waits_everywhere(chats: TwoChats) -> None:
    """Makes the day's question due, which no chat takes yet."""
    chats.clock.advance(hours=1)
    await chats.daily.service.tick()
    client = chats.daily.client
    for platform in ("discord", "slack"):
        for held in await client.outbox_claim(platform):
            await client.outbox_failed(held.id, held.attempt, "not there", outcome="waits")


async def test_a_question_that_was_given_up_is_posted_where_its_schedule_has_moved(chats: TwoChats) -> None:
    boss, client = chats.boss("discord"), chats.daily.client
    await waits_everywhere(chats)
    chats.clock.advance(hours=3)
    await chats.daily.service.tick()
    await chats.deliver()
    (round_,) = await chats.daily.rows(Round)
    assert round_.skipped == "not posted"
    await client.schedule_unshare(boss, "move", GUILD, 1)
    await client.post_now(boss, "post", 1)
    (posted,) = await chats.deliver("slack")
    assert (posted.platform, posted.channel, posted.body.kind) == ("slack", TEAM.channel, "question")
    chats.clock.advance(hours=8)
    await chats.daily.service.tick()
    (reveal,) = [each for each in await chats.deliver() if each.body.kind == "reveal"]
    assert (reveal.platform, reveal.channel, reveal.reply_to) == ("slack", TEAM.channel, f"m{posted.id}")


async def test_a_question_that_waits_for_a_channel_is_not_posted_once_the_schedule_has_left_it(chats: TwoChats) -> None:
    boss, client = chats.boss("discord"), chats.daily.client
    await waits_everywhere(chats)
    await client.schedule_unshare(boss, "move", GUILD, 1)
    for platform, chat, where in (("discord", "guild", GUILD), ("slack", "T1", TEAM)):
        await client.outbox_retry(platform, chat, where.channel)
    posted = [each for each in await chats.deliver() if each.body.kind == "question"]
    assert [(each.platform, each.channel) for each in posted] == [("slack", TEAM.channel)]
    chats.clock.advance(hours=8)
    await chats.daily.service.tick()
    told = {
        (each.platform, each.body.kind) for each in await chats.deliver() if each.body.kind in ("reveal", "outcome")
    }
    assert told == {("slack", "reveal"), ("slack", "outcome")}
