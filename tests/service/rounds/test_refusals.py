"""A refused message waits for the admin who can end the refusal: told once, posted once, and never lost for the day."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.rounds.delivery import REFUSED_RETRY_SECONDS
from service.store.tables import Channel, Outbox, Round
from service.wire import (
    AnswerInput,
    ChannelRecovered,
    ChannelRefused,
    Delivery,
    ExtraRound,
    Notice,
    NoticeFact,
    QuestionPost,
    SkipRefused,
    SlotTaken,
)
from tests.conftest import MONDAY, Clock
from tests.service import own_variants
from tests.service.daily_channel import DAILY, DailyChannel, choice, post_code_question, value
from tests.service.people.test_installations import installation, keyed
from tests.service.refusals import refused
from tests.service.two_chats import TEAM, TwoChats

__all__ = ["keyed"]

NINE = MONDAY + timedelta(hours=1)
CURE = "not_in_channel: the bot is not in the channel; type /invite @Dailygrad there"


def facts(made: list[Delivery]) -> list[NoticeFact]:
    """Returns the facts of the notices."""
    return [each.body.fact for each in made if isinstance(each.body, Notice) and each.body.fact.kind != "bank-low"]


def questions(made: list[Delivery]) -> list[QuestionPost]:
    return [each.body for each in made if isinstance(each.body, QuestionPost)]


async def refuse(daily: DailyChannel) -> Delivery:
    """Claims the question and reports that the channel refuses it; delivers everything else."""
    question = None
    for delivery in await daily.claim():
        if delivery.body.kind == "question":
            question = delivery
        else:
            await daily.client.outbox_sent(delivery.id, f"m{delivery.id}")
    assert question is not None
    await daily.client.outbox_failed(question.id, question.attempt, CURE, outcome="waits")
    return question


@pytest.fixture
async def waiting(daily: DailyChannel, clock: Clock) -> DailyChannel:
    """A channel that has just refused the question of nine o'clock."""
    await daily.bank(choice(), value())
    await daily.schedule()
    clock.now = NINE
    await daily.service.tick()
    await refuse(daily)
    return daily


async def test_admins_are_told_once_what_ends_the_refusal(waiting: DailyChannel, clock: Clock) -> None:
    (fact,) = facts(await waiting.deliver())
    assert isinstance(fact, ChannelRefused)
    assert (fact.message, fact.channel, fact.error) == ("question", "#daily", CURE)
    assert fact.until == NINE + timedelta(hours=2)
    clock.advance(seconds=REFUSED_RETRY_SECONDS)
    await refuse(waiting)
    clock.advance(minutes=20)  # late by now, which is no news
    await waiting.service.tick()
    await refuse(waiting)
    clock.advance(hours=3)
    await waiting.service.tick()
    assert facts(await waiting.deliver()) == []


async def test_a_refused_question_is_posted_once_as_soon_as_the_bot_is_invited(
    waiting: DailyChannel, clock: Clock
) -> None:
    await waiting.deliver()
    clock.advance(seconds=10)
    assert await waiting.claim() == ()
    await waiting.client.outbox_retry("web", "home", "another")
    await waiting.client.outbox_retry("web", "elsewhere", DAILY.channel)
    assert await waiting.claim() == ()
    await waiting.client.outbox_retry("web", "home", DAILY.channel)
    assert len(questions(await waiting.deliver())) == 1
    clock.advance(seconds=10)
    await waiting.service.tick()
    made = await waiting.deliver()
    assert facts(made) == [ChannelRecovered(channel="#daily", error=CURE)] and questions(made) == []


async def test_a_refused_question_is_tried_again_without_any_report(waiting: DailyChannel, clock: Clock) -> None:
    await waiting.deliver()
    clock.advance(seconds=REFUSED_RETRY_SECONDS - 1)
    assert await waiting.claim() == ()
    clock.advance(seconds=1)
    assert len(questions(await waiting.deliver())) == 1


async def test_post_now_tries_a_waiting_question_at_once(waiting: DailyChannel) -> None:
    boss = waiting.who("Boss", admin=True)
    await waiting.deliver()
    view = await waiting.client.post_now(boss, "e1", 1)
    (post,) = questions(await waiting.deliver())
    assert post.question.id == view.question.id
    with refused(SlotTaken(day=NINE.date())):
        await waiting.client.post_now(boss, "e2", 1)


