"""An executor that is out of order: a reply that cannot be is refused and the answer judged again, never booked."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from sandbox import wire
from sandbox.client import SandboxClient
from sandbox.load_balancer import SandboxPool
from sandbox.wire import Outcome, Role, Run
from service.app import build
from service.config import Settings
from service.rounds import grading
from service.store.tables import AnswerRow, Ledger, VerdictRow
from service.wire import AnswerInput
from tests.conftest import Clock
from tests.service.daily_channel import daily_channel_of, post_code_question, verdict_notes

RIGHT = AnswerInput(code="def double(x):\n    return 2 * x\n")
WRONG = AnswerInput(code="def double(x):\n    return x + 1\n")
Spoil = Callable[[Outcome, Outcome], Outcome]
"""Makes a reply of the outcome of an answer's run and that of the reference's."""


class Executor:
    """Passes runs on to a sandbox, and spoils the outcomes of answers as long as it is out of order."""

    def __init__(self, sandbox: SandboxClient, spoil: Spoil) -> None:
        self._sandbox = sandbox
        self._spoil: Spoil | None = spoil
        self._outcomes: dict[Role, Outcome] = {}
        self._changed = asyncio.Condition()

    def repair(self) -> None:
        self._spoil = None

    @asynccontextmanager
    async def at(self, path: Path) -> AsyncIterator[None]:
        async with await asyncio.start_unix_server(self._serve, path):
            yield

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        header = await reader.readexactly(wire.header_length(await reader.readexactly(4)))
        kind, head, length = wire.read_header(header)
        body = await reader.readexactly(length)
        if kind == "run":
            writer.write(wire.encode_outcome(await self._execute(wire.read_run(head, body))))
        else:
            writer.write(wire.encode("health", asdict(await self._sandbox.health())))
        await writer.drain()
        writer.close()

    async def _execute(self, run: Run) -> Outcome:
        outcome = await self._sandbox.run(run)
        async with self._changed:
            self._outcomes[run.role] = outcome
            self._changed.notify_all()
            await self._changed.wait_for(lambda: run.role != "answer" or "reference" in self._outcomes)
        if run.role == "answer" and self._spoil is not None:
            return self._spoil(outcome, self._outcomes["reference"])
        return outcome


RAISING = AnswerInput(code="raise ValueError('loss')")
SPOILED: dict[str, tuple[AnswerInput, int, Spoil, str]] = {
    "another run's": (WRONG, 2, lambda _, reference: reference, "which is another run"),
    "faster than light": (RIGHT, 10, lambda own, _: replace(own, cpu_ms=-5.0), "whose cpu_ms is -5.0"),
    "text for no database": (
        RAISING,
        0,
        lambda own, _: replace(own, stderr="ValueError: loss\0"),
        "whose stderr has characters",
    ),
    "refused and done": (RIGHT, 10, lambda own, _: replace(own, refused="device"), "of a run that was refused"),
}


@pytest.mark.sandbox
@pytest.mark.parametrize("what", SPOILED)
async def test_a_reply_that_cannot_be_is_not_booked_and_the_answer_judged_again(
    what: str, settings: Settings, clock: Clock, sandbox: SandboxClient, tmp_path: Path
) -> None:
    given, points, spoil, cause = SPOILED[what]
    executor = Executor(sandbox, spoil)
    pool = SandboxPool([tmp_path / "executor.sock"])
    async with executor.at(tmp_path / "executor.sock"), build(settings, clock, pool).running() as service:
        daily = daily_channel_of(service)
        await daily.answer(await post_code_question(daily, clock), given, "Ada")
        (answer,) = await daily.rows(AnswerRow)
        with pytest.raises(grading.NotJudged, match=re.escape(cause)):
            await grading.judge_answer(service.sessions, service.sandbox, answer.id, clock, last=False)
        assert await daily.rows(VerdictRow) == []
        assert await verdict_notes(daily) == []
        executor.repair()
        await grading.judge_answer(service.sessions, service.sandbox, answer.id, clock, last=False)
        assert len(await verdict_notes(daily)) == 1
        clock.advance(hours=8)
        await daily.ticked()
        assert [row.points for row in await daily.rows(Ledger)] == [points]
