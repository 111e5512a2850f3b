"""Grades answers: code in the sandbox, any other kind by its key. Also runs code that members try.

No transaction is open while their code runs.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from dataclasses import replace
from datetime import datetime, timedelta

import structlog
from sqlalchemy import literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from questions.drivers import read_facts
from questions.model import CodeTask, Question
from sandbox.judging.challenge import Challenge, NotJudgeable, Runs, judge_code, run_examples
from sandbox.judging.judge import Judgement
from sandbox.judging.reference_cache import ReferenceCache
from sandbox.judging.tolerance import NumberTolerance
from sandbox.wire import Limits, Outcome, Priority, Run
from service.domain.answer_matching import undo_smart_text
from service.domain.scoring import compute_credit, credit_for_cases
from service.errors import Refused
from service.metrics import record_verdict
from service.process import Clock
from service.rounds import delivery, practice
from service.rounds.jobs import defer_regrading
from service.rounds.ledger import LedgerPosting
from service.rounds.sandbox_turns import FairSandbox
from service.rounds.views import build_answer_key, build_question_view
from service.store import answers, members, outbox, questions, rounds, schedules
from service.store.questions import Version
from service.store.session import Sessions
from service.store.tables import AnswerRow, Member
from service.tracing import current_event_id, log_event
from service.wire import (
    AnswerInput,
    AskForm,
    CaseView,
    ExampleView,
    NoSandbox,
    QuestionRef,
    RunResult,
    ScheduleSpec,
    VerdictNote,
    VerdictView,
)

log = structlog.get_logger(__name__)
_LOG = logging.getLogger(__name__)

MILLISECOND = timedelta(milliseconds=1)
NO_HIDDEN_CASES = "\n\ndef cases(rng):\n    return []\n\n\ndef growing(rng):\n    return []\n"
"""Replaces the hidden cases of a program. Without them, the verdict and all output may be shown."""
_EXAMPLES_SEED = 0
"""Seed of all runs of examples, so that the reference runs once: they do not depend on it, and hide nothing."""


class NotJudged(Exception):
    """The sandbox failed or is unavailable; the answer can be judged later."""


def grade_answer(question: Question, given: AnswerInput) -> VerdictView:
    """Returns the verdict on an answer of any kind but `code`."""
    found = compute_credit(question, given)
    if found.cause:
        log.error("a question cannot be scored", question=question.id, cause=found.cause)
    return VerdictView(verdict=found.verdict, credit=found.share, judged=given.text or "")


class _RecordingSandbox:
    """A sandbox that records the outcome of the member's own program."""

    def __init__(self, sandbox: Runs) -> None:
        self._sandbox = sandbox
        self.outcome: Outcome | None = None

    async def run(self, run: Run) -> Outcome:
        outcome = await self._sandbox.run(run)
        if run.role == "answer" and outcome.refused != "device":
            self.outcome = outcome
        return outcome


def require_sandbox(sandbox: FairSandbox | None) -> FairSandbox:
    """Returns the sandbox. Refused if there is none."""
    if sandbox is None:
        raise Refused(NoSandbox())
    return sandbox


