"""Statements that are built once, and what they read for one member of a large team."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import Select, select

from service.rounds import rounds
from service.store import calibrations
from service.store.statements import built_once
from service.store.tables import Member
from tests.service.rounds.test_rounds_scale import answer_all
from tests.service.scenes import Stage, question
from tests.service.statements import blocks_of


async def test_a_statement_is_built_once_and_finds_what_each_call_asks_for(stage: Stage) -> None:
    calls = []

    @built_once
    def named(workspace_id: int, name: str) -> Select[int]:
        calls.append(name)
        return select(Member.id).where(Member.workspace_id == workspace_id, Member.name == name)

    ada, bob = await stage.caller("Ada"), await stage.caller("Bob")
    assert await stage.session.scalar(*named(ada.workspace_id, "Ada")) == ada.member_id
    assert await stage.session.scalar(*named(bob.workspace_id, name="Bob")) == bob.member_id
    assert await stage.session.scalar(*named(bob.workspace_id, "Eve")) is None
    assert len(calls) == 1


async def test_a_statement_leaves_out_the_condition_of_an_argument_that_is_none(stage: Stage) -> None:
    @built_once
    def named(workspace_id: int, name: str | None = None) -> Select[int]:
        query = select(Member.id).where(Member.workspace_id == workspace_id)
        return query if name is None else query.where(Member.name == name)

    ada, bob = await stage.caller("Ada"), await stage.caller("Bob")
    for _ in range(2):
        assert set(await stage.session.scalars(*named(ada.workspace_id))) == {ada.member_id, bob.member_id}
        assert list(await stage.session.scalars(*named(ada.workspace_id, "Bob"))) == [bob.member_id]
        assert set(await stage.session.scalars(*named(ada.workspace_id, None))) == {ada.member_id, bob.member_id}


async def test_the_answers_of_one_member_are_read_first_and_those_of_the_team_not_at_all(stage: Stage) -> None:
    """PostgreSQL's own plan for the joins sometimes begins with the verdicts of the whole team."""
    await stage.bank(question("views"))
    caller = await stage.caller("Ada")
    played = await stage.round(await stage.schedule(caller), stage.now.date(), closed=False)
    await answer_all(stage, played, 1500)
    await rounds.close_round(stage.session, played.id, stage.now)
    since = stage.now - timedelta(days=365)
    query, values = calibrations.select_first_answers(caller.workspace_id, since, 100, caller.member_id)
    assert str(query.compile(dialect=stage.session.get_bind().dialect)).count("MATERIALIZED") == 2
    assert await blocks_of(stage.session, query.params(values)) < 50, "the answers of the team fill more"
