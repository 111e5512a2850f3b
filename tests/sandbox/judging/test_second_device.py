"""Judging on a second device, studied on the CPU: sums in another order are right, TF32 is not close enough.

Emulation runs before the answer in its child: it permutes the terms of every product and sum, or rounds the factors of
products to TF32. What a real GPU adds to that has not been measured.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from questions.model import CodeTask
from sandbox.client import SandboxClient
from sandbox.judging.challenge import Challenge, judge_code
from sandbox.judging.comparison import NumberTolerance, compare
from sandbox.values import Tensor
from sandbox.wire import Limits
from tests.questions.shipped import read_shipped_bank

EMULATED = """
import torch as _torch
from torch.overrides import TorchFunctionMode as _Mode
_products = {{_torch.matmul, _torch.Tensor.matmul, _torch.Tensor.__matmul__, _torch.mm, _torch.Tensor.mm, _torch.bmm}}
_sums = {{_torch.sum, _torch.Tensor.sum, _torch.mean, _torch.Tensor.mean}}
def _rounded(x):
    whole = x.contiguous()
    return ((whole.view(_torch.int32) + 0x1000) & ~0x1FFF).view(x.dtype) if x.dtype == _torch.float32 else x
class _Device(_Mode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in _products and not kwargs and all(x.ndim > 1 and not x.requires_grad for x in args):
            left, right = args
            if {tf32}:
                left, right = _rounded(left), _rounded(right)
            order = _torch.arange(left.shape[-1] - 1, -1, -1)
            return function(left[..., order], right[..., order, :])
        if function in _sums and isinstance(args[0], _torch.Tensor) and args[0].ndim:
            args = (args[0].flip(*range(args[0].ndim)),) + args[1:] if len(args) == 1 and not kwargs else args
        return function(*args, **(kwargs or {{}}))
_Device().__enter__()
"""
COUNT = 10


def numeric_tasks() -> Iterator[tuple[str, CodeTask]]:
    """Yields shipped questions without a driver whose references multiply or add floats, with their wrong solutions."""
    for question in read_shipped_bank().questions:
        task = question.task
        if task is None or task.driver or task.device == "cuda" or len(task.wrong) < 2:
            continue
        if "randn" in task.cases and any(word in task.reference for word in (" @ ", ".matmul(", ".sum(", ".mean(")):
            yield question.id, task


TASKS = dict(list(numeric_tasks())[:COUNT])


def challenge(task: CodeTask) -> Challenge:
    """Returns a task with the tolerance of the second device, so that this tolerance alone decides."""
    return Challenge(
        entry=task.entry,
        cases_program=task.cases,
        reference=task.reference,
        limits=Limits(wall_ms=task.wall_ms, cpu_ms=task.wall_ms, memory_mb=task.memory_mb),
        tolerance=NumberTolerance(task.tolerance.rtol, task.tolerance.atol).for_second_device(),
    )


def test_ten_shipped_questions_are_studied() -> None:
    assert len(TASKS) == COUNT
    assert sum(len(task.wrong) for task in TASKS.values()) >= 2 * COUNT


@pytest.mark.sandbox
@pytest.mark.parametrize("id", TASKS)
async def test_a_right_answer_in_another_order_is_accepted_and_wrong_ones_are_not(
    id: str, client: SandboxClient
) -> None:
    task = TASKS[id]
    reordered = EMULATED.format(tf32=False) + task.reference
    judgement = await judge_code(client, challenge(task), reordered, seed=5)
    assert judgement.verdict == "accepted", judgement
    for wrong in task.wrong:
        code = EMULATED.format(tf32=False) + wrong.code
        judgement = await judge_code(client, challenge(task), code, seed=5)
        assert judgement.verdict not in ("accepted", "system error"), wrong


def tf32(
    values: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """Returns the values rounded to the ten bits of fraction that TF32 has."""
    return ((values.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)


def as_tensor(values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Tensor:
    return Tensor("float32", values.shape, values.tobytes(), False)


@pytest.mark.parametrize("seed", range(5))
def test_a_long_product_differs_by_its_order_less_than_by_tf32(seed: int) -> None:
    random = np.random.default_rng(seed)
    left, right = (random.standard_normal(shape).astype(np.float32) for shape in ((64, 576), (576, 64)))
    terms = left[:, :, None] * right[None]
    expected = np.add.accumulate(terms, axis=1)[:, -1]
    reordered = np.add.accumulate(terms[:, ::-1], axis=1)[:, -1]
    rounded = np.add.accumulate(tf32(left)[:, :, None] * tf32(right)[None], axis=1)[:, -1]
    plain, second = NumberTolerance(), NumberTolerance().for_second_device()
    one, other, third = as_tensor(expected), as_tensor(reordered), as_tensor(rounded)
    assert compare(one, other, plain) is not None, "then the second tolerance would be needless"
    assert compare(one, other, second) is None
    assert compare(one, third, second) is not None, "then TF32 could stay on"


def test_the_second_tolerance_is_relative_to_the_largest_finite_number() -> None:
    second = NumberTolerance(1e-3, 0.0).for_second_device()
    expected = np.array([100.0, 0.0, np.inf, np.nan], np.float32)
    close, far = expected + np.float32(0.09), expected + np.float32(0.11)
    assert compare(as_tensor(expected), as_tensor(close), second) is None
    assert compare(as_tensor(expected), as_tensor(far), second) is not None
    assert compare(as_tensor(expected), as_tensor(close), NumberTolerance(1e-3, 0.0)) is not None
    # Zeros alone give nothing to be relative to.
    zeros = np.zeros(3, np.float32)
    assert compare(as_tensor(zeros), as_tensor(zeros + np.float32(1e-6)), second) is not None
