"""The digest of a week: what it counts, who gets it when, and that it names nobody."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta

import pytest

from service.rounds.digests import LEAST_TOPIC_ANSWERS, RETRY, Digests, last_week, next_monday
from service.store.review_tables import DigestPlan
from service.store.tables import Schedule
from service.wire import AnswerInput, Delivery, DigestQuestion, Notice, QuestionPost, WeekDigest, Where, Who
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, prose, value
from tests.service.two_chats import GUILD, TwoChats

RIGHT, WRONG = AnswerInput(options=("a",)), AnswerInput(options=("b",))


@pytest.fixture
def boss(daily: DailyChannel) -> Who:
    return daily.who("Boss", admin=True)


async def tick(daily: DailyChannel) -> list[Delivery]:
    await daily.service.tick()
    return await daily.deliver()


def digests(deliveries: list[Delivery]) -> list[tuple[str, str | None, WeekDigest]]:
    return [
        (each.channel, each.member, each.body.fact)
        for each in deliveries
        if isinstance(each.body, Notice) and isinstance(each.body.fact, WeekDigest)
    ]


async def play_day(daily: DailyChannel, clock: Clock, answers: dict[str, bool]) -> None:
    """Lets the question of the day at nine be answered, and closes it; ends on the next day at eight."""
    clock.advance(hours=1)
    (post,) = [one.body for one in await tick(daily) if isinstance(one.body, QuestionPost)]
    for name, right in answers.items():
        given = {True: RIGHT, False: WRONG}[right] if post.question.kind == "choice" else AnswerInput(text="storage")
        await daily.answer(post.ref, given, name)
    clock.advance(hours=9)
    await tick(daily)
    clock.advance(hours=14)


async def play_week(daily: DailyChannel, clock: Clock, boss: Who) -> None:
    """Three days that nobody finds hard and one of an open question, from Monday at eight to the next at nine."""
    await daily.bank(choice("easy"), choice("hard"), choice("third"), prose("open"))
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    await play_day(daily, clock, {"Ada": True, "Bob": True, "Cy": True})
    await play_day(daily, clock, {"Ada": True, "Bob": False, "Cy": False})
    await play_day(daily, clock, {"Ada": True, "Bob": True})
    await play_day(daily, clock, {"Dee": True})
    await play_day(daily, clock, {})
    clock.advance(days=2, hours=1)


async def test_on_monday_at_nine_the_lead_gets_the_week_once_and_privately(
    daily: DailyChannel, clock: Clock, boss: Who
) -> None:
    await play_week(daily, clock, boss)
    await daily.client.report(daily.who("Ada"), "e1", "easy", "b is right too")
    await daily.deliver()
    clock.advance(seconds=-1)
    assert digests(await tick(daily)) == []
    clock.advance(minutes=2)
    ((channel, member, digest),) = digests(await tick(daily))
    assert (channel, member) == ("", "boss")
    assert (digest.first, digest.last) == (date(2026, 3, 2), date(2026, 3, 8))
    assert (digest.rounds, digest.members, digest.answers, digest.members_before) == (5, 4, 9, 0)
    assert digest.right == pytest.approx(6 / 8), "nobody judged the open answer"
    assert digest.hardest is not None and digest.hardest.answers == 3
    assert digest.hardest.right == pytest.approx(1 / 3)
    assert (digest.weakest, digest.reports) == ((), 1), "eight answers say little about a topic"
    assert not {"Ada", "Bob", "Cy", "Dee"} & set(str(digest.model_dump()).replace("'", " ").split())
    clock.advance(hours=8)
    assert digests(await tick(daily)) == []
    clock.advance(days=7)
    ((_, _, later),) = digests(await tick(daily))
    assert (later.first, later.rounds, later.members_before, later.members) == (date(2026, 3, 9), 1, 4, 0)


@pytest.mark.slow
async def test_topics_are_compared_over_four_weeks_and_a_question_closes_in_one_week_only(
    daily: DailyChannel, clock: Clock, boss: Who
) -> None:
    await daily.bank(*(choice(f"q{n}", topic="tensors" if n % 2 else "autograd") for n in range(12)))
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC.model_copy(update={"open_minutes": 4320}))
    members = [f"m{n}" for n in range(LEAST_TOPIC_ANSWERS)]
    seen = []
    for _ in range(8):
        clock.advance(hours=1)
        for each in await tick(daily):
            if isinstance(each.body, QuestionPost):
                right = each.body.question.topic == "tensors"
                for at, name in enumerate(members):
                    await daily.answer(each.body.ref, RIGHT if right or at < 4 else WRONG, name)
            elif isinstance(each.body, Notice) and isinstance(each.body.fact, WeekDigest):
                seen.append(each.body.fact)
        clock.advance(hours=23)
    (first,) = seen
    assert first.rounds == 4, "Friday's question closes on Monday at nine"
    (weakest,) = first.weakest
    assert weakest.topic == "autograd" and weakest.right == pytest.approx(0.4)
    view = await daily.client.digest(boss)
    assert view.digest == first


async def test_a_digest_goes_where_reports_go_and_can_be_turned_off_and_on(
    daily: DailyChannel, clock: Clock, boss: Who
) -> None:
    await play_week(daily, clock, boss)
    await daily.client.review_here(boss, "here", Where(channel="mods", name="#mods"))
    assert [each[:2] for each in digests(await tick(daily))] == [("mods", None)]
    off = await daily.client.digest_switch(boss, "off", False)
    assert off.next_at is None and off.digest.rounds == 5
    # A further schedule does not turn them on again.
    await daily.client.schedule_add(boss, "more", Where(channel="other", name="#other"), SPEC)
    clock.advance(days=7)
    assert digests(await tick(daily)) == []
    on = await daily.client.digest_switch(boss, "on", True)
    assert on.next_at == datetime(2026, 3, 23, 9, tzinfo=UTC)
    assert [entry.action for entry in await daily.client.audit(boss)][:3] == ["digest", "schedule add", "digest"]


@pytest.mark.slow
@pytest.mark.parametrize(("late", "sent"), [(timedelta(days=3), 1), (timedelta(days=3, seconds=1), 0)])
async def test_a_late_digest_is_sent_for_three_days(
    daily: DailyChannel, clock: Clock, boss: Who, late: timedelta, sent: int
) -> None:
    await play_week(daily, clock, boss)
    clock.now += late
    assert len(digests(await tick(daily))) == sent
    (plan,) = await daily.rows(DigestPlan)
    assert plan.next_at == datetime(2026, 3, 16, 9, tzinfo=UTC)


async def test_a_week_without_questions_has_no_digest(daily: DailyChannel, clock: Clock, boss: Who) -> None:
    await play_week(daily, clock, boss)
    (schedule,) = await daily.client.schedule_list(boss)
    await daily.client.schedule_pause(boss, "pause", schedule.id, True)
    assert len(digests(await tick(daily))) == 1
    clock.advance(days=7)
    assert digests(await tick(daily)) == []


async def test_a_digest_that_cannot_be_made_delays_no_other(daily: DailyChannel, clock: Clock, boss: Who) -> None:
    """Its zone is not known any more, as after an update of the system's zones."""
    await play_week(daily, clock, boss)
    elsewhere = await daily.schedule(workspace="elsewhere")
    async with daily.service.sessions.begin() as session:
        row = await session.get_one(Schedule, elsewhere)
        row.spec = {**row.spec, "zone": "Mars/Base"}
        session.add(DigestPlan(workspace_id=row.workspace_id, next_at=clock.now - timedelta(minutes=1)))
    sent = digests(await tick(daily))
    assert [member for _, member, _ in sent] == ["boss"]
    first, second = await daily.rows(DigestPlan)
    assert {first.next_at, second.next_at} == {clock.now + RETRY, next_monday("UTC", clock.now)}


