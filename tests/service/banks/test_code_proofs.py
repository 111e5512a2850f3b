"""References judged by oracles in the real sandbox, and mutants of references."""

from __future__ import annotations

import random
import re
from collections import Counter
from dataclasses import replace

import pytest

from questions import read_bank
from questions.model import CodeTask
from sandbox.causes import TimeExceeded
from sandbox.client import SandboxClient
from sandbox.judging.challenge import Runs
from sandbox.wire import Outcome, Run
from service.banks.code_proofs import prove_task
from service.banks.proof_checks import ProofCheck, ProofSettings

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

REFERENCE = """
def halve(x):
    if x < 0:
        raise ValueError("negative")
    return x / 2
"""
CASES = """
def examples():
    return [(4.0,), (-1.0,)]


def expected():
    return [2.0, None]


def raises(x):
    return "ValueError" if x < 0 else ""


def cases(rng):
    return [(rng.uniform(-1, 1),) for _ in range(20)]
"""
ORACLES = {
    "the expected result": "def oracle(x):\n    return 0.5 * x",
    "the same function": "def halve(x):\n    if x < 0:\n        raise ValueError\n    return 0.5 * x",
    "a property": "import torch\n\ndef check(arguments, result):\n    return torch.tensor(2 * result == arguments[0])",
}
DRIVER = """
def drive(halve, x):
    return [halve(x)]
"""


class MutantRuns:
    """A sandbox that counts the runs of mutants."""

    def __init__(self, sandbox: SandboxClient) -> None:
        self.sandbox = sandbox
        self.count = 0

    async def run(self, run: Run) -> Outcome:
        self.count += run.id.startswith("mutants/")
        return await self.sandbox.run(run)


async def proved(sandbox: Runs, **parts: str) -> dict[str, ProofCheck]:
    """What came of a task, by part; wrong solutions are left out."""
    texts = {"Starter": "def halve(x): ...", "Reference": REFERENCE, "Cases": CASES} | parts
    text = "\n\n".join(f"### {name}\n\n```python\n{program.strip()}\n```" for name, program in texts.items() if program)
    (question,) = read_bank(f"## a · code · mid\n\nHalve it.\n\n{text}\n", name="d.md").bank.questions
    assert isinstance(question.task, CodeTask)
    return {check.part: check for check in await prove_task(question, question.task, sandbox)}


def said(checks: dict[str, ProofCheck]) -> dict[str, str]:
    return {part: check.reason for part, check in checks.items() if not check.holds}


@pytest.mark.parametrize("name", ORACLES)
async def test_an_oracle_confirms_a_reference_and_notices_its_mutants(sandbox: SandboxClient, name: str) -> None:
    checks = await proved(sandbox, Oracle=ORACLES[name])
    assert said(checks) == {}
    assert list(checks) == ["reference", "raises", "example", "difference"]
    states = Counter(mutant.state for mutant in checks["difference"].mutants)
    # Nobody can tell `x < 0` from `x <= 0` where 0 is hardly ever drawn.
    assert states == {"noticed": 4, "equivalent": 1}


@pytest.mark.parametrize("oracle", ["def oracle(x):\n    return [0.5 * x]", "def halve(x):\n    return 0.5 * x"])
async def test_an_oracle_of_a_task_with_a_driver(sandbox: SandboxClient, oracle: str) -> None:
    cases = CASES.replace("[2.0, None]", "[[2.0], None]").replace("return [2.0", "return [[2.0]")
    checks = await proved(sandbox, Cases=cases, Driver=DRIVER, Oracle=oracle)
    assert said(checks) == {}


APART = """
FACTS = {"half": "value"}


def drive(halve, x):
    return {"half": halve(x)}
"""


@pytest.mark.parametrize("oracle", ['def oracle(x):\n    return {"half": 0.5 * x}', ORACLES["the same function"]])
async def test_a_driver_with_a_process_of_its_own_is_run_as_a_judge_runs_it(
    sandbox: SandboxClient, oracle: str
) -> None:
    cases = CASES.replace("[2.0, None]", '[{"half": 2.0}, None]')
    checks = await proved(sandbox, Cases=cases, Driver=APART, Oracle=oracle)
    assert said(checks) == {}
    assert Counter(mutant.state for mutant in checks["difference"].mutants) == {"noticed": 4, "equivalent": 1}


