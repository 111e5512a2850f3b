"""Open answers: no automatic verdict, marks by their author, once, after the close, and credit that people give."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest
from sqlalchemy import insert, select
from sqlalchemy.exc import IntegrityError

from service.rounds.marking import set_credit
from service.store.audits import Audit
from service.store.cards import CardRow
from service.store.markings import GivenCredit, PointMark, SharedAnswer
from service.store.members import resolve_caller
from service.store.tables import AnswerRow, Base, Ledger, Outbox, VerdictRow
from service.wire import (
    AdminsOnly,
    AnswerCredited,
    AnswerInput,
    InvalidInput,
    MarkingRefused,
    MarkingView,
    NotFound,
    Notice,
    QuestionGone,
    QuestionPost,
    RevealPost,
    StillOpen,
    Where,
)
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, DailyChannel, prose
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused

PAIRS = (
    ("The two tensors look at the same memory.", "**storage** is shared is false: the storage is not shared."),
    ("Nothing is duplicated, both names see one buffer.", "There is a `copy`, so no storage is shared."),
    ("Changing one changes the other.", "Storage is shared? No. `copy`? Yes, always."),
    ("It is merely another way to index the data.", "The storage is shared only after `copy`."),
    ("They alias each other.", "no `copy` is wrong, storage is shared is wrong."),
    ("One block of bytes, two shapes.", "storage copy no shared is"),
    ("The data stays where it is.", "I doubt that storage is shared with no copy."),
    ("Only the strides differ.", "A view never has shared storage, it is a `copy`."),
    ("Writes through one show up in the other.", "It is untrue that storage is shared and that there is no `copy`."),
    ("Both point at identical bytes.", "Not: storage is shared. Not: no `copy`."),
)
"""Answers that are right in other words, and answers that use the words of the key points and are wrong."""


class Members:
    """Members who answer the open question of the day."""

    def __init__(self, daily: DailyChannel, clock: Clock) -> None:
        self.daily = daily
        self.clock = clock
        self.ref = ""

    async def asked(self) -> str:
        await self.daily.bank(prose())
        await self.daily.schedule()
        self.clock.now = MONDAY + timedelta(hours=1)
        self.ref = next(body.ref for body in await self.daily.ticked() if isinstance(body, QuestionPost))
        return self.ref

    async def answered(self, *names: str) -> None:
        for name in names:
            await self.daily.answer(self.ref, AnswerInput(text=f"What {name} thinks of it."), name)

    async def closed(self) -> RevealPost:
        self.clock.advance(hours=8)
        return next(body for body in await self.daily.ticked() if isinstance(body, RevealPost))

    async def mark(self, name: str, *covered: int, event: str = "") -> MarkingView:
        who = self.daily.who(name)
        return await self.daily.client.mark(who, event or f"mark {name}", self.ref, covered)

    async def share(self, name: str) -> MarkingView:
        return await self.daily.client.share_answer(self.daily.who(name), f"share {name}", self.ref)

    async def confirm(self, name: str, answer: int, event: str = "") -> None:
        await self.daily.client.confirm_answer(self.daily.who(name), event or f"confirm {name} {answer}", answer)

    async def credit(self, answer: int, percent: int, event: str = "credit") -> None:
        boss = self.daily.who("Boss", admin=True)
        await self.daily.client.open_answer_credit(boss, event, answer, percent)

    async def points(self, name: str) -> tuple[int, int, float]:
        """Returns points, answers that were judged and accuracy."""
        me = await self.daily.client.me(self.daily.who(name))
        return me.points, me.answered, me.accuracy


@pytest.fixture
async def team(daily: DailyChannel, clock: Clock) -> Members:
    """A round with an open question, which is still open."""
    members = Members(daily, clock)
    await members.asked()
    return members


class TestNoAutomaticVerdict:
    async def test_words_decide_nothing(self, team: Members) -> None:
        texts = {f"{kind} {at}": text for at, pair in enumerate(PAIRS) for kind, text in zip("rw", pair, strict=True)}
        for name, text in texts.items():
            await team.daily.answer(team.ref, AnswerInput(text=text), name)
        reveal = await team.closed()
        verdicts = [(row.verdict, row.credit) for row in await team.daily.rows(VerdictRow)]
        assert verdicts == [("awaits marking", None)] * len(texts)
        assert [(row.points, row.credit) for row in await team.daily.rows(Ledger)] == [(5, None)] * len(texts)
        assert (reveal.answers, reveal.right, reveal.first) == (len(texts), 0, None)
        for name, text in texts.items():
            seen = await team.daily.client.marking(team.daily.who(name), team.ref)
            assert (seen.text, seen.key.answer, seen.marks, seen.credit) == (text, "They share storage.", None, None)

    async def test_the_database_takes_no_credit_without_a_judgment(self, team: Members) -> None:
        await team.answered("Ada")
        async with team.daily.service.sessions.begin() as session:
            for verdict, credit in (("awaits marking", 0.0), ("wrong", None)):
                row = {"answer_id": 1, "version_id": 1, "verdict": verdict, "credit": credit, "detail": {}}
                with pytest.raises(IntegrityError, match="judged_or_awaits_marking"):
                    async with session.begin_nested():
                        await session.execute(insert(VerdictRow).values(**row, at=team.clock.now))

    async def test_it_counts_for_the_streak_and_the_board_but_not_for_accuracy(self, team: Members) -> None:
        await team.answered("Ada")
        await team.closed()
        me = await team.daily.client.me(team.daily.who("Ada"))
        assert (me.points, me.answered, me.accuracy, me.streak, me.cards) == (5, 0, 0.0, 1, 0)
        board = await team.daily.client.board(team.daily.who("Ada"), DAILY)
        assert [(row.name, row.points) for row in board.rows] == [("Ada", 5)]


class TestMarking:
    async def test_the_author_marks_each_point_and_earns_nothing_by_it(self, team: Members) -> None:
        await team.answered("Ada", "Bo")
        await team.closed()
        view = await team.mark("Ada", 1)
        assert (view.marks, view.credit, view.next_due) == ((False, True), None, None)
        assert await team.points("Ada") == (5, 0, 0.0)
        assert (await team.daily.client.marking(team.daily.who("Bo"), team.ref)).marks is None

    async def test_a_point_that_an_answer_misses_makes_a_card(self, team: Members) -> None:
        await team.answered("Ada", "Bo")
        await team.closed()
        assert await team.daily.rows(CardRow) == []
        await team.mark("Bo", 0, 1)
        assert await team.daily.rows(CardRow) == []
        await team.mark("Ada", 1)
        (card,) = await team.daily.rows(CardRow)
        assert (card.due, card.reviews) == (team.clock.now + timedelta(days=1), 0)

    async def test_nobody_can_mark_before_the_close(self, team: Members) -> None:
        await team.answered("Ada")
        with refused(MarkingRefused(why="too early")):
            await team.daily.client.marking(team.daily.who("Ada"), team.ref)
        with refused(MarkingRefused(why="too early")):
            await team.mark("Ada", 0)
        assert await team.daily.rows(PointMark) == []

    async def test_an_answer_is_marked_once(self, team: Members) -> None:
        await team.answered("Ada")
        await team.closed()
        first = await team.mark("Ada", 0, event="one")
        assert await team.mark("Ada", 0, event="one") == first
        with refused(MarkingRefused(why="marked")):
            await team.mark("Ada", 0, 1, event="two")
        assert [row.covered for row in await team.daily.rows(PointMark)] == [True, False]

    async def test_concurrent_marks_are_stored_once(self, team: Members) -> None:
        await team.answered("Ada")
        await team.closed()
        done = await asyncio.gather(
            *(team.mark("Ada", number % 2, event=f"event {number}") for number in range(6)), return_exceptions=True
        )
        assert sum(isinstance(one, MarkingView) for one in done) == 1
        assert len(await team.daily.rows(PointMark)) == 2

    async def test_only_the_author_marks(self, team: Members) -> None:
        """A ref leads to the caller's own answer, so no call can name another one."""
        await team.answered("Ada")
        await team.closed()
        for name in ("Bo", "Boss"):
            with refused(MarkingRefused(why="no answer")):
                await team.mark(name, 0)
        stranger = team.daily.who("Eve", workspace="away")
        with refused(QuestionGone(practice=False)):
            await team.daily.client.mark(stranger, "theirs", team.ref, (0,))
        assert await team.daily.rows(PointMark) == []

    async def test_a_point_must_exist(self, team: Members) -> None:
        await team.answered("Ada")
        await team.closed()
        with refused(MarkingRefused(why="unknown point")):
            await team.mark("Ada", 2)
        with refused(InvalidInput(field="covered 0", problem="too small")):
            await team.mark("Ada", -1)

    async def test_without_key_points_the_model_answer_is_the_point(self, daily: DailyChannel) -> None:
        await daily.bank(prose(key_points=()))
        form = await daily.client.practice(daily.who(), DAILY)
        assert form is not None
        await daily.answer(form.ref, AnswerInput(text="As it says."))
        assert (await daily.client.mark(daily.who(), "mark", form.ref, (0,))).marks == (True,)


