"""What members see of their data, and what happens to it when they hide or leave."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from service.domain.scoring import compute_points
from service.people import members
from service.people.privacy import apply_action
from service.rounds import leaderboard, practice
from service.store import chats, privacy
from service.store import members as store_members
from service.store.cards import CardRow
from service.store.members import Caller, list_identities
from service.store.session import allow_forgetting
from service.store.tables import AnswerRow, Base, CurrentAnswer, InboxRow, Member, Outbox, Season, VerdictRow
from service.wire import Me, PrivacyAction, QuestionPost, TopicMastery, Who
from tests.conftest import Clock
from tests.service.daily_channel import DailyChannel, choice
from tests.service.scenes import Stage, question, these

MONDAY, TUESDAY, WEDNESDAY = date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 4)


async def played(stage: Stage, caller: Caller) -> None:
    """Plays two rounds, one of them answered half right, and adds a practice card."""
    await stage.bank(question("views"), question("grad", topic="autograd"))
    schedule = await stage.schedule(caller)
    for day, key, credit in ((MONDAY, "views", 1.0), (TUESDAY, "grad", 0.5)):
        round_ = await stage.round(schedule, day, key)
        await stage.answer(caller, round_, credit=credit, text="Ada Lovelace was here")
        await stage.points(caller, int(10 * credit), round_=round_, credit=credit)
    question_id = (await stage.version("grad")).question_id
    await practice.add_missed_cards(stage.session, these(caller.member_id), question_id, stage.now)


class TestMe:
    """A member's statistics."""

    async def test_before_anything_was_answered(self, stage: Stage) -> None:
        assert await members.me(stage.session, await stage.caller(), stage.now) == Me(
            name="Ada",
            hidden=False,
            points=0,
            season_points=0,
            rank=None,
            answered=0,
            accuracy=0.0,
            streak=0,
            best_streak=0,
            freezes=0,
            cards=0,
            cards_due=0,
        )

    async def test_all_of_it(self, stage: Stage) -> None:
        ada = await stage.caller()
        await played(stage, ada)
        await stage.points(await stage.caller("Bo"), 100)
        await leaderboard.start_season(stage.session, ada, "Spring", stage.now - timedelta(days=1, hours=4))
        assert await members.me(stage.session, ada, stage.now) == Me(
            name="Ada",
            hidden=False,
            points=15,
            season_points=5,
            rank=2,
            ranked=2,
            answered=2,
            accuracy=0.75,
            streak=2,
            best_streak=2,
            freezes=0,
            cards=1,
            cards_due=1,
            topics=(
                TopicMastery(topic="autograd", answers=1, right=0.5),
                TopicMastery(topic="tensors", answers=1, right=1.0),
            ),
            weeks=((MONDAY, 15, 2, 0.75),),
        )

    async def test_who_hides_keeps_their_points_and_has_no_rank(self, stage: Stage) -> None:
        ada = await stage.caller()
        await played(stage, ada)
        await apply_action(stage.session, ada, "hide", stage.now)
        me = await members.me(stage.session, ada, stage.now)
        assert (me.hidden, me.points, me.rank) == (True, 15, None)


def test_the_rules_are_the_numbers_that_points_are_made_of() -> None:
    rules = members.rules()
    assert rules.base == {"mid": 10, "senior": 15, "principal": 20, "no level": 10}
    assert rules.base["senior"] == compute_points("choice", "senior", None, 1.0, None).total
    assert (rules.speed_bonus, rules.freeze_cap, rules.freeze_every, rules.catch_up_minutes) == (False, 2, 7, 120)


class TestPrivacy:
    """See, export, hide and show."""

    async def test_seeing_counts_what_is_kept(self, stage: Stage) -> None:
        ada = await stage.caller()
        await played(stage, ada)
        view = await apply_action(stage.session, ada, "see", stage.now)
        assert (view.name, view.answers, view.ledger_rows, view.cards, view.export) == ("Ada", 2, 2, 1, "")

    async def test_an_answer_that_was_changed_counts_once(self, daily: DailyChannel, clock: Clock) -> None:
        await daily.bank(choice())
        await daily.schedule()
        clock.advance(hours=1)
        (post,) = [body for body in await daily.ticked() if isinstance(body, QuestionPost)]
        for option in ("a", "b", "a"):
            await daily.answer(post.ref, option)
        assert len(await daily.rows(AnswerRow)) == 3
        assert (await daily.client.privacy(daily.who("Ada"), "see", "see")).answers == 1

    async def test_an_export_contains_all_data_of_the_member_and_no_one_elses(self, stage: Stage) -> None:
        ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
        await played(stage, ada)
        await stage.practiced(bo, "views")
        view = await apply_action(stage.session, ada, "export", stage.now)
        data: dict[str, Any] = json.loads(view.export)
        assert data["member"]["identities"] == [{"platform": "web", "workspace": "home", "id": "ada", "name": "Ada"}]
        assert [(each["question"], each["credit"]) for each in data["answers"]] == [("views", 1.0), ("grad", 0.5)]
        assert data["answers"][0]["given"]["text"] == "Ada Lovelace was here"
        assert [each["points"] for each in data["points"]] == [10, 5]
        assert [each["question"] for each in data["cards"]] == ["grad"]

    async def test_hiding_and_showing_oneself(self, stage: Stage) -> None:
        ada = await stage.caller()
        actions: list[tuple[PrivacyAction, bool]] = [("hide", True), ("hide", True), ("show", False)]
        for action, hidden in actions:
            assert (await apply_action(stage.session, ada, action, stage.now)).hidden is hidden


