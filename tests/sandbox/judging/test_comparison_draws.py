"""Random numbers against random numbers: right ones pass however odd, wrong ones fail, and how often is counted."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.text.code_results import difference_words
from sandbox.differences import aspect_of
from sandbox.judging.comparison import compare, draws_fault, first_difference
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Array, Tensor, Value

pytestmark = pytest.mark.slow

Numbers = npt.NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, ...]], Numbers]

ODD: dict[str, Draw] = {
    "normal": lambda rng, size: rng.normal(size=size),
    "uniform": lambda rng, size: rng.uniform(-1, 1, size),
    "Cauchy, without a mean": lambda rng, size: rng.standard_cauchy(size),
    "Pareto, without a variance": lambda rng, size: rng.pareto(1.2, size),
    "lognormal": lambda rng, size: rng.lognormal(0, 3, size),
    "rare ones": lambda rng, size: (rng.random(size) < 0.001).astype(float),
    "constant": lambda rng, size: np.full(size, 3.0),
    "whole numbers": lambda rng, size: rng.integers(0, 3, size).astype(float),
    "now and then infinite": lambda rng, size: np.where(rng.random(size) < 0.1, math.inf, 1.0),
    "huge": lambda rng, size: rng.normal(size=size) * 1e300,
}


def tensor(numbers: Numbers, dtype: str = "float32") -> Tensor:
    made = numbers.astype(dtype)
    return Tensor(dtype, made.shape, made.tobytes())


def said(expected: Numbers, got: Numbers, rtol: float = 0.0, atol: float = 0.0) -> str:
    found = first_difference(expected, got, NumberTolerance(rtol, atol))
    return difference_words(found) if found else ""


def aspect(expected: Value, got: Value) -> str:
    found = compare(expected, got, NumberTolerance())
    assert found is not None
    return aspect_of(found)


@pytest.mark.parametrize("name", ODD)
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), count=st.integers(400, 3000))
def test_samples_of_the_same_distribution_are_equal(name: str, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    assert said(ODD[name](rng, (count, 3)), ODD[name](rng, (count, 3))) == ""


@pytest.mark.parametrize("name", ["normal", "Pareto, without a variance", "rare ones", "whole numbers"])
def test_the_chance_of_a_false_alarm_keeps_its_bound(name: str) -> None:
    # What is allowed once in 10,000,000,000 times cannot be counted; what is allowed once in a hundred can.
    rng, rounds, allowed = np.random.default_rng(7), 3000, 0.01
    pairs = ((ODD[name](rng, (400,)), ODD[name](rng, (400,))) for _ in range(rounds))
    assert sum(bool(first_difference(*pair, NumberTolerance(0.0, 0.0), allowed)) for pair in pairs) <= allowed * rounds


@pytest.mark.parametrize(
    ("right", "wrong", "count"),
    [
        (lambda r, n: r.normal(0, 1, n), lambda r, n: r.normal(0.2, 1, n), 10_000),
        (lambda r, n: r.normal(0, 1, n), lambda r, n: r.normal(0, math.sqrt(2), n), 4_000),
        (lambda r, n: r.normal(0, 1, n), lambda r, n: r.uniform(-(3**0.5), 3**0.5, n), 10_000),
        (lambda r, n: r.normal(0, 1, n), lambda r, n: np.zeros(n), 400),
        (lambda r, n: r.random(n) < 0.5, lambda r, n: r.random(n) < 0.6, 10_000),
        (lambda r, n: (r.random(n) < 0.8) / 0.8, lambda r, n: (r.random(n) < 0.8) * 1.0, 2_000),
        (lambda r, n: r.integers(0, 10, n), lambda r, n: r.integers(0, 9, n), 10_000),
        (lambda r, n: r.random(n), lambda r, n: r.random(n) ** 2, 2_000),
    ],
)
def test_another_distribution_is_detected(
    right: Callable[[np.random.Generator, int], Numbers],
    wrong: Callable[[np.random.Generator, int], Numbers],
    count: int,
) -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        assert said(np.asarray(right(rng, count), float), np.asarray(wrong(rng, count), float)) != ""


def test_the_first_place_is_named_with_what_chance_explains() -> None:
    rng = np.random.default_rng(1)
    ours, theirs = rng.normal(size=(4000, 2, 2)), rng.normal(size=(4000, 2, 2))
    theirs[:, 1, 0] += 1
    theirs[:, 1, 1] *= 2
    found = said(ours, theirs)
    assert found.startswith("at [1, 0]: over 4,000 draws the mean is 1.0")
    assert "expected" in found
    assert found.endswith("; chance explains no difference above 0.2")


def test_another_share_of_infinities_is_detected_where_the_finite_numbers_are_equal() -> None:
    kept = np.random.default_rng(4).random(2_000) < 0.5
    ours, theirs = np.where(kept, 0.0, -math.inf), np.zeros(2_000)
    assert said(ours, theirs).startswith("over 2,000 draws the share of finite numbers is 100.00%")


def test_a_wider_distribution_is_detected_by_its_spread_alone() -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        found = said(rng.normal(0, 1, 10_000), rng.normal(0, 1.12, 10_000))
        assert found.startswith("over 10,000 draws the mean squared deviation is 1.2"), found


def test_rounding_alone_is_no_difference_however_many_draws() -> None:
    rng = np.random.default_rng(2)
    masks = (rng.random(100_000) < 0.9) / 0.9
    normal = rng.normal(3, 1, 100_000)
    for drawn in (masks, normal, -normal, 1000 * normal):
        assert said(drawn, drawn * (1 + 1e-6), rtol=1e-5) == ""
        assert said(drawn, drawn * (1 + 1e-6)) != ""


def test_nan_among_numbers_is_reported_separately() -> None:
    ours = np.random.default_rng(3).normal(size=1000)
    theirs = ours.copy()
    theirs[17] = math.nan
    assert said(ours, theirs) == "draw 17 of 1,000 is nan"


def test_a_dict_of_draws_is_compared_by_distribution_and_only_where_it_is_expected() -> None:
    rng = np.random.default_rng(4)
    one, other = (tensor(rng.normal(size=(500, 2))) for _ in range(2))
    right: Value = (1, {"draws": one})
    assert compare(right, (1, {"draws": other}), NumberTolerance()) is None
    assert compare(right, (2, {"draws": other}), NumberTolerance()) is not None
    # What an answer calls draws is compared by what was expected.
    assert aspect({"values": one}, {"draws": other}) == "keys"
    assert aspect(one, {"draws": one}) == "type"
    wide = Tensor("float64", one.shape, rng.normal(size=one.shape).tobytes())
    assert aspect({"draws": one}, {"draws": wide}) == "dtype"
    short = tensor(rng.normal(size=(499, 2)))
    assert aspect({"draws": one}, {"draws": short}) == "shape"
    array = Array("float32", one.shape, one.data)
    assert aspect({"draws": one}, {"draws": array}) == "type"
    found = compare({"draws": one}, {"draws": tensor(np.ones((500, 2)))}, NumberTolerance())
    assert found is not None and aspect_of(found) == "draws"
    assert difference_words(found).startswith("at [0]: over 500 draws the mean is 1, expected -0.0")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ({"draws": tensor(np.zeros(399))}, "399 draws decide nothing: at least 400 are needed"),
        ([1, {"a": {"draws": tensor(np.zeros(()))}}], "with one draw per row"),
        (({"draws": tensor(np.zeros(400), "complex64")},), "a tensor or an array of real numbers"),
        ({"draws": tensor(np.zeros(400), "int64")}, ""),
        ({"draws": "of paper"}, ""),
        ({"draws": tensor(np.zeros(3)), "more": 1}, ""),
    ],
)
def test_draws_that_cannot_be_compared_are_the_question_s_fault(value: Value, why: str) -> None:
    found = draws_fault(value)
    assert why in found
    assert bool(found) is bool(why)
