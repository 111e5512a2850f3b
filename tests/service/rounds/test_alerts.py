"""Troubles are reported to admins once when they begin and once when they are resolved, where admins can be reached."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from sandbox.client import SandboxClient
from service.app import Service
from service.rounds.alerts import CHECK_INTERVAL, LATE_AFTER, SANDBOX_DELAY, Alerts
from service.rounds.sandbox_turns import FairSandbox
from service.store import troubles
from service.store.tables import Outbox, Trouble
from service.wire import (
    AnswerInput,
    AppRemoved,
    AppRestored,
    ChannelRecovered,
    Delivery,
    Installation,
    Notice,
    NoticeFact,
    PostFailed,
    QuestionArrived,
    QuestionLate,
    SandboxMissing,
    SandboxRestored,
    Where,
)
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DailyChannel, choice, post_code_question
from tests.service.ops.test_doctor import WELL, supervisor
from tests.service.people.test_installations import installation, keyed
from tests.service.two_chats import GUILD, TEAM, TwoChats

__all__ = ["keyed"]


def told(made: list[Delivery]) -> list[NoticeFact]:
    """Returns the facts of the notices about troubles."""
    return [each.body.fact for each in made if of_trouble(each) and isinstance(each.body, Notice)]


def failed_posts(made: list[Delivery]) -> list[str]:
    """Returns the kinds of messages that were reported as given up."""
    facts = [each.body.fact for each in made if isinstance(each.body, Notice)]
    return [fact.message for fact in facts if isinstance(fact, PostFailed)]


def of_trouble(delivery: Delivery) -> bool:
    return delivery.key.startswith("trouble:")


async def later(daily: DailyChannel, clock: Clock, delta: timedelta) -> None:
    """Advances the clock and ticks."""
    clock.now += delta
    await daily.service.tick()


async def question_taken(two: TwoChats) -> Delivery:
    """Leases the question to Discord's bot, which has delivered everything else."""
    post, *others = await two.daily.client.outbox_claim("discord")
    for other in others:
        await two.daily.client.outbox_sent(other.id, f"m{other.id}")
    assert post.body.kind == "question"
    return post


@pytest.fixture
async def two(daily: DailyChannel, clock: Clock) -> TwoChats:
    """A linked team with a schedule on Discord, whose creator is known in both chats. Its slot was just posted."""
    await daily.bank(choice())
    chats = TwoChats(daily, clock)
    await chats.daily.client.join(chats.boss("discord"), GUILD)
    await chats.daily.client.join(chats.boss("slack"), TEAM)
    await chats.join_chats()
    await chats.link("Boss")
    await chats.schedule("discord")
    clock.now = MONDAY + timedelta(hours=1)
    await daily.service.tick()
    await chats.deliver("slack")
    return chats


async def test_a_late_question_is_reported_once_in_the_other_chat(two: TwoChats) -> None:
    await later(two.daily, two.clock, LATE_AFTER - timedelta(seconds=1))
    assert told(await two.deliver("slack")) == []
    for _ in range(3):
        await later(two.daily, two.clock, CHECK_INTERVAL)
    made = await two.deliver("slack")
    assert told(made) == [
        QuestionLate(
            channel="#quiz",
            due_at=MONDAY + timedelta(hours=1),
            until=MONDAY + timedelta(hours=3),
            zone="UTC",
            claimed=False,
        )
    ]
    (notice,) = [each for each in made if of_trouble(each)]
    assert (notice.platform, notice.member) == ("slack", "slack-boss")

    await two.deliver("discord")
    for _ in range(2):
        await later(two.daily, two.clock, CHECK_INTERVAL)
    assert told(await two.deliver()) == [QuestionArrived(channel="#quiz", minutes=10)]


