"""A question with a fact that an answer can forge is judged as any other and scores no points."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sandbox.client import SandboxClient
from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.store.tables import Ledger, VerdictRow
from service.wire import AnswerInput, QuestionPost
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DAILY, DailyChannel, code

pytestmark = pytest.mark.sandbox

DRIVE = 'def drive(answer, x):\n    return {"result": answer(x)}\n'


@pytest.mark.parametrize(
    ("facts", "scores"),
    [('FACTS = {"result": "value"}\n', True), ('FACTS = {"result": "unprotected"}\n', False), ("", False)],
)
async def test_a_right_answer_scores_points_only_if_nothing_can_be_forged(
    settings: Settings, clock: Clock, sandbox: SandboxClient, facts: str, scores: bool
) -> None:
    question = code()
    assert question.task is not None
    driven = replace(question, task=replace(question.task, driver=facts + DRIVE))
    async with build(settings, clock, sandbox).running() as service:
        daily = DailyChannel(service, ServiceClient.inside(service.api, TOKEN))
        await daily.bank(driven)
        await daily.schedule()
        clock.advance(hours=1)
        ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
        await daily.answer(ref, AnswerInput(code="def double(x):\n    return 2 * x\n"), "Ada")
        await service.jobs.run_pending()
        await daily.client.close_now(daily.who("Boss", admin=True), "close", DAILY)
        await daily.deliver()
        (verdict,) = await daily.rows(VerdictRow)
        (row,) = await daily.rows(Ledger)
        assert (verdict.verdict, row.credit) == ("accepted", 1.0)
        assert (row.points > 0) is scores
