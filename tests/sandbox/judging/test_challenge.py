"""A code answer from the question's programs to its judgement, in the real sandbox."""

from __future__ import annotations

import pytest

from sandbox.client import SandboxClient
from sandbox.judging.challenge import Challenge, Example, NotJudgeable, judge_code, run_examples
from sandbox.judging.judge import Judgement
from sandbox.judging.tolerance import NumberTolerance
from sandbox.wire import Limits
from tests.sandbox.case_text import told

pytestmark = pytest.mark.sandbox
SEED = 0x1234567890ABCDEF1234567890ABCDEF

CASES = """
import torch

def examples():
    return [(torch.tensor([[1.0, 2.0]]), 1), (torch.tensor([0.0]), 0)]

def cases(rng):
    return [(torch.randn(rng.randint(1, 4), rng.randint(1, 5)), rng.randint(0, 1)) for _ in range(8)]
"""
REFERENCE = """
import torch

def softmax(x, dim):
    return torch.softmax(x, dim)
"""
RIGHT = """
def softmax(x, dim):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)
"""


def challenge(**changes: object) -> Challenge:
    given: dict[str, object] = {
        "entry": "softmax",
        "cases_program": CASES,
        "reference": REFERENCE,
        "limits": Limits(),
        "tolerance": NumberTolerance(1e-5, 1e-6),
        **changes,
    }
    return Challenge(**given)  # type: ignore[arg-type]


async def judged(client: SandboxClient, answer: str, **changes: object) -> Judgement:
    seed = changes.pop("seed", SEED)
    assert isinstance(seed, int)
    return await judge_code(client, challenge(**changes), answer, seed=seed)


async def test_a_right_answer_is_accepted_and_its_visible_calls_are_shown(client: SandboxClient) -> None:
    judgement = await judged(client, RIGHT)

    assert judgement.verdict == "accepted", judgement
    assert judgement.share == 1.0
    assert [case.shown for case in judgement.cases[:3]] == [
        "softmax(tensor([[1., 2.]]), 1)",
        "softmax(tensor([0.]), 0)",
        "",
    ]
    assert [case.visible for case in judgement.cases] == [True] * 2 + [False] * 8


@pytest.mark.parametrize(
    ("answer", "verdict", "share"),
    [
        ("def softmax(x, dim): return x", "wrong", 0.0),
        ("def softmax(x, dim): raise NotImplementedError", "runtime error", 0.0),
        ("def softmax(x, dim):\n  while True: pass", "time limit", 0.0),
        ("def softmax(x, dim): return bytearray(1 << 31)", "memory limit", 0.0),
        ("def softmax(x, dim):\n  while True: print('x' * 999)", "output limit", 0.0),
        ("def softmax(x, dim:", "invalid", 0.0),
        ("def soft_max(x, dim): return x", "invalid", 0.0),
        ("1 / 0", "runtime error", 0.0),
        ("import socket\nsocket.socket()", "runtime error", 0.0),
    ],
)
async def test_each_way_to_fail_has_its_verdict(client: SandboxClient, answer: str, verdict: str, share: float) -> None:
    judgement = await judged(client, answer, limits=Limits(wall_ms=800))
    assert (judgement.verdict, judgement.share) == (verdict, share), judgement


async def test_a_visible_failure_says_what_was_expected_and_a_hidden_one_does_not(client: SandboxClient) -> None:
    judgement = await judged(client, "def softmax(x, dim): return x")
    assert (
        told(judgement.cases[0])
        == "at [0, 0]: expected 0.2689414, got 1 (2 of 2 elements differ, most by 1.269 at [0, 1])"
    )
    assert {told(case) for case in judgement.cases[2:]} == {"a wrong value"}


async def test_a_wrong_answer_to_some_cases_gets_their_share(client: SandboxClient) -> None:
    answer = "import torch\ndef softmax(x, dim): return torch.softmax(x, 0)"
    judgement = await judged(client, answer)
    assert judgement.verdict == "wrong"
    assert 0 < judgement.share < 1


async def test_the_message_of_an_invalid_answer_names_its_line(client: SandboxClient) -> None:
    judgement = await judged(client, "x = 1\ndef softmax(x, dim:")
    assert 'File "<answer>", line 2' in judgement.message
    assert "SyntaxError" in judgement.message


