"""When a claimed value is the one that came."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.snippets.claims import read_shown
from questions.snippets.compare import agrees, printed_values, same_line, same_number, same_words

SAME = [
    ("4.0", "4."),
    ("4", "4.0"),
    ("0.33", "0.3333"),
    ("0.333333", "0.3333"),
    ("0.6931...", "0.69314718"),
    ("0.666", "0.66667"),
    ("1e-5", "1.0000e-05"),
    ("nan", "nan"),
    ("-inf", "-inf"),
    ("tensor([1.0, 2.0])", "tensor([1., 2.])"),
    ("tensor([0.33, 0.67])", "tensor([0.3333, 0.6667])"),
    ("tensor([[1, 2],\n [3, 4]])", "tensor([[1, 2], [3, 4]])"),
    ("tensor(6.)", "tensor(6., grad_fn=<SumBackward0>)"),
    ("tensor([1., 2.])", "tensor([1., 2.], requires_grad=True)"),
    ("tensor([0, 1, ..., 9])", "tensor([0, 1, 2, 3, 9])"),
    ("tensor([1.], dtype=torch.float32)", "tensor([1.])"),
    ("torch.Size([2, 3])", "(2, 3)"),
    ("[2, 3]", "torch.Size([2, 3])"),
    ("float32", "torch.float32"),
    ("torch.long", "torch.int64"),
    ("cpu", "device(type='cpu')"),
    ("'abc'", "'abc'"),
    ("<class 'torch.Tensor'>", "<class 'torch.Tensor'>"),
    ("{'a': 1.0}", "{'a': 1.}"),
    ("tensor([(1.+3.j)])", "tensor([1.+3.j])"),
    ("1.8e-16", "4.3e-18"),
    ("4.0000000000000036", "4.000000000000003"),
    ("Parameter containing:\ntensor([1.], requires_grad=True)", "tensor([1.])"),
]

DIFFERENT = [
    ("4.0", "5.0"),
    ("4", "4.4"),
    ("3", "4"),
    ("0.3", "0.4"),
    ("tensor([1, 2])", "tensor([1., 2.])"),
    ("tensor([1, 2])", "tensor([1, 2], dtype=torch.int32)"),
    ("tensor([1., 2.])", "tensor([1., 2.], dtype=torch.float64)"),
    ("tensor([4.])", "tensor(4.)"),
    ("tensor([1, 2])", "tensor([[1, 2]])"),
    ("torch.Size([2, 3])", "torch.Size([3, 2])"),
    ("(2, 3)", "(2, 3, 1)"),
    ("float32", "torch.float64"),
    ("cpu", "cuda"),
    ("True", "False"),
    ("'abc'", "'abd'"),
    ("tensor([0, ..., 9])", "tensor([0, 8])"),
    ("4.0", "tensor([4.])"),
]


@pytest.mark.parametrize(("claimed", "real"), SAME)
def test_two_ways_to_write_one_value(claimed: str, real: str) -> None:
    one, other = read_shown(claimed), read_shown(real)
    assert one is not None and other is not None
    assert agrees(one, other)


@pytest.mark.parametrize(("claimed", "real"), DIFFERENT)
def test_two_values(claimed: str, real: str) -> None:
    one, other = read_shown(claimed), read_shown(real)
    assert one is not None and other is not None
    assert not agrees(one, other)


@pytest.mark.parametrize(
    "text", ["", "x", "x + 1", "f(2)", "tensor(x)", "torch.zeros(2)", "[a, b]", "(1, 2", "not None"]
)
def test_what_shows_no_value(text: str) -> None:
    assert read_shown(text) is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_agrees_with_itself(number: float) -> None:
    shown = read_shown(repr(number))
    assert shown is not None and agrees(shown, shown)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_whole_numbers_agree_when_they_are_equal(one: int, other: int) -> None:
    first, second = read_shown(str(one)), read_shown(str(other))
    assert first is not None and second is not None
    assert agrees(first, second) is (one == other)


@given(st.text(max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    read_shown(text)
    list(printed_values(text))


def test_about_is_within_a_tenth() -> None:
    claimed, near, far = read_shown("3.2"), read_shown("3.4"), read_shown("3.9")
    assert claimed and near and far
    assert agrees(claimed, near, rough=True)
    assert not agrees(claimed, far, rough=True)


def test_a_number_and_a_tensor_of_no_dimensions() -> None:
    number, scalar, row = read_shown("6.0"), read_shown("tensor(6.)"), read_shown("tensor([6.])")
    assert number and scalar and row
    assert same_number(number, scalar) and same_number(scalar, number)
    assert not same_number(number, row)


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("6.0\n", "6.0"),
        ("x = 6.0", "6.0"),
        ("Output shape: torch.Size([32, 2])", "(32, 2)"),
        ("dtype: torch.float32", "float32"),
        ("0\n1\n2\n", "1"),
        ("loss 0.5 after it", "0.5"),
    ],
)
def test_a_value_is_found_in_what_is_printed(printed: str, value: str) -> None:
    wanted = read_shown(value)
    assert wanted is not None
    assert any(agrees(wanted, shown) for shown in printed_values(printed))


def test_a_number_inside_a_tensor_is_not_what_is_printed() -> None:
    wanted = read_shown("4.0")
    assert wanted is not None
    assert not any(agrees(wanted, shown) for shown in printed_values("tensor([4.])"))


def test_words_are_compared_without_spaces_quotes_and_commas() -> None:
    assert same_words("a,  'b' 1.0", "a b 1.")
    assert same_words("<object at 0x7f01>", "<object at 0x5e02>")
    assert not same_words("a b", "a c")
    assert same_line("the sum: 7", "sum: 6")
    assert not same_line("goodbye world", "hello there")
