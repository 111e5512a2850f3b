"""Expected against got, with the results that fooled other graders."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.text.code_results import difference_words
from sandbox.judging.comparison import as_numpy, brief, compare
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Array, Tensor, Value

EXACT = NumberTolerance(0.0, 0.0)
LOOSE = NumberTolerance(1e-3, 1e-3)
NAN, INF = math.nan, math.inf


def tensor(data: Any, dtype: str = "float32") -> Tensor:
    array = np.asarray(data, dtype=dtype)
    return Tensor(dtype, array.shape, array.tobytes())


def message(expected: Value, got: Value, tolerance: NumberTolerance = LOOSE) -> str:
    found = compare(expected, got, tolerance)
    return difference_words(found) if found else ""


def test_equal_values_are_equal_within_the_tolerance() -> None:
    assert message(tensor([1.0, 2.0]), tensor([1.0005, 2.0])) == ""
    assert message((1, [2.0, {"a": None}], "x"), (1, [2.0005, {"a": None}], "x")) == ""
    assert message(2 + 1j, 2.0005 + 1j) == ""


def test_the_first_difference_is_named_with_its_index() -> None:
    wrong = message(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([[1.0, 2.0], [3.5, 5.0]]))
    assert wrong == "at [1, 0]: expected 3, got 3.5 (2 of 4 elements differ, most by 1 at [1, 1])"
    assert message({"w": [1, 2]}, {"w": [1, 3]}) == "at ['w'][1]: expected 2, got 3"
    assert message((tensor([1.0, 2.0]),), (tensor([1.0, 9.0]),)) == (
        "at [0][1]: expected 2, got 9 (1 of 2 elements differ)"
    )


def test_nans_among_the_wrong_are_counted_and_the_largest_difference_is_placed() -> None:
    assert message(tensor([1.0, 2.0, 3.0]), tensor([NAN, 2.0, NAN])) == (
        "at [0]: expected 1, got nan (2 of 3 elements differ, 2 of them nan)"
    )
    assert message(tensor([1.0, 2.0, 3.0]), tensor([NAN, 2.5, 9.0])) == (
        "at [0]: expected 1, got nan (3 of 3 elements differ, 1 of them nan, most by 6 at [2])"
    )
    assert message(tensor([1, 2], "uint8"), tensor([3, 0], "uint8")) == (
        "at [0]: expected 1, got 3 (2 of 2 elements differ, most by 2 at [0])"
    )
    assert message(tensor([True, False], "bool"), tensor([False, True], "bool")) == (
        "at [0]: expected True, got False (2 of 2 elements differ)"
    )
    assert message(tensor([INF, 1.0]), tensor([-INF, INF])).endswith("(2 of 2 elements differ)")


def test_numbers_that_differ_late_are_shown_whole() -> None:
    said = message(tensor([1.0], "float64"), tensor([1.0 + 1e-12], "float64"), EXACT)
    assert said == "at [0]: expected 1.0, got 1.000000000001"


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        (tensor([1.0]), tensor([NAN]), "at [0]: expected 1, got nan"),
        (tensor([NAN]), tensor([1.0]), "at [0]: expected nan, got 1"),
        (tensor([1.0]), tensor([INF]), "at [0]: expected 1, got inf"),
        (tensor([INF]), tensor([-INF]), "at [0]: expected inf, got -inf"),
        (tensor([[1.0, 1.0]]), tensor([1.0, 1.0]), "expected shape (1, 2), got shape (2,)"),
        (tensor([1.0, 1.0]), tensor(1.0), "expected shape (2,), got shape ()"),
        (tensor([1.0, 1.0]), tensor([]), "expected shape (2,), got shape (0,)"),
        (tensor([1.0]), tensor([1.0], "float64"), "expected dtype float32, got dtype float64"),
        (tensor([1.0]), tensor([1], "int64"), "expected dtype float32, got dtype int64"),
        (tensor([1.0]), tensor([1], "bool"), "expected dtype float32, got dtype bool"),
        (tensor([1.0]), tensor([1.0], "complex64"), "expected dtype float32, got dtype complex64"),
        (tensor(1.0), 1.0, "expected a tensor of shape () and dtype float32, got a float"),
        (
            tensor([1.0]),
            Array("float32", (1,), tensor([1.0]).data),
            "expected a tensor of shape (1,) and dtype float32, got a numpy array of shape (1,) and dtype float32",
        ),
        (1, True, "expected an int, got a bool"),
        (1, 1.0, "expected an int, got a float"),
        ((1,), [1], "expected a tuple, got a list"),
        (0.0, None, "expected a float, got None; is a return statement missing?"),
        ([0.0], [None], "at [0]: expected a float, got None"),
        ({"a": 1, "b": 2}, {"b": 2}, "missing keys ['a']"),
        ([1, 2], [1], "expected 2 items, got 1"),
        ({"a": 1}, {"b": 1}, "missing keys ['a'], unexpected keys ['b']"),
        (1.0, NAN, "expected 1.0, got float('nan')"),
        (complex(1, INF), complex(1, -INF), "expected complex('1+infj'), got complex('1-infj')"),
    ],
)
def test_the_cheats_of_loose_comparators_fail_both_ways(expected: Value, got: Value, said: str) -> None:
    assert message(expected, got) == said
    assert message(got, expected) != ""


def test_nan_and_infinity_match_themselves_only() -> None:
    assert message(tensor([NAN, INF, -INF]), tensor([NAN, INF, -INF]), EXACT) == ""
    assert message(NAN, NAN) == ""
    assert message(complex(NAN, 1), complex(NAN, 1)) == ""
    assert message(complex(NAN, 1), complex(NAN, 2)) != ""
    # An infinite tolerance band around an infinite value must not let everything in.
    assert message(tensor([INF]), tensor([0.0]), NumberTolerance(1.0, 0.0)) != ""


def test_integers_and_booleans_are_exact_at_any_tolerance() -> None:
    wide = NumberTolerance(10.0, 10.0)
    assert message(tensor([1], "int64"), tensor([2], "int64"), wide) != ""
    assert message(tensor([True], "bool"), tensor([False], "bool"), wide) != ""
    assert message(1, 2, wide) != ""
    # Beyond what a float holds.
    assert message(tensor([2**53], "int64"), tensor([2**53 + 1], "int64")) != ""


def test_bfloat16_is_compared_by_what_it_means() -> None:
    one, half = Tensor("bfloat16", (1,), b"\x80\x3f"), Tensor("bfloat16", (1,), b"\x00\x3f")
    assert as_numpy(one).tolist() == [1.0]
    assert message(one, half) == "at [0]: expected 1, got 0.5"


def test_a_bool_is_true_whatever_bits_say_so() -> None:
    assert message(Tensor("bool", (2,), b"\1\0"), Tensor("bool", (2,), b"\2\0")) == ""


def test_an_empty_tensor_equals_an_empty_tensor_of_its_shape_only() -> None:
    assert message(tensor(np.zeros((0, 3))), tensor(np.zeros((0, 3)))) == ""
    assert message(tensor(np.zeros((0, 3))), tensor(np.zeros((3, 0)))) != ""


def test_whether_a_gradient_is_required_is_not_compared() -> None:
    plain = tensor([1.0])
    assert message(plain, Tensor("float32", (1,), plain.data, requires_grad=True)) == ""


FINITE = st.floats(-1e6, 1e6)


@given(FINITE, FINITE, st.floats(0, 1), st.floats(0, 1))
def test_the_band_is_absolute_plus_relative_to_the_expected(a: float, b: float, rtol: float, atol: float) -> None:
    near = abs(b - a) <= atol + rtol * abs(a)
    assert (compare(a, b, NumberTolerance(rtol, atol)) is None) is near
    assert (compare(tensor([a], "float64"), tensor([b], "float64"), NumberTolerance(rtol, atol)) is None) is near


@given(st.binary(min_size=8, max_size=8), st.sampled_from(["float64", "complex64", "int64", "bfloat16", "uint16"]))
def test_any_bits_equal_themselves_even_without_tolerance(data: bytes, dtype: str) -> None:
    count = {"float64": 1, "complex64": 1, "int64": 1, "bfloat16": 4, "uint16": 4}[dtype]
    block = Tensor(dtype, (count,), data)
    assert compare(block, block, EXACT) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (tensor([[1.0, 2.5], [0.1, -3.0]]), "tensor([[1., 2.5], [0.1, -3.]])"),
        (tensor(3, "int64"), "tensor(3)"),
        (tensor([1.0], "float64"), "tensor([1.], dtype=float64)"),
        (Tensor("float32", (1,), tensor([2.0]).data, True), "tensor([2.], requires_grad=True)"),
        (tensor(np.zeros((10, 10))), "tensor(… of shape (10, 10))"),
        (Array("int64", (2,), tensor([1, 2], "int64").data), "array([1, 2], dtype=int64)"),
        ((1,), "(1,)"),
        ({"a": [True, None]}, "{'a': [True, None]}"),
        (2**1000, "an int of 1001 bits"),
        ("x" * 300, "'" + "x" * 198 + "…"),
    ],
)
def test_values_are_shown_short_and_as_python(value: Value, text: str) -> None:
    assert brief(value) == text
