"""Changes that chat clients make to code are undone, and valid programs stay as they are."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.answer_matching import undo_smart_text

PROGRAM = "def f(x, *, eps=1e-5):\n    y = x[\"a\"] if x else 'b'\n    return y < 3 and y > -1 & 2, x[..., 0]  # it\n"

smart = {'"': "“”„", "'": "‘’‚", "<": ("&lt;",), ">": ("&gt;",), "&": ("&amp;",), "-": "−–", " ": "\u00a0\u202f\u2009"}


@pytest.mark.parametrize(
    ("typed", "plain"),
    [
        ("print(“hi”)", 'print("hi")'),
        ("print(‘hi’)", "print('hi')"),
        ("a &lt; b &gt; c &amp; d", "a < b > c & d"),
        ("&quot;x&quot; + &#39;y&apos;", "\"x\" + 'y'"),
        ("&amp;lt;", "&lt;"),
        ("x\u00a0=\u202f1", "x = 1"),
        ("x\u200b = \ufeff1\u2060", "x = 1"),
        ("a\r\nb\rc\u2028d", "a\nb\nc\nd"),
        ("dim=−1", "dim=-1"),
        ("x[…, 0]", "x[..., 0]"),
    ],
)
def test_undone(typed: str, plain: str) -> None:
    assert undo_smart_text(typed) == plain


@pytest.mark.parametrize(
    "text",
    [
        "x = 'it’s'",
        'print("“quoted”")',
        "y = 1  # it’s – fine…",
        "mask &lt b",
        "f(a, &copy)",
        "x — y",
        "naïve = 'ß 漢字'",
        "\tif x:\n\t\tpass\n",
        "",
    ],
)
def test_left_alone(text: str) -> None:
    assert undo_smart_text(text) == text


@given(st.data())
def test_a_program_made_handsome_means_the_same_again(data: st.DataObject) -> None:
    handsome = "".join(data.draw(st.sampled_from([char, *smart[char]])) if char in smart else char for char in PROGRAM)
    invisible = data.draw(st.integers(0, len(handsome)))
    # An invisible character inside an entity would break what the client itself wrote.
    if "&" not in handsome[max(0, invisible - 5) : invisible]:
        handsome = handsome[:invisible] + "\u200b" + handsome[invisible:]
    assert ast.dump(ast.parse(undo_smart_text(handsome))) == ast.dump(ast.parse(PROGRAM))


@given(st.text(st.characters(codec="ascii", exclude_characters="&\r")))
def test_plain_text_is_never_touched(text: str) -> None:
    assert undo_smart_text(text) == text


@given(st.text().filter(lambda text: "&" not in text))
def test_undoing_twice_is_undoing_once(text: str) -> None:
    once = undo_smart_text(text)
    assert undo_smart_text(once) == once


@pytest.mark.parametrize("text", ["“" + "(" * 5000, "‘" + "[" * 300 + "]" * 300, "“\0", "…" + "-" * 20000 + "1"])
def test_no_text_is_too_odd(text: str) -> None:
    assert len(undo_smart_text(text)) >= len(text)
