"""Statements that one test compiled are not compiled again by the next, which has another engine."""

from __future__ import annotations

from sqlalchemy import literal, select

from service.store.session import make_engine
from tests.databases import SharedStatements


async def test_a_second_engine_uses_the_statements_of_the_first(database_url: str) -> None:
    found = []
    for number in (1, 2):
        engine = make_engine(database_url)
        async with engine.connect() as connection:
            assert isinstance(connection.dialect, SharedStatements)
            result = await connection.execute(select(literal(number).label("compiled once by every run")))
            found.append((result.scalar_one(), len(SharedStatements.compiled)))
        await engine.dispose()
    assert [value for value, _ in found] == [1, 2]
    assert found[0][1] == found[1][1] > 0
