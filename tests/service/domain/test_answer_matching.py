"""Typed values are parsed leniently and compared exactly."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.answer_matching import MAX_LENGTH, UnreadableValue, matches_value, parse_value
from service.wire import AnswerUnreadable

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.complex_numbers(allow_nan=False, allow_infinity=False)
    | st.text("abc _-'\"\\", max_size=6)
    | st.binary(max_size=4)
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(values)
def test_values_printed_by_python_are_parsed_back(value: object) -> None:
    assert matches_value(parse_value(repr(value)), repr(value))


@given(st.lists(st.integers(0, 99), min_size=2, max_size=5))
def test_a_shape_in_every_spelling(shape: list[int]) -> None:
    key = parse_value(repr(tuple(shape)))
    bare = repr(shape)[1:-1]
    for typed in (f"({bare})", f"[{bare}]", bare, f"torch.Size([{bare}])", f"`({bare})`", bare.replace(" ", "")):
        assert matches_value(key, typed)
    assert not matches_value(key, repr((*shape, 1)))
    assert not matches_value(key, repr((shape[0] + 1, *shape[1:])))


@given(st.integers(), st.floats(allow_nan=False))
def test_numbers_are_equal_by_value(whole: int, number: float) -> None:
    assert matches_value(parse_value(repr(whole)), repr(number)) == (whole == number)
    assert matches_value(parse_value(repr(number)), repr(number))


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        ("4", "4.0"),
        ("0.1", ".10"),
        ("0.001", "1e-3"),
        ("-1", "−1"),
        ("16384", "16,384"),
        ("16384", "16_384"),
        ("True", "true"),
        ("None", "none"),
        ("float('nan')", "nan"),
        ("inf", "float('inf')"),
        ("-inf", "-math.inf"),
        ("(1,)", "torch.Size([1])"),
        ("()", "torch.Size([])"),
        ("[[1, 2], [3, 4]]", "tensor([[1., 2.], [3., 4.]])"),
        ("4.0", "tensor(4.)"),
        ("'torch.float32'", "float32"),
        ("torch.float32", "torch.float"),
        ("torch.int64", "torch.long"),
        ("float16", "torch.half"),
        ("'cpu'", "cpu"),
        ("'cuda:0'", "cuda:0"),
        ("'cuda:0'", "torch.device('cuda:0')"),
        ("'cuda:0'", "“cuda:0”"),
        ("{1, 2}", "{2, 1.0}"),
        ("set()", "set()"),
        ("{'a': (1, 2)}", "{'a': [1, 2]}"),
        ("(True, False)", "True, False"),
        ("3", "```python\n3\n```"),
        ("3", "  3\n"),
        ("1+2j", "(1+2j)"),
    ],
)
def test_the_same(key: str, typed: str) -> None:
    assert matches_value(parse_value(key), typed)


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        ("1", "True"),
        ("True", "1"),
        ("0", "False"),
        ("(1, 4)", "(4, 1)"),
        ("3", "(3,)"),
        ("(3,)", "(3)"),
        ("0.1", "0.10000001"),
        ("1", "-1"),
        ("-1", "1"),
        ("(-1, 2)", "(1, 2)"),
        ("3-2j", "3+2j"),
        ("(16, 384)", "16384"),
        ("16384", "16.384"),
        ("'torch.float16'", "bfloat16"),
        ("torch.float32", "torch.double"),
        ("float32", "float"),
        ("'cpu'", "'CPU'"),
        ("'cpu'", "((("),
        ("'3'", "3.0"),
        ("3", "'3'"),
        ("{1, 2}", "(1, 2)"),
        ("{'a': 1}", "{'a': 2}"),
        ("None", "False"),
        ("nan", "0"),
        ("b'x'", "'x'"),
    ],
)
def test_not_the_same(key: str, typed: str) -> None:
    assert not matches_value(parse_value(key), typed)


@pytest.mark.parametrize(
    ("typed", "problem"),
    [
        ("", "no value"),
        ("  \u200b ", "no value"),
        ("(1", "not a value"),
        ("1 4", "not a value"),
        ("0777", "not a value"),
        ("x + 1", "not computed"),
        ("2 * 512", "not computed"),
        ("True + 1", "not computed"),
        ("f(3)", "not computed"),
        ("(lambda: 1)", "not computed"),
        ("[x for x in y]", "not computed"),
        ("f'{x}'", "not computed"),
        ("{**a}", "not computed"),
        ("__import__('os').system('true')", "not computed"),
        ("torch.Size(3)", "size"),
        ("(1, ...)", "ellipsis"),
        ("1" * (MAX_LENGTH + 1), "too long"),
        ("[" * 900 + "]" * 900, "not a value"),
        ("\0", "not a value"),
    ],
)
def test_an_invalid_value_is_rejected_with_its_problem(typed: str, problem: str) -> None:
    with pytest.raises(UnreadableValue) as error:
        parse_value(typed)
    refusal = error.value.refusal
    assert refusal.problem == problem
    assert len(refusal.text) <= 60
    assert (refusal.length, refusal.limit) == ((len(typed), MAX_LENGTH) if problem == "too long" else (0, 0))
    assert bool(refusal.text) == (problem in ("not a value", "not computed"))


@given(st.text(max_size=60) | st.text("()[]{}-+.,:'\"\\0123eEjxtorch =*", max_size=60))
def test_any_text_is_a_value_or_refused(typed: str) -> None:
    with suppress(UnreadableValue):
        tag, _ = parse_value(typed)
        assert tag in {"sequence", "set", "dict", "number", "nan", "bool", "text", "NoneType", "bytes"}


@pytest.mark.parametrize(
    "typed", ["-" * 1999 + "1", "(" * 1000 + ")" * 1000, "+".join(["1j"] * 500), "1" + "[0]" * 600]
)
def test_deep_nesting_is_survived(typed: str) -> None:
    with suppress(UnreadableValue):
        assert not matches_value(parse_value("1"), typed)


@pytest.mark.parametrize(
    "name", ["tensor", "torch.tensor", "array", "np.array", "device", "torch.device", "Size", "torch.Size"]
)
def test_each_wrapper_stands_for_what_it_holds(name: str) -> None:
    assert parse_value(f"{name}([1, 2])") == parse_value("[1, 2]")


def test_nan_is_one_answer_however_it_came_about() -> None:
    assert parse_value("nan") == parse_value("1e999j - 1e999j") == ("nan", None)
    assert parse_value(f"1{'0' * 400}") == ("number", 10**400)


def test_a_quoted_text_cannot_end_its_quotes() -> None:
    with pytest.raises(UnreadableValue) as wrong:
        parse_value("f('`x`')")
    assert isinstance(wrong.value.refusal, AnswerUnreadable)
    assert "`" not in wrong.value.refusal.text and "'x'" in wrong.value.refusal.text


def test_a_quoted_text_is_one_line() -> None:
    with pytest.raises(UnreadableValue) as wrong:
        parse_value("two \t words\nand  more")
    assert isinstance(wrong.value.refusal, AnswerUnreadable)
    assert wrong.value.refusal.text == "two words and more"
