"""Families drawn in the real sandbox."""

from __future__ import annotations

import pytest

from questions import Question, read_bank
from questions.families import InvalidVariant
from sandbox.client import SandboxClient
from sandbox.wire import Limits
from service.banks.proving import generate_variants

pytestmark = pytest.mark.sandbox

BANK = """---
bank: some
---

## {id} · choice · mid

What is it?

### Draw

```python
def draw(rng):
{body}
```
"""
SHAPES = """\
    n = rng.randint(2, 200)
    return {"program": f"import torch\\n\\nx = torch.zeros({n}, 3)", "ask": "x.shape",
            "wrong": [((3, n), "swapped"), ((n,), "one lost"), (3 * n, "the size")]}"""
ERRORS = """\
    return {"program": "import torch\\n\\nx = torch.zeros(2, 3)", "ask": "x.view(7).dtype",
            "wrong": [(torch_dtype(), "a dtype"), (1, "one")], "few": True}


def torch_dtype():
    import torch
    return torch.float32"""


def family(body: str, id: str = "some-family") -> Question:
    return read_bank(BANK.format(id=id, body=body), name="some.md").bank.questions[0]


async def test_torch_says_the_key_and_the_same_seed_draws_the_same(sandbox: SandboxClient) -> None:
    found = await generate_variants(family(SHAPES), sandbox, seed=3, count=40)
    again = await generate_variants(family(SHAPES), sandbox, seed=3, count=40)
    later = await generate_variants(family(SHAPES), sandbox, seed=3, first=20, count=20)

    assert found == again
    assert 30 < len(found) <= 40
    assert set(later) <= set(found)
    first = found[0]
    (right,) = [one.text for one in first.options if one.right]
    assert right == f"`({first.program.split('(')[1].split(',')[0]}, 3)`"


async def test_an_exception_and_a_dtype_are_keys_too(sandbox: SandboxClient) -> None:
    (question,) = await generate_variants(family(ERRORS), sandbox, seed=0, count=5)

    assert {one.text: one.right for one in question.options} == {
        "raises `RuntimeError`": True,
        "`torch.float32`": False,
        "`1`": False,
    }


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    return 5", "raised TypeError: it must return a dict"),
        ("    return {}[rng]", "raised KeyError"),
        ('    return {"program": "ans = object()"}', "cannot leave the sandbox"),
        ("    while True: pass", "ended with time"),
        ("    pass\nraise SystemExit(3)", "ended with error"),
    ],
)
async def test_a_failing_family_gets_a_reason(sandbox: SandboxClient, body: str, said: str) -> None:
    slow = family(body)

    with pytest.raises(InvalidVariant, match=said):
        await generate_variants(slow, sandbox, seed=0, count=2, limits=Limits(wall_ms=2000))
