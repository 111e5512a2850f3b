"""Runs every proof, challenge, family and program of documents in the sandbox. `questions` interprets the results."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from questions import Finding, Question, Reading
from questions.families import ENTRY, InvalidVariant, variant_questions, variants_program
from questions.model import CodeTask
from questions.proofs import DocumentProofs, Part, Proof, ProofReport, failed_part, proofs_of
from questions.snippets import (
    Attempt,
    RunReport,
    Snippet,
    draws_numbers,
    may_be_random,
    next_attempt,
    program_of,
    read_run,
    snippet_findings,
    snippets_of,
)
from sandbox.judging.challenge import Runs
from sandbox.judging.judge import Judgement
from sandbox.values import Caps, decode, encode, split
from sandbox.wire import Limits, Outcome, Run
from service.domain.import_plan import digest_of
from service.rounds.grading import judge_task
from service.store import questions, variants
from service.store.tables import QuestionVersion

PROOF_VARIANTS = 250
"""Number of variants generated to prove a family."""
MIN_DISTINCT_VARIANTS = 100
"""Number of different questions among those that a family must give."""
PROOF_LIMITS = Limits(wall_ms=20_000, cpu_ms=20_000, memory_mb=1024)
SNIPPET_LIMITS = Limits(wall_ms=10_000, cpu_ms=10_000, memory_mb=1024, output_bytes=1_000_000)
SEEDS = (1, 20_240_229, 3, 4)
"""Seeds of a program's runs: output that differs is random. The third and fourth are for programs that draw numbers."""


STORED_VARIANTS = 128
"""Number of variants generated when a family is imported; duplicates are left out."""
VARIANT_LIMITS = Limits(wall_ms=30_000, cpu_ms=30_000, memory_mb=1024)
VARIANT_CAPS = Caps(total=16 * 1024 * 1024, items=10**6)


class SandboxFailed(Exception):
    """The sandbox failed to generate variants. The family is not at fault."""


@dataclass(frozen=True, slots=True)
class ProofCheck:
    """The result of one proof, solution or family."""

    question: str
    name: str
    holds: bool
    said: str = ""
    """Why it does not hold: the output or the end of the traceback. For a wrong solution, what rejected it."""
    part: Part = "proof"
    program: str = ""
    printed: str = ""
    trouble: str = ""
    """Why it could not be checked: the sandbox's fault, never the question's."""


@dataclass(frozen=True, slots=True)
class ProofOutcome:
    """The result of one question or one program of a document."""

    document: int
    """Index of the document."""
    findings: tuple[Finding, ...]
    held: int
    """Number of proofs and claims that hold."""
    programs: int = 0
    """Number of programs that ran: 1, or 0 for a question."""
    parts: tuple[tuple[str, str], ...] = ()
    """Checks of a question that hold: name and remark."""
    trouble: str = ""


Work = Callable[[Runs], Awaitable[ProofOutcome]]


def plan_proofs(readings: Sequence[Reading]) -> list[Work]:
    """Returns everything to prove in documents, as functions of a sandbox."""
    found: list[Work] = []
    for document, reading in enumerate(readings):
        found += [
            _question_work(document, reading, question) for question in reading.bank.questions if _has_parts(question)
        ]
        snippets = snippets_of(reading)
        found += [_snippet_work(document, reading, snippets, at) for at in range(len(snippets))]
    return found


async def prove_all(work: Sequence[Work], sandbox: Runs, *, at_once: int = 2) -> AsyncIterator[ProofOutcome]:
    """Runs the work and yields each result when it is ready."""
    gate = asyncio.Semaphore(at_once)

    async def one(task: Work) -> ProofOutcome:
        async with gate:
            return await task(sandbox)

    async with asyncio.TaskGroup() as group:
        for done in asyncio.as_completed([group.create_task(one(task)) for task in work]):
            yield await done


def collect_results(
    readings: Sequence[Reading], found: Sequence[ProofOutcome], versions: dict[str, str], seconds: float
) -> ProofReport:
    """Groups the results by document. `versions` are the sandbox's, `seconds` the time it took."""
    documents = []
    for at, reading in enumerate(readings):
        own = [one for one in found if one.document == at]
        findings = sorted((f for one in own for f in one.findings), key=lambda finding: (finding.span, finding.code))
        held, programs = sum(one.held for one in own), sum(one.programs for one in own)
        parts = tuple(part for one in own for part in one.parts)
        documents.append(DocumentProofs(reading.source, tuple(findings), held, programs, parts))
    return ProofReport(tuple(documents), versions, seconds, tuple(one.trouble for one in found if one.trouble))


