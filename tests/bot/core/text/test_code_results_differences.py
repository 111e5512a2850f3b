"""Every way in which a result can differ: one line for members, symbols for authors, and the way between processes."""

from __future__ import annotations

from typing import get_args

import pytest

from bot.core.text.code_results import case_words, difference_words
from sandbox.differences import aspect_of, in_symbols
from service.wire import (
    Aspect,
    CaseView,
    Difference,
    DrawNotFinite,
    DrawsDiffer,
    DtypeDiffers,
    HiddenDiffers,
    KeysDiffer,
    LengthDiffers,
    NotComparable,
    NotRaised,
    Raised,
    ShapeDiffers,
    TypeDiffers,
    ValueDiffers,
    ValueType,
    Verdict,
    VerdictView,
)

CASES: list[tuple[Difference, str, str]] = [
    (
        TypeDiffers("", ValueType("tensor", (2, 3), "float32"), ValueType("None")),
        "expected a tensor of shape (2, 3) and dtype float32, got None; is a return statement missing?",
        "tensor (2, 3) float32 ≠ None",
    ),
    (TypeDiffers("[0]", ValueType("int"), ValueType("bool")), "at [0]: expected an int, got a bool", "[0]: int ≠ bool"),
    (ShapeDiffers("", (2,), ()), "expected shape (2,), got shape ()", "shape (2,) ≠ ()"),
    (DtypeDiffers("", "int64", "bool"), "expected dtype int64, got dtype bool", "dtype int64 ≠ bool"),
    (LengthDiffers("['w']", 1, 2), "at ['w']: expected 1 item, got 2", "['w']: len 1 ≠ 2"),
    (KeysDiffer("", ("a",), ("b",)), "missing keys ['a'], unexpected keys ['b']", "keys -'a', +'b'"),
    (ValueDiffers("", "1", "2"), "expected 1, got 2", "1 ≠ 2"),
    (
        ValueDiffers("[1]", "1", "nan", 3, 9, 1, "2.5", (0,)),
        "at [1]: expected 1, got nan (3 of 9 elements differ, 1 of them nan, most by 2.5 at [0])",
        "[1]: 1 ≠ nan",
    ),
    (
        DrawsDiffer((1, 0), 4000, "quantile", "25.00%", "31.00%", "0.02", "25%"),
        "at [1, 0]: over 4,000 draws at or below the 25% quantile of all lie 31.00%, expected 25.00%; "
        "chance explains no difference above 0.02",
        "[1, 0]: quantile 25% 25.00% ≠ 31.00% (± 0.02)",
    ),
    (DrawNotFinite((), 3, 500, "inf"), "draw 3 of 500 is inf", "[3]: inf"),
    (NotRaised("KeyError", ""), "expected KeyError to be raised, but it returned a value", "KeyError ≠ -"),
    (NotRaised("KeyError", "E"), "expected KeyError to be raised, but it raised E", "KeyError ≠ E"),
    (Raised("KeyError", "'a'"), "raised KeyError: 'a'", "KeyError: 'a'"),
    (NotComparable("a set"), "returned something else: a set", "a set"),
    (HiddenDiffers("dtype"), "a result of the wrong dtype", "dtype"),
]


def test_every_difference_has_a_case() -> None:
    assert {type(difference) for difference, _, _ in CASES} == set(get_args(Difference))


@pytest.mark.parametrize(("difference", "words", "symbols"), CASES, ids=lambda one: getattr(one, "kind", None))
def test_a_difference_is_worded_for_members_and_shown_in_symbols_to_authors(
    difference: Difference, words: str, symbols: str
) -> None:
    assert (difference_words(difference), in_symbols(difference)) == (words, symbols)


@pytest.mark.parametrize("difference", [difference for difference, _, _ in CASES], ids=lambda one: one.kind)
def test_a_difference_arrives_as_it_was(difference: Difference) -> None:
    case = CaseView(number=1, verdict="wrong", visible=True, difference=difference, on_gpu=True)
    sent = VerdictView(verdict="wrong", credit=0, cases=(case,)).model_dump_json()
    assert VerdictView.model_validate_json(sent).cases == (case,)


@pytest.mark.parametrize("difference", [difference for difference, _, _ in CASES], ids=lambda one: one.kind)
def test_of_a_hidden_case_only_the_kind_is_told(difference: Difference) -> None:
    aspect = aspect_of(difference)
    assert aspect in get_args(Aspect)
    told = difference_words(HiddenDiffers(aspect))
    assert told and not any(one.isdigit() for one in told)


def test_a_case_without_a_result_says_why() -> None:
    said = {
        verdict: case_words(CaseView(number=1, verdict=verdict, visible=False, on_gpu=True))
        for verdict in get_args(Verdict)
    }
    assert (said.pop("accepted"), said.pop("awaits marking")) == ("", "")
    assert all(words.startswith("on the GPU: ") for words in said.values())
