"""Counting, finding and comparing the questions of banks."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions import Question, read_bank
from questions.overview import QuestionFilter, differences, overview_of
from tests.questions.shipped import read_shipped_bank

TEXT = """---
bank: some
---

# tensors/memory

## strides · value · mid

What is `x.stride()`?

### Answer

`(3, 1)`

### Proof

```python
assert True
```

## prints · output · senior

What is printed?

### Program

```python
print(1)
```

### Output

```text
1
```

# tensors/shapes

## drawn · choice · mid

Which shape?

### Draw

```python
def draw(rng): ...
```
"""
STRIDES, PRINTS, DRAWN = QUESTIONS = read_bank(TEXT, name="some.md").bank.questions


def test_counts_say_what_is_there() -> None:
    plain = dataclasses.replace(STRIDES, id="plain", proof="", answer=None, level=None, topic="")
    found = overview_of([*QUESTIONS, plain])

    assert (found.questions, found.unanswered, found.families, found.proved) == (4, 1, 1, 3)
    assert found.kinds == (("choice", 1), ("value", 2), ("output", 1))
    assert found.levels == (("mid", 2), ("senior", 1), ("(none)", 1))
    assert found.topics == (("(none)", 1), ("tensors/memory", 2), ("tensors/shapes", 1))


@pytest.mark.parametrize(
    ("wish", "ids"),
    [
        (QuestionFilter(), ["strides", "prints", "drawn"]),
        (QuestionFilter(kind="output"), ["prints"]),
        (QuestionFilter(level="mid"), ["strides", "drawn"]),
        (QuestionFilter(topic="tensors"), ["strides", "prints", "drawn"]),
        (QuestionFilter(topic="tensors/shapes"), ["drawn"]),
        (QuestionFilter(topic="tensors/shape"), []),
        (QuestionFilter(words="STRIDE"), ["strides"]),
        (QuestionFilter(kind="value", words="printed"), []),
    ],
)
def test_a_wish_names_questions(wish: QuestionFilter, ids: list[str]) -> None:
    assert [question.id for question in QUESTIONS if wish.matches(question)] == ids


def test_where_a_question_stands_is_no_difference() -> None:
    moved = read_bank("\n\n" + TEXT.removeprefix("---\nbank: some\n---\n"), name="other.md").bank.questions

    assert not differences(QUESTIONS, moved)
    assert differences(QUESTIONS, moved).same == 3


def test_differences_name_what_came_went_and_changed() -> None:
    new = dataclasses.replace(PRINTS, answer="2", level="principal")
    other = dataclasses.replace(STRIDES, id="other")
    found = differences([STRIDES, PRINTS], [new, other])

    assert (found.added, found.removed, found.same) == (("other",), ("strides",), 0)
    assert [(one.id, one.fields) for one in found.changed] == [("prints", ("answer", "level"))]


SHIPPED = read_shipped_bank().questions


@given(st.lists(st.sampled_from(SHIPPED), unique_by=lambda question: question.id))
def test_an_edition_differs_from_itself_in_nothing_and_back_in_reverse(edition: list[Question]) -> None:
    assert not differences(edition, edition[::-1])
    forth, back = differences(edition, SHIPPED), differences(SHIPPED, edition)
    assert (set(forth.added), forth.removed) == (set(back.removed), back.added)
