"""What a drawing of a family becomes, and what it must not become."""

from __future__ import annotations

from collections import Counter

import pytest

from questions import as_data, from_data, read_bank
from questions.families import InvalidVariant, variant_question, variant_questions, variants_program
from questions.model import Question

BANK = """---
bank: some
---

# tensors/memory

## fresh-strides · choice · mid

What is `x.stride()`?

### Draw

```python
def draw(rng):
    return {"program": "x = 1", "ask": "x", "wrong": []}
```

### Why

Strides count elements.

## a-number · value · mid

Which number?

### Draw

```python
def draw(rng):
    return {"program": "ans = 1"}
```
"""
CHOICE, VALUE = read_bank(BANK, name="some.md").bank.questions
DRAWING = {
    "program": "x = zeros(2, 3)",
    "ask": "x.stride()",
    "key": (3, 1),
    "wrong": [((12, 4), "bytes"), ((1, 2), "column-major"), ((6, 3), "own size"), ((3, 1), "the key itself")],
}


def drawn(family: Question = CHOICE, **changes: object) -> Question | None:
    return variant_question(family, {**DRAWING, **changes})


def test_a_drawn_choice_keeps_its_family_and_proves_its_key() -> None:
    question = drawn()

    assert question is not None
    assert question.id.startswith("fresh-strides-")
    assert (question.kind, question.level, question.topic, question.draw) == ("choice", "mid", "tensors/memory", "")
    assert question.program == "x = zeros(2, 3)"
    assert {(one.text, one.right, one.reason) for one in question.options} == {
        ("`(3, 1)`", True, ""),
        ("`(12, 4)`", False, "bytes"),
        ("`(1, 2)`", False, "column-major"),
        ("`(6, 3)`", False, "own size"),
    }
    assert question.why == "Strides count elements."
    assert question.proof == "x = zeros(2, 3)\n\nanswer = x.stride()"


def test_its_id_tells_drawings_apart_and_is_always_the_same() -> None:
    again, other = drawn(), drawn(program="x = zeros(2, 4)")

    assert again == drawn()
    assert again is not None
    assert other is not None
    assert again.id != other.id


def test_a_drawing_with_too_few_different_wrong_options_is_left_out() -> None:
    same = [((3, 1), "the key"), ((1, 2), "one"), ((1, 2), "the same again"), ((6, 3), "two")]

    assert drawn(wrong=same) is None
    few = drawn(wrong=same, few=True)
    assert few is not None
    assert len(few.options) == 3


def test_at_most_five_options_are_shown() -> None:
    many = drawn(wrong=[(number, "no") for number in range(20)])

    assert many is not None
    assert [one.id for one in many.options] == ["a", "b", "c", "d", "e"]


def test_the_ids_of_options_do_not_say_which_is_right() -> None:
    counts = Counter[str]()
    for columns in range(200):
        question = drawn(program=f"x = zeros(2, {columns})")
        assert question is not None
        assert "".join(one.id for one in question.options) == "abcd"
        counts.update(one.id for one in question.options if one.right)

    assert counts.total() == 200
    assert min(counts[letter] for letter in "abcd") > 25


def test_a_drawn_value_is_typed_as_a_literal() -> None:
    question = drawn(VALUE, key=2.5, ask="ans")

    assert question is not None
    assert (question.kind, question.answer, question.options) == ("value", "2.5", ())


def test_prompt_and_reason_of_the_drawing_take_the_place_of_the_familys() -> None:
    question = drawn(prompt="What now?", why="Because of 3.")

    assert question is not None
    assert (question.prompt, question.why) == ("What now?", "Because of 3.")


@pytest.mark.parametrize("key", ["raises `RuntimeError`", "`torch.int64`", (True, "view works")])
def test_every_sort_of_key_has_a_proof_that_python_can_read(key: object) -> None:
    question = drawn(key=key)

    assert question is not None
    compile(question.proof, "proof", "exec")
    assert next(one.text for one in question.options if one.right) == (key if isinstance(key, str) else f"`{key!r}`")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"program": ""}, "no `program`"),
        ({"program": 5}, "no `program`"),
        ({"key": object()}, "use a number"),
        ({"key": (1, {2})}, "use a number"),
        ({"wrong": [(1, "")]}, "pairs of a value and a misconception"),
        ({"wrong": [5]}, "pairs of a value and a misconception"),
    ],
)
def test_a_draw_without_a_question_gets_a_reason(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidVariant, match=said):
        variant_question(CHOICE, {**DRAWING, **changes})


def test_repeated_drawings_are_given_once() -> None:
    found = list(variant_questions(CHOICE, [DRAWING, DRAWING, {**DRAWING, "program": "x = zeros(3, 3)"}]))

    assert len(found) == 2


def test_a_family_is_answered_survives_json_and_defines_its_entry() -> None:
    assert CHOICE.answered
    assert from_data(as_data(CHOICE)) == CHOICE
    names: dict[str, object] = {}
    exec(variants_program(CHOICE), names)
    assert callable(names["_dailygrad_draw"])


def test_a_family_with_written_options_gets_a_finding() -> None:
    text = BANK.replace("What is `x.stride()`?", "What is `x.stride()`?\n\n- [x] one\n- [ ] two — no")

    assert [finding.code for finding in read_bank(text, name="some.md").findings] == ["Q240"]


def test_a_draw_part_must_define_draw() -> None:
    reading = read_bank(BANK.replace("def draw(rng)", "def drew(rng)"), name="some.md")

    assert [finding.code for finding in reading.findings] == ["Q222", "Q222"]