async def test_post_now_reopens_a_day_whose_question_was_given_up(waiting: DailyChannel, clock: Clock) -> None:
    boss = waiting.who("Boss", admin=True)
    clock.advance(hours=3)
    await waiting.service.tick()
    await waiting.deliver()
    (given_up,) = await waiting.rows(Round)
    assert (given_up.skipped, given_up.version_id) == ("not posted", None)

    view = await waiting.client.post_now(boss, "e1", 1)
    assert view.closes_at == clock.now + timedelta(hours=8)
    (post,) = questions(await waiting.deliver())
    assert post.closes_at == view.closes_at
    await waiting.answer(post.ref, "a" if post.question.kind == "choice" else AnswerInput(text="(2, 3)"))
    (round_,) = await waiting.rows(Round)
    assert (round_.id, round_.skipped) == (given_up.id, None)
    with refused(SlotTaken(day=NINE.date())):
        await waiting.client.post_now(boss, "e2", 1)
    clock.advance(hours=8)
    await waiting.service.tick()
    assert [each.body.kind for each in await waiting.deliver()].count("reveal") == 1


@pytest.mark.parametrize("stop", ["pause", "skip", "remove"])
async def test_a_question_that_waits_is_not_posted_after_an_admin_stops_it(
    waiting: DailyChannel, clock: Clock, stop: str
) -> None:
    boss, client = waiting.who("Boss", admin=True), waiting.client
    await waiting.deliver()
    match stop:
        case "pause":
            await client.schedule_pause(boss, "e1", 1, True)
        case "skip":
            await client.schedule_skip(boss, "e1", 1, NINE.date())
        case _:
            await client.schedule_remove(boss, "e1", 1)
    await client.outbox_retry("web", "home", DAILY.channel)
    clock.advance(seconds=REFUSED_RETRY_SECONDS)
    await waiting.service.tick()
    assert questions(await waiting.deliver()) == []
    (round_,) = await waiting.rows(Round)
    assert (round_.skipped, round_.version_id) == ("not posted", None)
    if stop != "remove":
        await client.post_now(boss, "e2", 1)
        assert len(questions(await waiting.deliver())) == 1


async def test_a_question_that_is_being_posted_or_was_asked_for_is_not_stopped(
    daily: DailyChannel, clock: Clock
) -> None:
    boss, client = daily.who("Boss", admin=True), daily.client
    await daily.bank(choice(), value())
    await daily.schedule()
    clock.now = NINE
    await daily.service.tick()
    (posting,) = [delivery for delivery in await daily.claim() if delivery.body.kind == "question"]
    await client.ask_extra(boss, "e1", DAILY, ExtraRound())
    with refused(SkipRefused(day=NINE.date(), why="posted")):
        await client.schedule_skip(boss, "e2", 1, NINE.date())
    await client.schedule_pause(boss, "e3", 1, True)
    await client.outbox_sent(posting.id, "m1")
    assert len(questions(await daily.deliver())) == 1, "the extra question, which an admin wants now"
    assert [round_.skipped for round_ in await daily.rows(Round)] == [None, None]