async def judge_answer(
    sessions: Sessions,
    sandbox: FairSandbox | None,
    answer_id: int,
    clock: Clock,
    *,
    last: bool,
    priority: Priority = "practice",
) -> None:
    """Judges the answer and sends its author the verdict, once even if called repeatedly.

    Raises NotJudged if the sandbox failed; with `last` the author is notified instead, and no points are posted. Raises
    Busy if it is not this answer's turn yet; that does not count as an attempt.
    """
    begun = clock()
    async with sessions.begin() as session:
        answer = await answers.get_unjudged(session, answer_id)
        version = await questions.get_version(session, answer.version_id) if answer else None
    # The code of a member who was forgotten is erased and cannot be judged.
    code = answer.given.get("code") if answer else None
    if answer is None or version is None or version.question.task is None or not code:
        return
    seed = secrets.randbits(128)
    if sandbox is None:
        verdict = await grade_code(None, version.question.task, code, seed)
    else:
        async with sandbox.turn(answer.member_id, priority) as turn:
            challenge = make_challenge(version.question.task)
            prepared = sandbox.ahead.take(challenge) if sandbox.ahead else None
            seed = prepared if prepared is not None else seed
            verdict = await grade_code(turn, version.question.task, code, seed, sandbox.references)
        # An open question will have more answers. One that is practiced rarely has another one soon.
        if sandbox.ahead and answer.round_id is not None and verdict.verdict != "system error":
            sandbox.ahead.prepare(challenge)
    # A missing GPU will not appear within a minute, so do not retry.
    if verdict.verdict == "system error" and not last and not verdict.note:
        log_event(_LOG, "answer not judged yet", level=logging.WARNING, answer=answer_id, cause=verdict.message)
        raise NotJudged(f"answer {answer_id}: {verdict.message}")
    async with sessions.begin() as session:
        # The member first, as in every transaction that locks both.
        member = await members.share_member(session, answer.member_id)
        if member.forgotten_at is not None:
            return  # while their code ran: nothing of it is stored, and a message must not go to the channel instead
        if verdict.verdict == "system error":
            record_verdict(verdict.verdict, answer.round_id is not None, answer.at, clock())
            log.error("an answer could not be judged", answer=answer_id, cause=verdict.message)
            await _enqueue_verdict(session, answer, member, version, _soften(verdict), clock(), None)
        else:
            await _record_verdict(session, answer, member, version, verdict, seed, clock())
    ref, ms = str(_ref_of(answer)), (clock() - begun) / MILLISECOND
    log_event(_LOG, "answer judged", answer=answer_id, member=answer.member_id, ref=ref, status=verdict.verdict, ms=ms)


async def try_examples(sandbox: Runs, task: CodeTask, code: str, references: ReferenceCache) -> VerdictView:
    """Judges `code` against the visible examples. Stores nothing."""
    visible = replace(task, cases=task.cases + NO_HIDDEN_CASES)
    watched = _RecordingSandbox(sandbox)
    verdict = await grade_code(watched, visible, code, _EXAMPLES_SEED, references)
    if verdict.verdict == "system error":
        log.error("code could not be tried", cause=verdict.message)
        return _soften(verdict)
    return verdict.model_copy(update={"stdout": watched.outcome.stdout if watched.outcome else ""})


async def run_snippet(sandbox: Runs, code: str) -> RunResult:
    """Runs a free snippet and shows the value of its last expression. Stores nothing."""
    run = Run(id=f"snippet/{secrets.token_hex(8)}", code=undo_smart_text(code), show_last=True)
    outcome = await sandbox.run(run)
    _log_run(outcome)
    return RunResult(
        status=outcome.status,
        cause=outcome.cause,
        stdout=outcome.stdout,
        stderr=outcome.stderr,
        truncated=outcome.truncated,
        exit_code=outcome.exit_code,
        signal=outcome.signal,
        wall_ms=outcome.wall_ms,
        cpu_ms=outcome.cpu_ms,
        queue_ms=outcome.queue_ms,
        before=outcome.before,
        peak_mb=outcome.peak_mb,
        device=outcome.device,
        isolation=outcome.isolation,
    )


async def grade_code(
    sandbox: Runs | None, task: CodeTask, code: str, seed: int, references: ReferenceCache | None = None
) -> VerdictView:
    """Returns the verdict on `code` with cases drawn from `seed`; a system error without a sandbox.

    What `references` keeps from this seed is used again.
    """
    clean = undo_smart_text(code)
    if sandbox is None:
        return VerdictView(verdict="system error", credit=0.0, message="no sandbox is connected", judged=clean)
    watched = _RecordingSandbox(sandbox)
    id = current_event_id() or "code"
    judgement = await judge_code(watched, make_challenge(task), clean, seed=seed, id=id, references=references)
    if watched.outcome is not None:
        _log_run(watched.outcome)
    return _verdict_view(judgement, clean, watched.outcome)


async def judge_task(
    task: CodeTask,
    code: str,
    sandbox: Runs,
    seed: int,
    *,
    id: str = "code",
    references: ReferenceCache | None = None,
) -> Judgement:
    """Judges `code` as an answer to `task`, as `judge_code`. `id` names its runs in logs."""
    return await judge_code(sandbox, make_challenge(task), code, seed=seed, id=id, references=references)