class TestConfirmation:
    @pytest.fixture
    async def shared(self, team: Members) -> Members:
        """Ada's answer, half covered by her marks and shared, and Bo's, which is not marked."""
        await team.answered("Ada", "Bo", "Cy")
        await team.closed()
        await team.mark("Ada", 0)
        await team.share("Ada")
        return team

    async def test_a_peer_reads_a_shared_answer_without_a_name(self, shared: Members) -> None:
        found = await shared.daily.client.peer_answer(shared.daily.who("Bo"), shared.ref)
        assert found is not None
        assert (found.answer, found.text, found.marks, found.left) == (1, "What Ada thinks of it.", (True, False), 0)
        assert set(found.model_dump()) == {"answer", "ref", "key", "text", "marks", "left"}
        assert await shared.daily.client.peer_answer(shared.daily.who("Bo"), shared.ref, found.answer) is None

    async def test_those_who_answered_see_only_shared_answers_of_others(self, shared: Members) -> None:
        assert await shared.daily.client.peer_answer(shared.daily.who("Ada"), shared.ref) is None
        with refused(MarkingRefused(why="no answer")):
            await shared.daily.client.peer_answer(shared.daily.who("Dee"), shared.ref)
        await shared.mark("Bo", 0)
        for name, answer in (("Cy", 2), ("Bo", 3)):
            with refused(MarkingRefused(why="not shared")):
                await shared.confirm(name, answer)

    async def test_a_confirmation_credits_the_marked_share_once(self, shared: Members) -> None:
        await shared.confirm("Bo", 1, "one")
        await shared.confirm("Bo", 1, "one")
        assert await shared.daily.client.peer_answer(shared.daily.who("Cy"), shared.ref) is None
        for name in ("Bo", "Cy"):
            with refused(MarkingRefused(why="settled")):
                await shared.confirm(name, 1)
        assert await shared.points("Ada") == (8, 1, 0.5)
        assert [(row.points, row.credit, row.reason) for row in await shared.daily.rows(Ledger)][-1] == (
            3,
            0.5,
            "credit",
        )
        (note,) = [body for body in await shared.daily.ticked() if isinstance(body, Notice)]
        assert note.fact == AnswerCredited(
            question="why-views", day=shared.clock.now.date(), credit=0.5, points=3, by_peer=True
        )
        assert (await shared.daily.client.marking(shared.daily.who("Ada"), shared.ref)).credit == 0.5

    async def test_concurrent_confirmations_credit_once(self, shared: Members) -> None:
        await asyncio.gather(
            *(shared.confirm(name, 1, f"{name} {number}") for name in ("Bo", "Cy") for number in range(3)),
            return_exceptions=True,
        )
        assert len(await shared.daily.rows(GivenCredit)) == 1
        assert await shared.points("Ada") == (8, 1, 0.5)

    async def test_nobody_confirms_their_own_answer(self, shared: Members) -> None:
        with refused(MarkingRefused(why="own answer")):
            await shared.confirm("Ada", 1)
        own_admin = shared.daily.who("Ada", admin=True)
        with refused(MarkingRefused(why="own answer")):
            await shared.daily.client.open_answer_credit(own_admin, "mine", 1, 100)

    async def test_only_those_who_answered_confirm(self, shared: Members) -> None:
        with refused(MarkingRefused(why="no answer")):
            await shared.confirm("Dee", 1)
        stranger = shared.daily.who("Eve", workspace="away")
        with refused(MarkingRefused(why="not shared")):
            await shared.daily.client.confirm_answer(stranger, "theirs", 1)

    async def test_an_unmarked_answer_cannot_be_shared(self, shared: Members) -> None:
        with refused(MarkingRefused(why="not marked")):
            await shared.share("Bo")

    async def test_the_database_takes_one_confirmation_by_peers(self, shared: Members) -> None:
        row = {"answer_id": 1, "member_id": 1, "by_peer": True, "credit": 1.0, "at": shared.clock.now}
        async with shared.daily.service.sessions.begin() as session:
            await session.execute(insert(GivenCredit).values(row))
            with pytest.raises(IntegrityError, match="uq_given_credit_by_peer"):
                async with session.begin_nested():
                    await session.execute(insert(GivenCredit).values(row))


