"""The service as a whole: it ticks and works by itself, stops cleanly, and of two processes one leads."""

from __future__ import annotations

import asyncio

from service.app import build
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


async def test_what_a_dead_worker_held_is_taken_up(daily: DailyChannel, clock: Clock) -> None:
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
    assert await daily.service.jobs.retry_stalled() == 1
    (job,) = await daily.service.jobs.app.job_manager.list_jobs_async()
    assert job.status == "todo"
    assert await daily.service.jobs.retry_stalled() == 0
