"""A question rehearsed from its document: what members would see of it, and its key."""

from __future__ import annotations

from questions import read_bank
from service.rounds.views import preview_question

TEXT = """---
bank: team
title: The team's
license: MIT
---

# tensors/memory

## strides · choice · mid

Which?

- [ ] {one} first — a reason
- [x] {two} second
- [ ] {three} third — another

### Why

So it is.

### Proof

```python
assert True
```
"""


def test_the_view_has_no_key_and_the_key_has_everything() -> None:
    bank = read_bank(TEXT, name="docs/team.md").bank
    view, key = preview_question(bank.questions[0], bank)
    assert {option.id for option in view.options} == {"one", "two", "three"}
    assert "reason" not in view.model_dump_json()
    assert (view.id, view.kind, view.source, view.license, view.several) == (
        "strides",
        "choice",
        "The team's",
        "MIT",
        False,
    )
    assert [option.id for option in key.options if option.right] == ["two"]
    assert (key.why, key.proof, key.place) == ("So it is.", "assert True", "team.md, line 9")


def test_a_preview_is_the_same_each_time() -> None:
    bank = read_bank(TEXT, name="team.md").bank
    assert preview_question(bank.questions[0], bank) == preview_question(bank.questions[0], bank)
