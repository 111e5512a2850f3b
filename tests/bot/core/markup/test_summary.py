"""One line for a notification: nothing but words, never too long, never half a character."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from wcwidth import iter_graphemes

from bot.core.markup import parse, to_summary


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("What does **`x.t()`** cost in $O(n^2)$?", "What does x.t() cost in O(n²)?"),
        ("What is printed?\n\n```python\nprint(1)\n```", "What is printed? [code]"),
        ("See\n\n|a|\n|-|\n|b|", "See [table]"),
        ("# Title\n\n> quoted\n\n---\n\nend", "Title quoted end"),
        ("- one\n- two\n  - three", "one; two three"),
        ("a\\\nb\nc", "a b c"),
        ("until [17:00 (UTC)](time:1772726400:dated).", "until 17:00 (UTC)."),
        ("[docs](https://e.org) ~~wrong~~ *right*", "docs [struck out: wrong] right"),
        (r"\(\begin{align} a \\ b \end{align}\)", "a; b"),
        (r"\(\begin {pmatrix} a & b \end {pmatrix}\)", "[ a b ]"),
        ("", ""),
    ],
)
def test_summaries(markdown: str, expected: str) -> None:
    assert to_summary(parse(markdown), 150) == expected


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (17, "one two three…"),
        (18, "one two three four"),
        (14, "one two three…"),
        (13, "one two…"),
        (3, "on…"),
        (1, "…"),
        (0, ""),
        (-1, ""),
    ],
)
def test_a_long_summary_is_cut_after_a_word(limit: int, expected: str) -> None:
    assert to_summary(parse("one two three four"), limit) == expected


def test_no_period_precedes_the_ellipsis() -> None:
    assert to_summary(parse("Yes, and no."), 6) == "Yes…"


def test_a_family_is_not_torn_apart() -> None:
    family = "👨‍👩‍👧"
    assert to_summary(parse(family * 4), 2 * len(family) + 3) == family * 2 + "…"
    assert to_summary(parse("e\u0301" * 4), 4) == "e\u0301…"


@settings(max_examples=300)
@given(st.text(max_size=100), st.integers(min_value=0, max_value=60))
@example("👍🏽" * 5, 3)
def test_any_text_is_one_short_line(markdown: str, limit: int) -> None:
    whole = to_summary(parse(markdown), 10_000)
    short = to_summary(parse(markdown), limit)
    assert len(short) <= limit
    assert "\n" not in short
    assert short == whole or not limit or short.endswith("…")
    kept = list(iter_graphemes(short.removesuffix("…")))
    assert short == whole or list(iter_graphemes(whole))[: len(kept)] == kept
