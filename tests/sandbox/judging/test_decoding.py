"""A result is read as far as it has the expected structure, and is judged as if it had been read whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.judging.comparison import compare
from sandbox.judging.decoding import ResultReader
from sandbox.judging.judge import Judgement, judge_outcome
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Array, Tensor, Value, decode, encode, join
from sandbox.wire import Outcome
from tests.calls import calls_of

LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(0, 3),
    st.sampled_from([0.0, 1.0, float("nan")]),
    st.text(max_size=2),
    st.binary(max_size=2),
    st.sampled_from([Tensor("float32", (1,), b"abcd"), Tensor("int32", (1,), b"abcd"), Array("uint8", (2,), b"ab")]),
    st.sampled_from([Tensor("float32", (0, 3), b""), Array("float32", (1,), b"abcd")]),
)
PLAIN: st.SearchStrategy[Value] = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple), max_leaves=8
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
TOLERANCE = NumberTolerance()


def read(expected: Value, data: bytes) -> Value:
    reader = ResultReader(data)
    assert reader.start() == "ok"
    value = reader.like(expected)
    reader.finish()
    return value


@given(VALUES)
def test_what_is_expected_is_read_whole(value: Value) -> None:
    assert repr(read(value, encode(("ok", value)))) == repr(value)


@given(PLAIN, PLAIN)
def test_the_first_difference_is_that_of_the_whole_result(expected: Value, got: Value) -> None:
    whole, part = (compare(expected, one, TOLERANCE) for one in (got, read(expected, encode(("ok", got)))))
    assert whole == part


@given(VALUES, VALUES)
def test_nothing_is_accepted_that_is_not_equal_as_a_whole(expected: Value, got: Value) -> None:
    whole, part = (compare(expected, one, TOLERANCE) for one in (got, read(expected, encode(("ok", got)))))
    assert (whole is None) == (part is None)


@given(VALUES, st.binary(max_size=40))
def test_other_bytes_are_an_error_or_no_such_value(expected: Value, data: bytes) -> None:
    try:
        value = read(expected, encode(("ok", None))[:-1] + data)
    except (ValueError, AssertionError):
        return
    if compare(expected, value, TOLERANCE) is None:
        assert compare(expected, decode(data), TOLERANCE) is None


@pytest.mark.parametrize(
    "data", [b"", b"N", encode("ok"), encode(("ok",)), encode(("okay", 1)), encode((1, 2)), encode(("ok", 1)) + b"N"]
)
def test_what_is_no_result_is_an_error(data: bytes) -> None:
    reader = ResultReader(data)
    with pytest.raises(ValueError, match=r"^byte "):
        reader.start()
        reader.like(1)
        reader.finish()


TINY = Tensor("float32", (), b"abcd")
MANY: list[Value] = [TINY] * 199_000
MEGABYTES: dict[str, Callable[[], bytes]] = {
    "a list": lambda: encode(("ok", MANY)),
    "a dict": lambda: encode(("ok", {"a": MANY})),
    "keys": lambda: encode(("ok", {f"{n}": TINY for n in range(60_000)})),
    "a first item": lambda: encode(("ok", [MANY, 1])),
    "a second item": lambda: encode(("ok", (1, MANY))),
    "junk": lambda: b"".join(encode(("ok", 1)) for _ in range(90_000)),
}


@cache
def megabytes(kind: str) -> bytes:
    """Returns a result of many tiny values, made only in the process that runs the tests with it."""
    return MEGABYTES[kind]()


FEW_CALLS = 50_000
"""Reading a megabyte of tiny values takes millions."""


@pytest.mark.parametrize("kind", MEGABYTES)
@pytest.mark.parametrize("expected", [1, [1, 2], (1, 2), {"a": 1}, TINY], ids=repr)
def test_judging_megabytes_of_tiny_values_costs_next_to_nothing(expected: Value, kind: str) -> None:
    got = megabytes(kind)
    assert len(got) > 1_000_000
    judgements: list[Judgement] = []
    assert calls_of(lambda: judgements.append(judged(expected, join([got])))) < FEW_CALLS
    assert judgements[0].verdict in ("wrong", "runtime error")


def test_more_results_than_cases_are_not_even_split() -> None:
    results = join([encode(("ok", 1))] * 100_000)
    judgements: list[Judgement] = []
    assert calls_of(lambda: judgements.append(judged(1, results))) < FEW_CALLS
    assert judgements[0].verdict == "runtime error"


def judged(expected: Value, results: bytes) -> Judgement:
    outcome = Outcome("x", "ok", results=results)
    return judge_outcome(join([encode(("ok", expected))]), outcome, cases=1, examples=1, tolerance=TOLERANCE)
