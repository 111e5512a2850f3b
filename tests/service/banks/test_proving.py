"""The shipped bank is proved in the real sandbox, and a bank with false keys is found out."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from pathlib import Path

import pytest

from questions import Reading, read_bank, read_path
from questions.facts import bound_names
from questions.model import Kind
from questions.mutants import key_mutants
from questions.proof_report import ProofReport, mutation_score
from sandbox.client import SandboxClient
from service.banks.proof_checks import ProofSettings
from service.banks.proving import collect_results, plan_programs, plan_proofs, prove_all, prove_question
from tests.questions.shipped import BANKS, read_shipped_documents

pytestmark = pytest.mark.sandbox

ROOT = Path(__file__).parents[3]
PROVER = ("questions", "sandbox", "service/banks")
"""Folders with the code that reads and proves a bank."""
CACHE = "dailygrad/proofs"
LEAST_NOTICED: dict[Kind, float] = {"choice": 1.0, "value": 1.0, "output": 1.0, "open": 1.0, "code": 0.95}
"""The share of the mistakes in the keys and references of each kind that the shipped bank has to notice."""
NOTHING_TO_CHANGE = {"vector-times-jacobian", "bilinear-form", "total"}
"""Code questions whose reference has no operator, constant or condition to change."""
FALSE_KEYS = """\
---
bank: wrong
title: Wrong on purpose
license: MIT
---

# tensors

## strides · value · mid

What are the strides of `torch.zeros(3, 4)`?

### Answer
`(1, 4)`

### Proof
```python
import torch
answer = torch.zeros(3, 4).stride()
```

## sum · output · mid

What does it print?

### Program
```python
import torch
print(torch.ones(2).sum())
```

### Output
```text
2.0
```

## double · code · mid

Double a number.

### Starter
```python
def double(x: int) -> int:
    ...
```

### Reference
```python
def double(x):
    return 2 * x
```

### Cases
```python
def examples():
    return [(2,)]


def cases(rng):
    return [(2,), (0,)]
```

### Wrong: squares
```python
def double(x):
    return x * x
```

### Wrong: adds one
```python
def double(x):
    return x + 1
```

### Wrong: gives nothing
```python
def double(x):
    pass
```
"""


async def proved(readings: list[Reading], sandbox: SandboxClient) -> ProofReport:
    found = [one async for one in prove_all(plan_proofs(readings), sandbox)]
    return collect_results(readings, found, {}, 0.0)


@cache
def prover() -> str:
    """Returns a digest of everything that affects proofs, except for the documents."""
    digest = hashlib.sha256(f"{sys.version} torch {version('torch')} numpy {version('numpy')}".encode())
    for file in sorted(file for folder in PROVER for file in (ROOT / folder).rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def digests_of(reading: Reading) -> dict[str, str]:
    """A digest of each question of a document with its prover, by id, and one of the whole document, by ""."""
    texts = {one.id: reading.source.text(one.place.line, one.place.end_line) for one in reading.bank.questions}
    base = hashlib.sha256(prover().encode())
    found = {}
    for id, text in (("", reading.source.text(1, len(reading.source.lines))), *texts.items()):
        digest = base.copy()
        digest.update(f"{Path(reading.source.name).name} {id}\n{text}".encode())
        found[id] = digest.hexdigest()
    return found


@pytest.fixture(scope="module")
def proofs_made(request: pytest.FixtureRequest) -> Iterator[set[str]]:
    """Digests of the documents that are proved already; kept beside pytest's own cache, which CI does not have."""
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    before = set(cache.get(CACHE, [])) if cache else set()
    made = set(before)
    yield made
    if cache and made != before:
        cache.set(CACHE, sorted(made))


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(BANKS.glob("*.md")), ids=lambda file: file.stem)
async def test_everything_the_shipped_bank_says_holds(
    file: Path, sandbox: SandboxClient, proofs_made: set[str]
) -> None:
    (reading,) = read_path(file)
    digests = digests_of(reading)
    todo = {id for id, digest in digests.items() if digest not in proofs_made}
    changed = [question for question in reading.bank.questions if question.id in todo]
    work = plan_proofs([reading], only=[question.id for question in changed]) if changed else []
    work += plan_programs([reading]) if "" in todo else []
    proving = collect_results([reading], [one async for one in prove_all(work, sandbox)], {}, 0.0)

    assert proving.troubles == ()
    (document,) = proving.documents
    assert [one for one in document.findings if one.severity != "note"] == []
    names = {name for name, _ in document.parts}
    assert {name.partition(":")[0] for name in names} == {question.id for question in changed}
    for question in changed:
        if question.task is not None:
            rejected = [f"{question.id}: wrong: {wrong.name}" for wrong in question.task.wrong]
            assert names.issuperset([f"{question.id}: reference", *rejected])
    for kind, least in LEAST_NOTICED.items():
        mutants = [mutant for mutant in document.mutants if mutant.kind == kind]
        survived = [mutant for mutant in mutants if mutant.state == "survived"]
        assert mutation_score(mutants).share >= least, survived
    mutable = {one.id for one in changed if one.kind != "open"} - NOTHING_TO_CHANGE
    assert {mutant.question for mutant in document.mutants} >= mutable
    proofs_made.update(digests.values())


def test_all_of_the_shipped_bank_is_proved() -> None:
    documents = {Path(reading.source.name).name for reading in read_shipped_documents()}
    assert documents == {file.name for file in BANKS.glob("*.md")}


@pytest.mark.parametrize("kind", ["choice", "value", "output"])
async def test_a_mutant_fails_too_when_its_proof_runs_again(sandbox: SandboxClient, kind: Kind) -> None:
    # Mutants of keys are compared with facts that were computed once. This runs whole proofs of changed questions.
    questions = [
        question for reading in read_shipped_documents() for question in reading.bank.questions if not question.draw
    ]
    bound = [one for one in questions if one.kind == kind and (kind == "output" or bound_names(one))]
    for question in bound[:: len(bound) // 4]:
        mutant = key_mutants(question)[0]
        checks = await prove_question(mutant.question, sandbox, ProofSettings(mutation=False))
        assert [check.part for check in checks if not check.holds], f"{question.id}: {mutant.name}"


async def test_false_keys_and_a_wrong_solution_no_case_rejects_are_named(sandbox: SandboxClient) -> None:
    reading = read_bank(FALSE_KEYS, name="wrong.md")
    failed = {
        one.name: one.reason
        for question in reading.bank.questions
        for one in await prove_question(question, sandbox)
        if not one.holds
    }
    assert sorted(failed) == [
        "double: example",
        "double: oracle",
        "double: wrong: squares",
        "strides: proof",
        "sum: output",
    ]
    assert failed["strides: proof"] == "the proof computes (4, 1), the key says (1, 4)"
    assert "tensor(2.)" in failed["sum: output"]
    accepted = re.sub(r"seed \d+", "seed N", failed["double: wrong: squares"])
    assert accepted == "no case rejects it in draw 1 of 3, seed N: accepted; every case was accepted"

    (document,) = (await proved([reading], sandbox)).documents
    said = dict(document.parts)
    assert said["double: wrong: adds one"].startswith("rejected: wrong; case ")
    assert "double: wrong: squares" not in said
