"""Closing and regrading take the same number of statements however many members there are."""

from __future__ import annotations

from datetime import date
from typing import Any

import psutil
from sqlalchemy import func, select, text

from questions.model import Option
from service.rounds import rounds
from service.rounds.regrading import regrade_question
from service.store.cards import CardRow
from service.store.tables import Ledger, Member, Outbox, Round, VerdictRow
from tests.service.scenes import Stage, question
from tests.service.statements import counted

SWAPPED = (Option("a", "This", False, "a misconception"), Option("b", "That", True))
MONDAY, TUESDAY = date(2026, 3, 2), date(2026, 3, 3)

ANSWER_ALL = """
with made as (
    insert into member (workspace_id, name, joined_at)
    select :workspace, 'Member ' || number, now() from generate_series(1, :count) as number returning id, name
), given as (
    insert into answer (member_id, round_id, version_id, number, event_id, given, name, at)
    select id, :round, :version, 1, 'event', '{"options": ["a"]}'::jsonb, name, now() from made returning id, member_id
) insert into standing (round_id, member_id, answer_id) select :round, member_id, id from given"""


async def answer_all(stage: Stage, round_: Round, count: int, workspace: str = "home") -> None:
    """Gives the round an answer of each of `count` new members.

    Updates the statistics, as autovacuum does: those of a recycled database say that the tables are empty, and joins
    planned with them take minutes.
    """
    here = (await stage.caller(workspace=workspace)).workspace_id
    values = {"workspace": here, "count": count, "round": round_.id, "version": round_.version_id}
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


async def test_a_round_closes_with_more_absent_members_than_a_statement_has_parameters(stage: Stage) -> None:
    """PostgreSQL allows 65,535 parameters; with four of them per card, 16,384 absent members were too many."""
    yesterday, today = await two_rounds(stage)
    await answer_all(stage, yesterday, 17_000)
    assert await rounds.close_round(stage.session, today.id, stage.now)
    assert await count(stage, CardRow) == 17_000


async def test_a_reveal_names_the_best_and_counts_the_rest(stage: Stage) -> None:
    _, today = await two_rounds(stage)
    await answer_all(stage, today, 40)
    await rounds.close_round(stage.session, today.id, stage.now)
    reveal = (await stage.session.scalars(select(Outbox.body).where(Outbox.kind == "reveal"))).one()
    assert (len(reveal["points"]), reveal["unnamed"], reveal["answers"]) == (rounds.MAX_NAMED, 15, 40)
    assert await count(stage, Member) == 41
