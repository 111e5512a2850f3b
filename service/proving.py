"""Proves a bank: runs every proof, every program and every challenge with its wrong solutions in the sandbox."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from questions import Question
from questions.families import DrawingWrong
from questions.model import CodeTask
from questions.proving import Proof, proofs
from sandbox.challenge import Runs, judge_code
from sandbox.comparing import Tolerance
from sandbox.judge import Judgement
from sandbox.wire import Limits, Run
from service.drawing import draw_questions

DRAWINGS = 250
FEWEST_DRAWN = 100
"""Different questions that many drawings of a family must give."""
PROOF_LIMITS = Limits(wall_ms=20_000, cpu_ms=20_000, memory_mb=1024)


@dataclass(frozen=True, slots=True)
class Proved:
    """What came of one thing that had to hold."""

    question: str
    name: str
    holds: bool
    said: str = ""
    """Why it does not hold: what was printed, or the end of the traceback."""


async def prove(questions: Sequence[Question], sandbox: Runs, *, at_once: int = 2) -> AsyncIterator[Proved]:
    """Everything that must hold of `questions`, as each is found out."""
    gate = asyncio.Semaphore(at_once)

    async def one(question: Question) -> list[Proved]:
        async with gate:
            return await prove_question(question, sandbox)

    for done in asyncio.as_completed([one(question) for question in questions]):
        for proved in await done:
            yield proved


async def prove_question(question: Question, sandbox: Runs) -> list[Proved]:
    """Each proof of one question, and for a code question the reference and each wrong solution."""
    found = [await _proof(question, proof, sandbox) for proof in proofs(question)]
    if question.task is not None:
        found.append(await _reference(question, question.task, sandbox))
        found.extend([await _wrong(question, question.task, at, sandbox) for at in range(len(question.task.wrong))])
    if question.draw:
        found.append(await _family(question, sandbox))
    return found


async def _family(question: Question, sandbox: Runs) -> Proved:
    name = f"{question.id}: family"
    try:
        drawn = await draw_questions(question, sandbox, seed=0, count=DRAWINGS)
    except DrawingWrong as problem:
        return Proved(question.id, name, holds=False, said=str(problem))
    enough = len(drawn) >= FEWEST_DRAWN
    said = "" if enough else f"{DRAWINGS} drawings give {len(drawn)} different questions, {FEWEST_DRAWN} are needed"
    return Proved(question.id, name, enough, said)


async def _proof(question: Question, proof: Proof, sandbox: Runs) -> Proved:
    outcome = await sandbox.run(Run(id=f"prove/{proof.name}", code=proof.program, limits=PROOF_LIMITS))
    holds = proof.holds(finished=outcome.status == "ok", printed=outcome.stdout)
    said = outcome.stderr.strip() or outcome.detail or f"{outcome.status}; printed {outcome.stdout!r}"
    return Proved(question.id, proof.name, holds, "" if holds else said)


async def _reference(question: Question, task: CodeTask, sandbox: Runs) -> Proved:
    judged = await judge_task(task, task.reference, sandbox, secrets.randbits(128))
    holds = judged.verdict == "accepted"
    return Proved(question.id, f"{question.id}: reference", holds, "" if holds else _why(judged))


async def _wrong(question: Question, task: CodeTask, at: int, sandbox: Runs) -> Proved:
    wrong = task.wrong[at]
    judged = await judge_task(task, wrong.code, sandbox, secrets.randbits(128))
    holds = judged.verdict not in ("accepted", "system error", "invalid")
    said = "" if holds else f"no case rejects it: {_why(judged)}"
    return Proved(question.id, f"{question.id}: wrong: {wrong.name}", holds, said)


async def judge_task(task: CodeTask, code: str, sandbox: Runs, seed: int) -> Judgement:
    """Judge `code` as an answer to `task`. `seed` is fresh and secret, 128 bits."""
    limits = Limits(wall_ms=task.wall_ms, cpu_ms=task.wall_ms, memory_mb=task.memory_mb)
    return await judge_code(
        sandbox,
        entry=task.entry,
        driver=task.driver,
        cases_program=task.cases,
        reference=task.reference,
        answer=code,
        limits=limits,
        tolerance=Tolerance(rtol=task.tolerance.rtol, atol=task.tolerance.atol),
        seed=seed,
    )


def _why(judged: Judgement) -> str:
    failed = [case for case in judged.cases if case.verdict != "accepted"]
    first = f"case {failed[0].index + 1}: {failed[0].message}" if failed else "every case was accepted"
    return judged.detail or judged.message or f"{judged.verdict}; {first}"