class TestModeration:
    async def test_moderators_see_what_waits_and_set_the_credit(self, team: Members) -> None:
        await team.answered("Ada", "Bo")
        boss = team.daily.who("Boss", admin=True)
        assert (await team.daily.client.open_answers(boss)).total == 0
        await team.closed()
        waiting = await team.daily.client.open_answers(boss)
        assert [(each.text, each.key.answer) for each in waiting.answers] == [
            ("What Bo thinks of it.", "They share storage."),
            ("What Ada thinks of it.", "They share storage."),
        ]
        await team.credit(1, 60)
        assert [each.answer for each in (await team.daily.client.open_answers(boss)).answers] == [2]
        assert await team.points("Ada") == (8, 1, 0.6)
        (note,) = [row for row in await team.daily.rows(Outbox) if row.key.startswith("credit:")]
        assert note.kind == "notice" and note.member_id is not None and note.body["fact"]["credit"] == 0.6
        (row,) = [row for row in await team.daily.rows(Audit) if row.action == "answer credit"]
        assert row.detail == {"answer": 1, "percent": 60}

    async def test_a_later_credit_corrects_the_ledger_and_a_repeated_event_does_not(self, team: Members) -> None:
        await team.answered("Ada")
        await team.closed()
        for event, percent in (("one", 100), ("one", 100), ("two", 0), ("three", 40)):
            await team.credit(1, percent, event)
        assert [row.points for row in await team.daily.rows(Ledger)] == [5, 5, -5, 2]
        assert await team.points("Ada") == (7, 1, 0.4)

    async def test_of_two_moderators_at_once_the_later_credit_counts(self, team: Members) -> None:
        await team.answered("Ada")
        await team.closed()
        sessions, chief = team.daily.service.sessions, team.daily.who("Chief", admin=True)
        async with sessions.begin() as session:
            caller = await resolve_caller(session, chief, None, team.clock.now)
            await set_credit(session, caller, 1, 100, team.clock.now)
            crediting = asyncio.create_task(team.credit(1, 50))
            await until_locked_out(session, crediting)
        await crediting
        entries = await team.daily.rows(Ledger)
        assert sum(row.credit or 0 for row in entries) == 0.5
        at_once = await team.points("Ada")
        await team.credit(1, 50, "again")
        assert await team.points("Ada") == at_once

    async def test_a_peer_cannot_confirm_what_a_moderator_settled(self, team: Members) -> None:
        await team.answered("Ada", "Bo")
        await team.closed()
        await team.mark("Ada", 0, 1)
        await team.share("Ada")
        await team.credit(1, 0)
        with refused(MarkingRefused(why="settled")):
            await team.confirm("Bo", 1)
        assert await team.points("Ada") == (5, 1, 0.0)

    async def test_only_admins_and_only_closed_answers_of_the_workspace(self, team: Members) -> None:
        await team.answered("Ada")
        with refused(NotFound(what="open answer", name="1")):
            await team.credit(1, 100)
        await team.closed()
        with refused(AdminsOnly()):
            await team.daily.client.open_answers(team.daily.who("Bo"))
        with refused(AdminsOnly()):
            await team.daily.client.open_answer_credit(team.daily.who("Bo"), "e", 1, 100)
        with refused(NotFound(what="open answer", name="1")):
            stranger = team.daily.who("Eve", workspace="away", admin=True)
            await team.daily.client.open_answer_credit(stranger, "e", 1, 100)
        with refused(InvalidInput(field="percent", problem="too large", limit=100)):
            await team.credit(1, 101)


