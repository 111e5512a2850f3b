"""A member's last weeks, through the client."""

from __future__ import annotations

import pytest

from service.people.members import LATEST
from service.wire import AnswerInput, QuestionPost, Where
from tests.conftest import Clock
from tests.service.daily_channel import DailyChannel, choice, prose


async def asked(daily: DailyChannel, clock: Clock) -> str:
    """Opens the day's round; returns its ref."""
    clock.now = clock.now.replace(hour=9)
    return next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))


async def closed(daily: DailyChannel, clock: Clock) -> None:
    """Closes the round and goes on to the next day."""
    clock.advance(hours=8)
    await daily.ticked()
    clock.advance(hours=16)


async def test_nothing_is_known_of_a_new_member(daily: DailyChannel) -> None:
    history = await daily.client.history(daily.who("Ada"))
    assert (history.days, history.rounds) == ((), ())
    assert (history.since.isoformat(), history.until.isoformat()) == ("2025-11-10", "2026-03-02")


async def test_an_open_round_counts_as_answered_and_says_no_more(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("views"))
    await daily.schedule()
    await daily.answer(await asked(daily, clock), "a", "Ada")
    history = await daily.client.history(daily.who("Ada"))
    assert [(day.asked, day.answered, day.right) for day in history.days] == [(1, 1, 0)]
    assert history.rounds == ()
    # Who has not answered is not told of a question that can still be answered.
    assert (await daily.client.history(daily.who("Bo"))).days == ()


async def test_days_and_rounds_after_the_close(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(*(choice(f"views-{n}") for n in range(4)))
    await daily.schedule()
    for option in ("a", "b", ""):
        ref = await asked(daily, clock)
        await daily.answer(ref, "a", "Bo")
        if option:
            await daily.answer(ref, "c", "Ada")
            await daily.answer(ref, option, "Ada")
        await closed(daily, clock)
    history = await daily.client.history(daily.who("Ada"))
    assert [(day.day.day, day.asked, day.answered, day.right) for day in history.days] == [
        (2, 1, 1, 1),
        (3, 1, 1, 0),
        (4, 1, 0, 0),
    ]
    assert [(one.day.day, one.given.options, one.verdict, one.credit, one.points) for one in history.rounds] == [
        (3, ("b",), "wrong", 0, 0),
        (2, ("a",), "accepted", 1, 10),
    ]
    assert [day.right for day in (await daily.client.history(daily.who("Bo"))).days] == [1, 1, 1]
    # The rank on the board of the week: Ada is behind Bo by accuracy after the second day.
    assert [(one.rank.before, one.rank.after, one.rank.total) for one in history.rounds] == [(1, 2, 2), (None, 1, 2)]
    # Rounds of a schedule that a member never answers are not theirs to miss.
    assert (await daily.client.history(daily.who("Cy"))).days == ()


@pytest.mark.slow
async def test_only_the_last_weeks_and_the_latest_rounds_are_read(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(*(choice(f"views-{n}") for n in range(LATEST + 3)))
    await daily.schedule()
    await daily.answer(await asked(daily, clock), "a", "Ada")
    await closed(daily, clock)
    first = (await daily.client.history(daily.who("Ada"))).days[0].day
    clock.advance(weeks=16, days=4)
    for _ in range(LATEST + 2):
        if clock.now.weekday() > 4:
            clock.advance(days=7 - clock.now.weekday())
        await daily.answer(await asked(daily, clock), "a", "Ada")
        await closed(daily, clock)
    history = await daily.client.history(daily.who("Ada"))
    assert first < history.since
    assert all(day.day >= history.since for day in history.days)
    assert len(history.rounds) == LATEST
    assert history.rounds[0].day == history.days[-1].day


async def test_prose_waits_for_people(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(prose())
    await daily.schedule()
    await daily.answer(await asked(daily, clock), AnswerInput(text="They share."), "Ada")
    await closed(daily, clock)
    (one,) = (await daily.client.history(daily.who("Ada"))).rounds
    assert (one.given.text, one.verdict, one.credit) == ("They share.", "awaits marking", None)


async def test_a_round_is_not_listed_while_its_question_is_asked_again(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("views"))
    await daily.schedule()
    await daily.answer(await asked(daily, clock), "a", "Ada")
    await closed(daily, clock)
    assert len((await daily.client.history(daily.who("Ada"))).rounds) == 1
    await daily.schedule(where=Where(channel="aside", name="#aside"))
    clock.now = clock.now.replace(hour=9)
    await asked(daily, clock)
    assert (await daily.client.history(daily.who("Ada"))).rounds == ()
    await closed(daily, clock)
    assert len((await daily.client.history(daily.who("Ada"))).rounds) == 1
