"""Code answers are judged and reported once, in the real sandbox where possible. A failing sandbox costs nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from questions.model import Device
from sandbox.client import Health, SandboxClient, SandboxUnreachable
from sandbox.wire import Outcome, Run
from service.app import build
from service.config import Settings
from service.rounds import grading
from service.rounds.rounds import close_round
from service.store import members, monitoring
from service.store.cards import CardRow
from service.store.tables import AnswerRow, Ledger, Member, VerdictRow
from service.wire import AnswerInput, PostUpdate, QuestionPost, RevealPost, WrongKindOfAnswer
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import (
    DAILY,
    DailyChannel,
    choice,
    code,
    daily_channel_of,
    post_code_question,
    verdict_notes,
)
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused

RIGHT = AnswerInput(code="def double(x):\n    return 2 * x\n")
WRONG = AnswerInput(code="def double(x):\n    return x + 1\n")
NINE = MONDAY + timedelta(hours=1)


class BrokenSandbox:
    """A sandbox in which every run fails, as on a machine without memory."""

    def __init__(self) -> None:
        self.runs = 0

    async def run(self, run: Run) -> Outcome:
        self.runs += 1
        return Outcome(id=run.id, status="internal", detail="no child could be forked")

    async def health(self) -> Health:
        raise SandboxUnreachable("it is broken")


class BusySandbox:
    """A sandbox that something else happens beside: `meanwhile` is called when it has run an answer."""

    def __init__(self, sandbox: SandboxClient) -> None:
        self._sandbox = sandbox
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def run(self, run: Run) -> Outcome:
        outcome = await self._sandbox.run(run)
        if run.role == "answer" and self.meanwhile is not None:
            await self.meanwhile()
        return outcome

    async def health(self) -> Health:
        return await self._sandbox.health()


@pytest.mark.sandbox
async def test_code_is_judged_reported_graded_and_tried(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        assert (await daily.answer(ref, WRONG, "Ada")).status == "judging"
        await service.jobs.run_pending()
        (wrong,) = await verdict_notes(daily)
        assert (wrong.verdict.verdict, wrong.verdict.credit, wrong.key) == ("wrong", 0.2, None)
        assert [case.visible for case in wrong.verdict.cases] == [True, True, False, False, False]
        assert all(case.shown == "" for case in wrong.verdict.cases if not case.visible)
        # double(1) is 2, and so is 1 + 1: only the second example tells the two apart.
        assert [case.verdict for case in wrong.verdict.cases[:2]] == ["accepted", "wrong"]
        failing = wrong.verdict.cases[1]
        assert (failing.shown, failing.expected, failing.got) == ("double(2)", "4", "3")
        assert all((case.expected, case.got) == ("", "") for case in wrong.verdict.cases[2:])

        assert (await daily.answer(ref, RIGHT, "Ada")).status == "judging"
        await daily.answer(ref, AnswerInput(code="def double(x:\n"), "Bob")
        await service.jobs.run_pending()
        # They were judged side by side, so either can be reported first.
        found = {note.verdict.verdict: note.verdict.credit for note in await verdict_notes(daily)}
        assert found == {"accepted": 1.0, "invalid": 0.0}

        tried = await daily.client.try_code(daily.who(), ref, "print('hello')\n" + (WRONG.code or ""))
        assert (tried.verdict, len(tried.cases), tried.stdout) == ("wrong", 2, "hello\n")
        ran = await daily.client.run(daily.who(), "print(“smart”)")
        assert (ran.status, ran.stdout) == ("ok", "smart\n")

        clock.advance(hours=8)
        (reveal,) = [body for body in await daily.ticked() if isinstance(body, RevealPost)]
        assert (reveal.answers, reveal.right) == (2, 1)
        assert [(person.name, person.points) for person in reveal.points] == [("Ada", 10), ("Bob", 0)]


@pytest.mark.sandbox
async def test_the_same_code_sent_again_is_judged_again_and_keeps_its_time(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        first = clock.now
        for _ in range(2):
            assert (await daily.answer(ref, RIGHT)).status == "judging"
            await service.jobs.run_pending()
            (note,) = await verdict_notes(daily)
            assert note.verdict.verdict == "accepted"
            clock.advance(minutes=1)
        assert [row.at for row in await daily.rows(AnswerRow)] == [first, first]


@pytest.mark.sandbox
async def test_points_of_a_verdict_after_the_close_are_posted_with_it(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        await daily.answer(ref, WRONG, "Ada")
        await daily.answer(ref, RIGHT, "Ada")
        clock.advance(hours=8)
        bodies = await daily.ticked()
        (reveal,) = [body for body in bodies if isinstance(body, RevealPost)]
        assert (reveal.answers, reveal.right, reveal.unjudged, reveal.points) == (1, 0, 1, ())
        assert await daily.rows(Ledger) == []
        (closed,) = [body for body in bodies if isinstance(body, PostUpdate)]
        assert (closed.answers, closed.right, closed.unjudged) == (1, 0, 1)
        await service.jobs.run_pending()
        # Two verdicts, but only the current answer gets points.
        assert [(row.points, row.credit) for row in await daily.rows(Ledger)] == [(10, 1.0)]
        assert len(await daily.rows(VerdictRow)) == 2
        clock.advance(minutes=2)
        (closed,) = [body for body in await daily.ticked() if isinstance(body, PostUpdate)]
        assert (closed.answers, closed.right, closed.unjudged) == (1, 1, 0), "the question's message says it"


@pytest.mark.sandbox
async def test_a_verdict_waits_for_a_close_and_posts_the_points_that_it_left_out(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        await daily.answer(await post_code_question(daily, clock), RIGHT)
        clock.advance(hours=8)
        async with service.sessions.begin() as session:
            assert await close_round(session, 1, clock.now)
            judging = asyncio.create_task(service.jobs.run_pending())
            await until_locked_out(session, judging)
        await judging
        assert [(row.points, row.credit) for row in await daily.rows(Ledger)] == [(10, 1.0)]


@pytest.mark.sandbox
async def test_judging_the_same_answer_again_and_at_once_changes_nothing(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        await daily.answer(ref, RIGHT)
        (answer,) = await daily.rows(AnswerRow)
        work = [grading.judge_answer(service.sessions, service.sandbox, answer.id, clock, last=False) for _ in range(2)]
        await asyncio.gather(*work)
        await service.jobs.run_pending()
        assert len(await daily.rows(VerdictRow)) == 1
        assert len(await verdict_notes(daily)) == 1


@pytest.mark.sandbox
async def test_practiced_code_that_is_judged_twice_at_once_is_one_review(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        await daily.bank(code())
        form = await daily.client.practice(daily.who(), DAILY)
        assert form is not None
        await daily.answer(form.ref, RIGHT)
        work = [grading.judge_answer(service.sessions, service.sandbox, 1, clock, last=False) for _ in range(2)]
        await asyncio.gather(*work)
        assert [card.reviews for card in await daily.rows(CardRow)] == [1]


@pytest.mark.sandbox
async def test_practiced_and_late_code_gets_a_verdict_with_the_key(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        clock.advance(hours=8)
        await daily.ticked()
        receipt = await daily.answer(ref, RIGHT)
        assert (receipt.status, receipt.verdict, receipt.key) == ("late", None, None)
        await service.jobs.run_pending()
        (note,) = await verdict_notes(daily)
        assert note.ref == receipt.ref and note.verdict.verdict == "accepted"
        assert note.key is not None and "2 * x" in note.key.answer
        (card,) = await daily.rows(CardRow)
        assert note.next_due == card.due


@pytest.mark.sandbox
@pytest.mark.parametrize(
    ("device", "verdict", "message", "note"),
    [("both", "accepted", "", "no gpu"), ("cuda", "system error", "", "needs gpu")],
)
async def test_without_a_gpu_the_verdict_of_the_cpu_counts_or_the_failure_is_reported_at_once_and_costs_nothing(
    settings: Settings, clock: Clock, sandbox: SandboxClient, device: Device, verdict: str, message: str, note: str
) -> None:
    if "cuda" in (await sandbox.until_ready()).devices:
        pytest.skip("this machine has a GPU")
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        asked = code()
        assert asked.task is not None
        await daily.bank(replace(asked, task=replace(asked.task, device=device)))
        await daily.schedule()
        clock.now = NINE
        # A GPU must have been seen, or the question would not be asked.
        async with service.sessions.begin() as session:
            await monitoring.record_devices(session, {"cuda"}, NINE, NINE)
        ref = next(body.ref for body in await daily.ticked() if isinstance(body, QuestionPost))
        await daily.answer(ref, RIGHT, "Ada")
        await service.jobs.run_pending()
        (told,) = await verdict_notes(daily)
        found = told.verdict
        assert (found.verdict, found.message, found.note) == (verdict, message, note)
        assert len(await daily.rows(VerdictRow)) == (1 if verdict == "accepted" else 0)


@pytest.mark.parametrize("is_there", [True, False])
async def test_a_failing_sandbox_is_retried_and_then_reported_to_the_author(
    settings: Settings, clock: Clock, is_there: bool
) -> None:
    sandbox = BrokenSandbox() if is_there else None
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        await daily.answer(ref, RIGHT)
        (answer,) = await daily.rows(AnswerRow)
        with pytest.raises(grading.NotJudged, match=r"no child|no sandbox"):
            await grading.judge_answer(service.sessions, service.sandbox, answer.id, clock, last=False)
        assert await verdict_notes(daily) == []
        await grading.judge_answer(service.sessions, service.sandbox, answer.id, clock, last=True)
        (note,) = await verdict_notes(daily)
        assert note.verdict.verdict == "system error"
        assert note.verdict.message == ""
        clock.advance(hours=8)
        (reveal,) = [body for body in await daily.ticked() if isinstance(body, RevealPost)]
        # It costs nothing: no verdict, no points, and the streak continues.
        assert (reveal.answers, reveal.points) == (1, ())
        assert await daily.rows(VerdictRow) == []
        assert await daily.rows(Ledger) == []


async def test_the_job_is_deferred_with_the_answer_or_not_at_all(daily: DailyChannel, clock: Clock) -> None:
    ref = await post_code_question(daily, clock)
    async with daily.service.sessions() as session:
        await daily.service.jobs.defer_judging(session, 1)
        await session.rollback()
    manager = daily.service.jobs.app.job_manager
    assert list(await manager.list_jobs_async()) == []
    await daily.answer(ref, RIGHT)
    (job,) = await manager.list_jobs_async()
    (answer,) = await daily.rows(AnswerRow)
    assert (job.task_name, job.status) == ("judge_answer", "todo")
    assert job.task_kwargs == {"answer_id": answer.id, "event_id": answer.event_id}
    await daily.service.jobs.run_pending()
    (job,) = await manager.list_jobs_async()
    # Without a sandbox it waits for its next attempt.
    assert (job.status, job.attempts) == ("todo", 1)


async def test_trying_another_kind_of_answer_is_rejected(settings: Settings, clock: Clock) -> None:
    sandbox = BrokenSandbox()
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        await daily.bank(choice())
        form = await daily.client.practice(daily.who(), DAILY)
        assert form is not None
        with refused(WrongKindOfAnswer(question="choice")):
            await daily.client.try_code(daily.who(), form.ref, "1")
        assert sandbox.runs == 0


@pytest.mark.sandbox
async def test_an_answer_of_a_member_forgotten_meanwhile_is_not_judged_or_reported(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        await daily.answer(await post_code_question(daily, clock), RIGHT, "Ada")
        await daily.client.privacy(daily.who("Ada"), "forget me", "forget")
        await service.jobs.run_pending()
        assert await verdict_notes(daily) == []
        assert await daily.rows(VerdictRow) == []


@pytest.mark.sandbox
@pytest.mark.parametrize("practice", [False, True])
async def test_nothing_is_kept_of_a_member_who_is_forgotten_while_their_code_runs(
    settings: Settings, clock: Clock, sandbox: SandboxClient, practice: bool
) -> None:
    busy = BusySandbox(sandbox)
    async with build(settings, clock, busy).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        if practice:
            clock.advance(hours=8)
            await daily.ticked()
        await daily.answer(ref, WRONG, "Ada")
        busy.meanwhile = lambda: daily.client.privacy(daily.who("Ada"), "forget me", "forget")
        await service.jobs.run_pending()
        assert await verdict_notes(daily) == []
        assert await daily.rows(VerdictRow) == []


async def test_a_member_is_not_forgotten_between_the_look_and_the_verdict(daily: DailyChannel, clock: Clock) -> None:
    await daily.client.today(daily.who(), DAILY)
    (row,) = await daily.rows(Member)
    async with daily.service.sessions.begin() as session:
        assert (await members.share_member(session, row.id)).forgotten_at is None
        forgetting = asyncio.create_task(daily.client.privacy(daily.who(), "forget", "forget"))
        await until_locked_out(session, forgetting)
    assert (await forgetting).forgotten


@pytest.mark.sandbox
async def test_practiced_code_reveals_nothing_while_a_round_asks_it(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    busy = BusySandbox(sandbox)
    async with build(settings, clock, busy).running() as service:
        daily = daily_channel_of(service)
        await daily.bank(code())
        form = await daily.client.practice(daily.who(), DAILY)
        assert form is not None
        await daily.answer(form.ref, RIGHT)

        async def ask() -> None:
            await daily.schedule()
            clock.now = NINE
            await daily.ticked()

        busy.meanwhile = ask
        await service.jobs.run_pending()
        (note,) = await verdict_notes(daily)
        assert (note.verdict.verdict, note.key) == ("accepted", None)
