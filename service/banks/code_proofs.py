"""Proves code questions: the cases accept the reference and reject the wrong solutions, as they judge members.

`reference_proofs` proves the reference itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from questions.model import CodeTask, Question, Wrong
from questions.proofs import Part, gpu_fingerprint
from sandbox.differences import in_symbols
from sandbox.judging.challenge import NotJudgeable, Prepared, Runs, judge_at_once, prepare_judgement
from sandbox.judging.judge import Judgement
from sandbox.judging.reference_cache import ReferenceCache
from service.banks.proof_checks import ProofCheck, ProofSettings
from service.banks.reference_proofs import prove_reference
from service.rounds.grading import judge_task, make_challenge

_CACHE_BYTES = 256 << 20
"""Size of the cases and results that are kept for one question: more than any three draws have."""
_Judge = Callable[[str, int], Awaitable[Judgement]]
"""Judges a program as an answer to the task, by the cases of a seed."""


async def prove_task(
    question: Question, task: CodeTask, sandbox: Runs, settings: ProofSettings | None = None
) -> list[ProofCheck]:
    """Judges the reference and the wrong solutions of a task by its cases, and the reference by its oracle."""
    settings = settings or ProofSettings()
    references = ReferenceCache(max_bytes=_CACHE_BYTES)  # The cases and the reference run once for each seed.

    async def judge(code: str, seed: int) -> Judgement:
        return await judge_task(task, code, sandbox, seed, references=references)

    seeds = settings.draw_seeds()
    found = [await _reference(question, task, judge, seeds[0])]
    if not found[0].holds:
        # It says what is right, so nothing can be judged without it.
        return found
    draws = await _prepare(task, sandbox, references, seeds)
    for wrong in task.wrong:
        check = await _reject_at_once(sandbox, draws, wrong.code, judge) if draws else None
        found.append(_of_wrong(question, wrong, *(check or await _rejection(wrong.code, judge, seeds))))
    return found + await prove_reference(question, task, sandbox, settings.mutation)


async def _reference(question: Question, task: CodeTask, judge: _Judge, seed: int) -> ProofCheck:
    judged = await judge(task.reference, seed)
    holds = judged.verdict == "accepted"
    check = _judged(question, "reference", task.reference, judged, holds, "" if holds else _why(judged))
    # Without a GPU the verdict is the CPU's, and says so in its note.
    on_gpu = holds and task.device != "cpu" and not judged.note
    return replace(check, gpu_fingerprint=gpu_fingerprint(task) if on_gpu else "")


async def _prepare(task: CodeTask, sandbox: Runs, references: ReferenceCache, seeds: Sequence[int]) -> list[Prepared]:
    """Returns the cases and the reference's results of every draw, or nothing if they cannot be had."""
    challenge = make_challenge(task)
    found = []
    for seed in seeds:
        prepared = references.get(challenge, seed)
        if prepared is None:
            try:
                prepared = await prepare_judgement(sandbox, challenge, seed, id=f"prove/{task.entry}")
            except NotJudgeable:
                return []
            references.put(prepared)
        found.append(prepared)
    return found


_Rejection = tuple[Judgement, bool, str]
"""The last judgement, whether the cases reject the solution, and what they said."""


async def _reject_at_once(sandbox: Runs, draws: Sequence[Prepared], code: str, judge: _Judge) -> _Rejection | None:
    """Judges a wrong solution by every draw in one run, and by those that this leaves open in runs of their own.

    Returns None if the one run tells nothing, or if a draw may not reject it.
    """
    judged = await judge_at_once(sandbox, draws, code)
    if not judged or not all(map(_rejects, judged)):
        return None
    for draw in draws[len(judged) :]:
        if not _rejects(await judge(code, draw.seed)):
            return None
    return judged[0], True, f"rejected: {_why(judged[0])}"


async def _rejection(code: str, judge: _Judge, seeds: Sequence[int]) -> _Rejection:
    """Judges a wrong solution by one draw after the other, as members meet one each, until one accepts it."""
    message = ""
    for number, seed in enumerate(seeds, start=1):
        judged = await judge(code, seed)
        message = message or f"rejected: {_why(judged)}"
        if not _rejects(judged):
            return judged, False, f"no case rejects it in draw {number} of {len(seeds)}, seed {seed}: {_why(judged)}"
    return judged, True, message


def _rejects(judged: Judgement) -> bool:
    return judged.verdict not in ("accepted", "system error", "invalid")


def _of_wrong(question: Question, wrong: Wrong, judged: Judgement, holds: bool, message: str) -> ProofCheck:
    check = _judged(question, "wrong", wrong.code, judged, holds, message)
    return replace(check, name=f"{question.id}: wrong: {wrong.name}")


def _judged(question: Question, part: Part, program: str, judged: Judgement, holds: bool, message: str) -> ProofCheck:
    # A system error can be the fault of the reference or the cases, and then counts against the question.
    ours = "internal" in judged.detail or bool(judged.note)
    trouble = judged.detail if judged.verdict == "system error" and ours else ""
    return ProofCheck(question.id, f"{question.id}: {part}", holds, message, part, program, trouble=trouble)


def _why(judged: Judgement) -> str:
    failed = [case for case in judged.cases if case.verdict != "accepted"]
    if not failed:
        return judged.detail or judged.message or f"{judged.verdict}; every case was accepted"
    where = f"case {failed[0].index + 1}{' on the GPU' if failed[0].on_gpu else ''}"
    how = f": {in_symbols(failed[0].difference)}" if failed[0].difference else ""
    return judged.detail or judged.message or f"{judged.verdict}; {where}{how}"
