"""Runs the proof of one question for a member, in their turn at the sandbox, and returns what it computed.

Unlike `dailygrad bank prove`, it changes neither keys nor references. The comparison with the key happens here, outside
the process that ran the program.
"""

from __future__ import annotations

import secrets
from typing import TypedDict

from questions.facts import ENTRY, Facts, bound_names, facts_program, match_fragments
from questions.model import Question
from questions.proofs import Proof, proofs_of
from sandbox.causes import Cause
from sandbox.judging.challenge import Runs
from sandbox.values import decode, encode, split
from sandbox.wire import Outcome, Run
from service.banks.key_proofs import FACT_CAPS, facts_of_result, find_option_facts, key_faults, texts_of
from service.banks.proof_checks import PROOF_LIMITS
from service.errors import Refused
from service.rounds.grading import judge_task
from service.wire import NothingToProve, ProofFact, ProofRun

LONGEST = 4000
"""Characters of an output or a traceback that are shown."""


async def run_proof(question: Question, sandbox: Runs) -> ProofRun:
    """Runs the proof of a question; the program or the reference, if that is its proof. Refused if it has none."""
    proofs = proofs_of(question)
    if question.task is not None and not proofs:
        return await _run_reference(question, sandbox)
    if not proofs:
        raise Refused(NothingToProve(question=question.id))
    # A question that has both is proved by its program's output.
    proof = next((one for one in proofs if one.expect == "prints"), proofs[0])
    if proof.expect == "prints" or not bound_names(question):
        return await _run_program(question, proof, sandbox)
    return await _run_facts(question, proof, sandbox)


async def _run_program(question: Question, proof: Proof, sandbox: Runs) -> ProofRun:
    outcome = await sandbox.run(Run(id=_id(), code=proof.program, limits=PROOF_LIMITS))
    return ProofRun(
        ran="program" if proof.expect == "prints" else "proof",
        holds=proof.holds(finished=outcome.status == "ok", printed=outcome.stdout),
        computed=outcome.stdout[:LONGEST],
        **_ending(outcome),
    )


async def _run_facts(question: Question, proof: Proof, sandbox: Runs) -> ProofRun:
    run = Run(
        id=_id(),
        code=facts_program(proof.program),
        entry=ENTRY,
        cases=encode([(texts_of(question),)]),
        limits=PROOF_LIMITS,
    )
    outcome = await sandbox.run(run)
    made = ProofRun(ran="proof", holds=False, **_ending(outcome))
    if outcome.status != "ok":
        return made
    try:
        (piece,) = split(outcome.results)
        facts = facts_of_result(question, decode(piece, FACT_CAPS))
    except ValueError:
        return made.model_copy(update={"failed": True})
    if isinstance(facts, str):
        return made.model_copy(update={"failed": True, "problem": facts[-LONGEST:]})
    return made.model_copy(
        update={
            "holds": not key_faults(question, facts),
            "computed": (facts.answer or "")[:LONGEST],
            "facts": _list_facts(question, facts),
        }
    )


def _list_facts(question: Question, facts: Facts) -> tuple[ProofFact, ...]:
    if question.kind == "choice":
        found, _ = find_option_facts(question, facts)
        return tuple(
            ProofFact(text=option.text, holds=fact if isinstance(fact, bool) else None, key=option.right)
            for option, fact in zip(question.options, found, strict=True)
        )
    if question.kind == "open":
        about, _ = match_fragments(facts.named, question.key_points)
        return tuple(
            ProofFact(text=point, holds=facts.named[about[at]] if at in about else None, key=True)
            for at, point in enumerate(question.key_points)
        )
    return ()


async def _run_reference(question: Question, sandbox: Runs) -> ProofRun:
    assert question.task is not None, "only code questions have a reference"
    seed = secrets.randbits(128)
    judged = await judge_task(question.task, question.task.reference, sandbox, seed, id=_id())
    return ProofRun(
        ran="reference",
        holds=judged.verdict == "accepted",
        passed=sum(case.verdict == "accepted" for case in judged.cases),
        cases=len(judged.cases),
        note=judged.note,
        failed=judged.verdict not in ("accepted", "system error", "wrong"),
        problem="" if judged.verdict in ("accepted", "system error") else judged.message[-LONGEST:],
        cause=judged.cause,
        ours=judged.verdict == "system error",
    )


def _id() -> str:
    return f"show/{secrets.token_hex(8)}"


class _Ending(TypedDict):
    """What the outcome of a run says of how it ended."""

    failed: bool
    problem: str
    cause: Cause | None
    ours: bool
    wall_ms: float


def _ending(outcome: Outcome) -> _Ending:
    failed = outcome.status not in ("ok", "internal")
    return {
        "failed": failed,
        "problem": outcome.stderr.strip()[-LONGEST:] if failed else "",
        "cause": outcome.cause if failed else None,
        "ours": outcome.status == "internal",
        "wall_ms": outcome.wall_ms,
    }
