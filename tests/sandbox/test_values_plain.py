"""Text that programs write, made safe to show, and shortened."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sandbox.values import sanitized, shortened


@given(st.text(st.characters()))
def test_no_text_moves_a_cursor_or_turns_a_line_around(text: str) -> None:
    made = sanitized(text)
    assert all(character in "\n\t" or character >= " " for character in made)
    assert not set(made) & {"\x7f", "\x9b", "\u202e", "\u2066", "\u200f"}
    assert sanitized(made) == made


@given(st.text(st.characters(exclude_categories=["C"])))
def test_plain_text_stays_as_it_was_written(text: str) -> None:
    assert sanitized(text) == text


def test_a_carriage_return_is_a_line_end() -> None:
    assert sanitized("a\rb\r\nc\n") == "a\nb\nc\n"


@given(st.text(), st.integers(1, 10))
def test_shortened_text_says_that_it_was(text: str, most: int) -> None:
    made = shortened(text, most)
    assert len(made) <= most
    assert made == text or made == text[: most - 1] + "…"