WRONG = {
    "a reference that is wrong": (
        {"Reference": REFERENCE.replace("/ 2", "/ 3"), "Oracle": ORACLES["the expected result"]},
        {
            "example": "case 1, (4.0,): 2.0 ≠ 1.3333333333333333",
            "difference": "case 1, (4.0,): 2.0 ≠ 1.3333333333333333",
        },
    ),
    "a property that does not hold": (
        {"Reference": REFERENCE.replace("/ 2", "/ 3"), "Oracle": ORACLES["a property"]},
        {
            "example": "case 1, (4.0,): 2.0 ≠ 1.3333333333333333",
            "difference": "case 1, (4.0,): `check` refuses 1.3333333333333333",
        },
    ),
    "a property that fails": (
        {"Oracle": "def check(arguments, result):\n    assert result > 100"},
        {"difference": "case 1, (4.0,): `check` raises AssertionError: (line 2) for 2.0"},
    ),
    "a property that says nothing": (
        {"Oracle": "def check(arguments, result):\n    pass"},
        {
            "difference": "case 1, (4.0,): `check` raises TypeError: check returned NoneType, neither True nor False "
            "for 2.0"
        },
    ),
    "a property that allows too much": (
        {"Oracle": "def check(arguments, result):\n    return result <= arguments[0]"},
        {"mutant": "line 4: 2 to 3"},
    ),
    "an oracle that fails": (
        {"Oracle": "def oracle(x):\n    return x.half()"},
        {
            "difference": "the oracle fails in case 1, (4.0,): AttributeError: 'float' object has no attribute "
            "'half' (line 2)"
        },
    ),
    "an oracle that ends": (
        {"Oracle": "import sys\nsys.exit(3)\n\n\ndef oracle(x):\n    return x"},
        {"difference": "`oracle` ended with error: "},
    ),
    "nothing of an oracle": (
        {"Oracle": "def solve(x):\n    return x / 2"},
        {"oracle": "it defines neither `halve` nor `oracle(*arguments)` nor `check(arguments, result)`"},
    ),
    "no oracle": ({}, {"oracle": "5 mutants of the reference are judged by nothing"}),
    "an exception that nobody declares": (
        {"Cases": CASES.replace('"ValueError" if x < 0 else ""', '""'), "Oracle": ORACLES["the expected result"]},
        {
            "raises": "case 2, (-1.0,): it raises ValueError: negative (line 3), and no exception is declared",
            "example": "case 2, (-1.0,): it raises ValueError: negative (line 3), and no exception is declared",
            "difference": "case 2, (-1.0,): it raises ValueError: negative (line 3), and no exception is declared",
        },
    ),
    "a reference that always raises": (
        {"Reference": "def halve(x):\n    raise ValueError", "Oracle": ORACLES["the expected result"]},
        {
            "raises": "case 1, (4.0,): it raises ValueError: (line 2), and no exception is declared",
            "example": "case 1, (4.0,): it raises ValueError: (line 2), and no exception is declared",
            "difference": "case 1, (4.0,): it raises ValueError: (line 2), and no exception is declared",
        },
    ),
    "a declared exception that is not raised": (
        {"Reference": "def halve(x):\n    return x / 2", "Oracle": ORACLES["the expected result"]},
        {
            "raises": "case 2, (-1.0,): it gives -0.5, and ValueError is declared",
            "example": "case 2, (-1.0,): it gives -0.5, and ValueError is declared",
            "difference": "case 2, (-1.0,): it gives -0.5, and ValueError is declared",
        },
    ),
    "no expectation": (
        {"Cases": CASES.replace("expected", "wanted"), "Oracle": ORACLES["the expected result"]},
        {"example": "`expected()` is missing; the reference gives [2.0, raises ValueError: negative (line 3)]"},
    ),
    "too few expectations": (
        {"Cases": CASES.replace("[2.0, None]", "[2.0]"), "Oracle": ORACLES["the expected result"]},
        {"example": "`expected()` has 1 results for 2 examples"},
    ),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_is_wrong_with_a_reference_is_said(sandbox: SandboxClient, name: str) -> None:
    parts, told = WRONG[name]
    assert said(await proved(sandbox, **parts)) == told


async def test_no_wrong_solution_is_judged_by_a_reference_that_cannot_be_run(sandbox: SandboxClient) -> None:
    parts = {"Reference": "def third(x):\n    return x / 3", "Wrong: negates": "def halve(x):\n    return -x"}
    told = said(await proved(sandbox, **parts))
    assert list(told) == ["reference"]
    assert (
        told["reference"].strip() == "the reference ended with error: The program defines no function or class halve."
    )


ENDLESS = """
def halve(x):
    if x < 0:
        raise ValueError
    n = 0
    while n < 3:
        n += 1
    return bytes(n) and x / 2
"""


APART_CASES = CASES.replace("[2.0, None]", '[{"half": 2.0}, None]')
WITH_DRIVER = {"Cases": APART_CASES, "Driver": APART, "Oracle": 'def oracle(x):\n    return {"half": 0.5 * x}'}


ALONE = {"Oracle": ORACLES["the expected result"]}


# One run for each of three stages. The thread of one that is driven cannot be stopped: its process ends.
@pytest.mark.parametrize(("parts", "count"), [(ALONE, 3), (WITH_DRIVER, 4)], ids=["alone", "driven"])
async def test_a_mutant_that_never_ends_is_noticed_and_stops_no_other(
    sandbox: SandboxClient, parts: dict[str, str], count: int
) -> None:
    runs = MutantRuns(sandbox)
    checks = await proved(runs, Reference=ENDLESS, **parts)
    assert said(checks) == {}
    states = {mutant.name: mutant.state for mutant in checks["difference"].mutants}
    assert runs.count == count
    assert states["line 6: Add to Sub"] == "noticed"
    assert states["line 7: And to Or"] == states["line 7: 2 to 3"] == "noticed"
    assert states["line 5: 3 to 4"] == "equivalent"


LEAVING = """
import os


def halve(x):
    if x < 0:
        raise ValueError
    if x > 1000:
        os._exit(1)
    return x / 2
"""


async def test_a_mutant_that_ends_its_process_is_noticed_and_stops_no_other(sandbox: SandboxClient) -> None:
    checks = await proved(sandbox, Reference=LEAVING, Oracle=ORACLES["the expected result"])
    states = {mutant.name: mutant.state for mutant in checks["difference"].mutants}
    assert states["line 7: condition negated"] == "noticed"
    assert states["line 9: 2 to 3"] == states["line 9: Div to Mult"] == "noticed"
    assert states["line 7: 1000 to 1001"] == states["line 8: 1 to 2"] == "equivalent"


LARGE = """
import torch


def halve(x):
    if x > 1000:
        return 5
    return torch.zeros(800_000) + x / 2
"""
LARGE_CASES = """
def examples():
    return [(4.0,)]


def expected():
    import torch
    return [torch.zeros(800_000) + 2.0]


def cases(rng):
    return [(rng.uniform(1, 2),)]
"""


async def test_a_mutant_whose_results_no_longer_fit_into_a_run_is_judged_in_the_next(sandbox: SandboxClient) -> None:
    oracle = "import torch\n\n\ndef oracle(x):\n    return torch.zeros(800_000) + 0.5 * x"
    checks = await proved(sandbox, Cases=LARGE_CASES, Reference=LARGE, Oracle=oracle)
    assert said(checks) == {}
    states = {mutant.name: mutant.state for mutant in checks["difference"].mutants}
    equivalent = {"line 5: 1000 to 1001", "line 5: Gt to GtE", "line 6: 5 to 6"}
    assert {name for name, state in states.items() if state == "equivalent"} == equivalent


DEPENDS_ON_ITS_PROCESS = """
import __main__


def halve(x):
    if x < 0:
        raise ValueError
    return x / 2 if __main__.__dict__.get("halve") is halve else 0.0
"""


async def test_mutants_run_apart_if_the_reference_is_wrong_with_others_in_a_process(sandbox: SandboxClient) -> None:
    runs = MutantRuns(sandbox)
    checks = await proved(runs, Reference=DEPENDS_ON_ITS_PROCESS, Oracle=ORACLES["the expected result"])
    assert said(checks) == {}
    states = {mutant.name: mutant.state for mutant in checks["difference"].mutants}
    assert states["line 7: Div to Mult"] == "noticed"
    assert states["line 5: Lt to LtE"] == "equivalent"
    assert runs.count == 1


RANDOM_CASES = """
def examples():
    return [(1.0,)]


def cases(rng):
    return [(rng.uniform(1, 9),) for _ in range(4)]
"""


async def test_random_numbers_need_no_expectation_and_are_compared_as_draws(sandbox: SandboxClient) -> None:
    reference = 'import torch\n\n\ndef halve(x):\n    return {"draws": torch.rand(2000) * x / 2}'
    oracle = 'import torch\n\n\ndef oracle(x):\n    return {"draws": torch.empty(2000).uniform_(0, x / 2)}'
    checks = await proved(sandbox, Cases=RANDOM_CASES, Reference=reference, Oracle=oracle)
    assert said(checks) == {}
    states = {mutant.name: mutant.state for mutant in checks["difference"].mutants}
    assert states == {
        "line 5: 2 to 3": "noticed",
        "line 5: Div to Mult": "noticed",
        "line 5: Mult to Div": "noticed",
        "line 5: 2000 to 2001": "noticed",
    }


CHANCE = """
def examples():
    return [(0.0,)]


def expected():
    return [0.0]


def cases(rng):
    return [(2.0 if rng.random() < 0.5 else 0.0,)]
"""
BY_CHANCE = [seed for seed in range(20) if random.Random(seed).random() >= 0.5]
"""Seeds whose only case is one in which the wrong solution is right."""


async def judge_wrong(sandbox: SandboxClient, settings: ProofSettings) -> ProofCheck:
    """Returns the check of a wrong solution that one drawing in two accepts."""
    parts = {"Starter": "def halve(x): ...", "Reference": "def halve(x):\n    return x / 2", "Cases": CHANCE}
    parts["Wrong: gives zero"] = "def halve(x):\n    return 0.0"
    text = "\n\n".join(f"### {name}\n\n```python\n{program.strip()}\n```" for name, program in parts.items())
    (question,) = read_bank(f"## a · code · mid\n\nHalve it.\n\n{text}\n", name="d.md").bank.questions
    assert question.task is not None
    checks = await prove_task(question, question.task, sandbox, settings)
    return next(check for check in checks if check.part == "wrong")


async def test_a_wrong_solution_that_one_drawing_accepts_is_not_rejected(sandbox: SandboxClient) -> None:
    check = await judge_wrong(sandbox, ProofSettings(mutation=False, draws=40))
    assert not check.holds
    named = re.match(r"no case rejects it in draw \d+ of 40, seed (\d+): accepted", check.reason)
    assert named, check.reason
    assert random.Random(int(named[1])).random() >= 0.5


@pytest.mark.parametrize("seed", range(3))
async def test_a_named_seed_repeats_its_drawing(sandbox: SandboxClient, seed: int) -> None:
    check = await judge_wrong(sandbox, ProofSettings(mutation=False, draws=1, seed=seed))
    assert check.holds is (seed not in BY_CHANCE)
    assert ("draw 1 of 1" in check.reason) is (seed in BY_CHANCE)


def test_wrong_solutions_are_judged_by_three_new_drawings() -> None:
    seeds = ProofSettings().draw_seeds()
    assert len({*seeds, *ProofSettings().draw_seeds()}) == 2 * len(seeds) == 6
    assert ProofSettings(seed=5).draw_seeds()[0] == 5


class Failing:
    """A sandbox that fails from the first run of an oracle's cases on."""

    def __init__(self, sandbox: SandboxClient) -> None:
        self.sandbox = sandbox

    async def run(self, run: Run) -> Outcome:
        if run.id.startswith("prove/"):
            return Outcome(id=run.id, status="internal", detail="nobody answers")
        return await self.sandbox.run(run)


async def test_a_sandbox_that_fails_is_not_the_fault_of_the_question(sandbox: SandboxClient) -> None:
    text = "\n\n".join(
        f"### {name}\n\n```python\n{program.strip()}\n```"
        for name, program in {"Starter": "def halve(x): ...", "Reference": REFERENCE, "Cases": CASES}.items()
    )
    (question,) = read_bank(f"## a · code · mid\n\nHalve it.\n\n{text}\n", name="d.md").bank.questions
    assert question.task is not None
    found = await prove_task(question, question.task, Failing(sandbox))
    assert [(check.holds, check.trouble) for check in found] == [(True, ""), (False, "nobody answers")]


THREE_WRONG = """
## a · code · mid

Halve it.

### Starter

```python
def halve(x): ...
```

### Reference

```python
def halve(x):
    return x / 2
```

### Cases

```python
def examples():
    return [(4.0,)]


def cases(rng):
    return [(rng.uniform(1, 9),) for _ in range(5)]
```

### Wrong: doubles

```python
def halve(x):
    return 2 * x
```

### Wrong: ends the process

```python
import os


def halve(x):
    os._exit(0)
```

### Wrong: is right

```python
def halve(x):
    return 0.5 * x
```
"""


class Counting:
    """A sandbox that notes the role of each run."""

    def __init__(self, sandbox: SandboxClient) -> None:
        self._sandbox = sandbox
        self.roles: list[str] = []

    async def run(self, run: Run) -> Outcome:
        self.roles.append(run.role)
        return await self._sandbox.run(run)


async def test_a_wrong_solution_meets_every_draw_in_one_run(sandbox: SandboxClient) -> None:
    """Only one that ends early, or that a draw accepts, is judged by each draw on its own."""
    (question,) = read_bank(THREE_WRONG, name="d.md").bank.questions
    assert question.task is not None
    runs: dict[str, list[str]] = {}
    for at, wrong in enumerate(question.task.wrong):
        counting = Counting(sandbox)
        task = replace(question.task, wrong=(wrong,))
        checks = await prove_task(question, task, counting, ProofSettings(mutation=False))
        (check,) = [one for one in checks if one.part == "wrong"]
        runs[wrong.name] = [role for role in counting.roles if role != "program"]
        assert check.holds is (at < 2), check
    # The reference as an answer, a reference and its cases for each draw, and then the wrong solution.
    drawn = ["answer", *["cases", "reference"] * 3]
    assert {name: sorted(roles) for name, roles in runs.items()} == {
        "doubles": sorted([*drawn, "answer"]),
        "ends the process": sorted([*drawn, "answer", *["answer"] * 3]),
        "is right": sorted([*drawn, "answer", "answer"]),
    }


class OutOfTime(Counting):
    """A sandbox in which one solution uses up its CPU time in the first case of each run."""

    def __init__(self, sandbox: SandboxClient, code: str) -> None:
        super().__init__(sandbox)
        self._code = code

    async def run(self, run: Run) -> Outcome:
        outcome = await super().run(run)
        cause = TimeExceeded("cpu", run.limits.cpu_ms)
        return replace(outcome, status="time", results=b"", cause=cause) if run.code == self._code else outcome


class AcceptsLastDraw(OutOfTime):
    """The same, but in the last draw that solution is right."""

    last = -1
    """Seed of the last draw's runs."""

    async def run(self, run: Run) -> Outcome:
        if self.roles.count("answer") == 3:
            self.last = run.seed or 0
        if run.code == self._code and run.seed == self.last:
            run = replace(run, code="def halve(x):\n    return x / 2")
        return await super().run(run)


async def test_the_run_in_which_a_wrong_solution_is_too_slow_counts_for_the_first_draw(sandbox: SandboxClient) -> None:
    (question,) = read_bank(THREE_WRONG, name="d.md").bank.questions
    assert question.task is not None
    task = replace(question.task, wrong=question.task.wrong[:1])
    found = []
    for kind in (OutOfTime, AcceptsLastDraw):
        counting = kind(sandbox, task.wrong[0].code)
        checks = await prove_task(question, task, counting, ProofSettings(mutation=False))
        (check,) = [one for one in checks if one.part == "wrong"]
        found.append((check.holds, check.reason.partition(", seed")[0], counting.roles.count("answer")))
    # One answer is the reference. Where a draw accepts the solution, each draw is judged again, to say which it was.
    assert found == [
        (True, "rejected: time limit; case 1", 4),
        (False, "no case rejects it in draw 3 of 3", 7),
    ]
