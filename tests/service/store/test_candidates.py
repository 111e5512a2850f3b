"""What may be asked is cached in the process, and every change of a bank is noticed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from service.store import candidates, variants
from service.store.candidates import list_candidates
from service.store.session import Sessions
from service.store.tables import QuestionRow, QuestionVersion, SandboxDevice
from tests.service.scenes import NOON, Stage, question
from tests.service.statements import counted


async def topics(session: AsyncSession) -> list[str]:
    return sorted(one.topic for one in await list_candidates(session, workspace_id=1, schedule_id=None))


async def set_up(sessions: Sessions) -> None:
    async with sessions.begin() as session:
        stage = Stage(session)
        await stage.caller()
        await stage.bank(question("views", topic="views"), question("grad", topic="grad"))


async def hold(session: AsyncSession) -> None:
    await session.execute(update(QuestionRow).where(QuestionRow.key == "views").values(held=True))


async def drop(session: AsyncSession) -> None:
    await session.execute(update(QuestionRow).where(QuestionRow.key == "views").values(retired_at=NOON))


async def shorten(session: AsyncSession) -> None:
    await Stage(session).bank(question("grad", topic="grad"))


@pytest.mark.parametrize("change", [hold, drop, shorten])
async def test_a_change_by_another_process_is_noticed(
    sessions: Sessions, change: Callable[[AsyncSession], Awaitable[None]]
) -> None:
    await set_up(sessions)
    async with sessions.begin() as session:
        assert await topics(session) == ["grad", "views"]
    async with sessions.begin() as other:
        await change(other)
        async with sessions.begin() as session:
            assert await topics(session) == ["grad", "views"], "not committed yet"
        assert await topics(other) == ["grad"]
    async with sessions.begin() as session:
        assert await topics(session) == ["grad"]


async def test_what_was_rolled_back_is_not_remembered(sessions: Sessions) -> None:
    await set_up(sessions)
    async with sessions() as other:
        await hold(other)
        assert await topics(other) == ["grad"]
        await other.rollback()
    async with sessions.begin() as session:
        assert await topics(session) == ["grad", "views"]


async def test_new_versions_and_variants_are_noticed(sessions: Sessions) -> None:
    await set_up(sessions)
    async with sessions.begin() as session:
        stage = Stage(session)
        version = await stage.version("views")
        family = QuestionVersion(
            question_id=version.question_id,
            version=2,
            family=True,
            kind="choice",
            topic="family",
            answered=True,
            digest="f",
            body=version.body,
            created_at=NOON,
        )
        session.add(family)
        await session.flush()
        await session.execute(update(QuestionRow).where(QuestionRow.id == version.question_id).values(current=2))
        assert await topics(session) == ["grad"], "a family is asked when it has variants"
    async with sessions.begin() as session:
        drawn = await session.get_one(QuestionVersion, family.id)
        await variants.add(session, drawn, [(question("views-0000000001", topic="family"), "d")], NOON)
    async with sessions.begin() as session:
        assert await topics(session) == ["family", "grad"]


async def test_a_gpu_that_appears_is_noticed(sessions: Sessions) -> None:
    await set_up(sessions)
    body = {"task": {"device": "cuda"}}
    async with sessions.begin() as session:
        version = await Stage(session).version("views")
        session.add(
            QuestionVersion(
                question_id=version.question_id,
                version=2,
                kind="code",
                topic="gpu",
                answered=True,
                digest="g",
                body=body,
                created_at=NOON,
            )
        )
        await session.flush()
        await session.execute(update(QuestionRow).where(QuestionRow.id == version.question_id).values(current=2))
    async with sessions.begin() as session:
        assert await topics(session) == ["grad"]
        assert len(await list_candidates(session, workspace_id=1, schedule_id=None, anywhere=True)) == 2
        session.add(SandboxDevice(device="cuda", seen_at=NOON))
    async with sessions.begin() as session:
        assert await topics(session) == ["gpu", "grad"]


async def test_an_unchanged_bank_is_not_read_again(sessions: Sessions) -> None:
    await set_up(sessions)
    async with sessions.begin() as session:
        await topics(session)
        with counted() as sent:
            await topics(session)
    assert not any("question_version.kind" in statement for statement in sent)


async def test_the_cache_is_bounded(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "MAX_CACHED", 3)
    await set_up(sessions)
    async with sessions.begin() as session:
        for number in range(4):
            await Stage(session).bank(question(f"more-{number}", topic="more"), name=f"bank-{number}")
        for _ in range(2):
            assert await topics(session) == ["grad", "more", "more", "more", "more", "views"]
    assert sum(len(pool.by_id) for pool in candidates._cache.values()) <= 3
