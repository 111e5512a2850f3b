"""Proves the keys of questions: runs a proof, and compares the key with the facts it computed.

The comparison happens here, outside the process that ran the proof, and values are compared as members' answers are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from questions.facts import (
    ENTRY,
    Facts,
    bound_names,
    constant_facts,
    facts_from,
    facts_program,
    match_fragments,
    option_text,
)
from questions.model import Option, Question
from questions.mutants import key_mutants
from questions.proof_report import Mutant
from questions.proofs import Part, Proof, proofs_of
from sandbox.judging.challenge import Runs
from sandbox.values import Caps, Value, decode, encode, split
from sandbox.wire import Outcome, Run
from service.banks.proof_checks import PROOF_LIMITS, ProofCheck, run_twice, trouble_of
from service.domain.answer_matching import matches_value, parse_value

FACT_CAPS = Caps(total=1024 * 1024)
"""Limits on what a proof may compute."""
_BOUND = ("choice", "value", "open")
"""Kinds whose proof has to compute the key."""
NO_VALUE = "it is not a value that can be compared with a key, such as 3, (1, 4) or True"


@dataclass(frozen=True, slots=True)
class KeyFault:
    """A difference between a key and the facts."""

    part: Part
    reason: str
    at: str = ""
    """Text of the key."""


async def prove_key(question: Question, sandbox: Runs, *, mutation: bool = True) -> list[ProofCheck]:
    """Runs the proof and the program of a question, and checks its key against what they computed."""
    found = []
    for proof in proofs_of(question):
        if proof.expect == "prints":
            found.append(await _prove_output(question, proof, sandbox, mutation))
        elif bound_names(question):
            found.extend(await _prove_facts(question, proof, sandbox, mutation))
        else:
            found.extend(await _prove_unbound(question, proof, sandbox, mutation))
    if question.unproved and not question.proof:
        found.append(ProofCheck(question.id, f"{question.id}: unproved", holds=True, reason=question.unproved))
    return found


# Proofs that compute facts


async def _prove_facts(question: Question, proof: Proof, sandbox: Runs, mutation: bool) -> list[ProofCheck]:
    texts = texts_of(question)
    run = Run(
        id=f"prove/{proof.name}",
        code=facts_program(proof.program),
        entry=ENTRY,
        cases=encode([(texts,)]),
        limits=PROOF_LIMITS,
    )
    outcome = await run_twice(sandbox, run)
    facts = read_facts(question, outcome)
    if isinstance(facts, str):
        return [_failed(question, proof, facts, trouble_of(outcome))]
    faults = key_faults(question, facts)
    if stated := constant_facts(question):
        faults.append(KeyFault("constant", f"`{'`, `'.join(stated)}` would be the same whatever the program does"))
    if faults:
        return [
            ProofCheck(question.id, proof.name, False, one.reason, one.part, proof.program, at=one.at) for one in faults
        ]
    tried = try_key_mutants(question, facts) if mutation else ()
    proved = ProofCheck(question.id, proof.name, True, program=proof.program, mutants=tried)
    return [proved, *survivors(question, tried, proof.program)]


def texts_of(question: Question) -> list[Value]:
    """Returns the texts for which a proof's `holds` is called."""
    return [option_text(option.text) for option in question.options]


def _failed(question: Question, proof: Proof, message: str, trouble: str = "") -> ProofCheck:
    return ProofCheck(question.id, proof.name, False, message, program=proof.program, trouble=trouble)


def survivors(question: Question, tried: Sequence[Mutant], program: str) -> list[ProofCheck]:
    """Returns a check that fails if a mutant survived, and names all that did."""
    names = [mutant.name for mutant in tried if mutant.state == "survived"]
    if not names:
        return []
    return [ProofCheck(question.id, f"{question.id}: mutants", False, "; ".join(names), "mutant", program)]


def try_key_mutants(question: Question, facts: Facts) -> tuple[Mutant, ...]:
    """Compares the key with each deliberate mistake with the facts. The facts do not depend on the key: none is run."""
    return tuple(
        Mutant(question.id, question.kind, one.name, "noticed" if key_faults(one.question, facts) else "survived")
        for one in key_mutants(question, facts)
    )


def read_facts(question: Question, outcome: Outcome) -> Facts | str:
    """Returns what a proof computed, or why it computed nothing."""
    if outcome.status != "ok":
        return _error_of(outcome)
    try:
        (piece,) = split(outcome.results)
        return facts_of_result(question, decode(piece, FACT_CAPS))
    except ValueError as problem:
        return f"the facts cannot be read: {problem}"


def facts_of_result(question: Question, result: Value) -> Facts | str:
    """Returns the facts in the result of calling `questions.facts.ENTRY`. Raises ValueError."""
    match result:
        case ("ok", dict() as found):
            return facts_from(question.kind, [option_text(option.text) for option in question.options], found)
        case (_, str(name), str(message)):
            return f"{name}: {message}"
    raise ValueError("neither a dict nor an exception")


def key_faults(question: Question, facts: Facts) -> list[KeyFault]:
    """Returns every difference between the key of a question and the facts of its proof."""
    if question.kind == "value":
        return _value_faults(question, facts)
    if question.kind == "open":
        return _point_faults(question, facts)
    return _option_faults(question, facts)


def _value_faults(question: Question, facts: Facts) -> list[KeyFault]:
    answer = question.answer or ""
    if facts.answer is None:
        return [KeyFault("key", "the proof binds no `answer`", answer)]
    try:
        if matches_value(parse_value(answer), facts.answer):
            return []
    except ValueError:
        return [KeyFault("key", f"`answer` is {facts.answer}: {NO_VALUE}", answer)]
    return [KeyFault("key", f"the proof computes {facts.answer}, the key says {answer}", answer)]


