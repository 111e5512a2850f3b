"""Values to bytes and back, and what becomes of bytes that nobody encoded."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.values import ITEM_BYTES, Array, Caps, Tensor, Value, decode, encode, join, split

SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@st.composite
def blocks(draw: st.DrawFn) -> Tensor | Array:
    dtype, shape = draw(st.sampled_from(sorted(ITEM_BYTES))), draw(SHAPES)
    size = math.prod(shape) * ITEM_BYTES[dtype]
    data = draw(st.binary(min_size=size, max_size=size))
    return Tensor(dtype, shape, data, draw(st.booleans())) if draw(st.booleans()) else Array(dtype, shape, data)


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**400), 2**400),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.text(st.characters()),
    st.binary(max_size=40),
    blocks(),
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(max_size=4), inner, max_size=4),
    ),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_decoded_is_what_was_encoded_and_of_the_same_types(value: Value) -> None:
    back = decode(encode(value))

    assert back == value
    assert repr(back) == repr(value)  # True is no 1, (1,) is no [1], 0.0 is no -0.0


@pytest.mark.parametrize("value", [math.nan, complex(math.nan, 1)])
def test_nan_crosses(value: float | complex) -> None:
    assert repr(decode(encode(value))) == repr(value)


def test_text_with_half_a_character_crosses() -> None:
    assert decode(encode("\ud800")) == "\ud800"


@given(st.binary(max_size=200))
def test_no_bytes_do_worse_than_a_value_error_naming_the_offset(data: bytes) -> None:
    try:
        decode(data)
    except ValueError as problem:
        assert str(problem).startswith("byte ")


@given(VALUES, st.data())
def test_a_flipped_or_missing_byte_is_an_error_or_another_value_never_a_crash(
    value: Value, data: st.DataObject
) -> None:
    good = encode(value)
    at = data.draw(st.integers(0, len(good) - 1))
    for bad in (good[:at], good[:at] + bytes((good[at] ^ data.draw(st.integers(1, 255)),)) + good[at + 1 :]):
        try:
            decode(bad)
        except ValueError as problem:
            assert str(problem).startswith("byte ")


def tensor_head(code: int, flags: int, *shape: int) -> bytes:
    return b"t" + bytes((code, flags, len(shape))) + b"".join(struct.pack("<Q", side) for side in shape)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "byte 0: 1 bytes are announced, 0 follow"),
        (b"?", "byte 0: b'?' is not a tag"),
        (b"NN", "byte 1: bytes after the end"),
        (b"s\xff\xff\xff\xff", "byte 5: 4294967295 bytes are announced, 0 follow"),
        (b"s\x01\x00\x00\x00\xff", "byte 1: text that is not UTF-8"),
        (b"[\xff\xff\xff\xff", "byte 5: 4294967295 items cannot be in 0 bytes"),
        (b"{\x01\x00\x00\x00i\x01\x00\x00\x00\x05N", "byte 6: a key that is not text"),
        (b"{\x02\x00\x00\x00" + 2 * b"s\x00\x00\x00\x00N", "byte 16: the same key twice"),
        (tensor_head(99, 0), "byte 4: an element type or flag that does not exist"),
        (tensor_head(8, 2), "byte 4: an element type or flag that does not exist"),
        (tensor_head(8, 0, 10**12), "byte 12: 4000000000000 bytes are announced, 0 follow"),
        (tensor_head(8, 0, 0, 2**63), "byte 20: a shape of more than 1099511627776 elements"),
        (b"n" + tensor_head(8, 1)[1:], "byte 8: an array cannot require a gradient"),
    ],
)
def test_malformed_bytes_are_refused_before_anything_is_allocated(data: bytes, complaint: str) -> None:
    with pytest.raises(ValueError, match=r"^byte ") as caught:
        decode(data + (b"\0\0\0\0" if data[:1] == b"n" else b""))
    assert str(caught.value) == complaint


def nested(depth: int) -> Value:
    value: Value = None
    for _ in range(depth):
        value = [value]
    return value


def test_depth_items_and_bytes_are_capped_both_ways() -> None:
    assert decode(encode(nested(32))) == nested(32)
    with pytest.raises(ValueError, match="nested deeper than 32"):
        encode(nested(33))
    with pytest.raises(ValueError, match="byte 165: nested deeper than 32"):
        decode(b"[\x01\x00\x00\x00" * 33 + b"N")
    with pytest.raises(ValueError, match="more than 3 items"):
        encode([1, 2, 3], Caps(items=3))
    with pytest.raises(ValueError, match="more than 3 items"):
        decode(encode([1, 2, 3]), Caps(items=3))
    with pytest.raises(ValueError, match="larger than 10 bytes"):
        encode(b"x" * 10, Caps(total=10))
    with pytest.raises(ValueError, match="byte 0: 15 bytes, more than 10"):
        decode(encode(b"x" * 10), Caps(total=10))


class Pretender(str):
    """A text that is no plain text is still sent as one: the bytes carry no class."""


@pytest.mark.parametrize("thing", [object(), {1: 2}, {1}, range(3), lambda: None])
def test_what_is_not_plain_is_refused(thing: object) -> None:
    with pytest.raises(ValueError, match=r"not a plain value|not text"):
        encode(thing)  # type: ignore[arg-type]
    assert type(decode(encode(Pretender("x")))) is str


@pytest.mark.parametrize(
    "block",
    [
        Tensor("float32", (2,), b"1234"),
        Tensor("float31", (), b""),
        Tensor("uint8", (-1,), b""),
        Tensor("uint8", (1,) * 33, b"1"),
    ],
)
def test_a_block_whose_parts_disagree_is_not_sent(block: Tensor) -> None:
    with pytest.raises(ValueError, match=r"takes 8 bytes|element type|shape"):
        encode(block)


@given(st.lists(st.binary(max_size=20), max_size=5))
def test_joined_entries_come_apart_again(entries: list[bytes]) -> None:
    assert split(join(entries)) == entries


@pytest.mark.parametrize("data", [b"\x01", b"\x05\x00\x00\x00abc"])
def test_entries_cut_short_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"^byte "):
        split(data)