class TestForgetting:
    """A forgotten member is anonymous, and all numbers stay."""

    async def test_no_table_holds_their_name_or_their_words_any_more(self, stage: Stage) -> None:
        ada = await stage.caller("Ada Lovelace")
        await played(stage, ada)
        await self._leave_messages(stage, ada)
        await leaderboard.start_season(stage.session, ada, "Spring", stage.now - timedelta(days=4))
        await leaderboard.end_season(stage.session, ada, stage.now)
        view = await apply_action(stage.session, ada, "forget", stage.now)
        assert (view.name, view.forgotten, view.answers) == (privacy.FORGOTTEN_NAME, True, 2)
        await stage.session.flush()
        for table in Base.metadata.sorted_tables:
            for row in await stage.session.execute(select(table)):
                assert "lovelace" not in str(row).lower(), table.name

    async def test_replies_to_members_with_longer_numbers_stay(self, stage: Stage) -> None:
        ada = await stage.caller("Ada")
        for number, label in enumerate((f"answer {ada.identity_id}", f"answer 9{ada.identity_id}")):
            values = {"chat_id": ada.chat_id, "event_id": f"e{number}", "at": stage.now, "call": label, "reply": {}}
            stage.session.add(InboxRow(**values))
        await stage.session.flush()
        await apply_action(stage.session, ada, "forget", stage.now)
        assert [row.call for row in await stage.session.scalars(select(InboxRow))] == [f"answer 9{ada.identity_id}"]

    async def test_the_totals_stay(self, stage: Stage) -> None:
        ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
        await played(stage, ada)
        await stage.points(bo, 7)
        before = await privacy.list_ledger(stage.session, ada.member_id)
        await apply_action(stage.session, ada, "forget", stage.now)
        assert await privacy.list_ledger(stage.session, ada.member_id) == before
        answers = (await stage.session.scalars(select(AnswerRow).execution_options(populate_existing=True))).all()
        assert [(answer.name, answer.given) for answer in answers] == [("", {"options": ["a"]})] * 2
        credits = await stage.session.scalars(select(VerdictRow.credit).order_by(VerdictRow.id))
        assert list(credits) == [1.0, 0.5]
        assert len((await stage.session.scalars(select(CurrentAnswer))).all()) == 2
        board = await leaderboard.get_board(stage.session, await stage.caller("Bo", where=None), stage.now)
        assert [(row.rank, row.name) for row in board.rows] == [(1, "Bo")]

    async def test_pending_messages_are_dropped_and_practice_cards_deleted(self, stage: Stage) -> None:
        ada = await stage.caller()
        await played(stage, ada)
        await self._leave_messages(stage, ada)
        await apply_action(stage.session, ada, "forget", stage.now)
        rows = (await stage.session.scalars(select(Outbox).execution_options(populate_existing=True))).all()
        assert {row.kind: row.state for row in rows} == {"verdict": "skipped", "reveal": "due"}
        assert (await stage.session.scalars(select(CardRow))).all() == []

    async def test_an_answer_to_an_open_round_is_withdrawn(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question())
        schedule = await stage.schedule(ada)
        closed, still_open = [await stage.round(schedule, day, closed=day == MONDAY) for day in (MONDAY, WEDNESDAY)]
        for round_ in (closed, still_open):
            await stage.answer(ada, round_)
        await apply_action(stage.session, ada, "forget", stage.now)
        assert list(await stage.session.scalars(select(CurrentAnswer.round_id))) == [closed.id]

    async def test_a_code_that_they_made_links_nobody_to_them_any_more(self, stage: Stage) -> None:
        ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
        for caller in (ada, bo):
            until = stage.now + timedelta(minutes=15)
            await chats.save_link_code(stage.session, caller, "member", caller.name, stage.now, until)
        await apply_action(stage.session, ada, "forget", stage.now)
        assert await chats.lock_link_code(stage.session, "member", ["Ada"], stage.now) is None
        assert await chats.lock_link_code(stage.session, "member", ["Bo"], stage.now) is not None

    async def test_a_returning_member_starts_over(self, stage: Stage) -> None:
        ada = await stage.caller()
        await played(stage, ada)
        await apply_action(stage.session, ada, "forget", stage.now)
        again = await stage.caller()
        assert again.member_id != ada.member_id
        assert (await members.me(stage.session, again, stage.now)).points == 0
        assert [member.id for member in await store_members.find_members(stage.session, ada.workspace_id, "Ada")] == [
            again.member_id
        ]

    async def test_other_members_keep_their_data(self, stage: Stage) -> None:
        ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
        await stage.bank(question())
        await stage.practiced(bo, "views")
        await stage.practiced(ada, "views")
        await apply_action(stage.session, ada, "forget", stage.now)
        member = await stage.session.get(Member, bo.member_id)
        assert member is not None
        ((identity, _),) = await list_identities(stage.session, bo.member_id)
        assert (member.name, identity.external_id) == ("Bo", "bo")
        ((answer, _, verdict),) = await privacy.list_answers(stage.session, bo.member_id)
        assert verdict is not None
        assert (answer.name, answer.given["text"], verdict.detail) == ("Bo", None, {"judged": "something"})

    async def test_forgetting_opens_no_door_to_anything_else(self, stage: Stage) -> None:
        ada = await stage.caller()
        await played(stage, ada)
        await allow_forgetting(stage.session)
        for change in ("update ledger set points = 99", "delete from answer", "update verdict set credit = 1"):
            with pytest.raises(DBAPIError, match="append-only"):
                async with stage.session.begin_nested():
                    await (await stage.session.connection()).exec_driver_sql(change)

    async def _leave_messages(self, stage: Stage, caller: Caller) -> None:
        for kind, member_id in (("verdict", caller.member_id), ("reveal", None)):
            person = {"name": caller.name, "points": 5}
            row = Outbox(
                key=f"{kind} {caller.member_id}",
                workspace_id=caller.workspace_id,
                chat_id=caller.chat_id,
                channel_id=caller.channel_id,
                member_id=member_id,
                kind=kind,
                body={
                    "kind": kind,
                    "first": person,
                    "points": [person],
                    "judged": f"# {caller.name}"[: 40 * bool(member_id)],
                },
                due_at=stage.now,
                not_before=stage.now,
            )
            stage.session.add(row)
        call = f"answer {caller.identity_id}"
        reply = {"reply": f"Lovelace, known as {caller.name}"}
        stage.session.add(InboxRow(chat_id=caller.chat_id, event_id="e9", at=stage.now, call=call, reply=reply))
        await stage.session.flush()


