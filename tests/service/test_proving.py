"""The shipped bank is proved in the real sandbox, and a bank with false keys is found out."""

from __future__ import annotations

import pytest

from questions import read_bank, shipped_bank
from sandbox.client import SandboxClient
from service.proving import prove

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(300)]

FALSE_KEYS = """\
---
bank: wrong
title: Wrong on purpose
licence: MIT
---

# tensors

## strides · value · mid

What are the strides of `torch.zeros(3, 4)`?

### Answer
`(1, 4)`

### Proof
```python
import torch
assert torch.zeros(3, 4).stride() == (1, 4), "the key is false"
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


@pytest.mark.timeout(1200)
async def test_everything_the_shipped_bank_says_holds(sandbox: SandboxClient) -> None:
    questions = shipped_bank().questions
    found = [proved async for proved in prove(questions, sandbox)]
    assert {proved.question for proved in found} == {question.id for question in questions}
    assert [proved for proved in found if not proved.holds] == []


async def test_false_keys_and_a_wrong_solution_no_case_rejects_are_named(sandbox: SandboxClient) -> None:
    bank = read_bank(FALSE_KEYS, name="wrong.md").bank
    failed = {proved.name: proved.said async for proved in prove(bank.questions, sandbox) if not proved.holds}
    assert sorted(failed) == ["double: wrong: squares", "strides: proof", "sum: output"]
    assert "the key is false" in failed["strides: proof"]
    assert "tensor(2.)" in failed["sum: output"]
    assert failed["double: wrong: squares"] == "no case rejects it: accepted; every case was accepted"