async def test_several_processes_send_one_digest(daily: DailyChannel, clock: Clock, boss: Who) -> None:
    await play_week(daily, clock, boss)
    await asyncio.gather(*(Digests(daily.service.sessions).check(clock.now) for _ in range(4)))
    assert len(digests(await daily.deliver())) == 1
    (plan,) = await daily.rows(DigestPlan)
    assert plan.next_at == datetime(2026, 3, 16, 9, tzinfo=UTC)


async def test_without_anybody_to_tell_it_is_not_shown_to_all(daily: DailyChannel, clock: Clock, boss: Who) -> None:
    await play_week(daily, clock, boss)
    await daily.client.privacy(boss, "gone", "forget")
    assert digests(await tick(daily)) == []


async def test_a_question_without_judged_answers_is_not_the_hardest(
    daily: DailyChannel, clock: Clock, boss: Who
) -> None:
    await daily.bank(prose("open"), value("shape"))
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    for _ in range(2):
        clock.advance(hours=1)
        (post,) = [one.body for one in await tick(daily) if isinstance(one.body, QuestionPost)]
        for name in ("Ada", "Bob", "Cy"):
            await daily.answer(post.ref, AnswerInput(text="(3, 2)"), name)
        clock.advance(hours=23)
        await tick(daily)
    clock.advance(days=5)
    digest = (await daily.client.digest(boss)).digest
    assert digest.hardest == DigestQuestion(question="shape", answers=3, right=0.0)
    assert digest.right == 0.0


@pytest.mark.parametrize(("answers", "named"), [(2, None), (3, "easy")])
async def test_a_question_with_few_answers_is_not_named(
    daily: DailyChannel, clock: Clock, boss: Who, answers: int, named: str | None
) -> None:
    await daily.bank(choice("easy"))
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    await play_day(daily, clock, dict.fromkeys(["Ada", "Bob", "Cy"][:answers], False))
    clock.advance(days=6, hours=1)
    digest = (await daily.client.digest(boss)).digest
    assert (digest.hardest and digest.hardest.question) == named


