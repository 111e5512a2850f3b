"""An event is processed once, however often and by whomever it is sent. A rolled-back event is processed again."""

from __future__ import annotations

import asyncio

import pytest

from service.rounds.idempotency import EventCall, run_once
from service.store.members import Caller, resolve_caller
from service.store.session import Sessions
from service.wire import EventReused, Who
from tests.conftest import MONDAY
from tests.service.refusals import refused

ADA = Who(platform="web", workspace="home", member="ada", name="Ada")


async def caller_in(sessions: Sessions, who: Who = ADA) -> Caller:
    async with sessions.begin() as session:
        return await resolve_caller(session, who, None, MONDAY)


async def test_the_work_of_an_event_is_done_once(sessions: Sessions) -> None:
    caller, done = await caller_in(sessions), []

    async def work() -> int:
        done.append(1)
        return len(done)

    async def call() -> int:
        async with sessions.begin() as session:
            return await run_once(session, caller, EventCall("e", "count", MONDAY), work(), int)

    assert await asyncio.gather(*(call() for _ in range(6))) == [1] * 6
    assert done == [1]


async def test_work_that_fails_leaves_the_event_unanswered(sessions: Sessions) -> None:
    caller = await caller_in(sessions)

    async def work(*, fails: bool) -> str:
        if fails:
            raise LookupError("not now")
        return "done"

    with pytest.raises(LookupError):
        async with sessions.begin() as session:
            await run_once(session, caller, EventCall("e", "try", MONDAY), work(fails=True), str)
    async with sessions.begin() as session:
        assert await run_once(session, caller, EventCall("e", "try", MONDAY), work(fails=False), str) == "done"


@pytest.mark.parametrize(("member", "call"), [("ada", "other"), ("eve", "first")])
async def test_an_event_of_another_call_or_member_is_refused(sessions: Sessions, member: str, call: str) -> None:
    async def work() -> str:
        return "mine"

    async with sessions.begin() as session:
        await run_once(session, await caller_in(sessions), EventCall("e", "first", MONDAY), work(), str)
    other = await caller_in(sessions, ADA.model_copy(update={"member": member}))
    with refused(EventReused(event_id="e")):
        async with sessions.begin() as session:
            await run_once(session, other, EventCall("e", call, MONDAY), work(), str)


async def test_workspaces_do_not_share_event_ids(sessions: Sessions) -> None:
    async def work(reply: str) -> str:
        return reply

    for _ in range(2):
        replies = []
        for workspace in ("home", "elsewhere"):
            caller = await caller_in(sessions, ADA.model_copy(update={"workspace": workspace}))
            async with sessions.begin() as session:
                replies.append(await run_once(session, caller, EventCall("e", "call", MONDAY), work(workspace), str))
        assert replies == ["home", "elsewhere"], "also the second time, when they are stored"