# Questions


def _has_parts(question: Question) -> bool:
    return bool(proofs_of(question) or question.task or question.draw)


def _question_work(document: int, reading: Reading, question: Question) -> Work:
    async def work(sandbox: Runs) -> ProofOutcome:
        proved = await prove_question(question, sandbox)
        findings = tuple(
            failed_part(question, reading.source, one.part, one.program, one.said, one.printed)
            for one in proved
            if not one.holds and not one.trouble
        )
        trouble = next((f"{one.name}: {one.trouble}" for one in proved if one.trouble), "")
        parts = tuple((one.name, one.said) for one in proved if one.holds)
        return ProofOutcome(document, findings, len(parts), trouble=trouble, parts=parts)

    return work


async def prove_question(question: Question, sandbox: Runs) -> list[ProofCheck]:
    """Checks the proofs of a question, the solutions of its code task, and the variants of its family."""
    found = [await _proof(question, proof, sandbox) for proof in proofs_of(question)]
    if question.task is not None:
        found.append(await _reference(question, question.task, sandbox))
        found.extend([await _wrong(question, question.task, at, sandbox) for at in range(len(question.task.wrong))])
    if question.draw:
        found.append(await _family(question, sandbox))
    return found


async def _family(question: Question, sandbox: Runs) -> ProofCheck:
    proved = ProofCheck(question.id, f"{question.id}: family", holds=False, part="family", program=question.draw)
    try:
        drawn = await generate_variants(question, sandbox, seed=0, count=PROOF_VARIANTS)
    except InvalidVariant as problem:
        return dataclasses.replace(proved, said=str(problem))
    except SandboxFailed as problem:
        return dataclasses.replace(proved, trouble=str(problem))
    if len(drawn) >= MIN_DISTINCT_VARIANTS:
        return dataclasses.replace(proved, holds=True)
    said = f"{PROOF_VARIANTS} drawings give {len(drawn)} different questions, {MIN_DISTINCT_VARIANTS} are needed"
    return dataclasses.replace(proved, said=said)


async def _proof(question: Question, proof: Proof, sandbox: Runs) -> ProofCheck:
    outcome = await _run(sandbox, Run(id=f"prove/{proof.name}", code=proof.program, limits=PROOF_LIMITS))
    holds = proof.holds(finished=outcome.status == "ok", printed=outcome.stdout)
    said = outcome.stderr.strip() or outcome.detail or f"{outcome.status}; printed {outcome.stdout!r}"
    return ProofCheck(
        question.id,
        proof.name,
        holds,
        "" if holds else said,
        part="proof" if proof.expect == "passes" else "output",
        program=proof.program,
        printed=outcome.stdout,
        trouble=_trouble(outcome),
    )


async def _reference(question: Question, task: CodeTask, sandbox: Runs) -> ProofCheck:
    judged = await judge_task(task, task.reference, sandbox, secrets.randbits(128))
    holds = judged.verdict == "accepted"
    return _judged(question, "reference", task.reference, judged, holds, "" if holds else _why(judged))


async def _wrong(question: Question, task: CodeTask, at: int, sandbox: Runs) -> ProofCheck:
    wrong = task.wrong[at]
    judged = await judge_task(task, wrong.code, sandbox, secrets.randbits(128))
    holds = judged.verdict not in ("accepted", "system error", "invalid")
    said = f"rejected: {_why(judged)}" if holds else f"no case rejects it: {_why(judged)}"
    return _judged(question, "wrong", wrong.code, judged, holds, said, f"wrong: {wrong.name}")


def _judged(
    question: Question, part: Part, program: str, judged: Judgement, holds: bool, said: str, name: str = ""
) -> ProofCheck:
    # A system error can be the fault of the reference or the cases, and then counts against the question.
    ours = "internal" in judged.detail or bool(judged.note)
    trouble = judged.detail if judged.verdict == "system error" and ours else ""
    return ProofCheck(question.id, f"{question.id}: {name or part}", holds, said, part, program, trouble=trouble)


def _why(judged: Judgement) -> str:
    failed = [case for case in judged.cases if case.verdict != "accepted"]
    first = f"case {failed[0].index + 1}: {failed[0].message}" if failed else "every case was accepted"
    return judged.detail or judged.message or f"{judged.verdict}; {first}"


# Families