async def test_topics_are_those_of_four_weeks_and_only_open_reports_wait(
    daily: DailyChannel, clock: Clock, boss: Who
) -> None:
    await daily.bank(choice("easy"))
    await daily.client.schedule_add(boss, "schedule", DAILY, SPEC)
    await play_day(daily, clock, {f"m{number}": False for number in range(10)})
    for number in range(2):
        report = await daily.client.report(daily.who("m1"), f"report {number}", "easy", "b is right")
    await daily.client.report_settle(boss, "settle", report.id, "fixed", "")
    seen = []
    for _ in range(5):
        clock.advance(days=7)
        digest = (await daily.client.digest(boss)).digest
        seen.append(len(digest.weakest))
    assert seen == [1, 1, 1, 1, 0]
    assert digest.reports == 1


async def test_the_week_is_that_of_the_oldest_schedules_zone(daily: DailyChannel, clock: Clock, boss: Who) -> None:
    """Nine in Auckland on Monday is Sunday evening in UTC."""
    await daily.bank(choice("easy"), choice("hard"))
    spec = SPEC.model_copy(update={"zone": "Pacific/Auckland"})
    await daily.client.schedule_add(boss, "schedule", DAILY, spec)
    await daily.client.schedule_add(boss, "younger", Where(channel="other", name="#other"), SPEC)
    for hour in (12, 20):
        clock.advance(hours=hour)
        await tick(daily)
    clock.now = datetime(2026, 3, 8, 19, 59, tzinfo=UTC)
    assert digests(await tick(daily)) == []
    clock.advance(minutes=2)
    ((_, _, digest),) = digests(await tick(daily))
    assert digest.first == date(2026, 3, 2)


async def test_linked_accounts_count_as_one_member_and_forgotten_ones_not_at_all(
    daily: DailyChannel, clock: Clock
) -> None:
    chats = TwoChats(daily, clock)
    await daily.bank(choice())
    await daily.client.schedule_add(chats.boss("discord"), "schedule", GUILD, SPEC)
    await chats.join_chats()
    ref = await chats.asked("discord")
    await chats.answer("Ada", "discord", ref)
    await chats.answer("Ada", "slack", ref, "b", after=2)
    await chats.answer("Bob", "discord", ref, after=3)
    await chats.closed()
    clock.advance(days=7)
    boss = chats.boss("discord")
    assert (await daily.client.digest(boss)).digest.members == 3
    await chats.link("Ada")
    digest = (await daily.client.digest(boss)).digest
    assert (digest.members, digest.answers) == (2, 2)
    await daily.client.privacy(chats.who("Bob", "discord"), "forget", "forget")
    digest = (await daily.client.digest(boss)).digest
    assert (digest.members, digest.answers) == (1, 1)


async def test_another_workspace_sees_nothing_of_it(daily: DailyChannel, clock: Clock, boss: Who) -> None:
    await play_week(daily, clock, boss)
    other = daily.who("Boss", workspace="other", admin=True)
    await daily.client.schedule_add(other, "schedule", DAILY, SPEC)
    digest = (await daily.client.digest(other)).digest
    assert (digest.rounds, digest.members, digest.hardest, digest.right) == (0, 0, None, None)


async def test_two_chats_that_join_have_one_digest(daily: DailyChannel, clock: Clock) -> None:
    chats = TwoChats(daily, clock)
    await daily.bank(choice())
    await daily.client.schedule_add(chats.boss("discord"), "schedule", GUILD, SPEC)
    await chats.join_chats()
    assert len(await daily.rows(DigestPlan)) == 1
    assert (await daily.client.digest(chats.boss("slack"))).next_at == datetime(2026, 3, 2, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("zone", "now", "week", "following"),
    [
        ("UTC", "2026-03-02T08:59:00+00:00", "2026-02-23", "2026-03-02T09:00:00+00:00"),
        ("UTC", "2026-03-02T09:00:00+00:00", "2026-02-23", "2026-03-09T09:00:00+00:00"),
        ("Pacific/Auckland", "2026-03-01T20:30:00+00:00", "2026-02-23", "2026-03-08T20:00:00+00:00"),
        # The Sunday on which Europe's clocks change: Monday at nine is two hours ahead of UTC, not one.
        ("Europe/Berlin", "2026-03-28T12:00:00+00:00", "2026-03-16", "2026-03-30T07:00:00+00:00"),
    ],
)
def test_weeks_are_those_of_the_zone(zone: str, now: str, week: str, following: str) -> None:
    instant = datetime.fromisoformat(now)
    assert last_week(zone, instant) == date.fromisoformat(week)
    assert next_monday(zone, instant) == datetime.fromisoformat(following)
