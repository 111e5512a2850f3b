"""Runs every proof, challenge, family and program of documents in the sandbox. `questions` interprets the results."""

from __future__ import annotations

import asyncio
import dataclasses
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from questions import Finding, Question, Reading
from questions.facts import FAMILY_ENTRY, FAMILY_PROGRAM, facts_program
from questions.families import ENTRY, InvalidVariant, variant_questions, variants_program
from questions.proof_report import DocumentProofs, GpuProof, Mutant, ProofReport
from questions.proofs import FailedPart, describe_failure, lacks_gpu_proof, proofs_of
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
from sandbox.values import Caps, decode, encode, split
from sandbox.wire import Limits, Run
from service.banks.code_proofs import prove_task
from service.banks.key_proofs import facts_of_result, key_faults, prove_key, survivors, texts_of, try_key_mutants
from service.banks.proof_checks import DRAWS, PROOF_LIMITS, ProofCheck, ProofSettings, run_twice, trouble_of
from service.domain.import_plan import digest_of
from service.store import questions, variants
from service.store.tables import QuestionVersion

PROOF_VARIANTS = 250
"""Number of variants generated to prove a family."""
PROVED_VARIANTS = 12
"""Number of these whose own proofs are run."""
MIN_FAMILY_MUTANTS = 10
"""Number of mutants of a family's variants from which no further variant is changed."""
MIN_DISTINCT_VARIANTS = 100
"""Number of different questions among those that a family must give."""
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
    mutants: tuple[Mutant, ...] = ()
    gpu: tuple[GpuProof, ...] = ()


Work = Callable[[Runs], Awaitable[ProofOutcome]]


def plan_proofs(
    readings: Sequence[Reading], *, only: Collection[str] = (), settings: ProofSettings | None = None
) -> list[Work]:
    """Returns everything to prove in documents, as functions of a sandbox.

    With `only`, the proofs of the questions with these ids and nothing else.
    """
    settings = settings or ProofSettings()
    work = [
        _question_work(document, reading, question, settings)
        for document, reading in enumerate(readings)
        for question in reading.bank.questions
        if _has_parts(question) and (not only or question.id in only)
    ]
    return work if only else work + plan_programs(readings)


def plan_programs(readings: Sequence[Reading]) -> list[Work]:
    """Returns the programs that documents show, as functions of a sandbox."""
    found: list[Work] = []
    for document, reading in enumerate(readings):
        snippets = snippets_of(reading)
        found += [_snippet_work(document, reading, snippets, at) for at in range(len(snippets))]
    return found


AT_ONCE = 2
"""Proofs that run at once."""