async def store_variants(
    sessions: async_sessionmaker[AsyncSession], sandbox: Runs | None, version_id: int, now: datetime
) -> None:
    """Generates and stores the variants of a family, given by its version's id.

    Raises SandboxFailed, which is worth a retry, and InvalidVariant if the family is at fault; it is then never asked.
    """
    if sandbox is None:
        raise SandboxFailed("no sandbox is connected")
    async with sessions() as session:
        family = (await questions.get_version(session, version_id)).question
    drawn = await generate_variants(family, sandbox, seed=version_id, count=STORED_VARIANTS)
    if not drawn:
        raise InvalidVariant(f"no drawing of {family.id} has a key and enough wrong options that differ from it")
    async with sessions.begin() as session:
        row = await session.get_one(QuestionVersion, version_id)
        await variants.add(session, row, [(question, digest_of(question)) for question in drawn], now)


async def generate_variants(
    family: Question, sandbox: Runs, *, seed: int, first: int = 0, count: int = 100, limits: Limits = VARIANT_LIMITS
) -> tuple[Question, ...]:
    """Returns the different questions among `count` variants from number `first`; the same for the same seed.

    Raises InvalidVariant if the family is at fault, SandboxFailed if the sandbox is.
    """
    run = Run(
        id=f"draw/{family.id}/{first}",
        code=variants_program(family),
        entry=ENTRY,
        cases=encode([(seed, first, count)]),
        limits=limits,
    )
    outcome = await sandbox.run(run)
    if outcome.status == "internal":
        raise SandboxFailed(outcome.detail)
    if outcome.status != "ok":
        raise InvalidVariant(f"drawing ended with {outcome.status}: {outcome.stderr[-1000:].strip()}")
    return tuple(variant_questions(family, _decode_variants(outcome.results)))


def _decode_variants(results: bytes) -> list[dict[str, Any]]:
    try:
        (piece,) = split(results)
        entry = decode(piece, VARIANT_CAPS)
    except ValueError as problem:
        raise InvalidVariant(f"the drawings cannot be read: {problem}") from None
    match entry:
        case ("ok", list(drawings)) if all(isinstance(drawing, dict) for drawing in drawings):
            return [drawing for drawing in drawings if isinstance(drawing, dict)]
        case ("raised", str(name), str(message)):
            raise InvalidVariant(f"draw(rng) raised {name}: {message}")
        case (_, _, str(message)):
            raise InvalidVariant(f"draw(rng) gave what cannot leave the sandbox: {message}")
    raise InvalidVariant("draw(rng) must return a dict")


# Programs in documents


def _snippet_work(document: int, reading: Reading, snippets: Sequence[Snippet], at: int) -> Work:
    async def work(sandbox: Runs) -> ProofOutcome:
        attempt, ran, trouble = Attempt(), RunReport("ok", reported=False), ""
        others: list[RunReport] = []
        if isinstance(snippets[at].tree, SyntaxError):
            findings, held = snippet_findings(reading.source, snippets, at, attempt, ran)
            return ProofOutcome(document, tuple(findings), held, programs=1)
        while True:
            ran, trouble = await _ran(sandbox, reading, snippets, at, attempt, SEEDS[0])
            better = next_attempt(snippets, at, attempt, ran)
            if better is None or trouble:
                break
            attempt = better
        if not trouble and may_be_random(snippets, at, ran):
            for seed in SEEDS[1:] if draws_numbers(snippets[at]) else SEEDS[1:2]:
                other, trouble = await _ran(sandbox, reading, snippets, at, attempt, seed)
                others.append(other)
        if trouble:
            return ProofOutcome(document, (), 0, trouble=f"{reading.source.name}:{snippets[at].first}: {trouble}")
        findings, held = snippet_findings(reading.source, snippets, at, attempt, ran, others)
        return ProofOutcome(document, tuple(findings), held, programs=1)

    return work


async def _ran(
    sandbox: Runs, reading: Reading, snippets: Sequence[Snippet], at: int, attempt: Attempt, seed: int
) -> tuple[RunReport, str]:
    """Runs a program. Returns its output, and why the sandbox failed, if it did."""
    mark = secrets.token_hex(16)
    name = f"{reading.source.name}:{snippets[at].first}"
    run = Run(id=f"show/{name}", code=program_of(snippets, at, attempt, mark), seed=seed, limits=SNIPPET_LIMITS)
    outcome = await _run(sandbox, run)
    return read_run(outcome.status, outcome.stdout, outcome.stderr, mark), _trouble(outcome)


async def _run(sandbox: Runs, run: Run) -> Outcome:
    """Returns the outcome of a run, retried once if the sandbox failed."""
    outcome = await sandbox.run(run)
    return await sandbox.run(run) if outcome.status == "internal" else outcome


def _trouble(outcome: Outcome) -> str:
    return outcome.detail or "the sandbox failed" if outcome.status == "internal" else ""