async def test_the_reply_to_forgetting_is_kept_for_its_duplicate(stage: Stage) -> None:
    ada = await stage.caller()
    call = f"{privacy.FORGET_CALL} {ada.identity_id}"
    stage.session.add(InboxRow(chat_id=ada.chat_id, event_id="e1", at=stage.now, call=call, reply={"reply": {"x": 1}}))
    await apply_action(stage.session, ada, "forget", stage.now)
    who = Who(platform="web", workspace="home", member="ada", name="Ada")
    assert await privacy.find_forget_reply(stage.session, who, "e1") == {"x": 1}
    assert await privacy.find_forget_reply(stage.session, who, "e2") is None
    elsewhere = who.model_copy(update={"workspace": "away"})
    assert await privacy.find_forget_reply(stage.session, elsewhere, "e1") is None


async def test_the_archive_of_a_season_says_someone(stage: Stage) -> None:
    ada, bo = await stage.caller("Ada"), await stage.caller("Bo")
    await leaderboard.start_season(stage.session, ada, "Spring", stage.now - timedelta(days=1))
    await stage.points(ada, 9, at=stage.now - timedelta(hours=1))
    await stage.points(bo, 7, at=stage.now - timedelta(hours=1))
    await leaderboard.end_season(stage.session, ada, stage.now)
    await apply_action(stage.session, ada, "forget", stage.now)
    (season,) = (await stage.session.scalars(select(Season))).all()
    assert [row["name"] for row in season.archive or ()] == [privacy.FORGOTTEN_NAME, "Bo"]
    (view,) = await leaderboard.list_seasons(stage.session, bo)
    assert [(row.rank, row.name) for row in view.archive] == [(1, "Bo")]
