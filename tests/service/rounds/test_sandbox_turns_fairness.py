"""Members take turns, and no verdict is lost or reported twice when a sandbox is killed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from sandbox import embedded
from sandbox.client import Health, SandboxUnreachable
from sandbox.wire import Outcome, Role, Run
from service.app import build
from service.client import ServiceRefused
from service.config import Settings
from service.errors import Busy
from service.rounds.jobs import BUSY_RETRY_SECONDS
from service.rounds.sandbox_turns import FairSandbox
from service.store.tables import Ledger, VerdictRow
from service.wire import AnswerInput, SandboxBusy
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import daily_channel_of, post_code_question, verdict_notes

RIGHT = AnswerInput(code="def double(x):\n    return 2 * x\n")
SLOWLY = AnswerInput(
    code="import time\nbegan = time.monotonic()\nwhile time.monotonic() < began + 1: pass\n" + (RIGHT.code or "")
)
NINE = MONDAY + timedelta(hours=1)


class Gate:
    """A sandbox whose runs end when it is opened. Records the runs it receives."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.opened = asyncio.Event()
        self.came = asyncio.Event()
        self.full = ""

    async def run(self, run: Run) -> Outcome:
        self.runs.append(run)
        self.came.set()
        await self.opened.wait()
        if self.full:
            return Outcome(run.id, "internal", refused="full", detail=self.full)
        return Outcome(run.id, "ok")

    async def health(self) -> Health:
        raise SandboxUnreachable("it is a test's")


async def test_a_member_s_third_run_is_refused_at_once_and_others_run(settings: Settings, clock: Clock) -> None:
    gate = Gate()
    async with build(settings, clock, gate).running() as service:
        daily = daily_channel_of(service)
        first = asyncio.create_task(daily.client.run(daily.who("Ada"), "1"))
        await gate.came.wait()
        second = asyncio.create_task(daily.client.run(daily.who("Ada"), "2"))
        refusals = []
        # Whichever of the two comes second may wait, and no more.
        third = asyncio.create_task(daily.client.run(daily.who("Ada"), "3"))
        done, _ = await asyncio.wait([second, third], return_when=asyncio.FIRST_COMPLETED)
        for each in done:
            with pytest.raises(ServiceRefused) as refused:
                await each
            refusals.append(refused.value.refusal)
        assert refusals == [SandboxBusy(why="member")]
        gate.came.clear()
        others = asyncio.create_task(daily.client.run(daily.who("Bob"), "4"))
        await gate.came.wait()
        assert [run.code for run in gate.runs] == ["1", "4"]
        gate.opened.set()
        await asyncio.gather(first, second, third, others, return_exceptions=True)
        assert len(gate.runs) == 3
        owners = [run.owner for run in gate.runs]
        assert (len(set(owners)), "" in owners, {run.priority for run in gate.runs}) == (2, False, {"free"})


async def test_a_full_machine_is_reported_as_one(settings: Settings, clock: Clock) -> None:
    gate = Gate()
    gate.full = "64 runs are waiting already"
    gate.opened.set()
    async with build(settings, clock, gate).running() as service:
        daily = daily_channel_of(service)
        with pytest.raises(ServiceRefused) as refused:
            await daily.client.run(daily.who("Ada"), "1")
        assert refused.value.refusal == SandboxBusy(why="full")


async def test_an_answer_whose_turn_has_not_come_is_put_off_and_that_is_no_attempt(
    settings: Settings, clock: Clock
) -> None:
    gate = Gate()
    gate.full = "64 runs are waiting already"
    gate.opened.set()
    async with build(settings, clock, gate).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        await daily.answer(ref, RIGHT)
        manager = service.jobs.app.job_manager
        (first,) = await manager.list_jobs_async()
        await service.jobs.run_pending()
        (later,) = await manager.list_jobs_async()
        assert (later.status, later.attempts, later.task_kwargs) == ("todo", 0, first.task_kwargs)
        assert (first.priority, later.priority, BUSY_RETRY_SECONDS) == (1, 1, 1)
        assert later.scheduled_at is not None
        assert await verdict_notes(daily) == []
        # A first answer to an open round goes before its changes.
        await daily.answer(ref, SLOWLY)
        assert [job.priority for job in await manager.list_jobs_async()] == [1, 0]


