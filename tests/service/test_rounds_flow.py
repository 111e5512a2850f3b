"""A complete round through the client: posted at nine, answered, closed at five, and revealed."""

from __future__ import annotations

from service.wire import QuestionPost, RevealPost
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice


async def test_a_question_is_posted_answered_closed_and_revealed(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    assert await daily.ticked() == []

    clock.advance(hours=1)
    posted, low = await daily.ticked()
    assert isinstance(posted, QuestionPost)
    assert (posted.question.id, posted.late_minutes, low.kind) == ("views", 0, "notice")
    assert {option.id for option in posted.question.options} == {"a", "b", "c"}

    clock.advance(minutes=1)
    assert (await daily.answer(posted.ref, "b", "Ada")).status == "recorded"
    assert (await daily.answer(posted.ref, "a", "Ada")).status == "changed"
    assert (await daily.answer(posted.ref, "b", "Bob")).status == "recorded"
    (form,) = (await daily.client.today(daily.who(), DAILY)).forms
    assert form.given is not None and form.given.options == ("a",)

    clock.advance(hours=8)
    await daily.service.tick()
    delivery = next(each for each in await daily.deliver() if each.body.kind == "reveal")
    reveal = delivery.body
    assert isinstance(reveal, RevealPost)
    assert delivery.reply_to == "m1"
    assert (reveal.answers, reveal.right, reveal.mean_credit) == (2, 1, 0.5)
    assert {option.id: option.chosen_by for option in reveal.key.options} == {"a": 1, "b": 1, "c": 0}
    assert reveal.first is not None and (reveal.first.name, reveal.first.points, reveal.first.streak) == ("Ada", 10, 1)
    assert [(person.name, person.points) for person in reveal.points] == [("Ada", 10), ("Bob", 0)]
    assert [(row.rank, row.name, row.points) for row in reveal.board] == [(1, "Ada", 10)]
    assert reveal.next_at is not None and reveal.next_at.isoformat() == "2026-03-03T09:00:00+00:00"
