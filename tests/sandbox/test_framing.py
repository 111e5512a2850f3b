"""Result frames are decoded whole, however the data is cut, and never beyond the limit."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.framing import RESULT_HEADER, ResultDecoder

FRAME = st.tuples(st.sampled_from([b"R", b"A", b"C", b"E"]), st.binary(max_size=40))


def packed(frames: list[tuple[bytes, bytes]]) -> bytes:
    return b"".join(RESULT_HEADER.pack(len(payload), kind[0]) + payload for kind, payload in frames)


@given(st.lists(FRAME, max_size=8), st.lists(st.integers(0, 400), max_size=8))
def test_frames_come_out_whole_however_they_are_cut(frames: list[tuple[bytes, bytes]], cuts: list[int]) -> None:
    data = packed(frames)
    places = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    reading = ResultDecoder(len(data))
    found = [frame for start, end in pairwise(places) for frame in reading.feed(data[start:end])]
    assert found == frames
    assert not reading.incomplete


@given(FRAME, st.integers(1, 4))
def test_a_frame_that_is_not_whole_is_torn(frame: tuple[bytes, bytes], missing: int) -> None:
    data = packed([frame])
    reading = ResultDecoder(len(data))
    assert list(reading.feed(data[:-missing])) == []
    assert reading.incomplete


def test_more_bytes_than_allowed_are_refused() -> None:
    with pytest.raises(ValueError, match="more than 20 bytes"):
        list(ResultDecoder(20).feed(packed([(b"C", b"x" * 30)])))


def test_a_length_beyond_the_most_is_refused_before_its_bytes_come() -> None:
    with pytest.raises(ValueError, match="a frame of 4000000000 bytes"):
        list(ResultDecoder(20).feed(RESULT_HEADER.pack(4_000_000_000, ord("C"))))