def _point_faults(question: Question, facts: Facts) -> list[KeyFault]:
    found, unclear = match_fragments(facts.named, question.key_points)
    faults = [KeyFault("coverage", f"“{fragment}” is part of no key point, or of several") for fragment in unclear]
    for at, fragment in sorted(found.items()):
        if not facts.named[fragment]:
            faults.append(KeyFault("key", f"the proof finds that “{fragment}” is false", question.key_points[at]))
    if not facts.named:
        faults.append(KeyFault("coverage", "`points` is empty"))
    return faults


def find_option_facts(question: Question, facts: Facts) -> tuple[list[bool | str | None], list[str]]:
    """Returns what the facts say of each option, and the fragments that are about no option or several.

    None: nothing; a string: how `holds` failed.
    """
    options = question.options
    found, unclear = match_fragments(facts.named, [option.text for option in options])
    compared = _compare_with_answer(facts.answer, options)
    each = []
    for at, option in enumerate(options):
        fact: bool | str | None = facts.named[found[at]] if at in found else None
        fact = facts.held.get(option_text(option.text)) if fact is None else fact
        each.append(compared[at] if fact is None else fact)
    return each, unclear


def _option_faults(question: Question, facts: Facts) -> list[KeyFault]:
    each, unclear = find_option_facts(question, facts)
    faults = [KeyFault("coverage", f"“{fragment}” is part of no option, or of several") for fragment in unclear]
    for option, fact in zip(question.options, each, strict=True):
        if fact is None:
            faults.append(KeyFault("coverage", "the proof says nothing about this option", option.text))
        elif isinstance(fact, str):
            faults.append(KeyFault("key", f"`holds` raised {fact}", option.text))
        elif fact != option.right:
            message = "right, and it is not marked" if fact else "wrong, and it is marked"
            faults.append(KeyFault("key", f"the proof finds that this option is {message}", option.text))
    return faults


def _compare_with_answer(answer: str | None, options: Sequence[Option]) -> list[bool | None]:
    """Returns for each option whether it states the computed answer.

    If one does so letter by letter, only such options do: `[1, 2]` may be the misconception about `(1, 2)`.
    """
    if answer is None:
        return [None] * len(options)
    texts = [option_text(option.text) for option in options]
    spelled = _text_of(answer)
    if spelled in texts:
        return [text == spelled for text in texts]
    return [_states(answer, text) for text in texts]


def _text_of(answer: str) -> str:
    """Returns a computed answer as an option shows it: text without its quotes, anything else as its `repr`."""
    try:
        value = ast.literal_eval(answer)
    except (ValueError, SyntaxError):
        return answer
    return option_text(value) if isinstance(value, str) else answer


def _states(answer: str, text: str) -> bool:
    try:
        return matches_value(parse_value(answer), text)
    except ValueError:
        return False


# Proofs that only pass, and programs that print


async def _prove_unbound(question: Question, proof: Proof, sandbox: Runs, mutation: bool) -> list[ProofCheck]:
    outcome = await run_twice(sandbox, Run(id=f"prove/{proof.name}", code=proof.program, limits=PROOF_LIMITS))
    passed = proof.holds(finished=outcome.status == "ok", printed=outcome.stdout)
    if not passed:
        return [_failed(question, proof, _error_of(outcome), trouble_of(outcome))]
    if question.kind not in _BOUND:
        return [ProofCheck(question.id, proof.name, True, program=proof.program)]
    made = key_mutants(question) if mutation else []
    mutants = tuple(Mutant(question.id, question.kind, mutant.name, "survived") for mutant in made)
    message = f"{len(mutants)} mistakes in the key go unnoticed" if mutants else ""
    unbound = ProofCheck(question.id, f"{question.id}: binding", False, message, "binding", proof.program)
    return [ProofCheck(question.id, proof.name, True, program=proof.program, mutants=mutants), unbound]


async def _prove_output(question: Question, proof: Proof, sandbox: Runs, mutation: bool) -> ProofCheck:
    outcome = await run_twice(sandbox, Run(id=f"prove/{proof.name}", code=proof.program, limits=PROOF_LIMITS))
    finished = outcome.status == "ok"
    holds = proof.holds(finished=finished, printed=outcome.stdout)
    tried = []
    for mutant in key_mutants(question) if mutation and holds else []:
        (changed,) = (one for one in proofs_of(mutant.question) if one.expect == "prints")
        state = changed.holds(finished=finished, printed=outcome.stdout)
        tried.append(Mutant(question.id, question.kind, mutant.name, "survived" if state else "noticed"))
    return ProofCheck(
        question.id,
        proof.name,
        holds,
        "" if holds else _error_of(outcome),
        "output",
        proof.program,
        outcome.stdout,
        trouble_of(outcome),
        mutants=tuple(tried),
    )


def _error_of(outcome: Outcome) -> str:
    return outcome.stderr.strip() or outcome.detail or _ended(outcome)


def _ended(outcome: Outcome) -> str:
    """Returns how a run ended that left no traceback."""
    match outcome.status:
        case "error":
            return f"it exited with status {outcome.exit_code}"
        case "time":
            return f"it ran longer than {PROOF_LIMITS.wall_ms / 1000:g} s"
        case "memory":
            return f"it used more than {PROOF_LIMITS.memory_mb} MB"
        case "output":
            return "it printed more than the sandbox keeps"
        case "crash":
            return f"it crashed with signal {outcome.signal}"
        case "denied":
            return "it called what the sandbox denies"
        case _:
            return f"{outcome.status}; printed {outcome.stdout!r}"
