"""Keys compared with what their proofs compute, in the real sandbox: false ones are found, and true ones hold."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.model import Question
from questions.proof_report import mutation_score
from sandbox.client import SandboxClient
from service.banks.key_proofs import prove_key
from service.banks.proof_checks import ProofCheck

pytestmark = pytest.mark.sandbox

Told = list[tuple[str, str]]


def asked(kind: str, key: str, proof: str) -> Question:
    text = f"## a · {kind} · mid\n\nWhat?\n\n{key}\n\n### Proof\n\n```python\nimport torch\n{proof}\n```\n"
    (question,) = read_bank(text, name="d.md").bank.questions
    return question


def failed(checks: list[ProofCheck]) -> Told:
    return [(check.part, check.reason) for check in checks if not check.holds]


STRIDES = "- [ ] `(4, 1)` — no\n- [x] `(1, 4)`\n- [ ] It raises an error — no"
LINES = "- [x] `x.max()`\n- [ ] `x.sum()` — no\n- [x] `x.argmax()`"
PROSE = "- [x] Nothing is copied\n- [ ] 4 kB are copied — no\n- [ ] 4 kB, but later — no"
POINTS = "### Answer\n\nSo.\n\n### Key points\n\n- float16 underflows at 1e-8\n- clip it"
RAISES = """
x = torch.empty(0)


def holds(line):
    try:
        eval(line)
    except (RuntimeError, IndexError):
        return True
    return False