async def test_a_hint_of_the_question_that_was_given_up_costs_nothing(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(value(hint="Count the *axes*."))
    await daily.schedule()
    clock.now = NINE
    await daily.service.tick()
    await refuse(daily)
    (form,) = (await daily.client.today(daily.who(), DAILY)).forms
    await daily.client.hint(daily.who(), DAILY, form.ref, True)
    clock.advance(hours=3)
    await daily.service.tick()
    await daily.client.post_now(daily.who("Boss", admin=True), "now", 1)
    assert not (await daily.client.hint(daily.who(), DAILY, form.ref, False)).taken


async def test_nobody_keeps_a_variant_of_the_question_that_was_given_up(daily: DailyChannel, clock: Clock) -> None:
    boss = daily.who("Boss", admin=True)
    await own_variants.bank(daily.service, own_variants.typed_family())
    await daily.schedule(own_variants.OWN)
    clock.now = NINE
    await daily.service.tick()
    await refuse(daily)
    (form,) = (await daily.client.today(daily.who(), DAILY)).forms
    assert form.question.id.startswith("shapes-")
    clock.advance(hours=3)
    await daily.service.tick()
    await daily.client.bank_retire(boss, "retire", "shapes", True)
    await own_variants.bank(daily.service, own_variants.chosen_family())
    await daily.client.post_now(boss, "now", 1)
    again = await daily.client.ask(daily.who(), DAILY, form.ref)
    assert again.question.id.startswith("strides-")


@pytest.mark.parametrize("kind", ["reveal", "outcome"])
async def test_every_message_to_a_channel_waits(daily: DailyChannel, clock: Clock, kind: str) -> None:
    """The bot was removed from the channel while the round was open, or between its reveal and its result."""
    await daily.bank(choice(), value())
    await daily.schedule()
    clock.now = NINE
    await daily.ticked()
    clock.advance(hours=8)
    await daily.service.tick()
    while True:
        for delivery in await daily.claim():
            if delivery.body.kind == kind:
                await daily.client.outbox_failed(delivery.id, delivery.attempt, CURE, outcome="waits")
                break
            await daily.client.outbox_sent(delivery.id, f"m{delivery.id}")
        else:
            continue
        break
    (fact,) = facts(await daily.deliver())
    assert isinstance(fact, ChannelRefused) and (fact.message, fact.error) == (kind, CURE)
    await daily.client.outbox_retry("web", "home", DAILY.channel)
    assert kind in [delivery.body.kind for delivery in await daily.deliver()]


async def test_a_message_that_may_have_arrived_is_not_posted_again(daily: DailyChannel, clock: Clock) -> None:
    """Its round stays open, because members may see the question."""
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE
    await daily.service.tick()
    (question,) = [each for each in await daily.claim() if each.body.kind == "question"]
    async with daily.service.sessions.begin() as session:
        (await session.get_one(Outbox, question.id)).give_up_at = clock.now
    await daily.client.outbox_failed(question.id, question.attempt, "timed out", outcome="uncertain")
    (row,) = [row for row in await daily.rows(Outbox) if row.kind == "question"]
    (round_,) = await daily.rows(Round)
    assert (row.state, round_.skipped) == ("lost", None)
    with refused(SlotTaken(day=NINE.date())):
        await daily.client.post_now(daily.who("Boss", admin=True), "e1", 1)


async def test_a_verdict_that_cannot_be_delivered_is_not_announced(daily: DailyChannel, clock: Clock) -> None:
    """It is meant for one member; the channel learns nothing."""
    await post_code_question(daily, clock)
    async with daily.service.sessions.begin() as session:
        (post,) = [row for row in await daily.rows(Outbox) if row.kind == "question"]
        (channel,) = await daily.rows(Channel)
        await daily.client.today(daily.who(), DAILY)
        body = {"kind": "notice", "fact": {"kind": "bank-low", "left": 1}}
        note = Outbox(
            key="verdict:1",
            kind="verdict",
            body=body,
            workspace_id=post.workspace_id,
            chat_id=post.chat_id,
            channel_id=channel.id,
            member_id=1,
            due_at=clock.now,
            not_before=clock.now,
        )
        session.add(note)
    (verdict,) = [each for each in await daily.claim() if each.key == "verdict:1"]
    await daily.client.outbox_failed(verdict.id, verdict.attempt, "user_disabled", outcome="refused")
    assert facts(await daily.deliver()) == []


async def test_schedules_of_a_server_that_removed_the_bot_stop(daily: DailyChannel, clock: Clock) -> None:
    """Back in time it catches up; later the slot is missed, as after an outage."""
    await daily.bank(choice(), value())
    await daily.schedule()
    await daily.client.chat_presence("web", "home", False)
    clock.now = NINE
    await daily.service.tick()
    assert await daily.rows(Round) == []
    clock.advance(hours=1)
    await daily.client.chat_presence("web", "home", True)
    (post,) = [body for body in await daily.ticked() if isinstance(body, QuestionPost)]
    assert post.late_minutes == 60

    await daily.client.chat_presence("web", "home", False)
    clock.now = NINE + timedelta(days=1, hours=5)
    await daily.client.chat_presence("web", "home", True)
    await daily.service.tick()
    assert [round_.skipped for round_ in await daily.rows(Round)] == [None, "missed"]


async def test_a_schedule_shared_with_another_server_goes_on_there(daily: DailyChannel, clock: Clock) -> None:
    two = TwoChats(daily, clock)
    await daily.bank(choice())
    for platform in ("discord", "slack"):
        await daily.client.join(two.boss(platform), TEAM)
    await two.join_chats()
    await two.schedule("discord")
    await daily.client.schedule_share(two.boss("slack"), two.event(), TEAM, 1)
    await daily.client.chat_presence("discord", "guild", False)
    clock.now = NINE
    await daily.service.tick()
    assert len(questions(await two.deliver("slack"))) == 1


async def test_installing_the_app_again_posts_what_waited(keyed: DailyChannel, clock: Clock) -> None:
    two = TwoChats(keyed, clock)
    await keyed.bank(choice())
    await keyed.client.installation_keep(installation(clock))
    await keyed.client.join(two.boss("slack"), TEAM)
    await two.schedule("slack")
    clock.now = NINE
    await keyed.service.tick()
    (post,) = [each for each in await keyed.client.outbox_claim("slack") if each.body.kind == "question"]
    await keyed.client.outbox_failed(post.id, post.attempt, "token_revoked", outcome="waits")
    await keyed.client.installation_forget("slack", "T1")
    clock.advance(minutes=1)
    assert questions(await two.deliver("slack")) == []
    await keyed.client.installation_keep(installation(clock))
    assert len(questions(await two.deliver("slack"))) == 1
