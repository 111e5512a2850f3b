"""Statements that are built once or insert many rows, and what they read for one member of a large team."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import Select, func, select, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from service.rounds import rounds
from service.store import calibrations
from service.store.statements import BATCH, built_once, insert_batches, insert_rows
from service.store.tables import Base, Member
from tests.service.rounds.test_rounds_scale import answer_all
from tests.service.scenes import Stage, question
from tests.service.statements import blocks_of, counted


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


class Own(DeclarativeBase):
    """Tables of this file."""

    type_annotation_map = Base.type_annotation_map


class Row(Own):
    """A column of each kind that is stored, in a table that exists for the connection only."""

    __tablename__ = "every_kind"
    __table_args__ = ({"prefixes": ["temporary"]},)
    id: Mapped[int] = mapped_column(primary_key=True)
    share: Mapped[float | None]
    text: Mapped[str | None]
    steady: Mapped[bool | None]
    day: Mapped[date | None]
    at: Mapped[datetime | None]
    detail: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    times: Mapped[list[Any] | None] = mapped_column(JSONB(none_as_null=True))


async def test_many_rows_are_inserted_as_they_are_by_one_statement(stage: Stage) -> None:
    await (await stage.session.connection()).run_sync(Row.metadata.create_all)
    kinds = {
        "share": (1, 0.5, None),
        "text": ('{a,"b"}', "ünd∑\n\\", None, "null"),
        "steady": (True, False, None),
        "day": (stage.now.date(), None),
        "at": (stage.now, stage.now.astimezone(ZoneInfo("Asia/Tokyo")), None),
        "detail": ({"a": [1, "∑", None]}, {}, None),
        "times": ([1.5, 2], [], None),
    }
    rows = [
        {"id": number} | {name: values[number % len(values)] for name, values in kinds.items()} for number in range(60)
    ]
    with counted() as sent:
        await stage.session.execute(insert_rows(Row, rows))
    assert len(sent) == 1
    found = await stage.session.execute(select(Row.__table__).order_by(Row.id))
    assert [dict(row) for row in found.mappings()] == rows
    unchanged = insert_rows(Row, [row | {"text": "other"} for row in rows]).on_conflict_do_nothing()
    await stage.session.execute(unchanged)
    assert await stage.session.scalar(select(Row.text).where(Row.id == 3)) == "null"


@pytest.mark.parametrize(("rows", "statements"), [(0, 0), (1, 1), (BATCH, 1), (BATCH + 1, 2)])
async def test_very_many_rows_are_inserted_in_batches(stage: Stage, rows: int, statements: int) -> None:
    await (await stage.session.connection()).run_sync(Row.metadata.create_all)
    made = list(insert_batches(Row, [{"id": number, "share": 0.5} for number in range(rows)]))
    assert len(made) == statements
    for one in made:
        await stage.session.execute(one)
    assert await stage.session.scalar(select(func.count()).select_from(Row)) == rows


async def test_the_answers_of_one_member_are_read_first_and_those_of_the_team_not_at_all(stage: Stage) -> None:
    """PostgreSQL's own plan for the joins sometimes begins with the verdicts of the whole team."""
    await stage.bank(question("views"))
    caller = await stage.caller("Ada")
    played = await stage.round(await stage.schedule(caller), stage.now.date(), closed=False)
    await answer_all(stage, played, 1500)
    await rounds.close_round(stage.session, played.id, stage.now)
    # As autovacuum does. Those of a recycled database may say that there is no verdict.
    await stage.session.execute(text("analyze verdict"))
    since = stage.now - timedelta(days=365)
    query, values = calibrations.select_first_answers(caller.workspace_id, since, 100, caller.member_id)
    assert str(query.compile(dialect=stage.session.get_bind().dialect)).count("MATERIALIZED") == 2
    assert await blocks_of(stage.session, query.params(values)) < 50, "the answers of the team fill more"
