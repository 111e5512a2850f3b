"""Speed boards: measures code that passed a round after it has closed, where its schedule asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from sandbox.judging.challenge import NotJudgeable
from sandbox.judging.measuring import Measured, measure_answers
from service.domain import measurements as statistics
from service.domain.answer_matching import undo_smart_text
from service.domain.measurements import Estimate
from service.errors import Refused
from service.process import Clock
from service.rounds.grading import make_challenge
from service.rounds.sandbox_turns import FairSandbox
from service.store import answers, measurements, questions, rounds
from service.store.measurements import Entry, Used
from service.store.members import Caller, lock_caller
from service.store.questions import Version
from service.store.session import Sessions
from service.store.tables import Round, Schedule
from service.wire import (
    MeasuredBy,
    MeasuredRow,
    MeasurementBoard,
    NotFound,
    QuestionGone,
    QuestionRef,
    SharedSolution,
    Spread,
    StillOpen,
)

log = structlog.get_logger(__name__)
RUNS = 9
"""Runs of each answer. With nine, the interval from the second to the eighth has the true median at 96%."""
MAX_ANSWERS = 60
"""Most answers of a round that are measured, those that were submitted first."""
MAX_ROWS = 25
"""Longest board."""


class NotMeasured(Exception):
    """Answers are still being judged, or the sandbox failed: measure later."""


def is_measured(round_: Round, schedule: Schedule, version: Version) -> bool:
    """Returns whether the code that answers a round of the schedule is measured.

    A GPU's work is not in the CPU time of a process, so a question for a GPU is not. Neither is one with a variant
    for each member: these are not the same work.
    """
    task = version.question.task
    return not round_.own_variants and bool(schedule.spec.get("measure")) and task is not None and task.device != "cuda"


async def measure_round(
    sessions: Sessions, sandbox: FairSandbox | None, round_id: int, clock: Clock, *, last: bool
) -> None:
    """Measures the code of a closed round, once. Raises NotMeasured to be called later, unless this is the `last`
    attempt. No transaction is open while the code runs."""
    async with sessions.begin() as session:
        if await measurements.is_measured(session, round_id):
            return
        found = await rounds.lock_shared(session, round_id)
        if found is None or found[0].closed_at is None or found[0].version_id is None:
            return
        version = await questions.get_version(session, found[0].version_id)
        entries = await answers.list_entries(session, round_id)
    if not last and any(entry.verdict is None for entry in entries):
        raise NotMeasured(f"round {round_id}: answers are still being judged")
    passed = {
        entry.answer.id: undo_smart_text(entry.answer.given["code"])
        for entry in entries
        if entry.verdict is not None
        and entry.verdict.credit == 1
        and entry.answer.version_id == version.id
        and entry.answer.given.get("code")
    }
    task = version.question.task
    if not passed or task is None:
        return
    measured = dict(list(passed.items())[:MAX_ANSWERS])
    try:
        if sandbox is None:
            raise NotJudgeable("no sandbox is connected")
        made = await measure_answers(sandbox, make_challenge(task), measured, runs=RUNS, id=f"measure/r{round_id}")
    except NotJudgeable as problem:
        if not last:
            raise NotMeasured(f"round {round_id}: {problem}") from None
        log.error("a round is not measured", round=round_id, cause=str(problem))
        return
    async with sessions.begin() as session:
        # Some may have been forgotten while their code ran. The lock makes others who are wait for this.
        await rounds.lock_shared(session, round_id)
        entries = await answers.list_entries(session, round_id)
        gone = {entry.answer.id for entry in entries if entry.member.forgotten_at is not None}
        used = {answer: _used(one) for answer, one in made.answers.items() if answer not in gone}
        await measurements.save(session, round_id, RUNS, _used(made.reference), used, clock())


def _used(measured: Measured) -> Used:
    return Used(
        [round(one, 3) for one in measured.cpu_ms], [round(one, 3) for one in measured.peak_mb], measured.steady
    )


async def view_board(session: AsyncSession, caller: Caller, ref: str, by: MeasuredBy) -> MeasurementBoard:
    """Returns the speed board of a round; without `ref`, of the channel's latest one, or else the workspace's."""
    if ref:
        reference = QuestionRef.parse(ref)
        if reference.kind != "round":
            raise Refused(QuestionGone(practice=False))
        round_id = reference.id
    else:
        latest = await measurements.find_latest(session, caller.workspace_id, caller.channel_id)
        latest = latest or await measurements.find_latest(session, caller.workspace_id, None)
        if latest is None:
            raise Refused(NotFound(what="measurement"))
        round_id = latest
    found = await rounds.find_in_workspace(session, caller.workspace_id, round_id)
    if found is None or found[0].version_id is None:
        raise Refused(QuestionGone(practice=False))
    measured = await measurements.find(session, round_id)
    if measured is None:
        raise Refused(NotFound(what="measurement"))
    version = await questions.get_version(session, found[0].version_id)
    entries = await _still_right(session, await measurements.list_entries(session, round_id))
    steady = [entry for entry in entries if entry.measured.steady]
    times = [statistics.estimate(entry.measured.cpu_ms) for entry in steady]
    peaks = [statistics.estimate(entry.measured.peak_mb) for entry in steady]
    rows = _rows(caller, steady, times, peaks, by)
    secret = await questions.is_asked_now(session, caller.workspace_id, version.question_id)
    return MeasurementBoard(
        ref=str(QuestionRef("round", round_id)),
        day=found[0].day,
        question=version.question.id,
        by=by,
        rows=tuple(row for place, (row, _) in enumerate(rows) if place < MAX_ROWS or row.me),
        total=len(steady),
        unsteady=len(entries) - len(steady),
        runs=measured.runs,
        confidence=statistics.coverage(measured.runs),
        time=_spread(statistics.estimate(measured.cpu_ms)),
        memory=_spread(statistics.estimate(measured.peak_mb)),
        shared=next((entry.measured.shown for entry in steady if entry.member.id == caller.member_id), None),
        solution=None if secret else _best_shared(rows),
    )


async def _still_right(session: AsyncSession, entries: Sequence[Entry]) -> list[Entry]:
    """Leaves out answers that a correction of the question has made wrong."""
    verdicts = await answers.latest_verdicts(session, [entry.answer.id for entry in entries])
    return [entry for entry in entries if (row := verdicts.get(entry.answer.id)) is not None and row.credit == 1]


def _rows(
    caller: Caller, entries: Sequence[Entry], times: Sequence[Estimate], peaks: Sequence[Estimate], by: MeasuredBy
) -> list[tuple[MeasuredRow, Entry]]:
    """Returns the board's rows without hidden members, best first. Hidden members keep their ranks."""
    ordered = times if by == "time" else peaks
    ranks, shares = statistics.rank(ordered), statistics.percentiles(ordered)
    found = []
    for at, entry in enumerate(entries):
        mine = entry.member.id == caller.member_id
        if entry.member.hidden and not mine:
            continue
        row = MeasuredRow(
            rank=ranks[at],
            name=entry.member.name,
            me=mine,
            time=_spread(times[at]),
            memory=_spread(peaks[at]),
            better_than=shares[at],
        )
        found.append((ordered[at].median, at, row, entry))
    return [(row, entry) for _, _, row, entry in sorted(found, key=lambda one: (one[0], one[1]))]


def _best_shared(rows: Sequence[tuple[MeasuredRow, Entry]]) -> SharedSolution | None:
    for row, entry in rows:
        code = cast(str | None, entry.answer.given.get("code"))
        if entry.measured.shown and code and not entry.member.hidden:
            return SharedSolution(name=row.name, rank=row.rank, code=undo_smart_text(code))
    return None


def _spread(found: Estimate) -> Spread:
    return Spread(median=found.median, low=found.low, high=found.high)


async def share_solution(session: AsyncSession, caller: Caller, ref: str, *, shown: bool) -> None:
    """Shows the caller's measured code to the other members of the workspace, or hides it."""
    caller = await lock_caller(session, caller)
    reference = QuestionRef.parse(ref)
    found = await rounds.find_in_workspace(session, caller.workspace_id, reference.id)
    if reference.kind != "round" or found is None:
        raise Refused(QuestionGone(practice=False))
    if found[0].closed_at is None:
        raise Refused(StillOpen())
    if not await measurements.set_shown(session, reference.id, caller.member_id, shown=shown):
        raise Refused(NotFound(what="measurement"))
