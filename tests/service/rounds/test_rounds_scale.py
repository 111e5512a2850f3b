"""Closing and regrading take the same number of statements however many members there are."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import psutil
import pytest
from sqlalchemy import func, select, text

from questions.model import Option
from service.rounds import rounds
from service.rounds.board_keys import open_board
from service.rounds.regrading import regrade_question
from service.rounds.results import PAGE
from service.rounds.tally import MAX_NAMED
from service.store import answers
from service.store.boards import get_ranks
from service.store.cards import CardRow
from service.store.ledger import insert_entries
from service.store.outbox import PACE_INTERVAL, PACE_SIZE
from service.store.statements import BATCH
from service.store.tables import Ledger, Member, Outbox, Round, VerdictRow
from tests.service.scenes import Stage, question
from tests.service.statements import counted, plan_of

SWAPPED = (Option("a", "This", False, "a misconception"), Option("b", "That", True))
MONDAY, TUESDAY = date(2026, 3, 2), date(2026, 3, 3)

ANSWER_ALL = """
with made as (
    insert into member (workspace_id, name, joined_at)
    select :workspace, 'Member ' || number, now() from generate_series(1, :count) as number returning id, name
), given as (
    insert into answer (member_id, round_id, version_id, number, event_id, given, name, at)
    select id, :round, :version, 1, 'event', '{"options": ["a"]}'::jsonb, name, now() - :earlier from made
    returning id, member_id
) insert into standing (round_id, member_id, answer_id) select :round, member_id, id from given"""


async def answer_all(
    stage: Stage, round_: Round, count: int, workspace: str = "home", earlier: timedelta = timedelta()
) -> None:
    """Gives the round an answer of each of `count` new members, who answered so much earlier than now.

    Updates the statistics, as autovacuum does: those of a recycled database say that the tables are empty, and joins
    planned with them take minutes.
    """
    here = (await stage.caller(workspace=workspace)).workspace_id
    values = {"workspace": here, "count": count, "round": round_.id, "version": round_.version_id, "earlier": earlier}
    await stage.session.flush()
    await stage.session.execute(text(ANSWER_ALL), values)
    await stage.session.execute(text("analyze member, answer, standing"))


async def two_rounds(stage: Stage) -> tuple[Round, Round]:
    """A closed round of yesterday and an open one of today."""
    await stage.bank(question("views"), question("strides"))
    schedule = await stage.schedule(await stage.caller())
    yesterday = await stage.round(schedule, MONDAY, "views")
    return yesterday, await stage.round(schedule, TUESDAY, "strides", closed=False)


async def count(stage: Stage, table: type[Any]) -> int:
    return int(await stage.session.scalar(select(func.count()).select_from(table)) or 0)


async def test_closing_takes_the_same_statements_for_two_answers_as_for_two_hundred(stage: Stage) -> None:
    taken = []
    for members in (2, 200):
        _, today = await two_rounds(stage)
        await answer_all(stage, today, members)
        with counted() as sent:
            assert await rounds.close_round(stage.session, today.id, stage.now)
        assert await count(stage, Ledger) == await count(stage, VerdictRow) == members
        taken.append(len(sent))
        await stage.session.rollback()
    assert taken[0] == taken[1]


async def test_regrading_takes_the_same_statements_for_two_answers_as_for_two_hundred(stage: Stage) -> None:
    taken = []
    for members in (2, 200):
        _, today = await two_rounds(stage)
        await answer_all(stage, today, members)
        await rounds.close_round(stage.session, today.id, stage.now)
        await stage.bank(question("views"), question("strides", options=SWAPPED, answer="That"))
        version = await stage.version("strides")
        with counted() as sent:
            await regrade_question(stage.session, version.id, stage.now)
        points = await stage.session.scalar(select(func.sum(Ledger.points)))
        assert (points, await count(stage, Ledger)) == (0, 2 * members)
        taken.append(len(sent))
        await stage.session.rollback()
    assert taken[0] == taken[1]


async def test_a_close_takes_no_longer_where_the_statistics_say_that_boards_are_empty(stage: Stage) -> None:
    """As after boards were dropped. A join planned with these statistics compares every row with every answer."""
    _, today = await two_rounds(stage)
    await answer_all(stage, today, 3000)
    round_id = today.id
    server = psutil.Process(int(await stage.session.scalar(text("select pg_backend_pid()")) or 0))
    taken = []
    for _ in range(2):
        before = sum(server.cpu_times()[:2])
        async with stage.session.begin_nested() as closing:
            assert await rounds.close_round(stage.session, round_id, stage.now)
            assert await stage.session.scalar(text("select count(*) from board_member")) == 8 * 3000
            await closing.rollback()
        taken.append(sum(server.cpu_times()[:2]) - before)
        await stage.session.execute(text("analyze board, board_member, board_entry, board_block, ledger"))
    assert taken[1] < 4 * taken[0]


_MISCOUNTED = """
    with block as (
        select *, lead(row(deficit, ms, member_id)) over (
            partition by board_id, contest order by deficit, ms, member_id
        ) as following
        from board_block
    )
    select board_id, contest, members from block k where members > 2 * block_size() or members <> (
        select count(*) from board_entry e
        where e.board_id = k.board_id and e.contest = k.contest
            and row(e.deficit, e.ms, e.member_id) >= row(k.deficit, k.ms, k.member_id)
            and (k.following is null or row(e.deficit, e.ms, e.member_id) < k.following)
    )
