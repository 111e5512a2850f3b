"""The service as a whole: it ticks and works by itself, stops cleanly, and of two processes one leads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError, ProgrammingError

from service.app import Service, build
from service.client import ServiceClient
from service.config import Settings
from service.wire import AnswerInput, Where
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DailyChannel, choice, code


async def test_two_services_post_a_round_once(settings: Settings, clock: Clock) -> None:
    one, two = build(settings, clock), build(settings, clock)
    client = ServiceClient.inside(one.api, TOKEN)
    async with client, one.running(work=True), two.running(work=True), asyncio.timeout(60):
        daily = DailyChannel(one, client)
        await daily.bank(choice())
        await daily.schedule()
        clock.advance(hours=1)
        kinds: list[str] = []
        while "question" not in kinds:
            found = await client.outbox_claim("web", wait_s=5)
            kinds += [delivery.body.kind for delivery in found]
            for delivery in found:
                await client.outbox_sent(delivery.id, "m")
        kinds += [delivery.body.kind for delivery in await client.outbox_claim("web", wait_s=1.5)]
    assert sorted(kinds) == ["notice", "question"]


async def test_a_service_with_a_worker_runs_its_jobs(settings: Settings, clock: Clock) -> None:
    service = build(settings, clock)
    client = ServiceClient.inside(service.api, TOKEN)
    async with client, service.running(work=True), asyncio.timeout(60):
        daily = DailyChannel(service, client)
        await daily.bank(code())
        form = await client.practice(daily.who(), Where(channel="daily"))
        assert form is not None
        await daily.answer(form.ref, AnswerInput(code="def double(x): return 2 * x"))
        manager = service.jobs.app.job_manager
        attempts = 0
        while not attempts:
            (job,) = await manager.list_jobs_async()
            attempts = job.attempts
        assert attempts == 1


async def leave_job(daily: DailyChannel) -> None:
    """A worker killed in the middle leaves its job in the state `doing`, without a heartbeat."""
    await daily.bank(code())
    form = await daily.client.practice(daily.who(), Where(channel="daily"))
    assert form is not None
    await daily.answer(form.ref, AnswerInput(code="def double(x): return 2 * x"))
    connector = daily.service.jobs.app.connector
    await connector.execute_query_async(
        "with dead as (insert into procrastinate_workers (last_heartbeat) values (now() - interval '1 hour') "
        "returning id) update procrastinate_jobs set status = 'doing', worker_id = (select id from dead)"
    )


async def job_status(daily: DailyChannel) -> str | None:
    (job,) = await daily.service.jobs.app.job_manager.list_jobs_async()
    return job.status


async def test_what_a_dead_worker_held_is_taken_up(daily: DailyChannel) -> None:
    await leave_job(daily)
    assert await daily.service.jobs.retry_stalled() == 1
    assert await job_status(daily) == "todo"
    assert await daily.service.jobs.retry_stalled() == 0


async def test_a_step_of_a_tick_that_fails_keeps_no_later_one_waiting(daily: DailyChannel) -> None:
    await leave_job(daily)
    async with without_table(daily.service, "sprint"):
        with pytest.raises(ExceptionGroup) as failed:
            await daily.service.lead()
    (problem,) = failed.value.exceptions
    assert isinstance(problem, ProgrammingError) and "sprint" in str(problem)
    assert await job_status(daily) == "todo"


@asynccontextmanager
async def without_table(service: Service, name: str) -> AsyncIterator[None]:
    """Gives a table another name until the block exits."""
    async with service.sessions.begin() as session:
        await session.execute(text(f"alter table {name} rename to away"))
    try:
        yield
    finally:
        async with service.sessions.begin() as session:
            await session.execute(text(f"alter table away rename to {name}"))


async def test_without_the_database_a_tick_fails_at_once(settings: Settings, clock: Clock) -> None:
    """Each of its steps would wait for a connection."""
    nowhere = make_url(settings.database_url).set(host="127.0.0.1", port=1).render_as_string(hide_password=False)
    service = build(settings.model_copy(update={"database_url": nowhere}), clock)
    with pytest.raises(OperationalError):
        await service.lead()
