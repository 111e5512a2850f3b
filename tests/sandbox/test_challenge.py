"""A code answer from the question's programs to its judgement, in the real sandbox."""

from __future__ import annotations

import pytest

from sandbox.challenge import judge_code
from sandbox.client import SandboxClient
from sandbox.comparing import Tolerance
from sandbox.judge import Judgement
from sandbox.wire import Limits

pytestmark = pytest.mark.sandbox

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


async def judged(client: SandboxClient, answer: str, **changes: object) -> Judgement:
    given: dict[str, object] = {
        "entry": "softmax",
        "cases_program": CASES,
        "reference": REFERENCE,
        "answer": answer,
        "limits": Limits(),
        "tolerance": Tolerance(1e-5, 1e-6),
        "seed": 0x1234567890ABCDEF1234567890ABCDEF,
        **changes,
    }
    return await judge_code(client, **given)  # type: ignore[arg-type]


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