async def prove_all(work: Sequence[Work], sandbox: Runs) -> AsyncIterator[ProofOutcome]:
    """Runs the work and yields each result when it is ready."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(task: Work) -> ProofOutcome:
        async with gate:
            return await task(sandbox)

    async with asyncio.TaskGroup() as group:
        for done in asyncio.as_completed([group.create_task(one(task)) for task in work]):
            yield await done


def collect_results(
    readings: Sequence[Reading],
    found: Sequence[ProofOutcome],
    versions: dict[str, str],
    seconds: float,
    draws: int = DRAWS,
) -> ProofReport:
    """Groups the results by document. `versions` are the sandbox's, `seconds` the time it took.

    `draws` is how often the cases were drawn for each wrong solution.
    """
    documents = []
    for at, reading in enumerate(readings):
        own = [one for one in found if one.document == at]
        findings = sorted((f for one in own for f in one.findings), key=lambda finding: (finding.span, finding.code))
        held, programs = sum(one.held for one in own), sum(one.programs for one in own)
        parts = tuple(part for one in own for part in one.parts)
        mutants = tuple(mutant for one in own for mutant in one.mutants)
        gpu = tuple(sorted((proof for one in own for proof in one.gpu), key=lambda proof: proof.question))
        documents.append(DocumentProofs(reading.source, tuple(findings), held, programs, parts, mutants, gpu))
    troubles = tuple(one.trouble for one in found if one.trouble)
    return ProofReport(tuple(documents), versions, seconds, troubles, draws)


# Questions


def _has_parts(question: Question) -> bool:
    return bool(proofs_of(question) or question.task or question.draw or question.unproved)


def _question_work(document: int, reading: Reading, question: Question, settings: ProofSettings) -> Work:
    async def work(sandbox: Runs) -> ProofOutcome:
        proved = await prove_question(question, sandbox, settings)
        findings = tuple(
            describe_failure(
                question, reading.source, FailedPart(one.part, one.program, one.reason, one.printed, one.at)
            )
            for one in proved
            if not one.holds and not one.trouble
        )
        trouble = next((f"{one.name}: {one.trouble}" for one in proved if one.trouble), "")
        parts = tuple((one.name, one.reason) for one in proved if one.holds)
        mutants = tuple(mutant for one in proved for mutant in one.mutants)
        gpu = _gpu_proofs(question, proved)
        return ProofOutcome(document, findings, len(parts), trouble=trouble, parts=parts, mutants=mutants, gpu=gpu)

    return work


def _gpu_proofs(question: Question, proved: Sequence[ProofCheck]) -> tuple[GpuProof, ...]:
    """Returns whether a GPU has proved a question that is for one, if all of its proof holds."""
    task = question.task
    if task is None or task.device == "cpu" or not all(one.holds for one in proved):
        return ()
    fingerprint = next((one.gpu_fingerprint for one in proved if one.gpu_fingerprint), "")
    if not fingerprint:
        return (GpuProof(question.id, "not yet proved" if lacks_gpu_proof(task) else "proved before"),)
    return (GpuProof(question.id, "proved", fingerprint if task.gpu_proof != fingerprint else ""),)


async def prove_question(question: Question, sandbox: Runs, settings: ProofSettings | None = None) -> list[ProofCheck]:
    """Checks the key of a question, the solutions of its code task, and the variants of its family."""
    settings = settings or ProofSettings()
    found = await prove_key(question, sandbox, mutation=settings.mutation)
    if question.task is not None:
        found += await prove_task(question, question.task, sandbox, settings)
    if question.draw:
        family = await _family(question, sandbox, settings.mutation)
        found += [family, *survivors(question, family.mutants, question.draw)]
    return found


async def _family(question: Question, sandbox: Runs, mutation: bool) -> ProofCheck:
    proved = ProofCheck(question.id, f"{question.id}: family", holds=False, part="family", program=question.draw)
    try:
        drawn = await generate_variants(question, sandbox, seed=0, count=PROOF_VARIANTS)
    except InvalidVariant as problem:
        return dataclasses.replace(proved, reason=str(problem))
    except SandboxFailed as problem:
        return dataclasses.replace(proved, trouble=str(problem))
    if len(drawn) >= MIN_DISTINCT_VARIANTS:
        return await _variants(proved, drawn[:PROVED_VARIANTS], sandbox, mutation)
    message = f"{PROOF_VARIANTS} drawings give {len(drawn)} different questions, {MIN_DISTINCT_VARIANTS} are needed"
    return dataclasses.replace(proved, reason=message)


async def _variants(proved: ProofCheck, drawn: Sequence[Question], sandbox: Runs, mutation: bool) -> ProofCheck:
    """Runs the proofs of variants, all in one process, and compares each key with what its own proof computes."""
    run = Run(
        id=f"prove/{proved.name}",
        code=FAMILY_PROGRAM,
        entry=FAMILY_ENTRY,
        cases=encode([(facts_program(question.proof), texts_of(question)) for question in drawn]),
        limits=PROOF_LIMITS,
    )
    outcome = await run_twice(sandbox, run)
    if outcome.status != "ok":
        return dataclasses.replace(proved, reason=outcome.stderr or outcome.detail, trouble=trouble_of(outcome))
    mutants: list[Mutant] = []
    for question, piece in zip(drawn, split(outcome.results), strict=True):
        facts = facts_of_result(question, decode(piece, VARIANT_CAPS))
        faults = [facts] if isinstance(facts, str) else [fault.reason for fault in key_faults(question, facts)]
        if faults or isinstance(facts, str):
            return dataclasses.replace(proved, reason=f"{question.id}: {faults[0]}")
        if mutation and len(mutants) < MIN_FAMILY_MUTANTS:
            mutants += [dataclasses.replace(one, question=proved.question) for one in try_key_mutants(question, facts)]
    return dataclasses.replace(proved, holds=True, mutants=tuple(mutants))


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
    outcome = await run_twice(sandbox, run)
    return read_run(outcome.status, outcome.stdout, outcome.stderr, mark), trouble_of(outcome)
