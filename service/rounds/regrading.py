"""Regrades closed rounds after a correction: posts differences and announces them, and repeats recorded verdicts.

Code is judged again in the sandbox, by a job that is deferred here. No transaction is open while it runs.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from sandbox.judging.challenge import Runs
from service.process import Clock
from service.rounds.grading import NotJudged, grade_answer, grade_code
from service.rounds.jobs import defer_regrading
from service.rounds.ledger import LedgerPosting
from service.rounds.sandbox_turns import FairSandbox
from service.store import answers, outbox, questions, rounds
from service.store.boards import lock_boards
from service.store.questions import Version
from service.store.session import Sessions
from service.store.statements import batches
from service.store.tables import Round, Schedule, VerdictRow
from service.wire import AnswerInput, Notice, QuestionCorrected, VerdictView

log = structlog.get_logger(__name__)


class NoVerdict(Exception):
    """There is no recorded verdict to repeat."""


@dataclass(frozen=True, slots=True)
class _PendingAnswer:
    """An answer to judge by another version of its question."""

    answer_id: int
    code: str
    seed: int
    """Seed of its latest verdict, so that unchanged cases stay the same."""
    standing: VerdictView | None
    """The latest verdict, if the task is unchanged, so that the answer is not judged again."""


@dataclass(frozen=True, slots=True)
class RepeatedVerdict:
    """A recorded verdict and its repetition."""

    answer_id: int
    question: str
    version: int
    before: VerdictView
    after: VerdictView

    @property
    def same(self) -> bool:
        """Whether every case has the same verdict as before."""
        return _comparable(self.before) == _comparable(self.after)

    @property
    def failed(self) -> bool:
        """Whether the sandbox or the question could not judge it again, which says nothing about the verdict."""
        # One was judged with a GPU and the other without, so they cannot be compared.
        return self.after.verdict == "system error" or self.before.note != self.after.note

    def __str__(self) -> str:
        head = f"answer {self.answer_id} to {self.question}, version {self.version}: {_summarize(self.before)}"
        if self.failed:
            why = self.after.message or self.after.note or f"the first time: {self.before.note}"
            return f"{head}; it could not be judged again: {why}"
        return f"{head}, and the same again" if self.same else f"{head}, but now {_summarize(self.after)}"


async def regrade_question(session: AsyncSession, version_id: int, now: datetime) -> None:
    """Judges every closed round of the question by this version and posts the differences, once."""
    fixed = await questions.get_version(session, version_id)
    # Variants keep the key that torch computed, even if the family changes.
    if fixed.question.draw or not fixed.question.answered:
        return
    # People marked open answers by the key points they were asked with; their credits stay.
    if fixed.question.kind == "open":
        return
    if fixed.question.kind == "code":
        await defer_regrading(session, version_id, fixed.question_id)
        return
    closed = await rounds.list_closed_with_question(session, fixed.question_id)
    # All at once, so that two corrections take the locks in the same order.
    await lock_boards(session, [schedule.workspace_id for _, schedule in closed])
    for round_, schedule in closed:
        assert round_.version_id is not None, "a closed round asked a question"
        asked_version = await questions.get_version(session, round_.version_id)
        # A round of a family that is now a plain question asked something else.
        if asked_version.question.kind == fixed.question.kind and not asked_version.drawing:
            moved = await _correct_round(session, round_, schedule, fixed, now)
            await notify_point_changes(session, round_, schedule, fixed, moved, now)


async def regrade_code(
    sessions: Sessions, sandbox: FairSandbox | None, version_id: int, clock: Clock, *, last: bool
) -> None:
    """Judges every closed round of the question by this version and posts the differences, once.

    Does nothing for an outdated version: the newer one has its own job. Raises NotJudged if the sandbox failed; with
    `last` those answers keep their verdicts and the others are corrected.
    """
    async with sessions.begin() as session:
        fixed = await questions.get_version(session, version_id)
        if await questions.newest_version_id(session, fixed.question_id) != version_id:
            return
        round_ids = [round_.id for round_, _ in await rounds.list_closed_with_question(session, fixed.question_id)]
    for round_id in round_ids:
        await _regrade_round(sessions, sandbox, round_id, fixed, clock, last=last)


async def repeat_verdicts(
    sessions: Sessions, sandbox: Runs, *, answer_id: int | None = None, question: str = ""
) -> AsyncIterator[RepeatedVerdict]:
    """Repeats each recorded verdict of one answer, or of all answers to a question, from its seed. Stores nothing.

    Raises NoVerdict if there is no such verdict of code.
    """
    async with sessions.begin() as session:
        found = [(row, code) for row, code in await answers.list_seeded_verdicts(session, answer_id, question) if code]
        by = {row.version_id: await questions.get_version(session, row.version_id) for row, _ in found}
    if not found:
        what = f"judged code answer {answer_id}" if answer_id is not None else f"judged code answer to {question!r}"
        raise NoVerdict(f"there is no {what}: list those of a question with `dailygrad regrade --question ID`")
    for row, code in found:
        version, seed = by[row.version_id], _stored_seed(row)
        assert version.question.task is not None and seed is not None, "only code is judged with a seed"
        again = await grade_code(sandbox, version.question.task, code, seed)
        yield RepeatedVerdict(row.answer_id, version.question.id, version.number, answers.read_verdict(row), again)


def exit_status(repeated: Sequence[RepeatedVerdict]) -> int:
    """Returns 0 if every verdict is the same, 1 if one differs, 2 if one could not be repeated."""
    if any(one.failed for one in repeated):
        return 2
    return 0 if all(one.same for one in repeated) else 1


async def notify_point_changes(
    session: AsyncSession, round_: Round, schedule: Schedule, fixed: Version, moved: Sequence[int], now: datetime
) -> None:
    """Announces the changed points in the round's channels, once per version. Does nothing if none changed."""
    if not moved:
        return
    fact = QuestionCorrected(
        question=fixed.question.id,
        day=round_.day,
        code=fixed.question.kind == "code",
        gained=tuple(points for points in moved if points > 0),
        lost=tuple(-points for points in moved if points < 0),
    )
    for channel_id in await outbox.list_round_channels(session, round_.id, schedule):
        elsewhere = "" if channel_id == schedule.channel_id else f":{channel_id}"
        await outbox.enqueue(
            session,
            outbox.NewMessage(
                key=f"regraded:{round_.id}:{fixed.id}{elsewhere}",
                body=Notice(fact=fact),
                workspace_id=schedule.workspace_id,
                channel_id=channel_id,
            ),
            now,
            now + outbox.PRIVATE_TIMEOUT,
        )