async def test_a_question_that_is_asked_again_shows_its_key_to_nobody_until_that_closes_too(team: Members) -> None:
    await team.answered("Ada", "Bo")
    await team.closed()
    await team.mark("Ada", 0)
    await team.share("Ada")
    # Another channel of the workspace asks it the next day.
    await team.daily.schedule(where=Where(channel="aside", name="#aside"))
    team.clock.now = (team.clock.now + timedelta(days=1)).replace(hour=9)
    await team.daily.ticked()
    bo = team.daily.who("Bo")
    with refused(StillOpen()):
        await team.daily.client.marking(bo, team.ref)
    with refused(StillOpen()):
        await team.mark("Bo", 0, 1)
    with refused(StillOpen()):
        await team.daily.client.peer_answer(bo, team.ref)
    await team.closed()
    assert (await team.daily.client.marking(bo, team.ref)).key.answer == "They share storage."
    assert await team.daily.client.peer_answer(bo, team.ref) is not None


class TestPractice:
    @pytest.mark.parametrize(("covered", "days"), [((0, 1), 2), ((1,), 1.5), ((), 1)])
    async def test_marks_review_the_card(self, daily: DailyChannel, covered: tuple[int, ...], days: float) -> None:
        await daily.bank(prose())
        form = await daily.client.practice(daily.who(), DAILY)
        assert form is not None
        receipt = await daily.answer(form.ref, AnswerInput(text="**storage** is shared, no `copy`"))
        assert receipt.verdict is not None and receipt.key is not None
        assert (receipt.verdict.verdict, receipt.next_due) == ("awaits marking", None)
        assert await daily.rows(CardRow) == []
        view = await daily.client.mark(daily.who(), "mark", receipt.ref, covered)
        (card,) = await daily.rows(CardRow)
        assert (view.next_due, card.reviews) == (card.due, 1)
        assert abs(card.due - daily.now - timedelta(days=days)) < timedelta(seconds=60)
        assert await daily.rows(Ledger) == []

    async def test_nothing_is_shown_while_a_round_asks_the_question(self, daily: DailyChannel, clock: Clock) -> None:
        await daily.bank(prose())
        form = await daily.client.practice(daily.who(), DAILY)
        assert form is not None
        await daily.answer(form.ref, AnswerInput(text="something"))
        await daily.schedule()
        clock.now = MONDAY + timedelta(hours=1)
        await daily.ticked()
        with refused(StillOpen()):
            await daily.client.marking(daily.who(), form.ref)

    async def test_a_late_answer_is_marked_as_practice(self, team: Members) -> None:
        await team.closed()
        receipt = await team.daily.answer(team.ref, AnswerInput(text="too late"))
        assert receipt.status == "late" and receipt.key is not None
        assert (await team.daily.client.mark(team.daily.who(), "mark", receipt.ref, (0,))).next_due is not None