"""
"""Selects blocks of boards that do not have as many members as they say, or too many."""


async def test_blocks_of_a_large_board_say_how_many_members_they_have(stage: Stage) -> None:
    """Made anew as most of the board changes, then counted up as a few members move."""
    _, today = await two_rounds(stage)
    await answer_all(stage, today, 2200)
    await rounds.close_round(stage.session, today.id, stage.now)
    sizes = text(
        "select board_id, contest, array_agg(members order by deficit, ms, member_id) from board_block group by 1, 2"
    )
    made = {tuple(row[2]) for row in await stage.session.execute(sizes)}
    assert (made, (await stage.session.execute(text(_MISCOUNTED))).all()) == ({(1024, 1024, 152), (0,)}, [])
    people = (await stage.session.scalars(select(Ledger.member_id).distinct().order_by(Ledger.member_id))).all()
    workspace = await stage.session.scalar(select(Ledger.workspace_id).limit(1))
    moved = [
        {"key": f"moved:{each}", "workspace_id": workspace, "member_id": each, "round_id": None, "points": 5,
         "credit": None, "reason": "adjust", "at": stage.now, "seconds": None}
        for each in people[-300:]
    ]  # fmt: skip
    await insert_entries(stage.session, moved)
    after = {tuple(row[2]) for row in await stage.session.execute(sizes)}
    assert (await stage.session.execute(text(_MISCOUNTED))).all() == []
    assert any(sum(each) == 2200 and each not in made for each in after), "some blocks have other members now"


async def test_many_ranks_are_read_in_one_pass_over_the_board(stage: Stage) -> None:
    """As often as a connection asks: PostgreSQL plans a function's statement for any arguments after five calls."""
    schedule = await stage.schedule(await stage.caller())
    week = await open_board(stage.session, schedule.workspace_id, schedule.channel_id, "week", stage.now)
    entries = "insert into board_entry select :board, 'points', id, 0, id from generate_series(1, 20000) as id"
    await stage.session.execute(text(entries), {"board": week})
    await stage.session.execute(text("update board_block set members = 20000 where contest = 'points'"))
    server = psutil.Process(int(await stage.session.scalar(text("select pg_backend_pid()")) or 0))
    taken = {}
    for asked in (1000, 20_000):
        people = range(1, asked + 1)
        before = sum(server.cpu_times()[:2])
        for _ in range(8):
            assert await get_ranks(stage.session, week, people) == {id_: id_ for id_ in people}
        taken[asked] = sum(server.cpu_times()[:2]) - before
    assert taken[20_000] < 8 * taken[1000]


@pytest.mark.slow
async def test_a_round_closes_with_more_absent_members_than_a_statement_has_parameters(stage: Stage) -> None:
    """PostgreSQL allows 65,535 parameters; with four of them per card, 16,384 absent members were too many."""
    yesterday, today = await two_rounds(stage)
    await answer_all(stage, yesterday, 17_000)
    assert await rounds.close_round(stage.session, today.id, stage.now)
    assert await count(stage, CardRow) == 17_000