"""


@pytest.mark.parametrize(
    ("proof", "told"),
    [
        ("raise SystemExit(3)", "it exited with status 3"),
        ("import ctypes\nctypes.string_at(0)", "it crashed with signal 11"),
        ("while True:\n    print('x' * 9999)", "it printed more than the sandbox keeps"),
    ],
)
async def test_how_a_proof_ended_that_says_nothing_itself(sandbox: SandboxClient, proof: str, told: str) -> None:
    for bound in ("", "answer = torch.ones(1) * 2"):
        question = asked("value", "### Answer\n\n`[2.0]`", f"{proof}\n{bound}")
        assert failed(await prove_key(question, sandbox)) == [("proof", told)]


HOLD = {
    "a value": ("value", "### Answer\n\n`(1, 4)`", "answer = torch.zeros(3, 4).t().stride()"),
    "a value in a tensor": ("value", "### Answer\n\n`[0.5, 2.0]`", "answer = torch.tensor([0.5, 2])"),
    "a dtype": ("value", "### Answer\n\n`'torch.float16'`", "answer = torch.ones(1).half().dtype"),
    "numbers of either type": ("value", "### Answer\n\n`[3, 0.5]`", "answer = (torch.tensor(3.0), 1 / 2)"),
    "options that are values": ("choice", STRIDES, "answer = torch.zeros(3, 4).t().stride()"),
    "an option that is text": (
        "choice",
        "- [x] It raises `ValueError`\n- [ ] 0 — no",
        "answer = 'It raises ' + 'ValueError'",
    ),
    "options that are lines": ("choice", LINES, RAISES),
    "options that are prose": (
        "choice",
        PROSE,
        "n = torch.ones(4).numel()\noptions = {'Nothing': n == 4, '4 kB are': n > 5, 'later': torch.tensor(n == 5)}",
    ),
    "both": (
        "choice",
        STRIDES,
        "s = torch.zeros(3, 4).t().stride()\noptions = {'raises': s is None}\nholds = lambda text: eval(text) == s",
    ),
    "key points": ("open", POINTS, "points = {'float16 underflows at 1e-8': torch.tensor(1e-8).half() == 0}"),
}


@pytest.mark.parametrize("name", HOLD)
async def test_a_true_key_holds_and_every_mistake_in_it_is_noticed(sandbox: SandboxClient, name: str) -> None:
    checks = await prove_key(asked(*HOLD[name]), sandbox)
    assert failed(checks) == []
    (check,) = checks
    score = mutation_score(check.mutants)
    assert score.survived == 0 and score.noticed >= 1


FALSE: dict[str, tuple[str, str, str, Told]] = {
    "another value": (
        "value",
        "### Answer\n\n`(4, 1)`",
        "answer = torch.zeros(3, 4).t().stride()",
        [("key", "the proof computes (1, 4), the key says (4, 1)")],
    ),
    "no value": (
        "value",
        "### Answer\n\n`4`",
        "if torch.ones(1) > 2:\n    answer = torch.ones(1)",
        [("key", "the proof binds no `answer`")],
    ),
    "what cannot be compared": (
        "value",
        "### Answer\n\n`4`",
        "answer = object",
        [
            (
                "key",
                "`answer` is <class 'object'>: it is not a value that can be compared with a key, "
                "such as 3, (1, 4) or True",
            )
        ],
    ),
    "a stated value": (
        "value",
        "### Answer\n\n`4`",
        "answer = 4",
        [("constant", "`answer` would be the same whatever the program does")],
    ),
    "another mark": (
        "choice",
        STRIDES,
        "answer = torch.zeros(3, 4).stride()",
        [
            ("key", "the proof finds that this option is right, and it is not marked"),
            ("key", "the proof finds that this option is wrong, and it is marked"),
        ],
    ),
    "a stated fact": (
        "choice",
        PROSE,
        "n = torch.ones(4).numel()\noptions = {'Nothing': True, '4 kB are': n > 5, 'later': n == 5}",
        [("constant", "`Nothing` would be the same whatever the program does")],
    ),
    "an option left out": (
        "choice",
        PROSE,
        "n = torch.ones(4).numel()\noptions = {'Nothing': n == 4, '4 kB are': n > 5}",
        [("coverage", "the proof says nothing about this option")],
    ),
    "a name for two options": (
        "choice",
        PROSE,
        "n = torch.ones(4).numel()\noptions = {'Nothing': n == 4, '4 kB': n > 5, 'later': n == 5}",
        [
            ("coverage", "“4 kB” is part of no option, or of several"),
            ("coverage", "the proof says nothing about this option"),
        ],
    ),
    "an option that cannot be evaluated": (
        "choice",
        STRIDES,
        "holds = lambda text: eval(text) == (1, 4)",
        [("key", "`holds` raised SyntaxError: invalid syntax (<string>, line 1) (line 2)")],
    ),
    "a fact that is a number": (
        "choice",
        STRIDES,
        "options = {'(4, 1)': torch.zeros(1).numel()}",
        [("proof", "TypeError: the fact about '(4, 1)' is int, neither True nor False")],
    ),
    "a false key point": (
        "open",
        POINTS,
        "points = {'float16 underflows at 1e-8': torch.tensor(1e-8) == 0}",
        [("key", "the proof finds that “float16 underflows at 1e-8” is false")],
    ),
    "no key point": ("open", POINTS, "points = {}", [("coverage", "`points` is empty")]),
    "too short a name": (
        "open",
        POINTS,
        "points = {'underflows': torch.tensor(1e-8).half() == 0}",
        [
            (
                "mutant",
                "key point 1 changed to float17 underflows at 1e-8; key point 1 changed to float16 underflows at 2e-8; "
                "key point 1 changed to float16 underflows at 1e-9",
            )
        ],
    ),
    "an assertion": (
        "value",
        "### Answer\n\n`(1, 4)`",
        "assert torch.zeros(3, 4).t().stride() == (1, 4)",
        [("binding", "6 mistakes in the key go unnoticed")],
    ),
}


@pytest.mark.parametrize("name", FALSE)
async def test_a_key_that_its_proof_does_not_confirm_is_found(sandbox: SandboxClient, name: str) -> None:
    kind, key, proof, told = FALSE[name]
    assert failed(await prove_key(asked(kind, key, proof), sandbox)) == told


async def test_without_mutation_no_mutant_is_tried(sandbox: SandboxClient) -> None:
    (check,) = await prove_key(asked(*HOLD["a value"]), sandbox, mutation=False)
    assert check.holds and check.mutants == ()


async def test_what_cannot_be_proved_says_why(sandbox: SandboxClient) -> None:
    text = f"## a · open · mid\n\nWhat?\n\n{POINTS}\n\n### Unproved\n\nIt is about people.\n"
    (question,) = read_bank(text, name="d.md").bank.questions
    (check,) = await prove_key(question, sandbox)
    assert (check.name, check.holds, check.reason) == ("a: unproved", True, "It is about people.")
