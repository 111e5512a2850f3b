"""Practice: which question comes next, and when it comes again."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.rounds import practice
from service.store import banks, cards, questions
from service.store.members import Caller
from service.wire import MANY_DUE, NotFound
from tests.service.refusals import refused
from tests.service.scenes import Stage, question, these


async def next_id(stage: Stage, caller: Caller, topic: str = "", level: str = "", kind: str = "") -> str | None:
    """Returns the id of the next practice question."""
    found = await practice.pick_next(stage.session, caller, stage.now, topic, level, kind)
    if found is None:
        return None
    return (await questions.get_version(stage.session, found[0])).question.id


async def reviewed(stage: Stage, caller: Caller, key: str, credit: float) -> timedelta:
    """Practices a question. Returns the time until it is due again."""
    question_id = (await stage.version(key)).question_id
    due = await practice.record_review(
        stage.session, member_id=caller.member_id, question_id=question_id, credit=credit, now=stage.now
    )
    return due - stage.now


async def test_the_longest_due_card_comes_first_and_says_how_many_follow(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(*(question(key) for key in "abc"))
    for key, days in (("a", 1), ("b", 3), ("c", 2)):
        question_id = (await stage.version(key)).question_id
        await practice.add_missed_cards(
            stage.session, these(ada.member_id), question_id, stage.now - timedelta(days=days)
        )
    assert await practice.pick_next(stage.session, ada, stage.now) == ((await stage.version("b")).id, 2)


async def test_many_due_cards_are_counted_up_to_a_limit(stage: Stage) -> None:
    ada = await stage.caller()
    keys = [f"q{number}" for number in range(MANY_DUE + 2)]
    await stage.bank(*(question(key) for key in keys))
    counts = []
    for key in keys:
        due = (await stage.version(key)).question_id
        await practice.add_missed_cards(stage.session, these(ada.member_id), due, stage.now)
        found = await practice.pick_next(stage.session, ada, stage.now)
        assert found is not None
        counts.append(found[1])
    assert counts == [*range(MANY_DUE + 1), MANY_DUE]


async def test_new_questions_come_after_due_cards_and_then_nothing(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(*(question(key) for key in "abc"))
    await stage.answer(ada, await stage.round(await stage.schedule(ada), date(2026, 3, 2), "a"))
    met = []
    while (key := await next_id(stage, ada)) is not None:
        met.append(key)
        await stage.practiced(ada, key)
        await reviewed(stage, ada, key, 1.0)
    assert sorted(met) == ["b", "c"]


async def test_asking_again_before_answering_asks_the_same(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(*(question(key) for key in "abcdef"))
    assert len({await next_id(stage, ada) for _ in range(3)}) == 1


async def test_a_topic_and_a_level_narrow_it_down(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("a"), question("b", topic="autograd"), question("c", topic="autograd", level="senior"))
    assert await next_id(stage, ada, "AutoGrad", "senior") == "c"
    assert await next_id(stage, ada, "tensors", "senior") is None
    assert await next_id(stage, ada, level="principal") is None


async def test_a_kind_filters_due_and_new_questions(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(
        question("a"),
        question("b", kind="value", options=(), answer="3"),
        question("c", kind="value", options=(), answer="4", topic="autograd"),
    )
    await practice.add_missed_cards(
        stage.session, these(ada.member_id), (await stage.version("a")).question_id, stage.now
    )
    assert await next_id(stage, ada) == "a"
    assert await next_id(stage, ada, "autograd", kind="value") == "c"
    assert await next_id(stage, ada, kind="code") is None
    await practice.add_missed_cards(
        stage.session, these(ada.member_id), (await stage.version("b")).question_id, stage.now
    )
    assert await practice.pick_next(stage.session, ada, stage.now, kind="value") == ((await stage.version("b")).id, 0)


async def test_an_unknown_topic_or_level_is_rejected_with_the_known_ones(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("a"))
    with refused(NotFound(what="topic", name="tensor", similar=("tensors", "tensors/memory"))):
        await next_id(stage, ada, "tensor")
    with refused(NotFound(what="level", name="junior", similar=("mid", "senior", "principal"))):
        await next_id(stage, ada, level="junior")
    with refused(NotFound(what="kind", name="poem", similar=("choice", "value", "output", "code", "open"))):
        await next_id(stage, ada, kind="poem")


@pytest.mark.parametrize("due", [True, False], ids=["a due card", "never met"])
async def test_a_question_open_in_a_round_is_not_practiced_before_it_closes(stage: Stage, due: bool) -> None:
    ada = await stage.caller()
    await stage.bank(question("a"))
    if due:
        question_id = (await stage.version("a")).question_id
        await practice.add_missed_cards(stage.session, these(ada.member_id), question_id, stage.now)
    round_ = await stage.round(await stage.schedule(ada), date(2026, 3, 4), "a", closed=False)
    # All versions of a question share its key, so none may be practiced while one is open.
    await stage.bank(question("a", prompt="Put better?"))
    assert await next_id(stage, ada) is None
    assert await next_id(stage, await stage.caller("Eve", workspace="away")) == "a"
    round_.closed_at = stage.now
    await stage.session.flush()
    assert await next_id(stage, ada) == "a"


async def test_the_better_the_answer_the_longer_the_rest(stage: Stage) -> None:
    ada, bo, chen = [await stage.caller(name) for name in ("Ada", "Bo", "Chen")]
    await stage.bank(question("a"))
    rests = [await reviewed(stage, member, "a", credit) for member, credit in ((ada, 0.0), (bo, 0.5), (chen, 1.0))]
    assert timedelta(0) < rests[0] < rests[1] < rests[2]


async def test_a_missed_question_is_due_at_once_for_members_who_missed_it(stage: Stage) -> None:
    ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
    await stage.bank(question("a"))
    question_id = (await stage.version("a")).question_id
    await practice.add_missed_cards(stage.session, these(ada.member_id, ada.member_id), question_id, stage.now)
    await practice.add_missed_cards(stage.session, these(), question_id, stage.now)
    assert await cards.count_cards(stage.session, ada, stage.now) == (1, 1)
    assert await cards.count_cards(stage.session, bo, stage.now) == (0, 0)


@pytest.mark.parametrize("how", ["retired here", "gone from its document"])
async def test_a_card_that_nothing_can_be_asked_of_is_not_due(stage: Stage, how: str) -> None:
    ada = await stage.caller()
    await stage.bank(question("a"), question("b"))
    question_id = (await stage.version("a")).question_id
    await practice.add_missed_cards(stage.session, these(ada.member_id), question_id, stage.now)
    if how == "retired here":
        await banks.retire(stage.session, ada.workspace_id, question_id, stage.now)
    else:
        await stage.bank(question("b"))
    assert await cards.count_cards(stage.session, ada, stage.now) == (1, 0)
    assert await next_id(stage, ada) == "b"


async def test_missing_a_learned_question_makes_its_card_due_and_keeps_its_state(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("a"))
    await reviewed(stage, ada, "a", 1.0)
    version = await stage.version("a")
    before = await cards.lock_card(stage.session, ada.member_id, version.question_id)
    assert before is not None
    state = before.state
    await practice.add_missed_cards(stage.session, these(ada.member_id), version.question_id, stage.now)
    after = await cards.lock_card(stage.session, ada.member_id, version.question_id)
    assert after is not None
    assert (after.due, after.state, after.reviews) == (stage.now, state, 1)


@pytest.mark.parametrize(
    ("marks", "credit"), [((True, True), 1.0), ((True, False, False), 0.5), ((False, False), 0.0), ((True,), 1.0)]
)
async def test_marks_review_a_card_as_all_some_or_none_of_the_points(
    stage: Stage, marks: tuple[bool, ...], credit: float
) -> None:
    ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
    await stage.bank(question("a"))
    question_id = (await stage.version("a")).question_id
    due = await practice.record_marks(
        stage.session, member_id=ada.member_id, question_id=question_id, marks=marks, now=stage.now
    )
    as_credit = await practice.record_review(
        stage.session, member_id=bo.member_id, question_id=question_id, credit=credit, now=stage.now
    )
    assert due == as_credit


@settings(max_examples=15)
@given(credits=st.lists(st.floats(0, 1), min_size=1, max_size=6), gap=st.integers(0, 40))
async def test_a_card_always_comes_again_and_never_in_the_past(stage: Stage, credits: list[float], gap: int) -> None:
    async with stage.session.begin_nested() as undone:
        ada = await stage.caller()
        await stage.bank(question("a"))
        for credit in credits:
            assert await reviewed(stage, ada, "a", credit) > timedelta(0)
            stage.now += timedelta(days=gap)
        assert await cards.count_cards(stage.session, ada, stage.now + timedelta(days=40_000)) == (1, 1)
        await undone.rollback()


class TestSessions:
    """Ten answers one after another."""

    async def test_ten_answers_are_a_session_and_the_next_begins_another(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question("views", topic="tensors"), question("grad", topic="autograd"))
        seen = []
        for number in range(12):
            await stage.practiced(ada, "grad" if number == 3 else "views", 0.0 if number in (3, 11) else 1.0)
            seen.append(await practice.view_progress(stage.session, ada, stage.now))
            stage.now += timedelta(seconds=6)
        assert [one and (one.number, one.right, one.missed) for one in seen] == [
            *((number, number, ()) for number in (1, 2, 3)),
            *((number, number - 1, ("autograd",)) for number in range(4, 11)),
            (1, 1, ()),
            (2, 1, ("tensors",)),
        ]
        assert {one.of for one in seen if one} == {10}

    async def test_a_question_that_is_asked_now_is_not_counted_because_that_would_say_whether_it_is_right(
        self, stage: Stage
    ) -> None:
        ada = await stage.caller()
        await stage.bank(question("views", topic="tensors"), question("grad", topic="autograd"))
        await stage.practiced(ada, "views", 0.0)
        await stage.practiced(ada, "grad")
        round_ = await stage.round(await stage.schedule(ada), stage.now.date(), "views", closed=False)
        session = await practice.view_progress(stage.session, ada, stage.now)
        assert session is not None and (session.number, session.right, session.missed) == (1, 1, ())
        round_.closed_at = stage.now
        await stage.session.flush()
        session = await practice.view_progress(stage.session, ada, stage.now)
        assert session is not None and (session.number, session.right, session.missed) == (2, 1, ("tensors",))

    async def test_a_pause_begins_another(self, stage: Stage) -> None:
        ada, bo = await stage.caller(), await stage.caller("Bo")
        await stage.bank(question("views"))
        await stage.practiced(bo, "views")
        assert await practice.view_progress(stage.session, ada, stage.now) is None
        await stage.practiced(ada, "views")
        stage.now += practice.SESSION_PAUSE + timedelta(seconds=1)
        await stage.practiced(ada, "views")
        session = await practice.view_progress(stage.session, ada, stage.now)
        assert session is not None and session.number == 1