def make_challenge(task: CodeTask) -> Challenge:
    """Returns a task as the sandbox's judge knows it."""
    return Challenge(
        entry=task.entry,
        cases_program=task.cases,
        reference=task.reference,
        driver=task.driver,
        protected=read_facts(task.driver).protected,
        limits=Limits(wall_ms=task.wall_ms, cpu_ms=task.wall_ms, memory_mb=task.memory_mb),
        tolerance=NumberTolerance(rtol=task.tolerance.rtol, atol=task.tolerance.atol),
        device=task.device,
    )


def _ref_of(answer: AnswerRow) -> QuestionRef:
    if answer.round_id is not None:
        return QuestionRef("round", answer.round_id)
    return QuestionRef("practice", answer.version_id)


def _log_run(outcome: Outcome) -> None:
    """Logs that a member's program ran, without its code or output, or why the sandbox could not run it."""
    if outcome.status == "internal" and not outcome.refused:
        log.error("a program could not be run", run=outcome.id, cause=outcome.detail)
    log_event(
        _LOG,
        "program run",
        run=outcome.id,
        status=outcome.status,
        refused=outcome.refused,
        device=outcome.device,
        isolation=outcome.isolation,
        ms=outcome.wall_ms,
        queue_ms=outcome.queue_ms,
    )


def _soften(verdict: VerdictView) -> VerdictView:
    """Returns a system error as members may see it: without its cause, which is for operators."""
    return verdict.model_copy(update={"message": ""})


def _verdict_view(judgement: Judgement, clean: str, outcome: Outcome | None) -> VerdictView:
    passed = sum(case.verdict == "accepted" for case in judgement.cases)
    failure = "wrong" if judgement.verdict == "accepted" else judgement.verdict
    # Operators see the cause of a system error; members see another message.
    message = judgement.detail if judgement.verdict == "system error" else judgement.message
    credit = credit_for_cases(passed, len(judgement.cases), failure)
    return VerdictView(
        # A program that failed before its first case has no cases to count, but the failure is still its own.
        verdict=credit.verdict if judgement.cases else judgement.verdict,
        credit=credit.share,
        cases=tuple(
            CaseView(
                number=case.index + 1,
                verdict=case.verdict,
                visible=case.visible,
                shown=case.shown if case.visible else "",
                expected=case.expected,
                got=case.got,
                difference=case.difference,
                on_gpu=case.on_gpu,
            )
            for case in judgement.cases
        ),
        message=message,
        note=judgement.note,
        on_gpu=judgement.on_gpu,
        cause=judgement.cause,
        judged=clean,
        wall_ms=outcome.wall_ms if outcome else 0.0,
        isolation=outcome.isolation if outcome else "full",
    )


async def _record_verdict(
    session: AsyncSession,
    answer: AnswerRow,
    member: Member,
    version: Version,
    verdict: VerdictView,
    seed: int,
    now: datetime,
) -> None:
    """Saves the verdict. If the round is closed, posts the points as well."""
    assert verdict.credit is not None, "code is judged by its cases"
    # A shared lock: either a close waits for this verdict, or this verdict sees the close.
    found = await rounds.lock_shared(session, answer.round_id) if answer.round_id else None
    if not await answers.save_verdict(session, answer.id, answer.version_id, verdict, now, seed=seed):
        return
    record_verdict(verdict.verdict, answer.round_id is not None, answer.at, now)
    next_due = None
    if found is None:
        next_due = await practice.record_attempt(
            session, member_id=member.id, question_id=version.question_id, credit=verdict.credit, now=now
        )
    elif found[0].closed_at is not None:
        entry = await answers.get_entry(session, answer.id)
        if entry is not None:
            posting = await LedgerPosting.for_round(session, *found, version.question)
            await posting.post(session, [(entry, verdict.credit)])
            await delivery.enqueue_answer_count(session, found[0].id, now)
            newest = await questions.get_version(
                session, await questions.newest_version_id(session, version.question_id)
            )
            if newest.id != version.id and newest.question.kind == "code":  # the question was corrected meanwhile
                await defer_regrading(session, newest.id, version.question_id)
        # After the points, as at a close, so that the two wait for one another in the same order.
        if verdict.credit < 1:
            await practice.add_wrong_cards(session, select(literal(member.id)), version.question_id, now)
    await _enqueue_verdict(session, answer, member, version, verdict, now, next_due)


