"""Code regraded in the real sandbox: the rounds of a corrected question once, and a verdict repeated from its seed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from questions.model import Question
from sandbox.client import Health, SandboxClient
from sandbox.wire import Outcome, Run
from service.app import build
from service.client import ServiceClient
from service.config import Settings
from service.rounds.grading import NotJudged
from service.rounds.jobs import defer_regrading
from service.rounds.regrading import NoVerdict, RepeatedVerdict, exit_status, regrade_code, repeat_verdicts
from service.store.tables import AnswerRow, Ledger, Outbox, QuestionVersion, VerdictRow
from service.wire import AnswerInput, Notice, QuestionCorrected, QuestionPost
from tests import forked
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DAILY, DailyChannel, code, value
from tests.service.statements import counted

pytestmark = pytest.mark.sandbox

DOUBLES = AnswerInput(code="def double(x):\n    return 2 * x\n")
SQUARES = AnswerInput(code="def double(x):\n    return x * x\n")
LOOPS = AnswerInput(code="def double(x):\n    raise SystemExit\n")


def fixed() -> Question:
    """Returns the question with a corrected reference, which swaps right and wrong answers."""
    question = code()
    assert question.task is not None
    return replace(question, task=replace(question.task, reference="def double(x):\n    return x * x\n"))


class Flaky:
    """The real sandbox, which fails on demand."""

    def __init__(self, client: SandboxClient) -> None:
        self.client = client
        self.failing = False
        self.answers = 0

    async def run(self, run: Run) -> Outcome:
        self.answers += run.role == "answer"
        return Outcome(run.id, "internal", detail="out of order") if self.failing else await self.client.run(run)

    async def health(self) -> Health:
        return await self.client.health()


@pytest.fixture
def flaky(sandbox: SandboxClient) -> Flaky:
    return Flaky(sandbox)


@pytest.fixture
async def posted(settings: Settings, clock: Clock, flaky: Flaky) -> AsyncIterator[DailyChannel]:
    """An open round, r1, on code."""
    async with build(settings, clock, flaky).running() as service:
        daily = DailyChannel(service, ServiceClient.inside(service.api, TOKEN))
        await daily.bank(code())
        await daily.schedule()
        clock.advance(hours=1)
        assert any(isinstance(body, QuestionPost) for body in await daily.ticked())
        yield daily


@pytest.fixture
async def closed(posted: DailyChannel) -> DailyChannel:
    """That round, closed: Ada doubled, Bob squared, Cyd raised. Only doubling was right."""
    for name, given in (("Ada", DOUBLES), ("Bob", SQUARES), ("Cyd", LOOPS)):
        await posted.answer("r1", given, name)
    await posted.service.jobs.run_pending()
    await posted.client.close_now(posted.who("Boss", admin=True), "close", DAILY)
    await posted.deliver()
    return posted


async def points(daily: DailyChannel) -> dict[str, int]:
    found = await daily.client.board(daily.who("Ada"), DAILY, "all")
    return {row.name: row.points for row in found.rows}


async def told(daily: DailyChannel) -> list[QuestionCorrected]:
    facts = [delivery.body.fact for delivery in await daily.deliver() if isinstance(delivery.body, Notice)]
    return [fact for fact in facts if isinstance(fact, QuestionCorrected)]


async def newest(daily: DailyChannel) -> int:
    return max(row.version_id for row in await daily.rows(VerdictRow))


async def test_the_verdicts_to_regrade_are_read_together(closed: DailyChannel, clock: Clock) -> None:
    await closed.bank(fixed())
    version = max(row.id for row in await closed.rows(QuestionVersion))
    with counted() as sent:
        await regrade_code(closed.service.sessions, None, version, lambda: clock.now, last=True)
    assert sum("FROM verdict" in statement for statement in sent) == 1


async def test_a_corrected_question_moves_points_once_through_the_sandbox(closed: DailyChannel, clock: Clock) -> None:
    before = await points(closed)
    assert "Cyd" not in before and 0 < before["Bob"] < before["Ada"]
    await closed.bank(fixed())
    assert await points(closed) == before
    await closed.service.jobs.run_pending()
    after = await points(closed)
    assert after == {"Ada": before["Bob"], "Bob": before["Ada"]}
    (corrected,) = await told(closed)
    moved = before["Ada"] - before["Bob"]
    assert (corrected.question, corrected.code) == ("double", True)
    assert (corrected.gained, corrected.lost) == ((moved,), (moved,))
    # Regrading again, even concurrently, changes and announces nothing.
    rows = len(await closed.rows(Ledger)), len(await closed.rows(VerdictRow)), len(await closed.rows(Outbox))
    version = await newest(closed)
    sessions, sandbox = closed.service.sessions, closed.service.sandbox
    again = [regrade_code(sessions, sandbox, version, clock, last=False) for _ in range(3)]
    await asyncio.gather(*again)
    assert (len(await closed.rows(Ledger)), len(await closed.rows(VerdictRow)), len(await closed.rows(Outbox))) == rows


async def test_the_cases_come_from_the_recorded_seed(closed: DailyChannel) -> None:
    seeds = {row.answer_id: row.detail["seed"] for row in await closed.rows(VerdictRow)}
    await closed.bank(fixed())
    await closed.service.jobs.run_pending()
    again = (await closed.rows(VerdictRow))[3:]
    assert {row.answer_id: row.detail["seed"] for row in again} == seeds


async def test_reverting_a_correction_restores_the_points(closed: DailyChannel) -> None:
    before = await points(closed)
    for question in (fixed(), code()):
        await closed.bank(question)
        await closed.service.jobs.run_pending()
    assert await points(closed) == before


async def test_of_two_corrections_left_together_the_newest_holds(closed: DailyChannel) -> None:
    before = await points(closed)
    await closed.bank(fixed())
    await closed.bank(code())
    await closed.service.jobs.run_pending()
    assert await points(closed) == before
    assert await told(closed) == []


async def test_a_new_prompt_keeps_the_verdicts_and_needs_no_sandbox(closed: DailyChannel, flaky: Flaky) -> None:
    runs, rows = flaky.answers, await closed.rows(VerdictRow)
    await closed.bank(code(why="Twice is twice.", level="principal"))
    await closed.service.jobs.run_pending()
    again = (await closed.rows(VerdictRow))[3:]
    assert flaky.answers == runs
    assert [(row.answer_id, row.verdict, row.detail) for row in again] == [
        (row.answer_id, row.verdict, row.detail) for row in sorted(rows, key=lambda row: row.answer_id)
    ]
    assert await told(closed) == []


async def test_a_failing_sandbox_changes_no_points_and_is_retried(
    closed: DailyChannel, flaky: Flaky, clock: Clock
) -> None:
    before, rows = await points(closed), len(await closed.rows(VerdictRow))
    await closed.bank(fixed())
    flaky.failing = True
    await closed.service.jobs.run_pending()
    (job,) = await closed.service.jobs.app.job_manager.list_jobs_async()
    assert (job.task_name, job.status, job.attempts) == ("regrade_code", "todo", 1)
    version = job.task_kwargs["version_id"]
    assert isinstance(version, int)
    sessions, sandbox = closed.service.sessions, closed.service.sandbox
    with pytest.raises(NotJudged, match="out of order"):
        await regrade_code(sessions, sandbox, version, clock, last=False)
    await regrade_code(sessions, sandbox, version, clock, last=True)
    assert (await points(closed), len(await closed.rows(VerdictRow)), await told(closed)) == (before, rows, [])
    flaky.failing = False
    await regrade_code(sessions, sandbox, version, clock, last=False)
    assert await points(closed) != before


async def test_a_job_is_left_with_the_import_or_not_at_all(closed: DailyChannel) -> None:
    await closed.bank(code(), value())
    assert list(await closed.service.jobs.app.job_manager.list_jobs_async()) == []
    with pytest.raises(ZeroDivisionError):
        async with closed.service.sessions.begin() as session:
            await defer_regrading(session, 1, 1)
            raise ZeroDivisionError
    assert list(await closed.service.jobs.app.job_manager.list_jobs_async()) == []


async def test_answers_of_forgotten_members_are_not_regraded(closed: DailyChannel) -> None:
    await closed.client.privacy(closed.who("Bob"), "forget me", "forget")
    rows = len(await closed.rows(VerdictRow))
    await closed.bank(fixed())
    await closed.service.jobs.run_pending()
    assert len(await closed.rows(VerdictRow)) == rows + 2


async def test_a_verdict_that_comes_after_the_correction_is_corrected_too(posted: DailyChannel) -> None:
    await posted.answer("r1", SQUARES, "Bob")
    await posted.client.close_now(posted.who("Boss", admin=True), "close", DAILY)
    await posted.bank(fixed())
    for _ in range(2):
        await posted.service.jobs.run_pending()
    booked = await posted.rows(Ledger)
    assert [row.reason for row in booked] == ["round", "regrade"]
    assert sum(row.credit or 0 for row in booked) == pytest.approx(1.0)


async def test_code_is_judged_again_after_a_correction_while_the_round_was_open(posted: DailyChannel) -> None:
    await posted.answer("r1", SQUARES, "Bob")
    await posted.service.jobs.run_pending()
    await posted.bank(fixed())
    await posted.service.jobs.run_pending()
    await posted.client.close_now(posted.who("Boss", admin=True), "close", DAILY)
    await posted.service.jobs.run_pending()
    booked = await posted.rows(Ledger)
    assert [row.reason for row in booked] == ["round", "regrade"]
    assert sum(row.credit or 0 for row in booked) == pytest.approx(1.0)


async def test_a_verdict_that_comes_after_the_question_asks_no_code_any_more_stands(posted: DailyChannel) -> None:
    await posted.answer("r1", DOUBLES, "Ada")
    await posted.client.close_now(posted.who("Boss", admin=True), "close", DAILY)
    await posted.bank(value("double"))
    for _ in range(2):
        await posted.service.jobs.run_pending()
    assert [row.reason for row in await posted.rows(Ledger)] == ["round"]
    jobs = await posted.service.jobs.app.job_manager.list_jobs_async()
    assert {job.status for job in jobs} <= {"succeeded"}


async def test_a_verdict_is_the_same_again_and_nothing_is_written(closed: DailyChannel, flaky: Flaky) -> None:
    rows = len(await closed.rows(VerdictRow))
    sessions = closed.service.sessions
    found = [one async for one in repeat_verdicts(sessions, flaky, question="double")]
    assert [one.same for one in found] == [True] * 3
    assert exit_status(found) == 0
    first = next(row for row in await closed.rows(AnswerRow) if row.name == "Ada")
    (ada,) = [one async for one in repeat_verdicts(sessions, flaky, answer_id=first.id)]
    assert str(ada) == f"answer {first.id} to double, version 1: accepted, 5 of 5 cases, and the same again"
    flaky.failing = True
    failed = [one async for one in repeat_verdicts(sessions, flaky, answer_id=first.id)]
    assert exit_status(failed) == 2
    assert "it could not be judged again" in str(failed[0])
    assert len(await closed.rows(VerdictRow)) == rows


async def test_a_verdict_that_differs_when_repeated_is_reported(closed: DailyChannel, flaky: Flaky) -> None:
    (ada, *_) = [one async for one in repeat_verdicts(closed.service.sessions, flaky, question="double")]
    other = RepeatedVerdict(
        ada.answer_id, ada.question, ada.version, ada.before, ada.after.model_copy(update={"cases": ()})
    )
    assert (other.same, exit_status([ada, other])) == (False, 1)
    assert ", but now " in str(other)


@pytest.mark.parametrize("wanted", [{"answer_id": 10**9}, {"question": "no-such"}])
async def test_only_verdicts_of_the_sandbox_can_be_repeated(
    closed: DailyChannel, flaky: Flaky, wanted: dict[str, object]
) -> None:
    with pytest.raises(NoVerdict, match="there is no judged code answer"):
        await anext(repeat_verdicts(closed.service.sessions, flaky, **wanted))  # type: ignore[arg-type]


def typed(daily: DailyChannel, socket: Path, *words: str) -> subprocess.CompletedProcess[str]:
    rest = {name: value for name, value in os.environ.items() if not name.startswith(("DAILYGRAD_", "DATABASE_URL"))}
    return forked.run(
        [sys.executable, "-m", "dailygrad", "regrade", *words],
        cwd=Path(__file__).parents[3],
        env={
            **rest,
            "DATABASE_URL": daily.service.settings.database_url,
            "DAILYGRAD_SANDBOX_SOCKET": str(socket),
            "COLUMNS": "200",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.slow
async def test_the_operator_repeats_verdicts_from_the_command_line(closed: DailyChannel, flaky: Flaky) -> None:
    socket = flaky.client.path
    done = await asyncio.to_thread(typed, closed, socket, "--question", "double")
    assert (done.returncode, done.stderr) == (0, "")
    assert "to double, version 1: accepted, 5 of 5 cases, and the same again\n" in done.stdout
    assert done.stdout.endswith("  3 of 3 verdicts are the same\n")
    first = (await closed.rows(AnswerRow))[0]
    gone = await asyncio.to_thread(typed, closed, socket, str(first.id + 1000))
    assert (gone.returncode, gone.stdout) == (2, "")
    assert f"there is no judged code answer {first.id + 1000}: list those of a question" in gone.stderr
    both = await asyncio.to_thread(typed, closed, socket, str(first.id), "--question", "double")
    assert both.returncode == 2
    assert "name the number of an answer, or --question ID" in both.stderr