async def test_without_another_chat_a_resolved_trouble_is_reported_once(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    await later(daily, clock, timedelta(hours=1))
    await later(daily, clock, LATE_AFTER + CHECK_INTERVAL)
    (question,) = [each for each in await daily.claim(limit=1) if each.body.kind == "question"]
    await daily.client.outbox_sent(question.id, "m1")
    await later(daily, clock, CHECK_INTERVAL)
    made = await daily.deliver()
    assert [type(fact) for fact in told(made)] == [QuestionArrived]
    (withdrawn,) = [row for row in await daily.rows(Outbox) if row.key.endswith(":began")]
    assert (withdrawn.state, withdrawn.error) == ("skipped", "it was over before it could be told")


async def test_a_late_question_that_is_given_up_is_reported_as_given_up(two: TwoChats) -> None:
    await later(two.daily, two.clock, LATE_AFTER + CHECK_INTERVAL)
    assert [type(fact) for fact in told(await two.deliver("slack"))] == [QuestionLate]
    await later(two.daily, two.clock, timedelta(hours=3))
    made = await two.deliver()
    assert told(made) == []
    assert failed_posts(made) == ["question"]
    assert [trouble.over_at is not None for trouble in await two.daily.rows(Trouble)] == [True]


async def test_the_notice_names_the_error_of_the_last_attempt(two: TwoChats) -> None:
    post = await question_taken(two)
    await two.daily.client.outbox_failed(post.id, post.attempt, "Discord is away", outcome="failed")
    await later(two.daily, two.clock, LATE_AFTER + CHECK_INTERVAL)
    (fact,) = told(await two.deliver("slack"))
    assert isinstance(fact, QuestionLate) and fact.claimed and fact.error == "Discord is away"


async def test_a_refusing_channel_is_a_trouble_until_it_accepts_a_message(two: TwoChats) -> None:
    post = await question_taken(two)
    await two.daily.client.outbox_failed(post.id, post.attempt, "Missing Access", outcome="refused")
    await later(two.daily, two.clock, CHECK_INTERVAL)
    made = await two.deliver()
    assert told(made) == []
    assert failed_posts(made) == ["question"]
    (trouble,) = await two.daily.rows(Trouble)
    assert (trouble.what, trouble.detail) == (
        "refused",
        {"channel": "#quiz", "error": "Missing Access", "waits": False},
    )

    await later(two.daily, two.clock, timedelta(days=1))
    await two.deliver("discord")
    await later(two.daily, two.clock, CHECK_INTERVAL)
    await later(two.daily, two.clock, CHECK_INTERVAL)
    assert told(await two.deliver()) == [ChannelRecovered(channel="#quiz", error="Missing Access")]


async def test_answers_without_a_sandbox_are_a_trouble_until_there_is_one(
    daily: DailyChannel, clock: Clock, tmp_path: Path
) -> None:
    ref = await post_code_question(daily, clock)
    alerts = Alerts(daily.service.sessions, FairSandbox(SandboxClient(tmp_path / "sandbox.sock")), timeout_seconds=60)
    await daily.answer(ref, AnswerInput(code="def double(x):\n    return 2 * x\n"))
    answered = clock.now
    clock.now += SANDBOX_DELAY - timedelta(seconds=1)
    await alerts.check(clock.now)
    assert told(await daily.deliver()) == []
    for _ in range(3):
        clock.now += CHECK_INTERVAL
        await alerts.check(clock.now)
    (fact,) = told(await daily.deliver())
    assert isinstance(fact, SandboxMissing) and fact.problem == "unreachable" and fact.detail
    assert (fact.answers, fact.since, fact.zone) == (1, answered, "UTC")

    async with supervisor(tmp_path, {**WELL, "ready": 0, "trouble": "no room for a child"}):
        clock.now += CHECK_INTERVAL
        await alerts.check(clock.now)
        assert told(await daily.deliver()) == []
    async with supervisor(tmp_path, WELL):
        for _ in range(2):
            clock.now += timedelta(minutes=3)
            await alerts.check(clock.now)
    assert told(await daily.deliver()) == [SandboxRestored(minutes=3)]


async def test_a_removed_app_is_reported_in_the_other_chat_until_it_is_back(keyed: DailyChannel, clock: Clock) -> None:
    two = TwoChats(keyed, clock)
    mine: Installation = installation(clock)
    await keyed.bank(choice())
    await keyed.client.installation_keep(mine)
    await keyed.client.join(two.boss("discord"), GUILD)
    await keyed.client.join(two.boss("slack"), TEAM)
    await two.join_chats()
    await two.schedule("slack")
    await keyed.client.schedule_share(two.boss("discord"), two.event(), GUILD, 1)
    await keyed.client.installation_forget("slack", "T1")
    for _ in range(2):
        await later(keyed, clock, CHECK_INTERVAL)
    made = await two.deliver()
    assert told(made) == [AppRemoved(platform="slack")]
    assert [(each.platform, each.channel) for each in made if of_trouble(each)] == [("discord", GUILD.channel)]
    async with keyed.service.sessions() as session:
        # Most chats that the bot was removed from stay so: a check reads those that are news.
        assert await troubles.list_left_chats(session, 10) == []
        assert await troubles.list_restored_chats(session, 10) == []

    await keyed.client.installation_keep(mine)
    for _ in range(2):
        await later(keyed, clock, CHECK_INTERVAL)
    assert told(await two.deliver()) == [AppRestored(platform="slack")]


async def test_two_simultaneous_leaders_notify_once(two: TwoChats, service: Service) -> None:
    two.clock.now += LATE_AFTER + CHECK_INTERVAL
    lookers = [Alerts(service.sessions, None) for _ in range(4)]
    await asyncio.gather(*(looker.check(two.clock.now) for looker in lookers))
    assert len(told(await two.deliver("slack"))) == 1
    await two.deliver("discord")
    two.clock.now += CHECK_INTERVAL
    await asyncio.gather(*(looker.check(two.clock.now) for looker in lookers))
    assert len(told(await two.deliver())) == 1


async def test_alerts_are_checked_at_intervals_even_if_the_clock_jumps(two: TwoChats, service: Service) -> None:
    alerts = Alerts(service.sessions, None)
    await alerts.check(MONDAY + timedelta(days=9))
    two.clock.now += LATE_AFTER + CHECK_INTERVAL
    await alerts.check(two.clock.now)
    assert [trouble.what for trouble in await two.daily.rows(Trouble)] == ["late"]
    await two.deliver("discord")
    await alerts.check(two.clock.now + CHECK_INTERVAL / 2)
    assert [trouble.over_at for trouble in await two.daily.rows(Trouble)] == [None]


async def test_a_large_outage_is_reported_step_by_step(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("one"), choice("two"))
    for channel in ("one", "two"):
        await daily.schedule(where=Where(channel=channel))
    clock.now = MONDAY + timedelta(hours=1)
    await daily.service.tick()
    alerts = Alerts(daily.service.sessions, None, most=1)
    found = []
    for _ in range(3):
        clock.now += LATE_AFTER
        await alerts.check(clock.now)
        found.append(len(await daily.rows(Trouble)))
    assert found == [0, 1, 2]
