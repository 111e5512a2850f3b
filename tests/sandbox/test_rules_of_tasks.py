"""Rules of shipped tasks beside the right numbers: answers that break one are rejected.

Each rule has a wrong solution in the bank that breaks it and is right otherwise. `bank prove` judges it by several
drawings; here it is judged once, with answers that come to a forbidden function in another way.
"""

from __future__ import annotations

import re
import secrets

import pytest

from questions.model import CodeTask
from sandbox.client import SandboxClient
from service.rounds.grading import judge_task
from tests.questions.shipped import read_shipped_bank

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(120)]
TASKS: dict[str, tuple[str, CodeTask]] = {
    question.id: (question.prompt, question.task)
    for question in read_shipped_bank().questions
    if question.task is not None
}
FORBIDDEN = {
    "adamw": "has torch.optim do it",
    "bce-from-logits": "has torch do it",
    "clip-by-hand": "has torch.nn.utils do it",
    "cross-entropy": "has torch do it",
    "rank-by-rank": "has the sampler do it",
    "run-lengths": "has unique_consecutive do it",
    "sgd-by-hand": "has torch.optim do it",
    "stack-by-hand": "has torch.stack do it",
}
"""Question, and its wrong solution that calls what the task forbids."""
EFFECTS = {
    "add-channel-bias": "adds to the input",
    "average-that-follows": "binds names instead of writing",
    "batch-norm-by-hand": "rebinds instead of updating in place",
    "clip-by-hand": "puts new tensors into grad",
    "best-allowed": "overwrites the scores",
    "descend-by-hand": "moves the parameter to new memory",
    "logsumexp-by-hand": "shifts the caller's tensor",
    "one-gradient-per-sample": "drops the gradients that were there",
    "one-token-against-the-cache": "appends to a copy of the cache",
    "tokens-decide": "clears before each micro-batch",
    "two-gradients-one-trunk": "drops the gradient that was there",
    "under-a-seed": "seeds the global generator",
}
"""Question, and its wrong solution without the effect that the task demands, or with one that it rules out."""
OTHER_WAYS = {
    "adamw": """
import torch
from torch.optim.adamw import adamw as step

def adamw(p, grads, lr, beta1, beta2, eps, weight_decay):
    mean, square, count = torch.zeros_like(p), torch.zeros_like(p), torch.tensor(0.0)
    p = p.clone()
    for g in grads:
        step([p], [g], [mean], [square], [], [count], foreach=False, capturable=False, differentiable=False,
             fused=False, amsgrad=False, beta1=beta1, beta2=beta2, lr=lr, weight_decay=weight_decay, eps=eps,
             maximize=False)
    return p
""",
    "cross-entropy": """
import torch

def cross_entropy(logits, target, weight=None, ignore_index=-100):
    return torch.nn.NLLLoss(weight, ignore_index=ignore_index)(logits.log_softmax(1), target)
""",
    "run-lengths": """
from torch import unique_consecutive

def run_lengths(x):
    return unique_consecutive(x, return_counts=True)
""",
    "stack-by-hand": """
from torch import *

def my_stack(tensors, dim=0):
    return stack(tensors, dim)
""",
}
_FORBIDS = re.compile(r"\b(?:do not use|not to be used|without (?:`|the one in))", re.IGNORECASE)


async def rejected(client: SandboxClient, question: str, code: str) -> str:
    """Returns what the first example made of an answer; it must not be accepted."""
    judged = await judge_task(TASKS[question][1], code, client, secrets.randbits(128))
    assert judged.verdict not in ("accepted", "system error", "invalid"), judged
    return str(judged.cases[0].difference)


def wrong_of(question: str, name: str) -> str:
    (found,) = [wrong.code for wrong in TASKS[question][1].wrong if name in wrong.name]
    return found


@pytest.mark.parametrize("question", FORBIDDEN)
async def test_a_forbidden_function_is_refused_and_named(client: SandboxClient, question: str) -> None:
    answers = [wrong_of(question, FORBIDDEN[question])]
    answers += [OTHER_WAYS[question]] if question in OTHER_WAYS else []
    for code in answers:
        assert "this task is to be solved without " in await rejected(client, question, code)


@pytest.mark.parametrize("question", EFFECTS)
async def test_an_answer_without_the_effect_that_its_task_demands_is_rejected(
    client: SandboxClient, question: str
) -> None:
    await rejected(client, question, wrong_of(question, EFFECTS[question]))


def test_no_task_forbids_what_nothing_refuses() -> None:
    # `Without drop_last` and the like are conditions.
    forbidding = {id_ for id_, (prompt, _) in TASKS.items() if _FORBIDS.search(prompt)} - {"rank-by-rank"}
    assert forbidding == FORBIDDEN.keys() - {"rank-by-rank"}
    assert all("refuse(" in TASKS[id_][1].driver for id_ in FORBIDDEN)
