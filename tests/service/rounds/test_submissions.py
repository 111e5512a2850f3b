"""Answers through the client: option order, changes, late answers, practice, unreadable answers and visibility."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from itertools import groupby

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.store import questions
from service.store.cards import CardRow
from service.store.questions import Version
from service.store.tables import AnswerRow, CurrentAnswer, InboxRow, Round, VerdictRow
from service.wire import (
    AnswerInput,
    AnswerUnreadable,
    EventReused,
    NoSandbox,
    QuestionGone,
    QuestionPost,
    Refusal,
    ScheduleSpec,
    StillOpen,
    Where,
    WrongKindOfAnswer,
)
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, code, prose, value
from tests.service.refusals import refused
from tests.service.scenes import Stage, question
from tests.service.statements import counted

NINE = MONDAY + timedelta(hours=1)


async def open_round(daily: DailyChannel, clock: Clock, question: object, spec: ScheduleSpec = SPEC) -> str:
    """Posts this question in the channel and returns its reference."""
    await daily.bank(question)  # type: ignore[arg-type]
    await daily.schedule(spec)
    clock.now = NINE
    return next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))


async def test_the_last_answer_counts_and_every_one_is_kept(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    statuses = [(await daily.answer(ref, option)).status for option in "abca"]
    assert statuses == ["recorded", "changed", "changed", "changed"]
    log = await daily.rows(AnswerRow)
    assert [(row.number, row.given["options"]) for row in log] == [(1, ["a"]), (2, ["b"]), (3, ["c"]), (4, ["a"])]
    assert [row.answer_id for row in await daily.rows(CurrentAnswer)] == [log[-1].id]


async def test_an_answer_by_a_button_takes_one_statement(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    for name in ("Ada", "Bob"):
        await daily.client.today(daily.who(name), DAILY)
    with counted() as round_read:
        assert (await daily.answer(ref, "a", "Bob")).status == "recorded"
    with counted() as first:
        assert (await daily.answer(ref, "b")).status == "recorded"
    with counted() as changed:
        assert (await daily.answer(ref, "c")).status == "changed"
    # The first answer in this process reads the round and its question.
    assert [len(sent) for sent in (round_read, first, changed)] == [3, 1, 1], first


async def test_a_question_is_graded_by_its_own_content_though_ids_repeat(stage: Stage) -> None:
    """Versions are cached in the process. Another database, such as a restored one, may use their ids for others."""
    await stage.bank(question("views"))
    version = await stage.version("views")
    other = Version(version.id, version.question_id, 1, "Other", "MIT", question("strides"))
    questions._asked[version.id, "another digest"] = other
    found = await questions.get_asked(stage.session, version.id, version.digest)
    assert found.question.id.endswith("views")


async def test_an_older_answer_that_arrives_later_does_not_undo_a_newer_one(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    clock.advance(minutes=10)
    await daily.answer(ref, "a", at=NINE + timedelta(minutes=5))
    receipt = await daily.answer(ref, "b", at=NINE + timedelta(minutes=4))
    assert receipt.given.options == ("a",)
    (form,) = (await daily.client.today(daily.who(), DAILY)).forms
    assert form.given is not None and form.given.options == ("a",)


async def test_every_member_has_an_order_of_their_own_and_keeps_it(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    orders = set()
    for number in range(12):
        who = daily.who(f"Member {number}")
        forms = [await daily.client.ask(who, DAILY, ref) for _ in range(2)]
        first, again = [tuple(option.id for option in form.question.options) for form in forms]
        assert first == again
        orders.add(first)
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset("abc")}


async def test_no_form_and_no_post_carries_the_key(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    form = await daily.client.ask(daily.who(), DAILY, ref)
    today = await daily.client.today(daily.who(), DAILY)
    for said in (form.model_dump_json(), today.model_dump_json()):
        assert "clone` copies" not in said
        assert "another look" not in said


async def test_concurrent_copies_of_an_event_are_answered_once(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    receipts = await asyncio.gather(*(daily.answer(ref, "a", event="press") for _ in range(8)))
    assert {receipt.status for receipt in receipts} == {"recorded"}
    assert len(await daily.rows(AnswerRow)) == 1
    assert [row.event_id for row in await daily.rows(InboxRow)] == ["press"]


async def test_many_answers_of_one_member_at_once_are_numbered_in_turn(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    await asyncio.gather(*(daily.answer(ref, "abc"[n % 3]) for n in range(9)))
    rows = sorted(await daily.rows(AnswerRow), key=lambda row: row.id)
    assert [row.number for row in rows] == list(range(1, 10))
    (standing,) = await daily.rows(CurrentAnswer)
    *_, (_, newest) = ((options, list(same)) for options, same in groupby(rows, lambda row: row.given["options"]))
    assert standing.answer_id == newest[0].id, "given again, it still counts from the first time"


async def test_someone_elses_event_is_refused(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    await daily.answer(ref, "a", "Ada", event="press")
    with refused(EventReused(event_id="press")):
        await daily.answer(ref, "b", "Eve", event="press")


async def test_an_answer_after_the_close_becomes_practice(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    clock.advance(hours=8)
    await daily.ticked()
    receipt = await daily.answer(ref, "b")
    assert (receipt.status, receipt.ref[0], receipt.closes_at) == ("late", "p", NINE + timedelta(hours=8))
    assert receipt.verdict is not None and receipt.verdict.verdict == "wrong"
    assert receipt.key is not None and receipt.key.answer == "`x.view(-1)`"
    assert receipt.next_due is not None
    assert [(row.round_id, row.number) for row in await daily.rows(AnswerRow)] == [(None, 0)]
    assert len(await daily.rows(CardRow)) == 1


async def test_an_answer_made_before_the_closing_time_counts_until_the_round_is_closed(
    daily: DailyChannel, clock: Clock
) -> None:
    ref = await open_round(daily, clock, choice())
    clock.advance(hours=8, seconds=5)
    made = NINE + timedelta(hours=7, minutes=59)
    assert (await daily.answer(ref, "a", at=made)).status == "recorded"
    await daily.ticked()
    assert (await daily.answer(ref, "b", at=made)).status == "late"


async def test_a_late_answer_before_the_close_reveals_neither_the_key_nor_whether_it_is_right(
    daily: DailyChannel, clock: Clock
) -> None:
    ref = await open_round(daily, clock, choice())
    clock.advance(hours=8)
    for option, name in (("a", "Ada"), ("b", "Bob")):
        receipt = await daily.answer(ref, option, name)
        assert (receipt.status, receipt.key, receipt.verdict) == ("late", None, None)
        assert receipt.next_due is None, "a card of a wrong answer comes back sooner"
        told = (await daily.client.privacy(daily.who(name), f"export {name}", "export")).export
        (answer,) = json.loads(told)["answers"]
        assert (answer["verdict"], answer["detail"], answer["credit"], json.loads(told)["cards"]) == (
            None,
            None,
            None,
            [],
        )


@pytest.mark.parametrize("confidence", [False, True], ids=["in one statement", "step by step"])
async def test_a_clock_that_is_ahead_gains_nothing(daily: DailyChannel, clock: Clock, confidence: bool) -> None:
    ref = await open_round(daily, clock, choice(), SPEC.model_copy(update={"confidence": confidence}))
    ahead = await daily.answer(ref, "a", at=NINE + timedelta(days=9))
    behind = await daily.answer(ref, "b", "Bob", at=NINE - timedelta(days=9))
    assert (ahead.status, behind.status) == ("recorded", "recorded")
    assert [row.at for row in await daily.rows(AnswerRow)] == [NINE, NINE]


@pytest.mark.parametrize(
    ("question", "wrong", "refusal"),
    [
        (choice(), AnswerInput(text="a"), WrongKindOfAnswer(question="choice")),
        (choice(), AnswerInput(options=("z",)), AnswerUnreadable(problem="unknown option", text="z")),
        (choice(), AnswerInput(options=("a", "b")), AnswerUnreadable(problem="several options")),
        (value(), AnswerInput(text="(2,"), AnswerUnreadable(problem="not a value", text="(2,")),
        (value(), AnswerInput(options=("a",)), WrongKindOfAnswer(question="value")),
        (prose(), AnswerInput(text="  "), AnswerUnreadable(problem="no text")),
        (code(), AnswerInput(code="  \n"), WrongKindOfAnswer(question="code")),
        (code(), AnswerInput(text="return 2"), WrongKindOfAnswer(question="code")),
    ],
)
async def test_an_invalid_answer_is_rejected_and_the_earlier_one_is_kept(
    daily: DailyChannel, clock: Clock, question: object, wrong: AnswerInput, refusal: Refusal
) -> None:
    ref = await open_round(daily, clock, question)
    with refused(refusal):
        await daily.answer(ref, wrong)
    assert await daily.rows(AnswerRow) == []
    assert await daily.rows(InboxRow) == []


async def test_an_unreadable_change_leaves_the_answer_before(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, value())
    await daily.answer(ref, AnswerInput(text="(2, 3)"))
    with refused(AnswerUnreadable(problem="not a value", text="two by three?")):
        await daily.answer(ref, AnswerInput(text="two by three?"))
    form = await daily.client.ask(daily.who(), DAILY, ref)
    assert form.given is not None and form.given.text == "(2, 3)"


async def test_a_practiced_question_is_judged_at_once(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(value())
    form = await daily.client.practice(daily.who(), DAILY)
    assert form is not None and form.closes_at is None
    receipt = await daily.answer(form.ref, AnswerInput(text="(2, 3)"))
    assert receipt.status == "judged"
    assert receipt.verdict is not None and receipt.verdict.verdict == "accepted"
    assert receipt.key is not None and receipt.next_due is not None and receipt.next_due > clock.now
    assert len(await daily.rows(VerdictRow)) == 1


async def test_practice_gives_no_key_of_a_question_that_is_open(daily: DailyChannel, clock: Clock) -> None:
    await open_round(daily, clock, choice())
    for call in (
        daily.client.ask(daily.who(), DAILY, "p1"),
        daily.answer("p1", "a"),
    ):
        with refused(StillOpen()):
            await call
    assert await daily.client.practice(daily.who(), DAILY) is None


async def test_another_workspaces_round_is_not_found(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, choice())
    stranger = daily.who("Eve", workspace="elsewhere")
    with refused(QuestionGone(practice=False)):
        await daily.client.ask(stranger, DAILY, ref)
    with refused(QuestionGone(practice=False)):
        await daily.client.answer(stranger, DAILY, "e", ref, AnswerInput(options=("a",)), clock.now)
    assert (await daily.client.today(stranger, DAILY)).forms == ()


async def test_refs_of_nothing_are_not_found(daily: DailyChannel) -> None:
    for ref in ("r1", "p1", "r999999999999999999"):
        with refused(QuestionGone(practice=ref == "p1")):
            await daily.client.ask(daily.who(), DAILY, ref)


async def test_today_says_when_the_next_one_comes(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    today = await daily.client.today(daily.who(), DAILY)
    assert (today.forms, today.next_at) == ((), NINE)
    assert (await daily.client.today(daily.who(), Where(channel="quiet"))).next_at is None


async def test_today_takes_the_same_number_of_statements_for_any_number_of_schedules(daily: DailyChannel) -> None:
    await daily.bank(choice())
    seen = []
    for _ in range(2):
        for _ in range(3):
            await daily.schedule()
        await daily.client.today(daily.who(), DAILY)
        with counted() as sent:
            assert (await daily.client.today(daily.who(), DAILY)).next_at == NINE
        seen.append(len(sent))
    assert seen[0] == seen[1]


async def test_only_code_questions_can_be_tried(daily: DailyChannel, clock: Clock) -> None:
    ref = await open_round(daily, clock, code())
    # This test has no sandbox, which is reported before anything is looked up.
    with refused(NoSandbox()):
        await daily.client.try_code(daily.who(), ref, "def double(x): return x")


@settings(max_examples=12)
@example([("a", 100), ("a", 300), ("b", 200)])  # given again, and then a press of before is delivered
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 600)), min_size=1, max_size=6))
async def test_the_newest_answer_counts_in_any_order_of_arrival(
    daily: DailyChannel, clock: Clock, presses: list[tuple[str, int]]
) -> None:
    name = f"Member {next(daily.events)}"
    ref = "r1"  # the examples share the first one's round, each with a member of its own
    if not await daily.rows(Round):
        clock.now = MONDAY
        assert await open_round(daily, clock, choice()) == ref
    clock.now = NINE + timedelta(minutes=10)
    for option, second in presses:
        await daily.answer(ref, option, name, at=NINE + timedelta(seconds=second))
    newest = max(range(len(presses)), key=lambda at: (presses[at][1], at))
    form = await daily.client.ask(daily.who(name), DAILY, ref)
    assert form.given is not None and form.given.options == (presses[newest][0],)
