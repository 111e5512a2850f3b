"""Answers through the client: option order, changes, late answers, practice, unreadable answers and visibility."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.client import ServiceRefused
from service.store.tables import AnswerRow, CardRow, CurrentAnswer, InboxRow, Round, VerdictRow
from service.wire import AnswerInput, QuestionPost, Where
from tests.conftest import MONDAY, Clock
from tests.service.roads import DAILY, Road, choice, code, prose, value

NINE = MONDAY + timedelta(hours=1)


async def open_round(road: Road, clock: Clock, question: object) -> str:
    """Posts this question in the channel and returns its reference."""
    await road.bank(question)  # type: ignore[arg-type]
    await road.schedule()
    clock.now = NINE
    return next(body.ref for body in await road.ticked() if isinstance(body, QuestionPost))


async def test_the_last_answer_counts_and_every_one_is_kept(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    statuses = [(await road.answer(ref, option)).status for option in "abca"]
    assert statuses == ["recorded", "changed", "changed", "changed"]
    log = await road.rows(AnswerRow)
    assert [(row.number, row.given["options"]) for row in log] == [(1, ["a"]), (2, ["b"]), (3, ["c"]), (4, ["a"])]
    assert [row.answer_id for row in await road.rows(CurrentAnswer)] == [log[-1].id]


async def test_an_older_answer_that_arrives_later_does_not_undo_a_newer_one(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    clock.advance(minutes=10)
    await road.answer(ref, "a", at=NINE + timedelta(minutes=5))
    receipt = await road.answer(ref, "b", at=NINE + timedelta(minutes=4))
    assert receipt.given.options == ("a",)
    (form,) = (await road.client.today(road.who(), DAILY)).forms
    assert form.given is not None and form.given.options == ("a",)


async def test_every_member_has_an_order_of_their_own_and_keeps_it(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    orders = set()
    for number in range(12):
        who = road.who(f"Member {number}")
        forms = [await road.client.ask(who, DAILY, ref) for _ in range(2)]
        first, again = [tuple(option.id for option in form.question.options) for form in forms]
        assert first == again
        orders.add(first)
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset("abc")}


async def test_no_form_and_no_post_carries_the_key(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    form = await road.client.ask(road.who(), DAILY, ref)
    today = await road.client.today(road.who(), DAILY)
    for said in (form.model_dump_json(), today.model_dump_json()):
        assert "clone` copies" not in said
        assert "another look" not in said


async def test_the_same_event_is_answered_once_whatever_the_concurrency(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    receipts = await asyncio.gather(*(road.answer(ref, "a", event="press") for _ in range(8)))
    assert {receipt.status for receipt in receipts} == {"recorded"}
    assert len(await road.rows(AnswerRow)) == 1
    assert [row.event_id for row in await road.rows(InboxRow)] == ["press"]


async def test_many_answers_of_one_member_at_once_are_numbered_in_turn(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    await asyncio.gather(*(road.answer(ref, "abc"[n % 3]) for n in range(9)))
    rows = await road.rows(AnswerRow)
    assert sorted(row.number for row in rows) == list(range(1, 10))
    (standing,) = await road.rows(CurrentAnswer)
    assert standing.answer_id == max(row.id for row in rows)


async def test_someone_elses_event_is_refused(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    await road.answer(ref, "a", "Ada", event="press")
    with pytest.raises(ServiceRefused) as refused:
        await road.answer(ref, "b", "Eve", event="press")
    assert refused.value.failure.code == "event-reused"


async def test_an_answer_after_the_close_becomes_practice(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    clock.advance(hours=8)
    await road.ticked()
    receipt = await road.answer(ref, "b")
    assert (receipt.status, receipt.ref[0], receipt.closes_at) == ("late", "p", NINE + timedelta(hours=8))
    assert receipt.verdict is not None and receipt.verdict.verdict == "wrong"
    assert receipt.key is not None and receipt.key.answer == "`x.view(-1)`"
    assert receipt.next_due is not None
    assert [(row.round_id, row.number) for row in await road.rows(AnswerRow)] == [(None, 0)]
    assert len(await road.rows(CardRow)) == 1


async def test_an_answer_made_before_the_closing_time_counts_until_the_round_is_closed(
    road: Road, clock: Clock
) -> None:
    ref = await open_round(road, clock, choice())
    clock.advance(hours=8, seconds=5)
    made = NINE + timedelta(hours=7, minutes=59)
    assert (await road.answer(ref, "a", at=made)).status == "recorded"
    await road.ticked()
    assert (await road.answer(ref, "b", at=made)).status == "late"


async def test_a_late_answer_before_the_close_does_not_reveal_the_key(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    clock.advance(hours=8)
    receipt = await road.answer(ref, "b")
    assert (receipt.status, receipt.key, receipt.verdict) == ("late", None, None)


async def test_a_clock_that_is_ahead_gains_nothing(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    await road.answer(ref, "a", at=NINE + timedelta(days=9))
    await road.answer(ref, "b", "Bob", at=NINE - timedelta(days=9))
    assert [row.at for row in await road.rows(AnswerRow)] == [NINE, NINE]


@pytest.mark.parametrize(
    ("question", "wrong", "said"),
    [
        (choice(), AnswerInput(text="a"), "answer it with one of its options"),
        (choice(), AnswerInput(options=("z",)), "has no option z"),
        (choice(), AnswerInput(options=("a", "b")), "choose one"),
        (value(), AnswerInput(text="(2,"), "Nothing was changed"),
        (value(), AnswerInput(options=("a",)), "a Python value"),
        (prose(), AnswerInput(text="  "), "answer in a sentence or two"),
        (code(), AnswerInput(code="  \n"), "a Python program"),
        (code(), AnswerInput(text="return 2"), "a Python program"),
    ],
)
async def test_an_invalid_answer_is_rejected_and_the_earlier_one_is_kept(
    road: Road, clock: Clock, question: object, wrong: AnswerInput, said: str
) -> None:
    ref = await open_round(road, clock, question)
    with pytest.raises(ServiceRefused, match=said):
        await road.answer(ref, wrong)
    assert await road.rows(AnswerRow) == []
    assert await road.rows(InboxRow) == []


async def test_an_unreadable_change_leaves_the_answer_before(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, value())
    await road.answer(ref, AnswerInput(text="(2, 3)"))
    with pytest.raises(ServiceRefused):
        await road.answer(ref, AnswerInput(text="two by three?"))
    form = await road.client.ask(road.who(), DAILY, ref)
    assert form.given is not None and form.given.text == "(2, 3)"


async def test_a_practiced_question_is_judged_at_once(road: Road, clock: Clock) -> None:
    await road.bank(value())
    form = await road.client.practice(road.who(), DAILY)
    assert form is not None and form.closes_at is None
    receipt = await road.answer(form.ref, AnswerInput(text="(2, 3)"))
    assert receipt.status == "judged" and not receipt.rate
    assert receipt.verdict is not None and receipt.verdict.verdict == "accepted"
    assert receipt.key is not None and receipt.next_due is not None and receipt.next_due > clock.now
    assert len(await road.rows(VerdictRow)) == 1


async def test_practiced_prose_is_provisional_and_self_rated(road: Road, clock: Clock) -> None:
    await road.bank(prose())
    form = await road.client.practice(road.who(), DAILY)
    assert form is not None
    receipt = await road.answer(form.ref, AnswerInput(text="the storage is shared, there is no copy"))
    assert receipt.rate and receipt.verdict is not None and receipt.verdict.provisional
    due = await road.client.rate(road.who(), "rating", form.ref, "again")
    assert receipt.next_due is not None and due < receipt.next_due


async def test_practice_gives_no_key_of_a_question_that_is_open(road: Road, clock: Clock) -> None:
    await open_round(road, clock, choice())
    for call in (
        road.client.ask(road.who(), DAILY, "p1"),
        road.answer("p1", "a"),
    ):
        with pytest.raises(ServiceRefused) as refused:
            await call
        assert refused.value.failure.code == "still-open"
    assert await road.client.practice(road.who(), DAILY) is None


async def test_another_workspaces_round_is_not_found(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, choice())
    stranger = road.who("Eve", workspace="elsewhere")
    with pytest.raises(ServiceRefused) as asked:
        await road.client.ask(stranger, DAILY, ref)
    with pytest.raises(ServiceRefused) as answered:
        await road.client.answer(stranger, DAILY, "e", ref, AnswerInput(options=("a",)), clock.now)
    assert {asked.value.failure.code, answered.value.failure.code} == {"not-found"}
    assert (await road.client.today(stranger, DAILY)).forms == ()


async def test_refs_of_nothing_are_not_found(road: Road) -> None:
    for ref in ("r1", "p1", "r999999999999999999"):
        with pytest.raises(ServiceRefused) as refused:
            await road.client.ask(road.who(), DAILY, ref)
        assert refused.value.failure.code == "not-found"


async def test_today_says_when_the_next_one_comes(road: Road, clock: Clock) -> None:
    await road.bank(choice())
    await road.schedule()
    today = await road.client.today(road.who(), DAILY)
    assert (today.forms, today.next_at) == ((), NINE)
    assert (await road.client.today(road.who(), Where(channel="quiet"))).next_at is None


async def test_only_code_questions_can_be_tried(road: Road, clock: Clock) -> None:
    ref = await open_round(road, clock, code())
    # This test has no sandbox, which is reported before anything is looked up.
    with pytest.raises(ServiceRefused) as refused:
        await road.client.try_code(road.who(), ref, "def double(x): return x")
    assert refused.value.failure.code == "no-sandbox"


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 600)), min_size=1, max_size=6))
async def test_the_newest_answer_counts_in_any_order_of_arrival(
    road: Road, clock: Clock, presses: list[tuple[str, int]]
) -> None:
    name = f"Member {next(road.events)}"
    ref = "r1"  # the examples share the first one's round, each with a member of its own
    if not await road.rows(Round):
        clock.now = MONDAY
        assert await open_round(road, clock, choice()) == ref
    clock.now = NINE + timedelta(minutes=10)
    for option, second in presses:
        await road.answer(ref, option, name, at=NINE + timedelta(seconds=second))
    newest = max(range(len(presses)), key=lambda at: (presses[at][1], at))
    form = await road.client.ask(road.who(name), DAILY, ref)
    assert form.given is not None and form.given.options == (presses[newest][0],)