async def _enqueue_verdict(
    session: AsyncSession,
    answer: AnswerRow,
    member: Member,
    version: Version,
    verdict: VerdictView,
    now: datetime,
    next_due: datetime | None,
) -> None:
    found = await rounds.lock_shared(session, answer.round_id) if answer.round_id else None
    ref = str(_ref_of(answer))
    # The key stays secret while any round of the workspace asks the question, even in practice.
    open_in_round = found is not None or await questions.is_asked_now(session, member.workspace_id, version.question_id)
    # In practice the member tries until the code passes, and sees the solution sooner only on request.
    hidden = open_in_round or verdict.verdict != "accepted"
    note = VerdictNote(
        ref=ref,
        question=build_question_view(version, ref, member.id),
        verdict=verdict,
        closes_at=found[0].closes_at if found else None,
        key=None if hidden else build_answer_key(version, ref),
        next_due=next_due,
        zone=ScheduleSpec.from_stored(found[1].spec).zone if found else "UTC",
        event_id=answer.event_id,
        practicing=answer.given.get("practicing") or "",
    )
    await outbox.enqueue(
        session,
        outbox.NewMessage(
            key=f"verdict:{answer.id}",
            body=note,
            workspace_id=member.workspace_id,
            chat_id=answer.chat_id,
            channel_id=await schedules.find_channel_in_chat(session, found[1], answer.chat_id) if found else None,
            member_id=member.id,
            round_id=answer.round_id,
        ),
        now,
        now + outbox.PRIVATE_TIMEOUT,
    )


WAIT_SECONDS = 1.0
"""Time that opening a question waits for its examples, seconds: a chat accepts a form for 3 seconds only."""
_MAX_TASKS = 1000
"""Number of questions whose examples are kept in memory."""


class Examples:
    """The examples of code questions, computed in the sandbox. Without one there are none."""

    def __init__(self, sandbox: FairSandbox | None, wait_seconds: float = WAIT_SECONDS) -> None:
        self._sandbox = sandbox
        self._wait_seconds = wait_seconds
        self._known: OrderedDict[CodeTask, asyncio.Task[tuple[ExampleView, ...]]] = OrderedDict()

    async def add_to(self, form: AskForm, task: CodeTask) -> AskForm:
        """Adds the examples of a code question to its form. A form never waits long for them."""
        if self._sandbox is None:
            return form
        found = await self._find(self._sandbox, task)
        return form.model_copy(update={"examples": found})

    async def close(self) -> None:
        """Cancels what is still being computed."""
        computing = [one for one in self._known.values() if not one.done()]
        for one in computing:
            one.cancel()
        await asyncio.gather(*computing, return_exceptions=True)

    async def _find(self, sandbox: FairSandbox, task: CodeTask) -> tuple[ExampleView, ...]:
        computing = self._known.get(task)
        if computing is None or (computing.done() and not _succeeded(computing)):
            # Everyone who opens the question at the same moment waits for the same run.
            computing = asyncio.create_task(_compute(sandbox, task), name="examples")
            self._known[task] = computing
        self._known.move_to_end(task)
        if len(self._known) > _MAX_TASKS:
            _, oldest = self._known.popitem(last=False)
            oldest.cancel()
        await asyncio.wait({computing}, timeout=self._wait_seconds)
        return computing.result() if computing.done() and _succeeded(computing) else ()


def _succeeded(computing: asyncio.Task[tuple[ExampleView, ...]]) -> bool:
    return not computing.cancelled() and computing.exception() is None


async def _compute(sandbox: FairSandbox, task: CodeTask) -> tuple[ExampleView, ...]:
    try:
        found = await run_examples(sandbox, make_challenge(task))
    except NotJudgeable as problem:
        log.warning("examples could not be computed", entry=task.entry, cause=str(problem))
        raise
    return tuple(ExampleView(call=one.call, result=one.result) for one in found)
