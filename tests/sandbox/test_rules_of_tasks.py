"""Rules of shipped tasks beside the right numbers: answers that break one are rejected, others are accepted.

What a task refuses is checked by the log of operations (`sandbox.inside.operations`). Forgeries of it are in
`test_operation_log`; here are answers of people who did not read the task, or who solved it in another way. An effect
that a task demands has a wrong solution without it in the bank.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import replace

import pytest

from questions.model import CodeTask
from sandbox.client import SandboxClient
from sandbox.judging.judge import Judgement
from service.rounds.grading import judge_task
from tests.questions.shipped import read_shipped_bank

pytestmark = pytest.mark.sandbox
TASKS: dict[str, tuple[str, CodeTask]] = {
    question.id: (question.prompt, question.task)
    for question in read_shipped_bank().questions
    if question.task is not None
}
REFUSED = {
    "adamw": ("has torch.optim do it", "lerp_"),
    "bce-from-logits": ("has torch do it", "binary_cross_entropy_with_logits"),
    "cross-entropy": ("has torch do it", "nll_loss_forward"),
    "run-lengths": ("has unique_consecutive do it", "unique_consecutive"),
    "stack-by-hand": ("has torch.stack do it", "stack"),
}
"""Question, its wrong solution that calls what the task refuses, and the operation that is seen."""
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
    "sgd-by-hand": "writes into the tensors it was given",
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
"""The same by other names."""
RIGHT = {
    "with in-place arithmetic": (
        "adamw",
        """
import torch

@torch.no_grad()
def adamw(p, grads, lr, beta1, beta2, eps, weight_decay):
    p, m, v = p.clone(), torch.zeros(p.shape, dtype=p.dtype), p.new_zeros(p.shape)
    for step in range(len(grads)):
        g = grads[step]
        p.mul_(1 - lr * weight_decay)
        m.mul_(beta1).add_(g, alpha=1 - beta1)
        v *= beta2
        v += (1 - beta2) * g.square()
        p -= lr * (m / (1 - beta1 ** (step + 1))) / (torch.sqrt(v / (1 - beta2 ** (step + 1))) + eps)
    return p
""",
    ),
    "with softplus": (
        "bce-from-logits",
        """
import torch.nn.functional as F

def bce_with_logits(z, y):
    return F.softplus(-z.abs()) + F.relu(z) - z * y
""",
    ),
    "with the logarithm of a sigmoid, where": (
        "bce-from-logits",
        """
import torch

def bce_with_logits(z, y):
    out = torch.empty_like(z)
    out[:] = -torch.nn.functional.logsigmoid(z) * y - torch.nn.functional.logsigmoid(-z) * (1 - y)
    return torch.where(torch.isfinite(out), out, torch.zeros(()))
""",
    ),
    "with gather and masks": (
        "cross-entropy",
        """
import torch

def cross_entropy(logits, target, weight=None, ignore_index=-100):
    keep = (target != ignore_index)
    if not keep.any():
        return torch.tensor(float("nan"), dtype=logits.dtype)
    safe = target.masked_fill(~keep, 0)
    losses = -torch.log_softmax(logits, dim=-1).gather(1, safe.unsqueeze(1)).squeeze(1)
    scale = keep.to(logits.dtype) if weight is None else weight[safe] * keep
    return (torch.where(keep, losses, 0.0) * scale).sum() / scale.sum()
""",
    ),
    "row by row": (
        "cross-entropy",
        """
import torch

def cross_entropy(logits, target, weight=None, ignore_index=-100):
    total, weights = torch.zeros((), dtype=logits.dtype), torch.zeros((), dtype=logits.dtype)
    for row, t in zip(logits, target.tolist()):
        if t == ignore_index:
            continue
        w = 1.0 if weight is None else weight[t]
        shifted = row - row.max()
        total += w * (shifted.exp().sum().log() - shifted[t])
        weights += w
    return total / weights
""",
    ),
    "with diff and positions": (
        "run-lengths",
        """
import torch
import torch.nn.functional as F

def run_lengths(x):
    if x.numel() == 0:
        return x, torch.empty(0, dtype=torch.int64)
    ends = torch.cat([(x[1:] != x[:-1]).nonzero().squeeze(1), torch.tensor([len(x) - 1])])
    return x[ends], torch.diff(ends, prepend=torch.tensor([-1]))
""",
    ),
    "with a running number of runs": (
        "run-lengths",
        """
import torch

def run_lengths(x):
    if len(x) == 0:
        return x, x.new_zeros(0, dtype=torch.long)
    new = torch.cat([torch.tensor([True]), x[1:].ne(x[:-1])])
    return x[new], torch.bincount(new.cumsum(0) - 1)
""",
    ),
    "into empty memory": (
        "stack-by-hand",
        """
import torch

def my_stack(tensors, dim=0):
    shape = list(tensors[0].shape)
    dim = dim % (len(shape) + 1)
    out = torch.empty(shape[:dim] + [len(tensors)] + shape[dim:], dtype=tensors[0].dtype)
    for i, t in enumerate(tensors):
        out.select(dim, i).copy_(t)
    return out
""",
    ),
    "by a move of dimensions": (
        "stack-by-hand",
        """
import torch

def my_stack(tensors, dim=0):
    return torch.cat([t[None] for t in tensors]).movedim(0, dim).contiguous()
""",
    ),
}
"""Solutions that are written otherwise than the reference."""
_REFUSES = re.compile(r"\b(?:is|are) refused\b|\bdo not use\b|\bnot to be used\b|\bwithout the one\b", re.IGNORECASE)


async def judged(client: SandboxClient, question: str, code: str) -> Judgement:
    task = replace(TASKS[question][1], wall_ms=100_000)  # not a test of this machine's speed
    return await judge_task(task, code, client, secrets.randbits(128))


def wrong_of(question: str, name: str) -> str:
    (found,) = [wrong.code for wrong in TASKS[question][1].wrong if name in wrong.name]
    return found


@pytest.mark.parametrize("question", REFUSED)
async def test_a_refused_operation_is_seen_and_named(client: SandboxClient, question: str) -> None:
    wrong, operation = REFUSED[question]
    for code in [wrong_of(question, wrong), *([OTHER_WAYS[question]] if question in OTHER_WAYS else [])]:
        judgement = await judged(client, question, code)
        assert judgement.verdict == "runtime error"
        differences = [str(case.difference) for case in judgement.cases if case.visible and case.difference]
        assert any(f"solved without the operation {operation}" in one for one in differences), differences


@pytest.mark.parametrize("name", RIGHT)
async def test_another_way_to_solve_such_a_task_is_accepted(client: SandboxClient, name: str) -> None:
    judgement = await judged(client, *RIGHT[name])
    assert judgement.verdict == "accepted", judgement


@pytest.mark.parametrize("question", EFFECTS)
async def test_an_answer_without_the_effect_that_its_task_demands_is_rejected(
    client: SandboxClient, question: str
) -> None:
    judgement = await judged(client, question, wrong_of(question, EFFECTS[question]))
    assert judgement.verdict not in ("accepted", "system error", "invalid"), judgement


def test_no_task_refuses_what_nothing_checks() -> None:
    refusing = {id_ for id_, (prompt, _) in TASKS.items() if _REFUSES.search(prompt)}
    assert refusing == REFUSED.keys()
    withholding = {id_ for id_, (_, task) in TASKS.items() if "answer.withhold(" in task.driver}
    assert withholding == REFUSED.keys(), "the tests of forgeries are about these"
    assert not any("refuse(" in task.driver for _, task in TASKS.values()), "refused in the answer's own process"
