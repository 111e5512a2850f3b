"""The fast path of an answer stores and replies what the step-by-step path does, and leaves to it what it must."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import text, update

from service.api.http import Call
from service.api.member import answer_step_by_step
from service.rounds import delivery
from service.store import rounds
from service.store.answers import Submission, record_in_one_statement
from service.store.session import driver_connection
from service.store.tables import (
    AnswerRow,
    Channel,
    Chat,
    CurrentAnswer,
    Identity,
    InboxRow,
    Member,
    Outbox,
    Round,
    Schedule,
)
from service.wire import AnswerInput, AnswerResult, EventReused, QuestionGone, QuestionPost, Where, WrongKindOfAnswer
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, value
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused
from tests.service.statements import counted

NINE = MONDAY + timedelta(hours=1)


@pytest.fixture
async def ref(daily: DailyChannel, clock: Clock) -> str:
    """A round that is open, which has members who are known and an answer, so that the process knows it, too."""
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE
    found = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    for name in ("Ada", "Bob", "Eve"):
        await daily.client.today(daily.who(name), DAILY)
    await daily.answer(found, "c", "Eve")
    clock.now = NINE + timedelta(minutes=20)
    return found


async def step_by_step(
    daily: DailyChannel, ref: str, option: str, name: str, at: datetime, event: str = ""
) -> AnswerResult:
    submitted = Submission(event or f"step {next(daily.events)}", ref, AnswerInput(options=(option,)), at)
    return await answer_step_by_step(Call(daily.service.api.state.parts, daily.now), daily.who(name), DAILY, submitted)


async def is_fast(daily: DailyChannel, ref: str, option: str = "a", name: str = "Ada", **more: Any) -> bool:
    with counted() as sent:
        await daily.answer(ref, option, name, **more)
    return len(sent) == 1 and "record_answer" in sent[0]


@settings(max_examples=12)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(-300, 2400)), min_size=1, max_size=6))
async def test_both_paths_store_and_reply_the_same(
    daily: DailyChannel, clock: Clock, presses: list[tuple[str, int]]
) -> None:
    ref, number = "r1", next(daily.events)
    if not await daily.rows(Round):
        clock.now = MONDAY
        await daily.bank(choice())
        await daily.schedule()
        clock.now = NINE
        await daily.ticked()
    clock.now = NINE + timedelta(minutes=20)
    names = (f"Fast {number}", f"Steps {number}")
    for name in names:
        await daily.client.today(daily.who(name), DAILY)
    replies: dict[str, list[AnswerResult]] = {name: [] for name in names}
    for option, second in presses:
        at = NINE + timedelta(seconds=second)
        replies[names[0]].append(await daily.answer(ref, option, names[0], at=at))
        replies[names[1]].append(await step_by_step(daily, ref, option, names[1], at))
    assert replies[names[0]] == replies[names[1]]
    ids = {row.name: row.id for row in await daily.rows(Member)}
    log = await daily.rows(AnswerRow)
    stored = [
        [(row.number, row.given, row.at, row.version_id, row.chat_id) for row in log if row.member_id == ids[name]]
        for name in names
    ]
    assert stored[0] == stored[1] != []
    current = {row.member_id: row.answer_id for row in await daily.rows(CurrentAnswer)}
    counting = [next(row.number for row in log if row.id == current[ids[name]]) for name in names]
    assert counting[0] == counting[1]
    events = {row.event_id: row for row in await daily.rows(InboxRow)}
    kept = [[events[row.event_id].reply for row in log if row.member_id == ids[name]] for name in names]
    assert kept[0] == kept[1]
    called = [{events[row.event_id].call.split()[0] for row in log if row.member_id == ids[name]} for name in names]
    assert called == [{"answer"}] * 2


async def test_the_fast_path_is_taken_by_a_first_answer_and_a_changed_one(daily: DailyChannel, ref: str) -> None:
    assert await is_fast(daily, ref, "a")
    assert await is_fast(daily, ref, "b")


async def test_the_fast_path_reads_by_index_though_the_tables_are_nearly_empty(
    daily: DailyChannel, clock: Clock, ref: str
) -> None:
    known = await daily.service.api.state.parts.fast_path._find(1)
    edits = delivery.plan_answer_count(1, clock.now)
    scans = text("select relname, seq_scan from pg_stat_xact_user_tables order by relname")
    async with daily.service.sessions.begin() as session:
        await session.execute(text("analyze"))
        # Plans that this connection made before stay where the analyze changed nothing.
        await session.execute(text("discard plans"))
        before = (await session.execute(scans)).all()
        connection = await driver_connection(session)
        for number in range(8):
            given = Submission(f"press {number}", ref, AnswerInput(options=("a",)), clock.now)
            assert await record_in_one_statement(
                connection, daily.who(), DAILY, known.expected, given, clock.now, ("{}", "{}"), edits
            )
        assert (await session.execute(scans)).all() == before


async def test_the_first_answer_has_the_number_of_answers_shown(daily: DailyChannel, clock: Clock, ref: str) -> None:
    before = {row.key for row in await daily.rows(Outbox)}
    assert await is_fast(daily, ref)
    assert await is_fast(daily, ref, "b")
    (edit,) = [row for row in await daily.rows(Outbox) if row.key not in before]
    assert (edit.kind, edit.round_id, edit.due_at) == ("update", 1, clock.now + timedelta(seconds=10))
    clock.advance(seconds=10)
    assert await is_fast(daily, ref, "c")
    assert len(await daily.rows(Outbox)) == len(before) + 1


async def test_an_event_has_its_effect_once_and_its_reply_again(daily: DailyChannel, ref: str) -> None:
    first = await daily.answer(ref, "a", event="press")
    await daily.answer(ref, "b")
    assert await is_fast(daily, ref, "c", event="press")
    assert await daily.answer(ref, "c", event="press") == first
    assert [row.given["options"] for row in await daily.rows(AnswerRow)] == [["c"], ["a"], ["b"]]


@pytest.mark.parametrize("fast", [True, False])
async def test_the_same_answer_again_keeps_its_time(daily: DailyChannel, clock: Clock, ref: str, fast: bool) -> None:
    began = clock.now

    async def answers(option: str) -> tuple[str, int]:
        """Answers a minute later; returns the receipt's status and after how many minutes the answer that counts was
        given."""
        clock.advance(seconds=60)
        if fast:
            status = (await daily.answer(ref, option)).status
        else:
            status = (await step_by_step(daily, ref, option, "Ada", daily.now, f"minute {daily.now}")).status
        current = {row.answer_id for row in await daily.rows(CurrentAnswer)}
        (at,) = [row.at for row in await daily.rows(AnswerRow) if row.id in current and row.name == "Ada"]
        return status, round((at - began).total_seconds() / 60)

    assert [await answers(option) for option in "aabba"] == [
        ("recorded", 1),
        ("recorded", 1),
        ("changed", 3),
        ("recorded", 3),
        ("changed", 5),
    ]


@pytest.mark.parametrize("fast", [True, False])
async def test_a_late_answer_does_not_undo_one_that_was_given_again(
    daily: DailyChannel, clock: Clock, ref: str, fast: bool
) -> None:
    began, pressed = clock.now, {"first": ("a", 1), "again": ("a", 3), "late": ("b", 2)}
    clock.advance(minutes=10)
    for event, (option, minute) in pressed.items():
        at = began + timedelta(minutes=minute)
        if fast:
            await daily.answer(ref, option, at=at, event=event)
        else:
            await step_by_step(daily, ref, option, "Ada", at, event)
    form = await daily.client.ask(daily.who(), DAILY, ref)
    assert form.given is not None and form.given.options == ("a",)
    current = {row.answer_id for row in await daily.rows(CurrentAnswer)}
    assert [row.event_id for row in await daily.rows(AnswerRow) if row.id in current and row.name == "Ada"] == ["first"]


async def test_an_event_of_somebody_else_is_refused(daily: DailyChannel, ref: str) -> None:
    await daily.answer(ref, "a", event="press")
    with refused(EventReused(event_id="press")):
        await daily.answer(ref, "b", "Bob", event="press")
    assert len(await daily.rows(AnswerRow)) == 2


async def test_copies_of_an_event_on_both_paths_at_once_are_answered_once(daily: DailyChannel, ref: str) -> None:
    for number in range(6):
        event = f"press {number}"
        option = "ab"[number % 2]
        replies = await asyncio.gather(
            *(daily.answer(ref, option, event=event) for _ in range(4)),
            *(step_by_step(daily, ref, option, "Ada", daily.now, event) for _ in range(4)),
        )
        assert {reply.status for reply in replies} == {"changed" if number else "recorded"}
    assert len([row for row in await daily.rows(AnswerRow) if row.event_id.startswith("press")]) == 6


async def test_the_fast_path_does_not_record_answers_of_another_workspace(
    daily: DailyChannel, clock: Clock, ref: str
) -> None:
    stranger = daily.who("Mallory", workspace="elsewhere")
    await daily.client.join(stranger, DAILY)
    # Not by a reply that tells what kind of question it is, either.
    for form in (AnswerInput(options=("a",)), AnswerInput(text="x")):
        with refused(QuestionGone(practice=False)):
            await daily.client.answer(stranger, DAILY, "e", ref, form, clock.now)
    assert len(await daily.rows(AnswerRow)) == 1


async def test_what_does_not_fit_is_refused(daily: DailyChannel, ref: str) -> None:
    with refused(WrongKindOfAnswer(question="choice")):
        await daily.answer(ref, AnswerInput(text="a"))


async def test_a_renamed_member_is_renamed(daily: DailyChannel, clock: Clock, ref: str) -> None:
    await daily.answer(ref, "a")
    renamed = daily.who("Ada").model_copy(update={"name": "Ada L."})
    await daily.client.answer(renamed, DAILY, "renamed", ref, AnswerInput(options=("b",)), clock.now)
    assert [row.name for row in await daily.rows(AnswerRow)] == ["Eve", "Ada", "Ada L."]
    assert "Ada L." in [row.name for row in await daily.rows(Identity)]
    renamed_channel = Where(channel="daily", name="#every-day")
    await daily.client.answer(renamed, renamed_channel, "moved", ref, AnswerInput(options=("b",)), clock.now)
    channels = await daily.rows(Channel)
    assert [row.name for row in channels] == ["#every-day"]


async def test_a_closed_round_takes_no_answer(daily: DailyChannel, clock: Clock, ref: str) -> None:
    clock.now = NINE + timedelta(hours=8)
    await daily.ticked()
    # By the time of the platform it was in time, but the round is closed.
    assert (await daily.answer(ref, "a", at=NINE)).status == "late"
    assert [row.round_id for row in await daily.rows(AnswerRow)] == [1, None]


async def test_an_answer_waits_for_a_round_that_is_being_closed(daily: DailyChannel, ref: str) -> None:
    async with daily.service.sessions.begin() as session:
        locked = await rounds.lock_open(session, 1)
        assert locked is not None
        answering = asyncio.create_task(daily.answer(ref, "a", at=NINE))
        await until_locked_out(session, answering)
        locked[0].closed_at = daily.now
    assert (await answering).status == "late"


async def test_the_times_of_the_round_are_those_that_are_stored(daily: DailyChannel, ref: str) -> None:
    later = NINE + timedelta(hours=9)
    async with daily.service.sessions.begin() as session:
        await session.execute(update(Round).values(closes_at=later))
    assert (await daily.answer(ref, "a", at=NINE)).closes_at == later
    async with daily.service.sessions.begin() as session:
        await session.execute(update(Round).values(opens_at=NINE + timedelta(minutes=5)))
    await daily.answer(ref, "b", "Bob", at=NINE)
    assert (await daily.rows(AnswerRow))[-1].at == NINE + timedelta(minutes=5)


async def test_a_round_of_own_variants_does_not_take_it(daily: DailyChannel, ref: str) -> None:
    async with daily.service.sessions.begin() as session:
        await session.execute(update(Round).values(own_variants=True))
    assert not await is_fast(daily, ref)
    assert not await is_fast(daily, ref, "b")


async def test_an_answer_at_the_end_is_late_before_the_round_is_closed(
    daily: DailyChannel, clock: Clock, ref: str
) -> None:
    clock.now = NINE + timedelta(minutes=480)
    assert (await daily.answer(ref, "a")).status == "late"
    assert (await daily.answer(ref, "b", "Bob", at=clock.now - timedelta(seconds=1))).status == "recorded"


async def test_a_schedule_that_was_changed_is_read_again(daily: DailyChannel, ref: str) -> None:
    assert (await daily.answer(ref, "a")).zone == "UTC"
    spec = SPEC.model_copy(update={"zone": "Asia/Tokyo"}).model_dump(mode="json")
    async with daily.service.sessions.begin() as session:
        await session.execute(update(Schedule).values(spec=spec))
    assert (await daily.answer(ref, "b")).zone == "Asia/Tokyo"
    assert (await daily.answer(ref, "c")).zone == "Asia/Tokyo"
    assert await is_fast(daily, ref)


async def test_another_version_of_the_question_is_read_again(daily: DailyChannel, clock: Clock, ref: str) -> None:
    """The round asks another question than the process knows, as after a backup was restored."""
    await daily.answer(ref, "a")
    await daily.bank(value(), name="other")
    async with daily.service.sessions.begin() as session:
        await session.execute(update(Round).values(version_id=2))
    with refused(WrongKindOfAnswer(question="value")):
        await daily.answer(ref, "b")
    assert (await daily.answer(ref, AnswerInput(text="(2, 3)"))).status == "changed"


async def test_a_merged_member_answers_as_the_one_they_are_now(daily: DailyChannel, ref: str) -> None:
    members = {row.name: row.id for row in await daily.rows(Member)}
    async with daily.service.sessions.begin() as session:
        await session.execute(update(Member).where(Member.id == members["Ada"]).values(merged_into=members["Bob"]))
    assert (await daily.answer(ref, "a", "Ada")).status == "recorded"
    assert (await daily.rows(AnswerRow))[-1].member_id == members["Bob"]


async def test_an_answer_in_a_thread_takes_it(daily: DailyChannel, clock: Clock, ref: str) -> None:
    thread = Where(channel="daily", name="#daily", thread="t1")
    with counted() as sent:
        await daily.client.answer(daily.who(), thread, "e", ref, AnswerInput(options=("a",)), clock.now)
    assert len(sent) == 1


async def test_who_forgets_while_an_answer_is_stored_leaves_nothing_of_it(
    daily: DailyChannel, clock: Clock, ref: str
) -> None:
    known = await daily.service.api.state.parts.fast_path._find(1)
    given = Submission("press", ref, AnswerInput(options=("a",)), clock.now)
    edits = delivery.plan_answer_count(1, clock.now)
    async with daily.service.sessions.begin() as session:
        connection = await driver_connection(session)
        assert await record_in_one_statement(
            connection, daily.who(), DAILY, known.expected, given, clock.now, ("{}", "{}"), edits
        )
        forgetting = asyncio.create_task(daily.client.privacy(daily.who(), "forgotten", "forget"))
        await until_locked_out(session, forgetting)
    await forgetting
    assert {row.name for row in await daily.rows(AnswerRow)} == {"Eve", ""}
    assert len(await daily.rows(CurrentAnswer)) == 1
    assert "press" not in {row.event_id for row in await daily.rows(InboxRow)}


async def test_a_channel_and_an_application_that_are_new_are_registered(
    daily: DailyChannel, clock: Clock, ref: str
) -> None:
    given, new = AnswerInput(options=("a",)), daily.who()
    daily.client.application = "A1"
    await daily.client.answer(new, DAILY, "application", ref, given, clock.now)
    assert [row.application for row in await daily.rows(Chat)] == ["A1"]
    await daily.client.answer(new, Where(channel="elsewhere"), "channel", ref, given, clock.now)
    assert [row.external_id for row in await daily.rows(Channel)] == ["daily", "elsewhere"]


async def test_a_platform_whose_clock_is_ahead_does_not_answer_in_the_future(
    daily: DailyChannel, clock: Clock, ref: str
) -> None:
    assert await is_fast(daily, ref, at=clock.now + timedelta(minutes=5))
    assert (await daily.rows(AnswerRow))[-1].at == clock.now


async def test_an_event_that_somebody_else_is_storing_is_refused(daily: DailyChannel, clock: Clock, ref: str) -> None:
    async with daily.service.sessions.begin() as session:
        session.add(InboxRow(chat_id=1, event_id="press", at=clock.now, call="answer 0", reply={}))
        await session.flush()
        answering = asyncio.create_task(daily.answer(ref, "a", event="press"))
        await until_locked_out(session, answering)
    with refused(EventReused(event_id="press")):
        await answering
    assert len(await daily.rows(AnswerRow)) == 1