async def test_absent_members_are_not_compared_with_all_who_answered(stage: Stage) -> None:
    """A plan that looks through the answers for each member never ended with a million of them."""
    yesterday, today = await two_rounds(stage)
    await answer_all(stage, yesterday, 3_000)
    await answer_all(stage, today, 3_000)
    await stage.session.execute(text("analyze standing"))
    await stage.session.execute(text("set local work_mem = '64kB'"))
    absent = answers.absent_members(today)
    assert "SubPlan" not in json.dumps(await plan_of(stage.session, absent))
    assert len((await stage.session.scalars(absent)).all()) == 3_000


async def test_a_reveal_names_the_best_and_counts_the_rest(stage: Stage) -> None:
    _, today = await two_rounds(stage)
    await answer_all(stage, today, 40)
    await rounds.close_round(stage.session, today.id, stage.now)
    reveal = (await stage.session.scalars(select(Outbox.body).where(Outbox.kind == "reveal"))).one()
    assert (len(reveal["points"]), reveal["unnamed"], reveal["answers"]) == (MAX_NAMED, 15, 40)
    assert await count(stage, Member) == 41


@pytest.mark.slow
async def test_a_round_of_more_than_a_page_of_answers_closes_and_is_regraded_as_a_whole(stage: Stage) -> None:
    """Its last member, on the second page, had points before and answered first."""
    answered = BATCH + 2
    yesterday, today = await two_rounds(stage)
    await answer_all(stage, today, answered - 1)
    await answer_all(stage, today, 1, earlier=timedelta(hours=1))
    await stage.session.execute(text("update member set name = 'Last' where id = (select max(id) from member)"))
    earned = "insert into ledger (key, workspace_id, member_id, round_id, points, reason, at) "
    earned += "select 'earned', workspace_id, id, :round, 1, 'round', :at from member where name = 'Last'"
    await stage.session.execute(text(earned), {"round": yesterday.id, "at": yesterday.opens_at})
    assert await rounds.close_round(stage.session, today.id, stage.now)
    reveal = (await stage.session.scalars(select(Outbox.body).where(Outbox.kind == "reveal"))).one()
    assert (reveal["answers"], reveal["right"], reveal["mean_credit"]) == (answered, answered, 1.0)
    assert (reveal["first"]["name"], reveal["points"][0]["name"], reveal["unnamed"]) == ("Last", "Last", answered - 25)
    assert reveal["key"]["options"][0]["chosen_by"] == answered
    assert await count(stage, Ledger) - 1 == await count(stage, VerdictRow) == answered
    ranks = await stage.session.execute(
        text("select rank_before, rank_after, ranked, count(*) from standing group by 1, 2, 3 order by 2")
    )
    assert [tuple(row) for row in ranks] == [(1, 1, answered, 1), (None, 2, answered, answered - 1)]
    await stage.bank(question("views"), question("strides", options=SWAPPED, answer="That"))
    await regrade_question(stage.session, (await stage.version("strides")).id, stage.now)
    assert await stage.session.scalar(select(func.sum(Ledger.points))) == 1
    assert await count(stage, Ledger) == 2 * answered + 1


async def test_many_private_results_are_sent_a_few_at_a_time(stage: Stage) -> None:
    """They are built in pages; the pace goes on from page to page."""
    answered = PAGE + PACE_SIZE
    _, today = await two_rounds(stage)
    await answer_all(stage, today, answered)
    chat = await stage.session.scalar(text("update chat set platform = 'slack' returning id"))
    want = "insert into notification_setting (member_id, chat_id, results) select member_id, :chat, true from standing"
    await stage.session.execute(text(want), {"chat": chat})
    await rounds.close_round(stage.session, today.id, stage.now)
    sent = select(Outbox.due_at, func.count()).where(Outbox.kind == "result").group_by(Outbox.due_at)
    found = [tuple(row) for row in await stage.session.execute(sent.order_by(Outbox.due_at))]
    assert found == [(stage.now + PACE_INTERVAL * number, PACE_SIZE) for number in range(answered // PACE_SIZE)]