async def _correct_round(
    session: AsyncSession, round_: Round, schedule: Schedule, fixed: Version, now: datetime
) -> list[int]:
    """Returns the nonzero point differences of the members."""
    posting = await LedgerPosting.for_round(session, round_, schedule, fixed.question)
    moved: list[int] = []
    for page in batches(await answers.list_member_ids(session, round_.id)):
        graded = [
            (entry, grade_answer(fixed.question, AnswerInput.from_stored(entry.answer.given)))
            for entry in await answers.list_page(session, round_.id, page)
            if entry.member.forgotten_at is None and not entry.answer.given.get("cleared")
        ]
        graded = [(entry, verdict) for entry, verdict in graded if verdict.verdict != "system error"]
        await answers.save_verdicts(session, [(entry.answer, verdict) for entry, verdict in graded], now, fixed.id)
        credits = [(entry, verdict.credit) for entry, verdict in graded if verdict.credit is not None]
        moved += [points for points in await posting.post_corrections(session, credits, fixed.id) if points]
    return moved


async def _regrade_round(
    sessions: Sessions,
    sandbox: FairSandbox | None,
    round_id: int,
    fixed: Version,
    clock: Clock,
    *,
    last: bool,
) -> None:
    async with sessions.begin() as session:
        todo = [work async for work in _list_pending(session, round_id, fixed)]
    found: dict[int, tuple[VerdictView, int]] = {}
    for work in todo:
        assert fixed.question.task is not None, "only code questions are judged here"
        references = sandbox.references if sandbox else None
        verdict = work.standing or await grade_code(sandbox, fixed.question.task, work.code, work.seed, references)
        if verdict.verdict != "system error":
            found[work.answer_id] = verdict, work.seed
        elif last:
            log.error("an answer could not be judged again", answer=work.answer_id, cause=verdict.message)
        else:
            raise NotJudged(f"answer {work.answer_id}, again: {verdict.message}")
    if found:
        async with sessions.begin() as session:
            await _save_corrections(session, round_id, fixed, found, clock())


async def _list_pending(session: AsyncSession, round_id: int, fixed: Version) -> AsyncIterator[_PendingAnswer]:
    """Yields current answers of the round that were judged, but not by this version."""
    for page in batches(await answers.list_member_ids(session, round_id)):
        entries = await answers.list_page(session, round_id, page)
        judged = await answers.list_verdicts(session, [entry.answer.id for entry in entries])
        versions = await questions.list_versions(session, {verdicts[-1].version_id for verdicts in judged.values()})
        for entry in entries:
            verdicts, code = judged.get(entry.answer.id), entry.answer.given.get("code")
            # An answer without a verdict has no points yet; its verdict will trigger another regrading.
            if not verdicts or not code or entry.member.forgotten_at is not None:
                continue
            if any(verdict.version_id == fixed.id for verdict in verdicts):
                continue
            latest = verdicts[-1]
            same = versions[latest.version_id].question.task == fixed.question.task
            yield _PendingAnswer(
                entry.answer.id,
                code,
                _stored_seed(latest) or secrets.randbits(128),
                answers.read_verdict(latest) if same else None,
            )


def _stored_seed(verdict: VerdictRow) -> int | None:
    seed = verdict.detail.get("seed")
    return None if seed is None else int(seed)


async def _save_corrections(
    session: AsyncSession, round_id: int, fixed: Version, found: dict[int, tuple[VerdictView, int]], now: datetime
) -> None:
    """Saves the verdicts and posts the differences, all or none. Keeps verdicts that another job saved meanwhile."""
    held = await rounds.lock_shared(session, round_id)
    assert held is not None, "rounds are never deleted"
    posting = await LedgerPosting.for_round(session, *held, fixed.question)
    saved = []
    for entry in await answers.list_entries(session, round_id):
        if entry.answer.id not in found or entry.member.forgotten_at is not None:
            continue
        verdict, seed = found[entry.answer.id]
        if await answers.save_verdict(session, entry.answer.id, fixed.id, verdict, now, seed=seed):
            assert verdict.credit is not None, "code is judged by its cases"
            saved.append((entry, verdict.credit))
    moved = await posting.post_corrections(session, saved, fixed.id)
    await notify_point_changes(session, *held, fixed, [points for points in moved if points], now)


def _comparable(view: VerdictView) -> tuple[object, ...]:
    return view.verdict, round(view.credit or 0.0, 9), [(case.number, case.verdict) for case in view.cases]


def _summarize(view: VerdictView) -> str:
    passed = sum(case.verdict == "accepted" for case in view.cases)
    return f"{view.verdict}, {passed} of {len(view.cases)} cases" if view.cases else view.verdict