class TestForgettingAndRegrading:
    async def test_forgetting_erases_text_and_marks_and_withdraws_the_answer(self, team: Members) -> None:
        await team.answered("Ada", "Bo")
        await team.closed()
        await team.mark("Ada", 0)
        await team.share("Ada")
        await team.mark("Bo", 0, 1)
        await team.credit(1, 50)
        await team.daily.client.privacy(team.daily.who("Ada"), "forget", "forget")
        async with team.daily.service.sessions.begin() as session:
            for table in Base.metadata.sorted_tables:
                assert "Ada" not in str((await session.execute(select(table))).all()), table.name
        assert [row.answer_id for row in await team.daily.rows(PointMark)] == [2, 2]
        assert await team.daily.rows(SharedAnswer) == []
        assert "Ada" not in str([row.given for row in await team.daily.rows(AnswerRow)])
        assert await team.daily.client.peer_answer(team.daily.who("Bo"), team.ref) is None
        boss = team.daily.who("Boss", admin=True)
        assert [each.answer for each in (await team.daily.client.open_answers(boss)).answers] == [2]
        with refused(NotFound(what="open answer", name="1")):
            await team.credit(1, 100, "later")

    async def test_an_export_has_marks_and_credits(self, team: Members) -> None:
        await team.answered("Ada", "Bo")
        await team.closed()
        await team.mark("Ada", 0)
        await team.share("Ada")
        await team.confirm("Bo", 1)
        exported = {
            name: json.loads((await team.daily.client.privacy(team.daily.who(name), f"export {name}", "export")).export)
            for name in ("Ada", "Bo")
        }
        (hers,), (his,) = exported["Ada"]["answers"], exported["Bo"]["answers"]
        assert (hers["verdict"], hers["marks"], hers["shared"], hers["credit"]) == (
            "awaits marking",
            [True, False],
            True,
            0.5,
        )
        assert (his["marks"], his["shared"], his["credit"]) == (None, False, None)
        assert exported["Ada"]["credits_given"] == []
        (given,) = exported["Bo"]["credits_given"]
        assert (given["question"], given["credit"], given["by_peer"]) == ("why-views", 0.5, True)

    async def test_a_corrected_question_keeps_credits_and_marks(self, team: Members) -> None:
        await team.answered("Ada", "Bo")
        await team.closed()
        await team.mark("Ada", 0)
        await team.credit(1, 100)
        before = [(row.points, row.credit) for row in await team.daily.rows(Ledger)]
        await team.daily.bank(prose(key_points=("something else",), answer="Another answer."))
        await team.daily.ticked()
        assert [(row.points, row.credit) for row in await team.daily.rows(Ledger)] == before
        seen = await team.daily.client.marking(team.daily.who("Ada"), team.ref)
        assert (seen.marks, seen.credit, seen.key.answer) == ((True, False), 1.0, "They share storage.")
        await team.credit(2, 100, "later")
        assert await team.points("Bo") == (10, 1, 1.0)
