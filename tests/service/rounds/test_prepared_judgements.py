"""The second answer to a question is judged with cases that were drawn, and a reference that was run, beforehand."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from sandbox.client import Health, SandboxClient
from sandbox.wire import Outcome, Run
from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.store.tables import VerdictRow
from service.wire import AnswerInput, QuestionPost
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DAILY, DailyChannel, code

pytestmark = pytest.mark.sandbox


@dataclasses.dataclass
class Recording:
    """The real sandbox. Keeps the cases of each run by its role."""

    client: SandboxClient
    cases: dict[str, list[bytes]] = dataclasses.field(default_factory=dict)
    prepared: int = 0
    references: asyncio.Semaphore = dataclasses.field(default_factory=lambda: asyncio.Semaphore(0))

    async def run(self, run: Run) -> Outcome:
        self.cases.setdefault(run.role, []).append(run.cases)
        self.prepared += run.id == "prepared"
        outcome = await self.client.run(run)
        if run.role == "reference":
            self.references.release()
        return outcome

    async def health(self) -> Health:
        return await self.client.health()


async def test_a_later_answer_takes_one_run_with_cases_of_its_own(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    seen = Recording(sandbox)
    async with build(settings, clock, seen).running() as service:
        daily = DailyChannel(service, ServiceClient.inside(service.api, TOKEN))
        await daily.bank(code())
        await daily.schedule()
        clock.advance(hours=1)
        ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
        for name in ("Ada", "Bob", "Cyd"):
            await daily.answer(ref, AnswerInput(code="def double(x):\n    return 2 * x\n"), name)
            await service.jobs.run_pending()
            await seen.references.acquire()
            if name == "Ada":
                await seen.references.acquire()  # her own, and the one prepared for the next
        verdicts = await daily.rows(VerdictRow)
    assert [row.verdict for row in verdicts] == ["accepted"] * 3
    assert seen.prepared >= 2 * 2
    assert len({row.detail["seed"] for row in verdicts}) == 3
    answers, references = seen.cases["answer"], seen.cases["reference"]
    assert answers == references[:3]
    assert len(set(answers)) == 3


async def test_an_answer_in_practice_prepares_nothing(settings: Settings, clock: Clock, sandbox: SandboxClient) -> None:
    seen = Recording(sandbox)
    async with build(settings, clock, seen).running() as service:
        daily = DailyChannel(service, ServiceClient.inside(service.api, TOKEN))
        await daily.bank(code())
        form = await daily.client.practice(daily.who(), DAILY)
        assert form is not None
        for given in ("return 3 * x", "return 2 * x"):
            await daily.answer(form.ref, AnswerInput(code=f"def double(x):\n    {given}\n"))
            await service.jobs.run_pending()
        verdicts = await daily.rows(VerdictRow)
    assert [row.verdict for row in verdicts] == ["wrong", "accepted"]
    assert seen.prepared == 0
