"""What is measured, and when: after every verdict, one round at a time, and behind all other work."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.rounds.measuring import NotMeasured, is_measured, measure_round
from service.store.questions import Version, get_version
from service.store.tables import QuestionVersion, Round, Schedule
from service.wire import AnswerInput, QuestionPost
from tests.conftest import Clock
from tests.service.daily_channel import SPEC, DailyChannel, choice, code

MEASURED = SPEC.model_copy(update={"measure": True})


@pytest.fixture
async def closed(daily: DailyChannel, clock: Clock) -> str:
    """A closed round whose only answer waits for its verdict: there is no sandbox."""
    await daily.bank(code())
    await daily.schedule(MEASURED)
    clock.advance(hours=1)
    ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
    await daily.answer(ref, AnswerInput(code="def double(x):\n    return 2 * x\n"))
    clock.advance(hours=8)
    await daily.ticked()
    return ref


async def test_it_waits_until_all_answers_are_judged(daily: DailyChannel, clock: Clock, closed: str) -> None:
    with pytest.raises(NotMeasured, match="answers are still being judged"):
        await measure_round(daily.service.sessions, None, int(closed[1:]), clock, last=False)


async def test_it_is_behind_all_other_work_and_one_round_after_another(daily: DailyChannel, closed: str) -> None:
    jobs = {job.task_name: job for job in await daily.service.jobs.app.job_manager.list_jobs_async()}
    measuring = jobs.pop("measure_round")
    assert {"judge_answer"} <= set(jobs)
    assert measuring.priority < min(job.priority for job in jobs.values())
    assert measuring.lock == "measure_round", "jobs with one lock run one after the other"
    tasks = daily.service.jobs.app.tasks
    assert tasks["measure_round"].priority < min(
        task.priority
        for name, task in tasks.items()
        if name in ("judge_answer", "draw_family", "regrade_code", "calibrate")
    )


async def test_what_a_gpu_computes_is_not_measured(daily: DailyChannel) -> None:
    question = code()
    assert question.task is not None
    await daily.bank(question, replace(question, id="on-a-gpu", task=replace(question.task, device="cuda")), choice())

    async def version(number: int) -> Version:
        async with daily.service.sessions() as session:
            return await get_version(session, (await daily.rows(QuestionVersion))[number].id)

    asks, does_not = (Schedule(spec={"measure": on}) for on in (True, False))
    one, own = Round(own_variants=False), Round(own_variants=True)
    assert is_measured(one, asks, await version(0))
    assert not is_measured(one, does_not, await version(0))
    assert not is_measured(own, asks, await version(0))
    assert not is_measured(one, asks, await version(1)), "its work is not in the CPU time of a process"
    assert not is_measured(one, asks, await version(2))
