"""Private messages that members opt in to: once, only to those who want them, and never announced when refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy.exc import IntegrityError

from service.rounds.notifications import Reminders
from service.store.notifications import NotificationSetting, Reminder
from service.store.outbox import PACE_INTERVAL, PACE_SIZE, NewMessage, enqueue_paced
from service.store.tables import Identity, Outbox
from service.wire import Delivery, ExtraRound, NotificationView, ReminderNote, RoundResult, ScheduleChanges
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice
from tests.service.statements import counted
from tests.service.two_chats import GUILD, TEAM, TwoChats

NINE = MONDAY + timedelta(hours=1)
NAMES = ("Ada", "Bob", "Cleo")


@pytest.fixture
async def third_day(daily: DailyChannel, clock: Clock) -> DailyChannel:
    """The third day at nine: everybody has a streak of two, and nobody has answered today."""
    await daily.bank(*[choice(f"views{number}") for number in range(6)])
    await daily.schedule()
    clock.now = NINE
    for day in (1, 2):
        await daily.ticked()
        for name in NAMES:
            await daily.answer(f"r{day}", "a", name)
        clock.advance(days=1)
    await daily.ticked()
    return daily


async def reminded(daily: DailyChannel) -> list[Delivery]:
    """Ticks and delivers; returns the reminders."""
    await daily.service.tick()
    return [each for each in await daily.deliver() if isinstance(each.body, ReminderNote)]


async def wants(daily: DailyChannel, *names: str, what: str = "reminders") -> None:
    for name in names:
        view = await daily.client.notify(daily.who(name), f"{what} {name}", what, True)  # type: ignore[arg-type]
        assert getattr(view, what)


def members_of(found: Sequence[Delivery]) -> list[str]:
    return sorted(each.member or "" for each in found)


async def test_only_those_who_asked_and_have_not_answered_are_reminded_once(
    third_day: DailyChannel, clock: Clock
) -> None:
    await wants(third_day, "Ada", "Bob")
    await third_day.answer("r3", "a", "Bob")
    clock.advance(hours=7, seconds=-1)
    assert await reminded(third_day) == []
    clock.advance(seconds=11)
    (one,) = await reminded(third_day)
    assert isinstance(one.body, ReminderNote)
    assert (one.member, one.body.ref, one.body.streak) == ("ada", "r3", 2)
    for _ in range(3):
        clock.advance(minutes=5)
        assert await reminded(third_day) == []


async def test_a_short_round_reminds_in_its_last_quarter(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Ada")
    await third_day.answer("r3", "a", "Ada")
    short = ScheduleChanges(open_minutes=60)
    await third_day.client.schedule_edit(third_day.who("Boss", admin=True), "short", 1, short)
    clock.advance(days=1)
    await third_day.ticked()
    clock.advance(minutes=44)
    assert await reminded(third_day) == []
    clock.advance(minutes=1)
    assert members_of(await reminded(third_day)) == ["ada"]


async def test_many_reminders_take_as_many_statements_as_one(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, *NAMES)
    taken = []
    for ref, answering in (("r3", NAMES[1:]), ("r4", ())):
        for name in answering:
            await third_day.answer(ref, "a", name)
        clock.advance(hours=7, minutes=5)
        with counted() as sent:
            await Reminders(third_day.service.sessions).check(clock.now)
        taken.append((len(await reminded(third_day)), len(sent)))
        await third_day.answer(ref, "a", "Ada")
        clock.advance(hours=16, minutes=55)
        await third_day.ticked()
    (few, statements), (many, more_statements) = taken
    assert (few, many, more_statements) == (1, 3, statements)


async def test_nobody_is_reminded_without_a_streak(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Dan")
    clock.advance(hours=7, minutes=5)
    assert await reminded(third_day) == []
    assert len(await third_day.rows(Reminder)) == 1


async def test_who_answers_before_it_is_sent_gets_none(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Ada", "Bob")
    clock.advance(hours=7, minutes=5)
    await third_day.service.tick()
    await third_day.answer("r3", "a", "Ada")
    await third_day.client.notify(third_day.who("Bob"), "off", "reminders", False)
    assert [each for each in await third_day.deliver() if isinstance(each.body, ReminderNote)] == []
    assert {row.state for row in await third_day.rows(Outbox) if row.kind == "reminder"} == {"skipped"}


async def test_who_hides_before_it_is_sent_gets_none(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Ada")
    clock.advance(hours=7, minutes=5)
    await third_day.service.tick()
    await third_day.client.privacy(third_day.who("Ada"), "hide", "hide")
    assert [each for each in await third_day.deliver() if isinstance(each.body, ReminderNote)] == []


async def test_a_streak_of_one_is_not_worth_a_message(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Dan")
    await third_day.answer("r3", "a", "Dan")
    clock.advance(days=1)
    await third_day.ticked()
    clock.advance(hours=7, minutes=5)
    assert await reminded(third_day) == []
    await third_day.answer("r4", "a", "Dan")
    clock.advance(hours=16, minutes=55)
    await third_day.ticked()
    clock.advance(hours=7, minutes=5)
    assert members_of(await reminded(third_day)) == ["dan"]


async def test_nobody_is_reminded_of_a_round_that_was_closed_meanwhile(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Ada")
    clock.advance(hours=7, minutes=5)
    await third_day.service.tick()
    await third_day.client.close_now(third_day.who("Boss", admin=True), "close", DAILY)
    assert [each for each in await third_day.deliver() if isinstance(each.body, ReminderNote)] == []


@pytest.mark.parametrize("how", ["hide", "forget"])
async def test_hidden_and_forgotten_members_are_left_alone(third_day: DailyChannel, clock: Clock, how: str) -> None:
    await wants(third_day, "Ada", "Bob")
    await third_day.client.privacy(third_day.who("Ada"), "gone", how)  # type: ignore[arg-type]
    clock.advance(hours=7, minutes=5)
    assert members_of(await reminded(third_day)) == ["bob"]


async def test_excused_and_absent_members_are_left_alone(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, *NAMES)
    day = clock.now.date()
    await third_day.client.member_restore(third_day.who("Boss", admin=True), "restore", "Ada", day)
    async with third_day.service.sessions.begin() as session:
        bob = next(row for row in await third_day.rows(Identity) if row.name == "Bob")
        await session.delete(bob)
    clock.advance(hours=7, minutes=5)
    assert members_of(await reminded(third_day)) == ["cleo"]


async def test_an_extra_round_reminds_nobody(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Ada")
    await third_day.answer("r3", "a", "Ada")
    await third_day.client.ask_extra(third_day.who("Boss", admin=True), "extra", DAILY, ExtraRound(open_minutes=60))
    clock.advance(minutes=50)
    assert await reminded(third_day) == []


async def test_the_database_refuses_a_second_reminder(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Ada")
    clock.advance(hours=7, minutes=5)
    await reminded(third_day)
    (row,) = await third_day.rows(Reminder)
    with pytest.raises(IntegrityError, match="pk_reminder"):
        async with third_day.service.sessions.begin() as session:
            session.add(Reminder(round_id=row.round_id, member_id=row.member_id, at=clock.now))


async def test_a_refusal_is_told_to_that_member_alone(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Ada")
    clock.advance(hours=7, minutes=5)
    await third_day.service.tick()
    (delivery,) = [each for each in await third_day.claim() if each.body.kind == "reminder"]
    error = "the member accepts no direct messages"
    await third_day.client.outbox_failed(delivery.id, delivery.attempt, error, outcome="refused")
    view = await third_day.client.notifications(third_day.who("Ada"))
    assert view == NotificationView(reminders=True, results=False, platform="web", refused=error)
    clock.advance(minutes=20)
    assert "notice" not in [body.kind for body in await third_day.ticked()]
    assert (await third_day.client.notify(third_day.who("Ada"), "again", "reminders", True)).refused == ""


async def test_results_come_to_those_who_asked_and_answered(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    chats = TwoChats(daily, clock)
    await chats.schedule()
    ref = await chats.asked()
    for name in ("Ada", "Bob"):
        await chats.answer(name, "discord", ref)
    for name in ("Ada", "Cleo"):
        await daily.client.notify(chats.who(name, "discord"), f"want {name}", "results", True)
    private = [each for each in await chats.closed() if each.member is not None]
    assert [(each.member, each.channel, each.body.kind) for each in private] == [
        ("discord-ada", GUILD.channel, "result")
    ]
    (body,) = [each.body for each in private]
    assert isinstance(body, RoundResult) and body.verdict is not None and body.verdict.verdict == "accepted"


async def test_a_chat_that_the_bot_left_gets_nothing(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice(), choice("more"), choice("most"))
    chats = TwoChats(daily, clock)
    await chats.schedule()
    await chats.join_chats()
    await daily.client.schedule_share(chats.boss("slack"), chats.event(), TEAM, 1)
    await daily.client.notify(chats.who("Ada", "slack"), "results", "results", True)
    await daily.client.notify(chats.who("Bob", "slack"), "reminders", "reminders", True)
    for _ in range(2):
        ref = await chats.asked()
        for name in ("Ada", "Bob"):
            await chats.answer(name, "slack", ref)
        assert [each.body.kind for each in await chats.closed() if each.member is not None] == ["result"]
    ref = await chats.asked()
    await chats.answer("Ada", "slack", ref)
    await daily.client.chat_presence("slack", "T1", False)
    clock.advance(hours=7, minutes=5)
    await daily.service.tick()
    clock.advance(hours=1)
    await daily.service.tick()
    rows = [row for row in await daily.rows(Outbox) if row.round_id == int(ref[1:])]
    assert [row.kind for row in rows if row.member_id is not None] == []


async def test_messages_go_to_the_chat_of_the_latest_change(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    chats = TwoChats(daily, clock)
    await chats.schedule()
    await chats.join_chats()
    await daily.client.notify(chats.who("Ada", "discord"), "first", "results", True)
    await daily.client.today(chats.who("Ada", "slack"), TEAM)
    await chats.link("Ada")
    ada = chats.who("Ada", "slack")
    assert (await daily.client.notifications(ada)).platform == "discord"
    await daily.client.notify(ada, "second", "reminders", True)
    assert (await daily.client.notifications(ada)).platform == "slack"


async def test_the_web_shows_a_result_once(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Ada", what="results")
    await third_day.answer("r3", "a", "Ada")
    clock.advance(hours=9)
    assert [body.kind for body in await third_day.ticked()].count("result") == 1


async def test_settings_are_exported_merged_and_forgotten(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    chats = TwoChats(daily, clock)
    await chats.schedule()
    await chats.join_chats()
    await daily.client.notify(chats.who("Ada", "slack"), "want", "results", True)
    await daily.client.today(chats.who("Ada", "discord"), GUILD)
    await chats.link("Ada")
    ada = chats.who("Ada", "discord")
    assert (await daily.client.notifications(ada)).results
    export = (await daily.client.privacy(ada, "export", "export")).export
    assert json.loads(export)["notifications"] == {"reminders": False, "results": True}
    await daily.client.privacy(ada, "forget", "forget")
    assert await daily.rows(NotificationSetting) == []


async def test_many_messages_become_due_a_few_at_a_time(third_day: DailyChannel, clock: Clock) -> None:
    await wants(third_day, "Ada")
    (setting,) = await third_day.rows(NotificationSetting)
    (row, *_) = await third_day.rows(Outbox)
    note = ReminderNote(
        ref="r3",
        question=(await third_day.client.today(third_day.who(), DAILY)).forms[0].question,
        streak=2,
        closes_at=clock.now,
    )
    messages = [
        NewMessage(f"many:{number}", note, row.workspace_id, member_id=setting.member_id, chat_id=setting.chat_id)
        for number in range(2 * PACE_SIZE + 1)
    ]
    async with third_day.service.sessions.begin() as session:
        await enqueue_paced(session, messages, clock.now, clock.now + timedelta(hours=1))
    due = [each.due_at - clock.now for each in await third_day.rows(Outbox) if each.key.startswith("many:")]
    assert [due.count(PACE_INTERVAL * turn) for turn in range(3)] == [PACE_SIZE, PACE_SIZE, 1]