async def test_cases_and_reference_are_the_services_runs_with_the_answers_priority() -> None:
    gate = Gate()
    gate.opened.set()
    async with FairSandbox(gate).turn(7, "round") as turn:
        roles: tuple[Role, ...] = ("cases", "reference", "answer", "program")
        for role in roles:
            await turn.run(Run("code", "", role=role))
        # A run's id decides nothing, however it is spelled.
        await turn.run(Run("code/cases", "", role="answer"))
    assert [(run.owner, run.priority) for run in gate.runs] == [("", "round"), ("", "round"), *[("7", "round")] * 3]


async def test_a_turn_covers_all_its_runs_and_the_next_begins_when_it_is_over() -> None:
    gate = Gate()
    gate.opened.set()
    fair = FairSandbox(gate)
    began = asyncio.Event()

    async def next_turn() -> None:
        async with fair.turn(7, "free"):
            began.set()

    async with fair.turn(7, "round") as turn:
        waiting = asyncio.create_task(next_turn())
        await asyncio.wait([waiting], timeout=0)  # let in to wait
        await turn.run(Run("code", "", role="cases"))
        await turn.run(Run("code", "", role="answer"))
        assert not began.is_set()
        with pytest.raises(Busy):
            async with fair.turn(7, "round"):
                pytest.fail("a third was let in")
    await waiting
    assert began.is_set()


# With real sandboxes that are killed


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[list[embedded.EmbeddedSandbox]]:
    """Two sandboxes with one place each."""
    started = [embedded.start(tmp_path / name, concurrency=1) for name in "ab"]
    yield started
    for one in started:
        one.stop()


def behind(settings: Settings, *sandboxes: embedded.EmbeddedSandbox) -> Settings:
    return settings.model_copy(update={"sandbox_socket": Path(":".join(str(one.socket) for one in sandboxes))})


async def at_work(sandboxes: list[embedded.EmbeddedSandbox], judging: asyncio.Task[None]) -> embedded.EmbeddedSandbox:
    """Returns the sandbox that runs the answer: its run lasts, the others end within milliseconds."""
    seen: dict[Path, int] = {}
    while not judging.done():
        for one in sandboxes:
            seen[one.socket] = seen.get(one.socket, 0) + 1 if (await one.client.health()).running else 0
            if seen[one.socket] >= 10:
                return one
        await asyncio.wait([judging], timeout=0.02)
    pytest.fail("it was judged before anything was killed")


@pytest.mark.slow
@pytest.mark.sandbox
async def test_a_sandbox_killed_in_the_middle_costs_no_verdict_and_makes_no_second_one(
    settings: Settings, clock: Clock, pair: list[embedded.EmbeddedSandbox]
) -> None:
    for one in pair:
        await one.client.until_ready()
    async with build(behind(settings, *pair), clock).running() as service:
        daily = daily_channel_of(service)
        await daily.answer(await post_code_question(daily, clock), SLOWLY)
        judging = asyncio.create_task(service.jobs.run_pending())
        (await at_work(pair, judging)).process.kill()
        await judging
        assert [note.verdict.verdict for note in await verdict_notes(daily)] == ["accepted"]
        assert len(await daily.rows(VerdictRow)) == 1
        assert list(await service.jobs.app.job_manager.list_jobs_async()) == []


@pytest.mark.slow
@pytest.mark.sandbox
async def test_with_every_sandbox_killed_the_answer_waits_and_is_judged_when_one_is_back(
    settings: Settings, clock: Clock, pair: list[embedded.EmbeddedSandbox]
) -> None:
    for one in pair:
        await one.client.until_ready()
    async with build(behind(settings, *pair), clock).running() as service:
        daily = daily_channel_of(service)
        await daily.answer(await post_code_question(daily, clock), SLOWLY)
        judging = asyncio.create_task(service.jobs.run_pending())
        await at_work(pair, judging)
        for one in pair:
            one.process.kill()
            one.process.wait()
        await judging
        (job,) = await service.jobs.app.job_manager.list_jobs_async()
        assert (job.status, job.attempts) == ("todo", 1)
        assert (await verdict_notes(daily), await daily.rows(VerdictRow), await daily.rows(Ledger)) == ([], [], [])
        back = embedded.start(pair[0].socket.parent, concurrency=1)
        try:
            await back.client.until_ready()
            async with service.sessions.begin() as session:
                await session.execute(text("update procrastinate_jobs set scheduled_at = null"))  # the job is due
            await service.jobs.run_pending()
        finally:
            back.stop()
        assert [note.verdict.verdict for note in await verdict_notes(daily)] == ["accepted"]