@pytest.mark.parametrize(
    ("changes", "detail"),
    [
        ({"cases_program": "def examples(:"}, "the cases program ended with error"),
        ({"cases_program": "def examples(): return []"}, "the cases program raised NameError"),
        ({"cases_program": CASES + "\ndef examples(): return [1]"}, "must return lists of argument tuples"),
        (
            {"cases_program": CASES + "\ndef examples(): return [({1},)]"},
            "the cases program returned something that cannot be an argument: a value of type set",
        ),
        ({"cases_program": "def examples(): return []\ndef cases(rng): return []"}, "gives no cases"),
        ({"reference": "def other(): pass"}, "the reference ended with error"),
        ({"reference": "def softmax(x, dim): return {1}"}, "the reference returned what cannot be compared"),
        ({"reference": "def softmax(x, dim):\n  while True: pass"}, "the reference ended with time"),
    ],
)
async def test_a_fault_of_the_question_is_a_system_error_with_its_detail(
    client: SandboxClient, changes: dict[str, object], detail: str
) -> None:
    judgement = await judged(client, RIGHT, limits=Limits(wall_ms=800), **changes)
    assert judgement.verdict == "system error"
    assert detail in judgement.detail


async def test_another_seed_gives_other_cases_and_the_same_seed_the_same(client: SandboxClient) -> None:
    spy = "def softmax(x, dim): raise ValueError(str(x.tolist()))"
    program = CASES + "\ndef examples(): return cases(__import__('random').Random(torch.initial_seed()))"
    first, same, other = [
        [case.shown for case in (await judged(client, spy, cases_program=program, seed=seed)).cases]
        for seed in (1, 1, 2)
    ]
    assert first == same != other


DRIVER = """
import torch

def drive(answer, start, times):
    x = torch.full((2,), start, requires_grad=True)
    made = answer(times)
    made(x).sum().backward()
    return {"gradient": x.grad, "name": type(made).__name__}
"""
DRIVEN = """
def examples():
    return [(2.0, 3)]

def cases(rng):
    return [(rng.random(), n) for n in range(1, 5)]
"""
CLASS = """
class Power:
    def __init__(self, times):
        self.times = times
    def __call__(self, x):
        return {body}
"""


@pytest.mark.parametrize(
    ("body", "verdict"), [("x * x ** (self.times - 1)", "accepted"), ("(x ** self.times).detach() + 0 * x", "wrong")]
)
async def test_a_driver_puts_a_class_to_work_and_its_data_is_compared(
    client: SandboxClient, body: str, verdict: str
) -> None:
    judgement = await judged(
        client,
        CLASS.format(body=body),
        entry="Power",
        driver=DRIVER,
        cases_program=DRIVEN,
        reference=CLASS.format(body="x ** self.times"),
    )

    assert judgement.verdict == verdict, judgement


async def test_a_driver_that_fails_is_our_fault(client: SandboxClient) -> None:
    judgement = await judged(client, RIGHT, driver="def drove(): ...")

    assert judgement.verdict == "system error"
    assert "KeyError: 'drive'" in judgement.detail


async def test_examples_are_the_visible_calls_with_the_references_results(client: SandboxClient) -> None:
    assert await run_examples(client, challenge()) == (
        Example("softmax(tensor([[1., 2.]]), 1)", "tensor([[0.2689, 0.7311]])"),
        Example("softmax(tensor([0.]), 0)", "tensor([1.])"),
    )


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"reference": "def softmax(x, dim):\n    return {1}"}, "cannot be compared"),
        ({"reference": "1 / 0"}, "the reference ended with error"),
        ({"cases_program": "def examples():\n    return 1"}, "cases program"),
    ],
)
async def test_examples_of_a_broken_question_are_refused(
    client: SandboxClient, changes: dict[str, object], problem: str
) -> None:
    with pytest.raises(NotJudgeable, match=problem):
        await run_examples(client, challenge(**changes))


async def test_a_reference_that_raises_says_so_in_its_example(client: SandboxClient) -> None:
    raising = "def softmax(x, dim):\n    raise ValueError('no')"
    assert "raise ValueError('no')" in (await run_examples(client, challenge(reference=raising)))[0].result
