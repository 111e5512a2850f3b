"""The result of a practice answer, its rating by the member, and a session: facts only of what is no secret now."""

from __future__ import annotations

from datetime import timedelta

import pytest

from service.store.cards import CardRow
from service.wire import AnswerInput, AskForm, NotMet, QuestionGone, Rating, RatingRefused, StillOpen
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice, prose, value
from tests.service.refusals import refused
from tests.service.statements import counted


async def practiced(daily: DailyChannel, given: AnswerInput | str = "a") -> AskForm:
    """Answers the next card; returns its form."""
    form = await daily.client.practice(daily.who(), DAILY)
    assert form is not None
    await daily.answer(form.ref, given)
    return form


async def rates(daily: DailyChannel, ref: str, rating: Rating) -> timedelta:
    """Rates the card; returns how long until it comes back."""
    found = await daily.client.practice_rate(daily.who(), f"rate {next(daily.events)}", ref, rating)
    assert found.next_due is not None and found.rating == rating
    (card,) = await daily.rows(CardRow)
    assert card.due == found.next_due
    return found.next_due - daily.now


async def test_a_right_answer_is_rated_and_the_member_may_rate_it_differently(daily: DailyChannel) -> None:
    await daily.bank(choice())
    form = await practiced(daily)
    attempt = await daily.client.practice_attempt(daily.who(), form.ref)
    assert attempt.verdict is not None and attempt.verdict.verdict == "accepted"
    assert attempt.key is not None and attempt.rating == "good"
    assert attempt.question.options == form.question.options
    assert [one.rating for one in attempt.choices] == ["again", "hard", "good", "easy"]
    dues = [one.due - daily.now for one in attempt.choices]
    assert dues == sorted(dues) and dues[0] == timedelta(days=1) < dues[3]
    # Each choice leads to the date that it said, whatever was chosen before.
    for rating in ("easy", "again", "easy", "good", "hard"):
        expected = next(one.due for one in attempt.choices if one.rating == rating)
        assert daily.now + await rates(daily, form.ref, rating) == expected
    (card,) = await daily.rows(CardRow)
    assert card.reviews == 1


async def test_a_wrong_answer_can_only_be_again(daily: DailyChannel) -> None:
    await daily.bank(choice())
    form = await practiced(daily, "b")
    attempt = await daily.client.practice_attempt(daily.who(), form.ref)
    assert (attempt.rating, attempt.choices) == ("again", ())
    with refused(RatingRefused(why="wrong")):
        await rates(daily, form.ref, "good")


async def test_a_card_that_is_due_again_is_answered_anew_not_rated(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    form = await practiced(daily)
    clock.advance(days=30)
    assert (await daily.client.practice_attempt(daily.who(), form.ref)).choices == ()
    with refused(RatingRefused(why="due")):
        await rates(daily, form.ref, "easy")


async def test_an_open_answer_is_rated_once_its_author_marked_it(daily: DailyChannel) -> None:
    await daily.bank(prose())
    form = await practiced(daily, AnswerInput(text="They share it."))
    attempt = await daily.client.practice_attempt(daily.who(), form.ref)
    assert attempt.key is not None and (attempt.marks, attempt.choices) == (None, ())
    await daily.client.mark(daily.who(), "mark", form.ref, (0, 1))
    attempt = await daily.client.practice_attempt(daily.who(), form.ref)
    assert attempt.marks == (True, True) and len(attempt.choices) == 4


async def test_nobody_sees_an_attempt_that_is_not_theirs(daily: DailyChannel) -> None:
    await daily.bank(choice())
    form = await practiced(daily)
    with refused(NotMet(question="views")):
        await daily.client.practice_attempt(daily.who("Bob"), form.ref)
    with refused(QuestionGone(practice=True)):
        await daily.client.practice_attempt(daily.who(), "p999")
    with refused(NotMet(question="views")):
        await daily.client.practice_rate(daily.who("Bob"), "rate", form.ref, "easy")


@pytest.mark.parametrize("right", [True, False])
async def test_nothing_of_a_question_that_a_round_asks_is_told(daily: DailyChannel, clock: Clock, right: bool) -> None:
    await daily.bank(choice())
    form = await practiced(daily, "a" if right else "b")
    since = daily.now - timedelta(minutes=1)
    await daily.schedule()
    clock.advance(hours=1)
    await daily.ticked()
    attempt = await daily.client.practice_attempt(daily.who(), form.ref)
    assert attempt.secret
    assert (attempt.verdict, attempt.key, attempt.next_due, attempt.rating, attempt.choices) == (*[None] * 4, ())
    with refused(StillOpen()):
        await daily.client.practice_rate(daily.who(), "rate", form.ref, "easy")
    (one,) = (await daily.client.practice_session(daily.who(), since)).practiced
    assert (one.judged, one.credit, one.next_due) == (False, None, None)


async def test_a_session_lists_each_question_once_with_its_latest_answer(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("views"), value("shape"))
    begun = await daily.client.practice_session(daily.who())
    assert (begun.since, begun.practiced, begun.cards_due) == (daily.now, (), 0)
    forms = [await daily.client.practice(daily.who(), DAILY)]
    assert forms[0] is not None
    given: dict[str, AnswerInput | str] = {"views": "b", "shape": AnswerInput(text="(2, 3)")}
    done = []
    for _ in range(2):
        form = await daily.client.practice(daily.who(), DAILY)
        assert form is not None
        await daily.answer(form.ref, given[form.question.id])
        done.append(form)
        clock.advance(seconds=20)
    wrong = next(form for form in done if form.question.id == "views")
    found = await daily.client.practice_session(daily.who(), begun.since)
    assert [one.ref for one in found.practiced] == [form.ref for form in done]
    assert {one.question.id: one.credit for one in found.practiced} == {"views": 0.0, "shape": 1.0}
    await daily.answer(wrong.ref, "a")
    found = await daily.client.practice_session(daily.who(), begun.since)
    assert {one.question.id: one.credit for one in found.practiced} == {"views": 1.0, "shape": 1.0}
    assert len(found.practiced) == 2
    # Another member's session is empty, and so is one that begins later.
    assert not (await daily.client.practice_session(daily.who("Bob"), begun.since)).practiced
    clock.advance(seconds=1)
    assert not (await daily.client.practice_session(daily.who(), daily.now)).practiced


async def test_a_session_takes_the_same_statements_for_one_answer_as_for_ten(daily: DailyChannel) -> None:
    await daily.bank(*(choice(f"views-{n}") for n in range(10)))
    begun = await daily.client.practice_session(daily.who())
    taken = []
    for _ in range(10):
        await practiced(daily)
        with counted() as sent:
            found = await daily.client.practice_session(daily.who(), begun.since)
        taken.append(len(sent))
    assert len(found.practiced) == 10
    assert len(set(taken)) == 1
