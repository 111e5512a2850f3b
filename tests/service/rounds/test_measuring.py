"""Speed boards: measured once after the close, where a schedule asks for it, and shown with their authors' consent."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import text

from sandbox.client import SandboxClient
from sandbox.wire import Outcome, Run
from service.app import build
from service.config import Settings
from service.rounds import measuring
from service.rounds.jobs import MAX_ATTEMPTS
from service.rounds.measuring import RUNS, measure_round
from service.store.measurements import MeasuredAnswer, MeasuredRound
from service.store.tables import AnswerRow
from service.wire import AnswerInput, MeasurementBoard, NotFound, QuestionGone, QuestionPost, StillOpen
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, code, daily_channel_of, verdict_notes
from tests.service.refusals import refused

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
NINE = MONDAY + timedelta(hours=1)
MEASURED = SPEC.model_copy(update={"measure": True})
FAST = AnswerInput(code="def double(x):\n    return x + x\n")
SLOW = AnswerInput(code="def double(x):\n    for _ in range(500_000):\n        pass\n    return 2 * x\n")
WRONG = AnswerInput(code="def double(x):\n    return x + 1\n")
Open = Callable[..., AbstractAsyncContextManager[tuple[DailyChannel, str]]]


class Failing:
    """A sandbox whose runs fail for a while."""

    def __init__(self, client: SandboxClient) -> None:
        self.client = client
        self.fails = False

    async def run(self, run: Run) -> Outcome:
        return Outcome(id=run.id, status="internal", detail="no child") if self.fails else await self.client.run(run)

    async def health(self) -> object:
        return await self.client.health()


class Interrupted:
    """A sandbox that waits for something else before it measures the first time."""

    def __init__(self, client: SandboxClient) -> None:
        self.client = client
        self.first: Callable[[], Awaitable[object]] | None = None

    async def run(self, run: Run) -> Outcome:
        if self.first is not None and run.id.startswith("measure/"):
            first, self.first = self.first, None
            await first()
        return await self.client.run(run)

    async def health(self) -> object:
        return await self.client.health()


@pytest.fixture
def played(settings: Settings, clock: Clock, sandbox: SandboxClient) -> Open:
    """Plays a round with a fast, a slow and a wrong answer up to its close; yields its ref, too."""

    @asynccontextmanager
    async def playing(*, asks: bool = True) -> AsyncIterator[tuple[DailyChannel, str]]:
        async with build(settings, clock, sandbox).running() as service:
            daily = daily_channel_of(service)
            await daily.bank(code())
            await daily.schedule(MEASURED if asks else SPEC)
            clock.now = NINE
            ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
            for name, given in (("Slow", SLOW), ("Fast", FAST), ("Wrong", WRONG)):
                await daily.answer(ref, given, name)
            await service.jobs.run_pending()
            assert len(await verdict_notes(daily)) == 3
            clock.advance(hours=8)
            await daily.ticked()
            yield daily, ref

    return playing


async def measured(daily: DailyChannel) -> None:
    """Runs the jobs until the round is measured. On a busy machine a run may fail, and the job is tried again later."""
    for _ in range(MAX_ATTEMPTS):
        await daily.service.jobs.run_pending()
        if await daily.rows(MeasuredRound):
            return
        async with daily.service.sessions.begin() as session:
            await session.execute(text("update procrastinate_jobs set scheduled_at = null"))  # the next attempt is due
    pytest.fail("the round was not measured")


async def board(daily: DailyChannel, name: str = "Slow", ref: str = "") -> MeasurementBoard:
    return await daily.client.measurements(daily.who(name), DAILY, ref)


async def test_answers_that_passed_are_measured_once_and_ranked(played: Open) -> None:
    async with played() as (daily, ref):
        with refused(NotFound(what="measurement")):
            await board(daily)
        await measured(daily)
        found = await board(daily)
        assert found.ref == ref and found == await board(daily, ref=ref)
        assert [(row.rank, row.name, row.me) for row in found.rows] == [(1, "Fast", False), (2, "Slow", True)]
        assert [row.better_than for row in found.rows] == [100, 0]
        assert (found.runs, found.total, found.unsteady, found.shared) == (RUNS, 2, 0, False)
        assert all(row.time.low <= row.time.median <= row.time.high for row in found.rows)
        by_memory = await daily.client.measurements(daily.who("Slow"), DAILY, ref, "memory")
        assert {row.name for row in by_memory.rows} == {"Fast", "Slow"} and by_memory.by == "memory"
        (row,) = await daily.rows(MeasuredRound)
        assert len(row.cpu_ms) == RUNS
        assert all(len(row.cpu_ms) == RUNS for row in await daily.rows(MeasuredAnswer))


async def test_only_so_many_are_measured_those_who_were_first(played: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "MAX_ANSWERS", 1)
    async with played() as (daily, _):
        await measured(daily)
        found = await board(daily)
        assert [row.name for row in found.rows] == ["Slow"], "who answered before Fast"


async def test_an_answer_that_a_correction_makes_wrong_leaves_the_board(played: Open) -> None:
    async with played() as (daily, _):
        await measured(daily)
        question = code()
        assert question.task is not None
        triple = replace(question.task, reference="def double(x):\n    return 3 * x\n")
        await daily.bank(replace(question, task=triple))
        await daily.service.jobs.run_pending()
        assert (await board(daily)).total == 0


async def test_without_the_option_nothing_is_measured(played: Open) -> None:
    async with played(asks=False) as (daily, ref):
        await daily.service.jobs.run_pending()
        assert not await daily.rows(MeasuredRound)
        assert not (await daily.client.result(daily.who("Fast"), ref)).measured


async def test_code_is_shown_with_its_authors_consent_only(played: Open) -> None:
    async with played() as (daily, ref):
        assert (await daily.client.result(daily.who("Fast"), ref)).measured
        assert not (await daily.client.result(daily.who("Wrong"), ref)).measured
        await measured(daily)
        assert (await board(daily)).solution is None
        shared = await daily.client.share_solution(daily.who("Slow"), "share", ref, True)
        assert shared.shared is True and shared.solution is not None
        assert (shared.solution.name, shared.solution.rank, shared.solution.code) == ("Slow", 2, SLOW.code)
        await daily.client.share_solution(daily.who("Fast"), "share 2", ref, True)
        seen = await board(daily, "Wrong")
        assert seen.solution is not None and seen.solution.code == FAST.code and seen.shared is None
        await daily.client.share_solution(daily.who("Fast"), "share 3", ref, False)
        seen = await board(daily, "Wrong")
        assert seen.solution is not None and seen.solution.name == "Slow"
        with refused(NotFound(what="measurement")):
            await daily.client.share_solution(daily.who("Wrong"), "share 4", ref, True)
        other = daily.who("Fast", workspace="other")
        with refused(QuestionGone(practice=False)):
            await daily.client.share_solution(other, "share 5", ref, True)
        with refused(QuestionGone(practice=False)):
            await daily.client.measurements(other, DAILY, ref)
        with refused(NotFound(what="measurement")):
            await daily.client.measurements(other, DAILY)


async def test_code_is_not_shown_while_its_question_is_asked_again(played: Open, clock: Clock) -> None:
    async with played() as (daily, ref):
        await measured(daily)
        await daily.client.share_solution(daily.who("Fast"), "share", ref, True)
        clock.advance(hours=16)
        again = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
        found = await board(daily, "Wrong", ref)
        assert found.solution is None and [row.name for row in found.rows] == ["Fast", "Slow"]
        with refused(StillOpen()):
            await daily.client.share_solution(daily.who("Fast"), "share 2", again, True)
        clock.advance(hours=8)
        await daily.ticked()
        found = await board(daily, "Wrong", ref)
        assert found.solution is not None and found.solution.code == FAST.code


async def test_the_hidden_and_the_forgotten_are_not_named(played: Open) -> None:
    async with played() as (daily, ref):
        await measured(daily)
        await daily.client.share_solution(daily.who("Fast"), "share", ref, True)
        await daily.client.privacy(daily.who("Fast"), "hide", "hide")
        found = await board(daily)
        assert [(row.rank, row.name) for row in found.rows] == [(2, "Slow")] and found.total == 2
        assert found.solution is None
        assert [row.name for row in (await board(daily, "Fast")).rows] == ["Fast", "Slow"]
        kept = json.loads((await daily.client.privacy(daily.who("Fast"), "export", "export")).export)
        (kept_row,) = kept["measurements"]
        assert (kept_row["question"], len(kept_row["cpu_ms"]), kept_row["steady"]) == ("double", RUNS, True)
        await daily.client.privacy(daily.who("Fast"), "forget", "forget")
        assert len(await daily.rows(MeasuredAnswer)) == 1
        found = await board(daily)
        assert [(row.rank, row.name) for row in found.rows] == [(1, "Slow")] and found.total == 1


async def test_who_is_forgotten_while_their_code_is_measured_is_on_no_board(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    forgetting = Interrupted(sandbox)
    async with build(settings, clock, forgetting).running() as service:  # type: ignore[arg-type]
        daily = daily_channel_of(service)
        await daily.bank(code())
        await daily.schedule(MEASURED)
        clock.now = NINE
        ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
        for name in ("Gone", "Here"):
            await daily.answer(ref, FAST, name)
        await service.jobs.run_pending()
        clock.advance(hours=8)
        await daily.ticked()
        forgetting.first = lambda: daily.client.privacy(daily.who("Gone"), "forget", "forget")
        await measured(daily)
        assert forgetting.first is None
        (answer,) = [row for row in await daily.rows(AnswerRow) if row.name == "Here"]
        assert [row.answer_id for row in await daily.rows(MeasuredAnswer)] == [answer.id]


async def test_a_sandbox_that_fails_is_tried_again(settings: Settings, clock: Clock, sandbox: SandboxClient) -> None:
    failing = Failing(sandbox)
    async with build(settings, clock, failing).running() as service:  # type: ignore[arg-type]
        daily = daily_channel_of(service)
        await daily.bank(code())
        await daily.schedule(MEASURED)
        clock.now = NINE
        ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
        await daily.answer(ref, FAST)
        await service.jobs.run_pending()
        clock.advance(hours=8)
        await daily.ticked()
        failing.fails = True
        await service.jobs.run_pending()
        assert not await daily.rows(MeasuredRound)
        jobs = service.jobs.app.job_manager
        (job,) = [job for job in await jobs.list_jobs_async() if job.task_name == "measure_round"]
        assert (job.status, job.attempts) == ("todo", 1)
        failing.fails = False
        again = partial(measure_round, service.sessions, service.sandbox, int(ref[1:]), clock)
        await again(last=False)
        await again(last=False)
        (measured,) = await daily.rows(MeasuredRound)
        assert measured.round_id == int(ref[1:])
