"""The shipped bank is large, balanced and complete. That it is true is proved in the sandbox."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from questions.model import KINDS, LEVELS
from questions.proofs import proofs_of
from questions.reader import read_bank
from tests.questions.shipped import read_shipped_bank

if TYPE_CHECKING:
    from questions.model import Question

BANK = read_shipped_bank()
TOPICS = {
    "tensors",
    "autograd",
    "modules",
    "data",
    "optimization",
    "losses",
    "precision",
    "performance",
    "distributed",
    "deployment",
    "debugging",
}


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
    assert proofs_of(question) or question.task or question.draw or question.unproved
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
