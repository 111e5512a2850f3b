"""Judging on a second device, studied on the CPU: sums in another order are right, TF32 is not close enough.

Emulation runs before the answer in its child: it permutes the terms of products, sums and means, and may round the
factors of products to TF32. What a real GPU adds to that has not been measured.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from questions.model import CodeTask
from sandbox.client import SandboxClient
from sandbox.judging.challenge import Challenge, judge_code
from sandbox.judging.comparison import compare
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Tensor
from sandbox.wire import Limits
from tests.questions.shipped import read_shipped_bank

EMULATED = """
import torch as _torch
from torch.overrides import TorchFunctionMode as _Mode
_linear = _torch.nn.functional.linear
_products = {{_torch.matmul, _torch.Tensor.matmul, _torch.Tensor.__matmul__, _torch.mm, _torch.bmm, _linear}}
_sums = {{_torch.sum, _torch.Tensor.sum, _torch.mean, _torch.Tensor.mean}}
def _rounded(x):
    if x.dtype != _torch.float32:
        return x
    bits = x.detach().contiguous().view(_torch.int32)
    return x + (((bits + 0x1000) & ~0x1FFF).view(x.dtype) - x.detach())
def _met():
    {met}
class _Device(_Mode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {{}}
        if function in _products:
            _met()
            left, right, *rest = args
            if {tf32}:
                left, right = _rounded(left), _rounded(right)
            args = left.flip(-1), right.flip(-1 if function is _linear or right.ndim == 1 else -2), *rest
        elif function in _sums and isinstance(args[0], _torch.Tensor) and args[0].ndim:
            _met()
            dim = args[1] if len(args) > 1 else kwargs.get("dim")
            whole = range(args[0].ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
            args = args[0].flip(*whole), *args[1:]
        return function(*args, **kwargs)
_Device().__enter__()
"""
PRODUCTS = (" @ ", ".matmul(", "linear(")
TASKS = {
    question.id: task
    for question in read_shipped_bank().questions
    if (task := question.task) is not None and task.device == "both" and not task.driver
    if any(word in task.reference for word in (*PRODUCTS, ".sum(", ".mean("))
}
"""Shipped questions for both devices whose references multiply or add."""


def multiplies(task: CodeTask) -> bool:
    return any(word in task.reference for word in PRODUCTS)


def emulated(code: str, *, tf32: bool = False, met: str = "pass") -> str:
    """Returns a program as the other device computes it. `met` is done at each product and sum."""
    return EMULATED.format(tf32=tf32, met=met) + code


def challenge(task: CodeTask) -> Challenge:
    """Returns a task with the tolerance of the second device, so that this tolerance alone decides."""
    return Challenge(
        entry=task.entry,
        cases_program=task.cases,
        reference=task.reference,
        limits=Limits(wall_ms=task.wall_ms, cpu_ms=task.wall_ms, memory_mb=task.memory_mb),
        tolerance=NumberTolerance(task.tolerance.rtol, task.tolerance.atol).for_second_device(),
    )


def test_more_than_ten_shipped_questions_are_studied() -> None:
    assert len(TASKS) > 10
    assert sum(len(task.wrong) for task in TASKS.values()) >= 4 * len(TASKS)


@pytest.mark.slow
@pytest.mark.sandbox
@pytest.mark.parametrize("id", TASKS)
async def test_a_right_answer_in_another_order_is_accepted_and_wrong_ones_are_not(
    id: str, client: SandboxClient
) -> None:
    task = TASKS[id]

    async def verdict(code: str) -> str:
        return (await judge_code(client, challenge(task), code, seed=5)).verdict

    assert await verdict(emulated(task.reference, met="raise ValueError")) != "accepted", "it is not emulated"
    # Only products round their factors. What a task's tolerance accepts in TF32 is not always wrong.
    for rounded in (False, True) if multiplies(task) else (False,):
        assert await verdict(emulated(task.reference, tf32=rounded)) == "accepted"
        for wrong in task.wrong:
            found = await verdict(emulated(wrong.code, tf32=rounded))
            assert found not in ("accepted", "system error"), (wrong, rounded)


def test_the_documentation_has_their_numbers() -> None:
    text = (Path(__file__).parents[3] / "docs/gpu.md").read_text(encoding="utf-8")
    rounded = list(filter(multiplies, TASKS.values()))
    for tasks, how in ((list(TASKS.values()), "reordered"), (rounded, "reordered and in TF32")):
        assert f"references of {len(tasks)} shipped questions for both devices, {how} | {len(tasks)} | 0 |" in text
        assert f"their wrong solutions, {how} | 0 | {sum(len(task.wrong) for task in tasks)} |" in text


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
