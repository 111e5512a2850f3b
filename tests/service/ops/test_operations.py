"""The state of the quiz, as its admins and the operator see it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg

from sandbox.client import SandboxClient
from service.leader import Leader
from service.ops.operations import overview, sandbox_view
from service.rounds import grading
from service.rounds.sandbox_turns import FairSandbox
from service.store.session import libpq_url
from service.wire import AdminsOnly, AnswerInput, Delivery, Operations, SlotView, Where
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import SPEC, DailyChannel, choice, post_code_question
from tests.service.ops.test_doctor import WELL, supervisor
from tests.service.refusals import refused

NINE = MONDAY + timedelta(hours=1)


async def shown(daily: DailyChannel, workspace: str = "home") -> Operations:
    return await daily.client.operations(daily.who("Boss", workspace=workspace, admin=True))


async def everything(daily: DailyChannel) -> Operations:
    async with daily.service.sessions() as session:
        return await overview(session, None, await sandbox_view(daily.service.sandbox), daily.now)


async def question(daily: DailyChannel) -> Delivery:
    """Returns the question's delivery, claimed by a bot."""
    return next(each for each in await daily.claim() if each.body.kind == "question")


async def slot(daily: DailyChannel) -> SlotView:
    return (await shown(daily)).slots[0]


async def test_a_slot_is_followed_from_due_to_confirmed(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    assert (await shown(daily)).slots == ()
    clock.now = NINE + timedelta(seconds=1)
    await daily.service.tick()
    clock.advance(seconds=30)
    waiting = await slot(daily)
    assert (waiting.state, waiting.late_s, waiting.due_at) == ("waiting", 31, NINE)
    assert (waiting.channel, waiting.platform, waiting.zone, waiting.workspace) == ("#daily", "web", "UTC", "")
    clock.advance(minutes=2)
    overdue = await slot(daily)
    assert (overdue.state, overdue.late_s, overdue.taken_at) == ("overdue", 151, None)
    delivery = await question(daily)
    clock.advance(seconds=9)
    await daily.client.outbox_sent(delivery.id, "m1")
    late = await slot(daily)
    assert (late.state, late.late_s) == ("late", 160)
    assert (late.taken_at, late.sent_at) == (NINE + timedelta(seconds=151), NINE + timedelta(seconds=160))


async def test_a_question_posted_in_the_first_minute_is_on_time(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE + timedelta(seconds=2)
    await daily.ticked()
    assert ((await slot(daily)).state, (await slot(daily)).late_s) == ("posted", 2)


async def test_after_an_outage_the_time_it_was_due_is_the_slots(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE + timedelta(minutes=30)
    await daily.ticked()
    late = await slot(daily)
    assert (late.state, late.due_at, late.late_s) == ("late", NINE, 1800)


async def test_a_slot_that_will_not_be_posted_says_why(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE + timedelta(hours=5)
    await daily.service.tick()
    skipped = await slot(daily)
    assert (skipped.state, skipped.late_s) == ("skipped", 0)
    assert (skipped.skipped, skipped.error) == ("missed", "")


async def test_a_failure_shows_its_reason_and_no_member(daily: DailyChannel, clock: Clock, database_url: str) -> None:
    ref = await post_code_question(daily, clock)
    secret = "def double(x):\n    return 'canary-code'\n"
    await daily.answer(ref, AnswerInput(code=secret), name="Canary-Member")
    await grading.judge_answer(daily.service.sessions, None, 1, clock, last=True)
    clock.now = NINE + timedelta(days=1)
    await daily.service.tick()
    while claimed := await daily.claim():
        for delivery in claimed:
            if delivery.body.kind != "question":
                await daily.client.outbox_sent(delivery.id, "m")
                continue
            failing = daily.client.outbox_failed(delivery.id, delivery.attempt, "Missing Access", outcome="refused")
            await failing
    with psycopg.connect(libpq_url(database_url), autocommit=True) as connection:
        connection.execute(
            "with job as (insert into procrastinate_jobs (queue_name, task_name, args, status, attempts)"
            " values ('judging', 'judge_answer', '{\"answer_id\": 1}', 'failed', 8) returning id)"
            " insert into procrastinate_events (job_id, type, at) select id, 'failed', %s from job",
            [clock.now],
        )
    found = await shown(daily)
    errors = {(error.kind, error.name, error.given_up, error.attempts, error.error) for error in found.errors}
    assert ("message", "question", True, 1, "Missing Access") in errors
    assert ("job", "judge_answer", True, 8, "") in errors
    (verdict,) = [error for error in found.errors if error.kind == "verdict"]
    assert (verdict.private, verdict.channel, verdict.platform) == (True, "", "web")
    assert [(trouble.kind, trouble.channel, trouble.problem, trouble.over_at) for trouble in found.troubles] == [
        ("refused", "#daily", None, None),
        ("sandbox", "", "not connected", None),
    ]
    assert "canary" not in found.model_dump_json().lower()


async def test_what_waits_is_counted_with_its_age(daily: DailyChannel, clock: Clock) -> None:
    ref = await post_code_question(daily, clock)
    await daily.answer(ref, AnswerInput(code="def double(x):\n    return 2 * x\n"))
    clock.now = NINE + timedelta(days=1)
    await daily.service.tick()
    queues = {queue.kind: queue for queue in (await shown(daily)).queues}
    assert queues["messages"].platform == "web" and queues["messages"].count >= 1
    assert (queues["answers"].count, queues["answers"].oldest_at) == (1, NINE)
    assert "jobs" not in queues
    jobs = {(queue.task, queue.status): queue.count for queue in (await everything(daily)).queues}
    assert jobs["judge_answer", "todo"] == 1


async def test_how_the_sandbox_is(daily: DailyChannel, tmp_path: Path) -> None:
    assert (await shown(daily)).sandbox is None
    async with supervisor(tmp_path, {**WELL, "waiting": 3}) as client:
        found = await sandbox_view(FairSandbox(client), timeout_seconds=60)
    assert found is not None
    assert (found.problem, found.ready, found.waiting, found.isolation) == (None, 2, 3, "full")
    gone = await sandbox_view(FairSandbox(SandboxClient(tmp_path / "nobody.sock")), timeout_seconds=60)
    assert gone is not None
    assert gone.problem == "unreachable"
    assert "no sandbox answers" in gone.trouble


async def test_whether_a_worker_leads(daily: DailyChannel, database_url: str) -> None:
    assert not (await shown(daily)).led
    leader = Leader(database_url)
    await leader.acquire()
    assert (await shown(daily)).led
    await leader.release()


async def test_admins_see_their_own_workspace_and_the_operator_all(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    await daily.schedule(SPEC, where=Where(channel="theirs", name="#theirs"), workspace="other")
    clock.now = NINE
    await daily.service.tick()
    for workspace, channel in (("home", "#daily"), ("other", "#theirs")):
        found = await shown(daily, workspace)
        assert [each.channel for each in found.slots] == [channel]
        assert [(queue.kind, queue.platform) for queue in found.queues] == [("messages", "web"), ("answers", None)]
    found = await everything(daily)
    assert {(each.workspace, each.channel) for each in found.slots} == {("home", "#daily"), ("other", "#theirs")}
    assert found.at == NINE.astimezone(UTC)


async def test_members_are_refused(daily: DailyChannel) -> None:
    with refused(AdminsOnly()):
        await daily.client.operations(daily.who("Ada"))


async def test_slots_of_long_ago_are_left_out(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE
    await daily.ticked()
    clock.now = datetime(2026, 3, 20, 8, tzinfo=UTC)
    assert (await shown(daily)).slots == ()
