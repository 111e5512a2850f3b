"""The shipped bank: large, balanced, complete, its first references those of torch itself. Proving is the sandbox's."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from questions.model import KINDS, LEVELS
from questions.proofs import proofs_of
from questions.reader import read_bank, shipped_bank

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from questions.model import CodeTask, Question

torch = pytest.importorskip("torch", reason="the bank's programs need torch")

BANK = shipped_bank()
TASKS = {question.id: question.task for question in BANK.questions if question.task is not None}
SEEDS = range(3)
TOPICS = {
    "tensors",
    "autograd",
    "modules",
    "data",
    "optimisation",
    "losses",
    "precision",
    "performance",
    "distributed",
    "deployment",
    "debugging",
}


@pytest.fixture(autouse=True)
def own_random_state() -> Iterator[None]:
    """Restores torch's random state, which the programs may seed."""
    with torch.random.fork_rng(devices=[]):
        yield


def run(program: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(program, "program", "exec"), names)
    return names


def cases(task: CodeTask, seed: int) -> list[tuple[Any, ...]]:
    torch.manual_seed(seed)
    names = run(task.cases)
    return [*names["examples"](), *names["cases"](random.Random(seed))]


def call(function: Callable[..., Any], arguments: tuple[Any, ...]) -> object:
    """Returns the function's result, or the name of the error it raises."""
    try:
        return function(*copy.deepcopy(arguments))
    except Exception as error:
        return f"raised {type(error).__name__}"


def agree(task: CodeTask, actual: object, expected: object) -> bool:
    if type(actual) is not type(expected):
        return False
    if isinstance(expected, tuple | list) and isinstance(actual, tuple | list):
        return len(actual) == len(expected) and all(map(agree, [task] * len(actual), actual, expected))
    if not isinstance(expected, torch.Tensor):
        return actual == expected
    near = task.tolerance
    try:
        torch.testing.assert_close(actual, expected, rtol=near.rtol, atol=near.atol, equal_nan=True)
    except AssertionError:
        return False
    return True


def torch_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(torch.empty(shape, device="meta").stride())


def torch_is_contiguous(shape: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    return bool(torch.empty_strided(shape, stride, device="meta").is_contiguous())


def torch_broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    try:
        return tuple((torch.empty(a, device="meta") + torch.empty(b, device="meta")).shape)
    except RuntimeError:
        raise ValueError from None


def seen_inputs(layers: list[tuple[int, int, int]]) -> int:
    """Returns the receptive field measured by gradients: the inputs that affect the first output."""
    reach = 2000
    x = h = torch.zeros(1, 1, reach, requires_grad=True)
    for kernel, stride, dilation in layers:
        ones = torch.ones(1, 1, kernel)
        h = torch.nn.functional.conv1d(h, ones, stride=stride, dilation=dilation)
    h[0, 0, 0].backward()
    assert x.grad is not None
    return int(x.grad.nonzero()[-1, -1]) + 1


def torch_pad(batch: list[tuple[Any, int]]) -> tuple[Any, Any, Any]:
    sequences, labels = zip(*batch, strict=True)
    padded = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True)
    return padded, torch.tensor([len(sequence) for sequence in sequences]), torch.tensor(labels)


def slow_mean(x: Any, lengths: Any) -> Any:
    rows = [row[:n].mean(0) if n else torch.zeros_like(row[0]) for row, n in zip(x, lengths.tolist(), strict=True)]
    return torch.stack(rows)


def torch_cross_entropy(logits: Any, target: Any, weight: Any, ignore_index: int) -> Any:
    return torch.nn.functional.cross_entropy(logits, target, weight, ignore_index=ignore_index)


def torch_bce(z: Any, y: Any) -> Any:
    return torch.nn.functional.binary_cross_entropy_with_logits(z, y, reduction="none")


def torch_adamw(
    p: Any, grads: list[Any], lr: float, beta1: float, beta2: float, eps: float, weight_decay: float
) -> Any:
    weight = torch.nn.Parameter(p)
    optimizer = torch.optim.AdamW([weight], lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay)
    for grad in grads:
        weight.grad = grad
        optimizer.step()
    return weight.detach()


def exact_distances(a: Any, b: Any) -> Any:
    far = torch.cdist(a.double(), b.double(), compute_mode="donot_use_mm_for_euclid_dist")
    return far.pow(2).to(a.dtype)


ORACLES: dict[str, Callable[..., Any]] = {
    "contiguous-strides": torch_strides,
    "is-contiguous": torch_is_contiguous,
    "broadcast-shape": torch_broadcast_shape,
    "receptive-field": seen_inputs,
    "pad-collate": torch_pad,
    "masked-mean": slow_mean,
    "cross-entropy": torch_cross_entropy,
    "bce-from-logits": torch_bce,
    "adamw": torch_adamw,
    "pairwise-distances": exact_distances,
}


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_reference_agrees_with_torch_itself(name: str, seed: int) -> None:
    task = TASKS[name]
    reference = run(task.reference)[task.entry]
    for arguments in cases(task, seed):
        expected = call(ORACLES[name], arguments)
        assert agree(task, call(reference, arguments), expected), arguments


def test_the_bank_is_as_large_and_as_balanced_as_we_say() -> None:
    items = [question for question in BANK.questions if not question.draw]
    kinds = Counter(question.kind for question in items)
    levels = Counter(question.level for question in items)
    topics = Counter(question.topic.partition("/")[0] for question in items)
    assert len(items) >= 300
    assert kinds["code"] >= 60
    assert all(kinds[kind] >= 8 for kind in KINDS)
    assert len(BANK.questions) - len(items) >= 30
    assert all(levels[level] >= len(items) // 4 for level in LEVELS)
    assert topics.keys() >= TOPICS
    assert min(topics[topic] for topic in TOPICS) >= 8


@pytest.mark.parametrize("question", BANK.questions, ids=lambda question: question.id)
def test_an_item_is_complete(question: Question) -> None:
    assert question.answered and question.prompt
    assert question.why or question.draw
    assert proofs_of(question) or question.task or question.draw
    if question.kind == "choice" and not question.draw:
        assert len(question.options) >= 3
        assert all(option.right or option.reason for option in question.options)
        assert not all(option.right for option in question.options)
    if question.task:
        assert len(question.task.wrong) >= 3


def test_a_false_key_would_be_caught() -> None:
    text = """---
bank: untrue
---

# autograd

## doubled · output · mid

What does this print?

### Program

```python
print(1 + 1)
```

### Output

```text
3
```
"""
    (question,) = read_bank(text, name="untrue.md").bank.questions
    (proof,) = proofs_of(question)
    assert not proof.holds(finished=True, printed="2\n")
